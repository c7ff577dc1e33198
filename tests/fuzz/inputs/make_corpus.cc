// Writes the seed corpora: make_corpus FOLDER, the one this file lies in.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/digests/digest_record.h"
#include "client/formats/numpy/npy_header.h"
#include "core/ir/text/printer.h"
#include "core/wire/codec.h"
#include "server/datasets/storage/record.h"
#include "tests/client/formats/zip_writer.h"
#include "tests/client/stablehlo/artifact_parts.h"
#include "tests/fuzz/inputs/sample_cases.h"
#include "tests/fuzz/inputs/stablehlo_programs.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"
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

void WriteStableHlo(const std::filesystem::path& folder) {
  for (const auto& [name, program] : kStableHloPrograms) {
    Write(folder / name, program);
  }
  for (const int version : {0, 4, 6}) {
    Write(folder / absl::StrCat("artifact_v", version),
          stablehlo::SumTimes(version));
  }
  Write(folder / "artifact_loop", stablehlo::Loop());
  Write(folder / "artifact_circle", stablehlo::CallsInACircle(2));
  // Two that earlier readers did not see through: an end that came too soon,
  // at which they hung, and swapped names.
  const std::string whole = stablehlo::SumTimes(6);
  Write(folder / "artifact_cut", whole.substr(0, whole.size() / 2));
  Write(folder / "artifact_swapped_names", stablehlo::SwappedNames());
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

std::string Npy(const Literal& value) {
  return *NpyHeaderOf(value.shape()) +
         std::string(value.bytes().begin(), value.bytes().end());
}

void WriteNpzs(const std::filesystem::path& folder) {
  const std::string x = Npy(Literal::Of<float>({1, 2, 3, 4}, {2, 2}));
  const std::string y = Npy(Literal::Vector<uint8_t>({7, 8}));
  for (const bool zip64 : {false, true}) {
    const ZipOptions options = {.zip64 = zip64, .comment = "c"};
    const std::string form = zip64 ? "_zip64" : "";
    Write(folder / ("stored" + form),
          MakeZip({{"x.npy", x}, {"y.npy", y}}, options));
    Write(folder / ("deflated" + form),
          MakeZip({{"x.npy", x, true}, {"y.npy", y, true}}, options));
  }
  Write(folder / "empty", MakeZip({}));
}

void WriteSafetensorsFiles(const std::filesystem::path& folder) {
  const auto write = [&](const std::string& name, const std::string& json,
                         const std::string& data) {
    Write(folder / name, Little(json.size(), 8) + json + data);
  };
  write("two",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
        R"("b":{"dtype":"BOOL","shape":[2,1],"data_offsets":[8,10]}}   )",
        std::string("\0\0\x80\x3f\0\0\0\0\1\0", 10));
  write("metadata",
        R"({"__metadata__":{"format":"pt"},"\u0061":{"data_offsets":[0,0],)"
        R"("shape":[0,7],"dtype":"BF16"}})",
        "");
}

// See csv_fuzz_test.cc: options, dtype, text.
void WriteCsvs(const std::filesystem::path& folder) {
  Write(folder / "floats",
        std::string("\x03\x0b", 2) + "x,\"y, \"\"z\"\"\"\r\n1.5,-inf\r\n,nan");
  Write(folder / "integers", std::string("\x04\x01", 2) + "1;\"+2\"\n3; 4 \n");
  Write(folder / "bools", std::string("\x01\x00", 2) + "a\ntrue\n0\n");
}

void WriteIdxs(const std::filesystem::path& folder) {
  for (const int type : {8, 9, 11, 12, 13, 14}) {
    std::string bytes{'\0', '\0', static_cast<char>(type), '\2'};
    bytes += std::string("\0\0\0\2\0\0\0\3", 8);
    const int width = type < 10 ? 1 : type == 11 ? 2 : type == 14 ? 8 : 4;
    for (int i = 0; i < 6 * width; ++i) bytes.push_back(static_cast<char>(i));
    Write(folder / std::to_string(type), bytes);
    Write(folder / (std::to_string(type) + "_gz"), Deflated(bytes, 31));
  }
}

// With the digest, and without it: the fuzz test seals them.
void WriteDigestRecords(const std::filesystem::path& folder) {
  const DatasetSource source{
      {{"a", Literal::Zeros(Shape::Of(DType::kF32, {2, 3}))},
       {"", Literal::Zeros(Shape::Of(DType::kU8, {0}))}}};
  const std::string record = EncodeDigestRecord(
      {{1, 2, 24, 3, 4}, "any", ManifestOf(source, 1).arrays});
  Write(folder / "record", record);
  Write(folder / "unsealed", record.substr(0, record.size() - Digest::kSize));
}

// Payloads too: the fuzz test seals them.
void WriteRecords(const std::filesystem::path& folder) {
  const DatasetSource source{
      {{"a", Literal::Zeros(Shape::Of(DType::kF32, {2, 3}))},
       {"b", Literal::Zeros(Shape::Of(DType::kU8, {0}))}}};
  const DatasetManifest manifest = ManifestOf(source, 1);
  const std::string dataset = server::EncodeDataset({"tenant", manifest});
  const std::string chunk =
      server::EncodeChunkHeader({manifest.arrays[0].chunks[0], 24, "tenant"});
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
  hawser::WriteStableHlo(folder / "stablehlo_bytes_corpus");
  hawser::WriteEdited(folder / "text_edits_corpus", 5, 1);
  hawser::Write(folder / "case_bytes_corpus" / "all",
                std::string(hawser::kSampleCases));
  hawser::WriteEdited(folder / "case_edits_corpus", 6, 0);
  hawser::WriteNpys(folder / "npy_corpus");
  hawser::WriteIdxs(folder / "idx_corpus");
  hawser::WriteNpzs(folder / "npz_corpus");
  hawser::WriteSafetensorsFiles(folder / "safetensors_corpus");
  hawser::WriteCsvs(folder / "csv_corpus");
  hawser::WriteEdited(folder / "manifest_edits_corpus", 6, 0);
  hawser::WriteDigestRecords(folder / "digest_record_corpus");
  hawser::WriteRecords(folder / "record_corpus");
  hawser::WriteEdited(folder / "random_graph_corpus", 12, 0);
  return 0;
}
