// A good dataset manifest with fields changed by reflection: what is accepted
// keeps the rules of manifests, on the wire and in a server's record.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/wire/codec.h"
#include "server/datasets/storage/record.h"
#include "tests/fuzz/inputs/message_edits.h"

namespace hawser {
namespace {

const v1::DatasetManifestProto& Original() {
  static const auto& proto = *[] {
    const DatasetSource source{
        {{"a", Literal::Zeros(Shape::Of(DType::kF32, {2, 3}))},
         {"b", Literal::Zeros(Shape::Of(DType::kU8, {5 << 20}))},
         {"c", Literal::Zeros(Shape::Of(DType::kC128, {0}))}}};
    return new v1::DatasetManifestProto(ToProto(ManifestOf(source, 1)));
  }();
  return proto;
}

void CheckManifestProto(const v1::DatasetManifestProto& proto) {
  const auto manifest = FromProto(proto);
  if (!manifest.ok()) {
    HAWSER_CHECK(!manifest.status().message().empty());
    HAWSER_CHECK(manifest.status().message().size() < 16384);
    return;
  }
  HAWSER_CHECK(CheckManifest(*manifest).ok());
  const auto back = FromProto(ToProto(*manifest));
  HAWSER_CHECK(back.ok() && TokenOf(*back) == TokenOf(*manifest));
  const auto record =
      server::DecodeDataset(server::EncodeDataset({"tenant", *manifest}));
  HAWSER_CHECK(record.ok() && record->tenant == "tenant");
  HAWSER_CHECK(TokenOf(record->manifest) == TokenOf(*manifest));
}

}  // namespace
}  // namespace hawser

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Digests of other lengths, beside the names.
  static const auto& words = *[] {
    auto* all = new std::vector<std::string>(hawser::WordsOf(hawser::Original()));
    for (const size_t length : {31, 32, 33, 64}) all->emplace_back(length, 'x');
    return all;
  }();
  hawser::v1::DatasetManifestProto proto = hawser::Original();
  hawser::EditMessage({data, size}, words, &proto);
  hawser::CheckManifestProto(proto);
  return 0;
}
