// Zip archives for tests, valid and invalid ones.
#ifndef HAWSER_TESTS_CLIENT_FORMATS_ZIP_WRITER_H_
#define HAWSER_TESTS_CLIENT_FORMATS_ZIP_WRITER_H_

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/client/formats/deflated.h"

namespace hawser {

// One member. Every field that is set beside name and data is a false entry of
// the directory.
struct TestMember {
  std::string name;
  std::string data;
  bool deflated = false;
  std::optional<uint64_t> size = {}, packed = {}, local = {};
  std::optional<uint32_t> crc = {};
  std::optional<std::string> local_name = {};
  int method = -1;
  int flags = 0;
};

inline std::string Little(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i);
  return out;
}

inline uint32_t Crc(const std::string& bytes) {
  return crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

struct ZipOptions {
  bool zip64 = false;  // all sizes and offsets in zip64 fields
  std::string comment = "";
  std::optional<uint64_t> members = {}, offset = {}, size = {};  // lies
};

class ZipWriter {
 public:
  explicit ZipWriter(ZipOptions options) : options_(std::move(options)) {}

  void Add(const TestMember& member) {
    const std::string data =
        member.deflated ? Deflated(member.data, -15) : member.data;
    const int method = member.method >= 0 ? member.method
                       : member.deflated  ? 8
                                          : 0;
    const uint64_t local = member.local.value_or(out_.size());
    const uint64_t size = member.size.value_or(member.data.size());
    const uint64_t packed = member.packed.value_or(data.size());
    const std::string middle = Little(member.flags, 2) + Little(method, 2) +
                               Little(0, 4) +
                               Little(member.crc.value_or(Crc(member.data)), 4);
    // Sizes are in the directory alone, as in an archive written to a pipe.
    absl::StrAppend(
        &out_, Little(0x04034B50, 4), Little(45, 2), middle, Little(0, 8),
        Little(member.local_name.value_or(member.name).size(), 2), Little(0, 2),
        member.local_name.value_or(member.name), data);
    const bool wide = options_.zip64;
    const std::string extra = wide ? Little(1, 2) + Little(24, 2) +
                                         Little(size, 8) + Little(packed, 8) +
                                         Little(local, 8)
                                   : "";
    const uint64_t all = 0xFFFFFFFF;
    absl::StrAppend(&directory_, Little(0x02014B50, 4), Little(45, 2),
                    Little(45, 2), middle, Little(wide ? all : packed, 4),
                    Little(wide ? all : size, 4), Little(member.name.size(), 2),
                    Little(extra.size(), 2), Little(0, 2), Little(0, 8),
                    Little(wide ? all : local, 4), member.name, extra);
    ++members_;
  }

  std::string Finish() const {
    const uint64_t offset = options_.offset.value_or(out_.size());
    const uint64_t size = options_.size.value_or(directory_.size());
    const uint64_t members = options_.members.value_or(members_);
    std::string end;
    if (options_.zip64) {
      end = Little(0x06064B50, 4) + Little(44, 8) + Little(45, 2) +
            Little(45, 2) + Little(0, 8) + Little(members, 8) +
            Little(members, 8) + Little(size, 8) + Little(offset, 8) +
            Little(0x07064B50, 4) + Little(0, 4) +
            Little(out_.size() + directory_.size(), 8) + Little(1, 4);
    }
    const bool wide = options_.zip64;
    return out_ + directory_ + end + Little(0x06054B50, 4) + Little(0, 4) +
           Little(wide ? 0xFFFF : members, 2) +
           Little(wide ? 0xFFFF : members, 2) +
           Little(wide ? 0xFFFFFFFF : size, 4) +
           Little(wide ? 0xFFFFFFFF : offset, 4) +
           Little(options_.comment.size(), 2) + options_.comment;
  }

 private:
  const ZipOptions options_;
  std::string out_, directory_;
  uint64_t members_ = 0;
};

inline std::string MakeZip(const std::vector<TestMember>& members,
                           const ZipOptions& options = {}) {
  ZipWriter writer(options);
  for (const TestMember& member : members) writer.Add(member);
  return writer.Finish();
}

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_FORMATS_ZIP_WRITER_H_
