// What reading StableHLO takes, as text and as artifacts: an op of longer and
// longer programs, and constants beside a copy of them.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/stablehlo/stablehlo.h"
#include "client/stablehlo/tree_reader.h"
#include "core/base/status.h"
#include "tests/client/stablehlo/artifact_writer.h"

namespace hawser::stablehlo {
namespace {

std::string MainOf(absl::string_view arguments, absl::string_view results,
                   absl::string_view ops) {
  return absl::StrCat("func.func @main(", arguments, ") -> (", results, ") {\n",
                      ops, "\n}\n");
}

// Operands are earlier values; every tenth op has attributes.
std::string LongProgram(int ops) {
  std::string lines = "%0 = stablehlo.add %a, %a : tensor<128x128xf32>\n";
  for (int i = 1; i < ops; ++i) {
    if (i % 10 == 0) {
      absl::StrAppend(&lines, "%", i, " = stablehlo.transpose %", i - 1,
                      ", dims = [1, 0] {mhlo.frontend = \"x\"} : "
                      "(tensor<128x128xf32>) -> tensor<128x128xf32>\n");
    } else {
      absl::StrAppend(&lines, "%", i, " = stablehlo.multiply %", i - 1, ", %",
                      i / 2, " : tensor<128x128xf32>\n");
    }
  }
  return MainOf(
      "%a: tensor<128x128xf32>", "tensor<128x128xf32>",
      absl::StrCat(lines, "return %", ops - 1, " : tensor<128x128xf32>"));
}

// An artifact whose function main, without arguments or of one, has these ops
// and gives the last one's result.
std::string ArtifactOf(ArtifactWriter& writer, int arguments, int type,
                       std::vector<std::string> ops) {
  const std::vector<int> takes(arguments, type);
  const auto values = static_cast<int>(ops.size()) + arguments;
  ops.push_back(
      writer.Op({.name = "vhlo.return_v1", .operands = {values - 1}}));
  const std::string main = writer.Op(
      {.name = "vhlo.func_v1",
       .properties = {writer.List({}, 1), writer.FunctionType(takes, {type}),
                      writer.List({}, 1), writer.Text("main"),
                      writer.Text("public")},
       .regions = {writer.Region(takes, static_cast<uint64_t>(values), ops)},
       .isolated = true,
       .has_properties = true});
  return writer.File({main});
}

// What LongProgram says.
std::string LongArtifact(int ops) {
  ArtifactWriter writer;
  const int type = writer.Tensor(writer.F32(), {128, 128});
  const int pair = writer.Tensor(writer.Type(Coded(14)), {2});
  const int permutation = writer.Elements(
      pair, absl::string_view("\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16));
  std::vector<std::string> all = {writer.Op(
      {.name = "vhlo.add_v1", .results = {type}, .operands = {0, 0}})};
  for (int i = 1; i < ops; ++i) {
    if (i % 10 == 0) {
      all.push_back(writer.Op({.name = "vhlo.transpose_v1",
                               .properties = {permutation},
                               .results = {type},
                               .operands = {i},
                               .has_properties = true}));
    } else {
      all.push_back(writer.Op({.name = "vhlo.multiply_v1",
                               .results = {type},
                               .operands = {i, i / 2 + 1}}));
    }
  }
  return ArtifactOf(writer, 1, type, std::move(all));
}

// The fastest of some turns, in seconds; each is to succeed.
double Fastest(int turns, const std::function<bool()>& run) {
  double fastest = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < turns; ++turn) {
    const absl::Time start = absl::Now();
    HAWSER_CHECK(run());
    fastest = std::min(fastest, absl::ToDoubleSeconds(absl::Now() - start));
  }
  return fastest;
}

void MeasureOps(const char* form, std::string (*program_of)(int)) {
  double first_read = 0, first_lowered = 0;
  for (const int ops : {1000, 3000, 10000, 100000}) {
    const std::string program = program_of(ops);
    const double read =
        Fastest(300000 / ops + 2, [&] { return ReadTree(program).ok(); }) *
        1e9 / ops;
    const double lowered =
        Fastest(100000 / ops + 2, [&] { return ReadProgram(program).ok(); }) *
        1e9 / ops;
    if (first_read == 0) {
      first_read = read;
      first_lowered = lowered;
    }
    std::printf(
        "%s, %6d ops: read %.0f ns each, ratio %.2f; and lowered %.0f, ratio "
        "%.2f\n",
        form, ops, read, read / first_read, lowered, lowered / first_lowered);
  }
}

int64_t PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoll(line.substr(6)) << 10;
  }
  return 0;
}

std::string ConstantAsText(int64_t bytes) {
  std::string digits(2 * bytes, '0');
  for (size_t i = 0; i < digits.size(); ++i) {
    digits[i] = "0123456789ABCDEF"[(i * 7 + i / 16) % 16];
  }
  return MainOf("", absl::StrCat("tensor<", bytes / 4, "xi32>"),
                absl::StrCat("%0 = stablehlo.constant dense<\"0x", digits,
                             "\"> : tensor<", bytes / 4, "xi32>\n",
                             "return %0 : tensor<", bytes / 4, "xi32>"));
}

std::string ConstantAsArtifact(int64_t bytes) {
  ArtifactWriter writer;
  const int type = writer.Tensor(writer.Type(Coded(13)), {bytes / 4});
  const int value = writer.Elements(type, std::string(bytes, 'x'));
  const std::string constant = writer.Op({.name = "vhlo.constant_v1",
                                          .properties = {value},
                                          .results = {type},
                                          .has_properties = true});
  return ArtifactOf(writer, 0, type, {constant});
}

void MeasureConstants(const char* form, std::string (*program_of)(int64_t),
                      int64_t bytes) {
  const std::string program = program_of(bytes);
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak is what is now
  const int64_t before = PeakMemory();
  HAWSER_CHECK(ReadProgram(program).ok());
  const int64_t taken = PeakMemory() - before;
  const double read = Fastest(5, [&] { return ReadProgram(program).ok(); });
  const double copied = Fastest(5, [&] {
    const std::string copy(program, 0, bytes);
    return !copy.empty();
  });
  std::printf(
      "%s, %lld MiB of constants: %.0f MB/s, %.2f of a copy's time; %.2f of "
      "their memory\n",
      form, static_cast<long long>(bytes >> 20),
      static_cast<double>(bytes) / read / 1e6, read / copied,
      static_cast<double>(taken) / static_cast<double>(bytes));
}

}  // namespace
}  // namespace hawser::stablehlo

int main() {
  using namespace hawser::stablehlo;  // NOLINT
  MeasureOps("text", LongProgram);
  MeasureOps("artifact", LongArtifact);
  for (const int64_t bytes : {int64_t{64} << 20, int64_t{256} << 20}) {
    MeasureConstants("text", ConstantAsText, bytes);
    MeasureConstants("artifact", ConstantAsArtifact, bytes);
  }
}
