// Artifacts of ArtifactWriter that tests and the fuzzer's corpus begin with.
#ifndef HAWSER_TESTS_CLIENT_STABLEHLO_ARTIFACT_PARTS_H_
#define HAWSER_TESTS_CLIENT_STABLEHLO_ARTIFACT_PARTS_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tests/client/stablehlo/artifact_writer.h"

namespace hawser::stablehlo {

inline std::string RawFloats(const std::vector<float>& values) {
  std::string raw(values.size() * sizeof(float), '\0');
  std::memcpy(raw.data(), values.data(), raw.size());
  return raw;
}

// Parts of a program that tests put together; each of one writer.
struct ArtifactParts {
  explicit ArtifactParts(int version = 6) : writer(version) {
    f32 = writer.F32();
    row = writer.Tensor(f32, {2});
  }
  // func main(arguments) -> result { ops }.
  std::string Main(const std::vector<int>& arguments, int result,
                   uint64_t values, const std::vector<std::string>& ops) {
    return Function("main", arguments, result, values, ops);
  }
  std::string Function(absl::string_view name,
                       const std::vector<int>& arguments, int result,
                       uint64_t values, const std::vector<std::string>& ops) {
    return writer.Op({.name = "vhlo.func_v1",
                      .properties = {writer.List({}, 1),
                                     writer.FunctionType(arguments, {result}),
                                     writer.List({}, 1), writer.Text(name),
                                     writer.Text("public")},
                      .regions = {writer.Region(arguments, values, ops)},
                      .isolated = true,
                      .has_properties = true});
  }
  std::string Call(absl::string_view callee, int operand) {
    return writer.Op({.name = "vhlo.call_v1",
                      .properties = {writer.Text(callee)},
                      .results = {row},
                      .operands = {operand},
                      .has_properties = true});
  }
  std::string Return(int value) {
    return writer.Op({.name = "vhlo.return_v1", .operands = {value}});
  }
  std::string Constant(int type, int elements) {
    return writer.Op({.name = "vhlo.constant_v1",
                      .properties = {elements},
                      .results = {type},
                      .has_properties = true});
  }

  // A module of these ops, which give so many values.
  std::string File(uint64_t values, const std::vector<std::string>& ops) {
    return writer.File({writer.Op({.name = "builtin.module",
                                   .regions = {writer.Region({}, values, ops)},
                                   .isolated = true})});
  }

  ArtifactWriter writer;
  int f32 = 0;
  int row = 0;  // f32[2]
};

// (a, b) -> (a + b) * [1.5, -2].
inline std::string SumTimes(int version) {
  ArtifactParts p(version);
  const int weights = p.writer.Elements(p.row, RawFloats({1.5F, -2.0F}));
  const std::vector<std::string> ops = {
      p.writer.Op(
          {.name = "vhlo.add_v1", .results = {p.row}, .operands = {0, 1}}),
      p.Constant(p.row, weights),
      p.writer.Op(
          {.name = "vhlo.multiply_v1", .results = {p.row}, .operands = {2, 3}}),
      p.Return(4)};
  return p.File(0, {p.Main({p.row, p.row}, p.row, 5, ops)});
}

// main calls f1, which calls f2, ..., which calls main: so many functions.
inline std::string CallsInACircle(int length) {
  ArtifactParts p;
  const auto name = [&](int i) {
    return i % length == 0 ? std::string("main") : absl::StrCat("f", i);
  };
  std::vector<std::string> functions;
  for (int i = 0; i < length; ++i) {
    functions.push_back(p.Function(name(i), {p.row}, p.row, 2,
                                   {p.Call(name(i + 1), 0), p.Return(1)}));
  }
  return p.File(0, functions);
}

// A loop from an argument to 7, as JAX exports one.
inline std::string Loop() {
  ArtifactParts p;
  const int s32 = p.writer.Tensor(p.writer.Type(Coded(13)), {});
  const int bit = p.writer.Tensor(p.writer.Type(Coded(0)), {});
  const int seven = p.writer.Elements(s32, absl::string_view("\7\0\0\0", 4));
  const auto back = [&](int value) {
    return p.writer.Op({.name = "vhlo.return_v1", .operands = {value}});
  };
  const std::string less =
      p.writer.Op({.name = "vhlo.compare_v1",
                   .properties = {p.writer.Vhlo(Coded(4) + Coded(3)),
                                  p.writer.Vhlo(Coded(3) + Coded(4))},
                   .results = {bit},
                   .operands = {3, 1},
                   .has_properties = true});
  const std::string more = p.writer.Op(
      {.name = "vhlo.add_v1", .results = {s32}, .operands = {3, 1}});
  const std::string loop =
      p.writer.Op({.name = "vhlo.while_v1",
                   .results = {s32},
                   .operands = {0},
                   .regions = {p.writer.Region({s32}, 2, {less, back(4)}),
                               p.writer.Region({s32}, 2, {more, back(4)})}});
  return p.File(
      0, {p.Main({s32}, s32, 3, {p.Constant(s32, seven), loop, back(2)})});
}

// The names of its first op, add, and of one of as many letters, stand in each
// other's places.
inline std::string SwappedNames() {
  std::string file = SumTimes(6);
  const size_t add = file.find("add_v1"), main = file.find("public");
  file.replace(add, 6, "public");
  file.replace(main, 6, "add_v1");
  return file;
}

}  // namespace hawser::stablehlo
#endif  // HAWSER_TESTS_CLIENT_STABLEHLO_ARTIFACT_PARTS_H_
