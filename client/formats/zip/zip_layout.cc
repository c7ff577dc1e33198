#include "client/formats/zip/zip_layout.h"

#include <zlib.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "client/formats/files/quoted.h"
#include "client/formats/zip/zip.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16 and 4.5.3.
constexpr uint64_t kVersion = 45;       // the first with zip64
constexpr uint64_t kFirstDay = 0x0021;  // 1980-01-01: no clock in the bytes
constexpr int64_t kLocalBytes = 30, kLocal64Bytes = 4 + 16;
constexpr int64_t kLocalCrc = 14, kMemberCrc = 16;  // where the CRC-32 stands
constexpr int64_t kAlignment = 64;
constexpr uint64_t kPadding =
    0xD935;  // a field of Android's, which other readers skip
constexpr int64_t kPaddingBytes = 4 + 2;

std::string Little(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) {
    out.push_back(static_cast<char>(value >> 8 * i));
  }
  return out;
}

// Returns the bytes that both records of a member have in common.
std::string Middle(const MemberToFill& member, uint64_t extra) {
  return absl::StrCat(Little(kVersion, 2), Little(0, 2 + 2), Little(0, 2),
                      Little(kFirstDay, 2), Little(0, 4), Little(kInZip64, 4),
                      Little(kInZip64, 4), Little(member.name.size(), 2),
                      Little(extra, 2));
}

uint64_t BytesOf(const MemberToFill& member) {
  return member.front.size() + static_cast<uint64_t>(member.size);
}

// The record in front of a member, at `offset` of the archive.
std::string LocalHeader(const MemberToFill& member, int64_t offset) {
  const int64_t least = kLocalBytes + static_cast<int64_t>(member.name.size()) +
                        kLocal64Bytes + kPaddingBytes;
  const int64_t missing =
      (kAlignment - (offset + least) % kAlignment) % kAlignment;
  const std::string size = Little(BytesOf(member), 8);
  const std::string extra =
      absl::StrCat(Little(1, 2), Little(16, 2), size, size, Little(kPadding, 2),
                   Little(2 + missing, 2), Little(kAlignment, 2),
                   std::string(missing, '\0'));
  return absl::StrCat("PK\3\4", Middle(member, extra.size()), member.name,
                      extra);
}

std::string DirectoryRecord(const MemberToFill& member, int64_t offset) {
  const std::string size = Little(BytesOf(member), 8);
  const std::string extra =
      absl::StrCat(Little(1, 2), Little(24, 2), size, size, Little(offset, 8));
  return absl::StrCat("PK\1\2", Little(kVersion, 2),
                      Middle(member, extra.size()), Little(0, 2 + 2 + 2 + 4),
                      Little(kInZip64, 4), member.name, extra);
}

// The end records of a directory of `size` bytes at `offset`.
std::string End(uint64_t members, uint64_t offset, uint64_t size) {
  return absl::StrCat("PK\6\6", Little(44, 8), Little(kVersion, 2),
                      Little(kVersion, 2), Little(0, 4 + 4), Little(members, 8),
                      Little(members, 8), Little(size, 8), Little(offset, 8),
                      "PK\6\7", Little(0, 4), Little(offset + size, 8),
                      Little(1, 4), "PK\5\6", Little(0, 2 + 2),
                      Little(0xFFFF, 2), Little(0xFFFF, 2), Little(kInZip64, 4),
                      Little(kInZip64, 4), Little(0, 2));
}

absl::Status CheckNames(absl::Span<const MemberToFill> members) {
  absl::flat_hash_set<absl::string_view> names;
  for (const MemberToFill& member : members) {
    HAWSER_RETURN_IF_ERROR(CheckMemberName(member.name));
    if (!names.insert(member.name).second) {
      return InvalidArgument("two members are called ", Quoted(member.name));
    }
  }
  return absl::OkStatus();
}

// The offsets of a member's parts in the file.
struct Place {
  int64_t local = 0, bytes = 0, record = 0;
};

// Puts the checksum of a member's bytes into both of its records.
void Seal(absl::Span<char> file, const Place& place, uint64_t size) {
  const auto* bytes = reinterpret_cast<const Bytef*>(file.data() + place.bytes);
  const std::string crc = Little(crc32_z(0, bytes, size), 4);
  for (int64_t at : {place.local + kLocalCrc, place.record + kMemberCrc}) {
    std::copy(crc.begin(), crc.end(), file.begin() + at);
  }
}

}  // namespace

absl::StatusOr<ArraysToFill> LayOutZip(const std::string& path,
                                       absl::Span<const MemberToFill> members) {
  const absl::Status names = CheckNames(members);
  if (!names.ok()) return Annotate(names, path);
  std::vector<Place> places;
  std::vector<std::string> headers;
  int64_t end = 0;
  for (const MemberToFill& member : members) {
    headers.push_back(LocalHeader(member, end));
    const int64_t bytes = end + static_cast<int64_t>(headers.back().size());
    places.push_back({.local = end, .bytes = bytes});
    end = bytes + static_cast<int64_t>(BytesOf(member));
  }
  std::string back;
  for (size_t i = 0; i < members.size(); ++i) {
    places[i].record = end + static_cast<int64_t>(back.size());
    back += DirectoryRecord(members[i], places[i].local);
  }
  back += End(members.size(), end, back.size());
  HAWSER_ASSIGN_OR_RETURN(
      FileToFill file,
      FileToFill::Create(path, end + static_cast<int64_t>(back.size())));
  const absl::Span<char> all = file.bytes();
  std::copy(back.begin(), back.end(), all.begin() + end);
  std::vector<absl::Span<char>> elements;
  std::vector<uint64_t> sizes;
  for (size_t i = 0; i < members.size(); ++i) {
    const std::string& front = members[i].front;
    std::copy(headers[i].begin(), headers[i].end(),
              all.begin() + places[i].local);
    std::copy(front.begin(), front.end(), all.begin() + places[i].bytes);
    elements.push_back(
        all.subspan(places[i].bytes + front.size(), members[i].size));
    sizes.push_back(BytesOf(members[i]));
  }
  return ArraysToFill{
      std::move(file), std::move(elements),
      [all, places = std::move(places), sizes = std::move(sizes)] {
        for (size_t i = 0; i < places.size(); ++i) {
          Seal(all, places[i], sizes[i]);
        }
      }};
}

}  // namespace hawser
