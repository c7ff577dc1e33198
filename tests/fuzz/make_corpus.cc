// Writes the seed corpora: make_corpus FOLDER, the one this file lies in.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <zlib.h>

#include "absl/strings/str_replace.h"
#include "client/formats/npy_header.h"
#include "core/ir/printer.h"
#include "core/wire/codec.h"
#include "server/datasets/record.h"
#include "tests/fuzz/sample_cases.h"
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

void WriteTexts(const std::filesystem::path& folder) {
  for (const NamedModule& sample : SampleModules()) {
    Write(folder / sample.name, Print(sample.module));
  }
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Write(folder / ("random_" + std::to_string(seed)),
          Print(RandomModule(seed, {.instructions = 8})));
  }
  Write(folder / "errors",
        "module \"\\x01\" // a comment\ncomputation @0 \"\" () {\n"
        "  %0: f32[2] = constant() value=f32[2] {nan(0xffc00000), 1e400}\n"
        "  return %1\n}\n");
}

// Edits count from nothing: see the fuzz tests that read them.
void WriteEdited(const std::filesystem::path& folder, size_t bytes_per_edit,
                 size_t first) {
  Write(folder / "none", std::string(first, '\0'));
  Random random(first + bytes_per_edit);
  for (int i = 1; i <= 8; ++i) {
    std::string edits(first + bytes_per_edit * static_cast<size_t>(i), '\0');
    for (char& c : edits) c = static_cast<char>(random.Bits());
    Write(folder / ("edits_" + std::to_string(i)), edits);
  }
}

void WriteNpys(const std::filesystem::path& folder) {
  Random random(2);
  for (const DType dtype : AllDTypes()) {
    const Shape shape = Shape::Of(dtype, {2, 3});
    const auto header = NpyHeaderOf(shape);
    if (!header.ok()) continue;  // bf16
    const Literal value = RandomLiteral(shape, random);
    const std::string bytes(value.bytes().begin(), value.bytes().end());
    const std::string name(DTypeName(dtype));
    Write(folder / name, *header + bytes);
    Write(folder / (name + "_columns_first"),
          absl::StrReplaceAll(*header, {{"False, ", "True,  "}}) + bytes);
    Write(folder / (name + "_big_endian"),
          absl::StrReplaceAll(*header, {{"'<", "'>"}}) + bytes);
  }
  std::string version2 = *NpyHeaderOf(Shape::Of(DType::kU8, {0, 4}));
  version2[6] = 2;
  version2.insert(10, 2, '\0');
  Write(folder / "version_2", version2);
}

std::string Gzipped(std::string bytes) {
  std::string out(bytes.size() + 256, '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void WriteIdxs(const std::filesystem::path& folder) {
  for (const int type : {8, 9, 11, 12, 13, 14}) {
    std::string bytes{'\0', '\0', static_cast<char>(type), '\2'};
    bytes += std::string("\0\0\0\2\0\0\0\3", 8);
    const int width = type < 10 ? 1 : type == 11 ? 2 : type == 14 ? 8 : 4;
    for (int i = 0; i < 6 * width; ++i) bytes.push_back(static_cast<char>(i));
    Write(folder / std::to_string(type), bytes);
    Write(folder / (std::to_string(type) + "_gz"), Gzipped(bytes));
  }
}

// Payloads too: the fuzz test seals them.
void WriteRecords(const std::filesystem::path& folder) {
  const DatasetSource source{
      {{"a", Literal::Zeros(Shape::Of(DType::kF32, {2, 3}))},
       {"b", Literal::Zeros(Shape::Of(DType::kU8, {0}))}}};
  const DatasetManifest manifest = ManifestOf(source, 1);
  const std::string dataset = server::EncodeDataset({"tenant", manifest});
  const std::string chunk = server::EncodeChunkHeader(
      {manifest.arrays[0].chunks[0], 24, "tenant"});
  constexpr size_t kFront = 8 + 8 + 8;  // magic, version, size
  constexpr size_t kChunkPayload = 32 + 8 + 8 + 6;
  Write(folder / "dataset", dataset);
  Write(folder / "dataset_payload",
        dataset.substr(kFront, dataset.size() - kFront - Digest::kSize));
  Write(folder / "chunk", chunk);
  Write(folder / "chunk_payload", chunk.substr(kFront, kChunkPayload));
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
  hawser::WriteTexts(folder / "text_bytes_corpus");
  hawser::WriteEdited(folder / "text_edits_corpus", 5, 1);
  hawser::Write(folder / "case_bytes_corpus" / "all",
                std::string(hawser::kSampleCases));
  hawser::WriteEdited(folder / "case_edits_corpus", 6, 0);
  hawser::WriteNpys(folder / "npy_corpus");
  hawser::WriteIdxs(folder / "idx_corpus");
  hawser::WriteEdited(folder / "manifest_edits_corpus", 6, 0);
  hawser::WriteRecords(folder / "record_corpus");
  hawser::WriteEdited(folder / "random_graph_corpus", 12, 0);
  return 0;
}
