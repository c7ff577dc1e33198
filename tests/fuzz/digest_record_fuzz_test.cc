// Arbitrary bytes as what a client remembers of a file: as they are, and sealed
// by a right digest.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/digests/digest_record.h"
#include "core/base/status.h"

namespace hawser {
namespace {

void CheckRecord(const std::string& bytes) {
  const auto record = DecodeDigestRecord(bytes);
  if (!record.has_value()) return;
  for (const ArrayManifest& array : record->arrays) {
    HAWSER_CHECK(static_cast<int64_t>(array.chunks.size()) ==
                 array.num_chunks());
  }
  // There is one way to write a record.
  HAWSER_CHECK(EncodeDigestRecord(*record) == bytes);
}

}  // namespace
}  // namespace hawser

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  hawser::CheckRecord(bytes);
  hawser::CheckRecord(absl::StrCat(bytes, hawser::Sha256(bytes).bytes()));
  return 0;
}
