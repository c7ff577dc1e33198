// Zip archives, as far as npz files need them: stored and deflated members,
// zip64.
#ifndef HAWSER_CLIENT_FORMATS_ZIP_ZIP_H_
#define HAWSER_CLIENT_FORMATS_ZIP_ZIP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/formats/files/file_bytes.h"

namespace hawser {

inline constexpr absl::string_view kZipMagic = "PK\3\4";
inline constexpr absl::string_view kEmptyZipMagic = "PK\5\6";
// A field of 32 bits that holds this has its number in the zip64 field.
inline constexpr uint64_t kInZip64 = 0xFFFFFFFF;

struct ZipMember {
  std::string name;
  FileBytes packed;  // as it lies in the archive
  int64_t size = 0;  // unpacked
  uint32_t crc = 0;  // of the unpacked bytes
  bool deflated = false;
};

// The members, in the order of the archive's directory; none is unpacked. The
// directory is checked as a whole: members share no bytes, none claims to be
// larger than its packed bytes can hold, names are distinct, relative and
// without "..". Errors: kInvalidArgument naming member and field, for encrypted
// members and for other methods than stored and deflated, too.
absl::StatusOr<std::vector<ZipMember>> ReadZipDirectory(const FileBytes& file);

// Checks a member's name: relative, printable, without "..". Errors:
// kInvalidArgument naming it.
absl::Status CheckMemberName(absl::string_view name);

// A member's bytes: mapped where it is stored, else unpacked.
// Errors: kInvalidArgument naming the member, for damaged data and for another
// checksum; kResourceExhausted where there is no room for it.
absl::StatusOr<FileBytes> UnpackMember(const ZipMember& member);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_ZIP_ZIP_H_
