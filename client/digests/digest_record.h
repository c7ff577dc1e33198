// One remembered file as bytes.
#ifndef HAWSER_CLIENT_DIGESTS_DIGEST_RECORD_H_
#define HAWSER_CLIENT_DIGESTS_DIGEST_RECORD_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/digests/file_version.h"
#include "core/runtime/dataset.h"

namespace hawser {

struct DigestRecord {
  FileVersion version;
  std::string reading;  // how the file was read, see ReadingOf
  std::vector<ArrayManifest> arrays;
};

std::string EncodeDigestRecord(const DigestRecord& record);
// Nothing for bytes that EncodeDigestRecord did not make, whatever they are.
std::optional<DigestRecord> DecodeDigestRecord(absl::string_view bytes);

}  // namespace hawser
#endif  // HAWSER_CLIENT_DIGESTS_DIGEST_RECORD_H_
