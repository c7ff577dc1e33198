// Writes the seed corpora: make_corpus FOLDER, the one this file lies in.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/wire/codec.h"
#include "tests/testing/random_literal.h"
#include "tests/testing/random_module.h"
#include "tests/testing/sample_modules.h"

namespace hawser {
namespace {

void Write(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

void WriteModules(const std::filesystem::path& folder) {
  for (const NamedModule& sample : SampleModules()) {
    Write(folder / sample.name, EncodeModule(sample.module));
  }
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Write(folder / ("random_" + std::to_string(seed)),
          EncodeModule(RandomModule(seed, {.instructions = 8})));
  }
}

// See module_edits_fuzz_test.cc: one module as it is, one with two edits.
void WriteEdits(const std::filesystem::path& folder) {
  Write(folder / "none", std::string(1, '\0'));
  Write(folder / "two", std::string("\x03\x0F\x02\x00\x01\x13\x01\x00\x05", 9));
}

void WriteValues(const std::filesystem::path& folder) {
  Random random(1);
  for (const DType dtype : {DType::kBool, DType::kBF16, DType::kC128}) {
    v1::LiteralProto proto;
    ToProto(RandomLiteral(Shape::Of(dtype, {2, 3}), random), &proto);
    Write(folder / ("literal_" + std::string(DTypeName(dtype))),
          std::string(1, '\0') + proto.SerializeAsString());
  }
  Write(folder / "status", "\x01no \xC3\xA9 \xFF here");
  DatasetSource source{
      {{"a", RandomLiteral(Shape::Of(DType::kF32, {2}), random)},
       {"b", Literal::Zeros(Shape::Of(DType::kU8, {0}))}}};
  Write(folder / "manifest",
        "\x02" + ToProto(ManifestOf(source, 1)).SerializeAsString());
  runtime::Capabilities capabilities;
  capabilities.ops = {"add"};
  Write(folder / "capabilities",
        "\x03" + ToProto(capabilities).SerializeAsString());
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  hawser::WriteModules(folder / "module_bytes_corpus");
  hawser::WriteEdits(folder / "module_edits_corpus");
  hawser::WriteValues(folder / "values_corpus");
  return 0;
}
