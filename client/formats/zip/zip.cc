#include "client/formats/zip/zip.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "client/formats/files/quoted.h"
#include "client/formats/zip/inflater.h"
#include "core/base/status.h"
#include "core/base/values/literal.h"

namespace hawser {
namespace {

// APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16 and 4.5.3.
constexpr uint32_t kLocalSignature = 0x04034B50;
constexpr uint32_t kMemberSignature = 0x02014B50;
constexpr uint32_t kEndSignature = 0x06054B50;
constexpr uint32_t kEnd64Signature = 0x06064B50;
constexpr uint32_t kLocator64Signature = 0x07064B50;
constexpr int64_t kEndBytes = 22;
constexpr int64_t kEnd64Bytes = 56;
constexpr int64_t kLocator64Bytes = 20;
constexpr int64_t kMostCommentBytes = 0xFFFF;
constexpr uint64_t kZip64Field = 1;
constexpr uint64_t kEncrypted = 1;  // a bit of a member's flags
constexpr uint64_t kStored = 0;
constexpr uint64_t kDeflated = 8;

// Takes little-endian numbers off the front of some bytes. Past their end a
// number is 0 and `ok` turns false.
class ZipNumbers {
 public:
  explicit ZipNumbers(absl::string_view bytes) : rest_(bytes) {}

  uint64_t Take(size_t width) {
    const absl::string_view bytes = Bytes(width);
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << 8 * i;
    }
    return value;
  }
  absl::string_view Bytes(uint64_t count) {
    ok_ = ok_ && count <= rest_.size();
    if (!ok_) return "";
    const absl::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  bool ok() const { return ok_; }
  bool empty() const { return rest_.empty(); }

 private:
  absl::string_view rest_;
  bool ok_ = true;
};

// The place of the directory, and how many members it claims to have.
struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t members = 0;
  int64_t end = 0;  // the first byte after it
};

absl::string_view Text(const FileBytes& file) {
  return {file.data.get(), static_cast<size_t>(file.size)};
}

uint64_t SignatureAt(const FileBytes& file, int64_t offset) {
  return ZipNumbers(Text(file).substr(offset)).Take(4);
}

// Returns where the end record is: a comment, whose length it states, may
// follow it.
absl::StatusOr<int64_t> FindEnd(const FileBytes& file) {
  const int64_t first =
      std::max<int64_t>(0, file.size - kEndBytes - kMostCommentBytes);
  for (int64_t at = file.size - kEndBytes; at >= first; --at) {
    if (SignatureAt(file, at) != kEndSignature) continue;
    ZipNumbers comment(Text(file).substr(at + kEndBytes - 2));
    if (static_cast<int64_t>(comment.Take(2)) == file.size - at - kEndBytes) {
      return at;
    }
  }
  return InvalidArgument("has no end of a zip directory; is it cut short?");
}

// Replaces the numbers that do not fit into the end record, which is at `end`.
absl::Status ReadEnd64(const FileBytes& file, int64_t end,
                       Directory* directory) {
  const int64_t locator = end - kLocator64Bytes;
  if (locator < kEnd64Bytes ||
      SignatureAt(file, locator) != kLocator64Signature) {
    return InvalidArgument("has no zip64 locator where it must be");
  }
  ZipNumbers at(Text(file).substr(locator + 4));
  at.Take(4);  // disk
  const uint64_t record = at.Take(8);
  if (record > static_cast<uint64_t>(locator - kEnd64Bytes)) {
    return InvalidArgument("zip64 end record at ", record, " of ", file.size,
                           " bytes");
  }
  ZipNumbers in(Text(file).substr(record));
  if (in.Take(4) != kEnd64Signature) {
    return InvalidArgument("has no zip64 end record at ", record);
  }
  in.Bytes(8 + 2 + 2 + 4 + 4 + 8);  // size, versions, disks, members here
  directory->members = in.Take(8);
  directory->size = in.Take(8);
  directory->offset = in.Take(8);
  directory->end = static_cast<int64_t>(record);
  return absl::OkStatus();
}

absl::StatusOr<Directory> FindDirectory(const FileBytes& file) {
  HAWSER_ASSIGN_OR_RETURN(const int64_t end, FindEnd(file));
  ZipNumbers in(Text(file).substr(end + 4));
  const uint64_t disk = in.Take(2), directory_disk = in.Take(2);
  in.Take(2);  // members on this disk
  Directory directory;
  directory.members = in.Take(2);
  directory.size = in.Take(4);
  directory.offset = in.Take(4);
  directory.end = end;
  const bool in_64 = directory.members == 0xFFFF ||
                     directory.size == kInZip64 || directory.offset == kInZip64;
  if (in_64) HAWSER_RETURN_IF_ERROR(ReadEnd64(file, end, &directory));
  if (!in_64 && (disk != 0 || directory_disk != 0)) {
    return InvalidArgument("is one of several zip disks");
  }
  const auto last = static_cast<uint64_t>(directory.end);
  if (directory.offset > last || directory.size != last - directory.offset) {
    return InvalidArgument("zip directory of ", directory.size, " bytes at ",
                           directory.offset, " does not end at ", last);
  }
  return directory;
}

// The claims of a member's record; nothing of it is checked.
struct MemberClaim {
  uint64_t flags, method, crc, packed, size, local;
  absl::string_view name;
};

// Replaces the numbers that do not fit into 32 bits by those of the zip64
// field, which stand there in this order.
absl::Status TakeZip64(absl::string_view extra, MemberClaim* claim) {
  uint64_t* const numbers[] = {&claim->size, &claim->packed, &claim->local};
  ZipNumbers fields(extra);
  absl::string_view wide;
  while (!fields.empty() && fields.ok()) {
    const uint64_t id = fields.Take(2);
    const absl::string_view field = fields.Bytes(fields.Take(2));
    if (id == kZip64Field) wide = field;
  }
  ZipNumbers in(wide);
  for (uint64_t* number : numbers) {
    if (*number == kInZip64) *number = in.Take(8);
  }
  if (fields.ok() && in.ok()) return absl::OkStatus();
  return InvalidArgument("member ", Quoted(claim->name),
                         " has a malformed extra field");
}

absl::StatusOr<MemberClaim> TakeClaim(ZipNumbers& in) {
  const bool begins = in.Take(4) == kMemberSignature;
  in.Bytes(2 + 2);  // versions
  MemberClaim claim;
  claim.flags = in.Take(2);
  claim.method = in.Take(2);
  in.Bytes(2 + 2);  // time and date
  claim.crc = in.Take(4);
  claim.packed = in.Take(4);
  claim.size = in.Take(4);
  const uint64_t name = in.Take(2), extra = in.Take(2), comment = in.Take(2);
  in.Bytes(2 + 2 + 4);  // disk, attributes
  claim.local = in.Take(4);
  claim.name = in.Bytes(name);
  const absl::string_view fields = in.Bytes(extra);
  in.Bytes(comment);
  if (!begins || !in.ok()) {
    return InvalidArgument("zip directory ends within a member's record");
  }
  HAWSER_RETURN_IF_ERROR(TakeZip64(fields, &claim));
  return claim;
}

absl::Status CheckClaim(const MemberClaim& claim) {
  HAWSER_RETURN_IF_ERROR(CheckMemberName(claim.name));
  const std::string member = absl::StrCat("member ", Quoted(claim.name));
  if (claim.flags & kEncrypted) return InvalidArgument(member, " is encrypted");
  if (claim.method != kStored && claim.method != kDeflated) {
    return InvalidArgument(member, " is packed by method ", claim.method,
                           ", known are 0 and 8");
  }
  const bool fits = claim.method == kStored
                        ? claim.size == claim.packed
                        : claim.size / kMaxDeflateRatio <= claim.packed;
  if (fits) return absl::OkStatus();
  return InvalidArgument(member, " of ", claim.packed,
                         " packed bytes cannot hold ", claim.size);
}

// The bytes after the local header, which must name the same member.
absl::StatusOr<FileBytes> FindPacked(const FileBytes& file,
                                     const MemberClaim& claim,
                                     const Directory& directory) {
  const absl::string_view members = Text(file).substr(0, directory.offset);
  if (claim.local > members.size()) {
    return InvalidArgument("member ", Quoted(claim.name), " begins at ",
                           claim.local, ", behind all members");
  }
  ZipNumbers in(members.substr(claim.local));
  const bool begins = in.Take(4) == kLocalSignature;
  in.Bytes(2 + 2);  // version, flags
  const uint64_t method = in.Take(2);
  in.Bytes(2 + 2 + 4 + 4 + 4);  // time, date, checksum, sizes
  const uint64_t name = in.Take(2), extra = in.Take(2);
  const bool same =
      begins && in.Bytes(name) == claim.name && method == claim.method;
  in.Bytes(extra);
  const absl::string_view packed = in.Bytes(claim.packed);
  if (!same || !in.ok()) {
    return InvalidArgument("member ", Quoted(claim.name), " of ", claim.packed,
                           " packed bytes is not at ", claim.local);
  }
  const int64_t offset = packed.empty() ? 0 : packed.data() - file.data.get();
  return file.Part(offset, static_cast<int64_t>(packed.size()));
}

// Refuses members that share bytes: a small archive of them would unpack to the
// square of its size.
absl::Status CheckDisjoint(std::vector<std::pair<uint64_t, uint64_t>> extents) {
  std::sort(extents.begin(), extents.end());
  for (size_t i = 1; i < extents.size(); ++i) {
    if (extents[i].first >= extents[i - 1].second) continue;
    return InvalidArgument("two members share bytes, at ", extents[i].first);
  }
  return absl::OkStatus();
}

absl::StatusOr<FileBytes> Inflate(const ZipMember& member) {
  HAWSER_ASSIGN_OR_RETURN(const Shape shape,
                          Shape::Make(DType::kU8, {member.size}));
  HAWSER_ASSIGN_OR_RETURN(Literal room, Literal::Allocate(shape));
  Inflater inflater(member.packed.span(), DeflateFrame::kNone);
  HAWSER_RETURN_IF_ERROR(inflater.Read(room.mutable_bytes()));
  HAWSER_RETURN_IF_ERROR(inflater.Finish());
  auto owner = std::make_shared<const Literal>(std::move(room));
  const char* bytes = owner->bytes().data();
  return FileBytes{std::shared_ptr<const char>(std::move(owner), bytes),
                   member.size};
}

}  // namespace

absl::Status CheckMemberName(absl::string_view name) {
  const bool printable = std::none_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_iscntrl(static_cast<unsigned char>(c));
  });
  bool relative =
      !name.empty() && name[0] != '/' && !absl::StrContains(name, '\\');
  for (absl::string_view part : absl::StrSplit(name, '/')) {
    relative = relative && part != "..";
  }
  if (printable && relative) return absl::OkStatus();
  return InvalidArgument("member ", Quoted(name),
                         " has no relative path for a name");
}

absl::StatusOr<std::vector<ZipMember>> ReadZipDirectory(const FileBytes& file) {
  HAWSER_ASSIGN_OR_RETURN(const Directory directory, FindDirectory(file));
  ZipNumbers in(Text(file).substr(directory.offset, directory.size));
  std::vector<ZipMember> members;
  absl::flat_hash_set<absl::string_view> names;
  std::vector<std::pair<uint64_t, uint64_t>> extents;
  while (!in.empty()) {
    HAWSER_ASSIGN_OR_RETURN(const MemberClaim claim, TakeClaim(in));
    HAWSER_RETURN_IF_ERROR(CheckClaim(claim));
    HAWSER_ASSIGN_OR_RETURN(FileBytes packed,
                            FindPacked(file, claim, directory));
    if (!names.insert(claim.name).second) {
      return InvalidArgument("two members are called ", Quoted(claim.name));
    }
    // An empty member ends where its header begins, which no other may do.
    const uint64_t end =
        packed.size == 0
            ? claim.local + 1
            : static_cast<uint64_t>(packed.data.get() - file.data.get()) +
                  claim.packed;
    extents.emplace_back(claim.local, end);
    members.push_back({std::string(claim.name), std::move(packed),
                       static_cast<int64_t>(claim.size),
                       static_cast<uint32_t>(claim.crc),
                       claim.method == kDeflated});
  }
  if (members.size() != directory.members) {
    return InvalidArgument("zip directory has ", members.size(),
                           " members, its end says ", directory.members);
  }
  HAWSER_RETURN_IF_ERROR(CheckDisjoint(std::move(extents)));
  return members;
}

absl::StatusOr<FileBytes> UnpackMember(const ZipMember& member) {
  absl::StatusOr<FileBytes> bytes =
      member.deflated ? Inflate(member) : member.packed;
  const std::string name = absl::StrCat("member ", Quoted(member.name));
  if (!bytes.ok()) return Annotate(bytes.status(), name);
  const auto crc = static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes->data.get()),
              static_cast<size_t>(bytes->size)));
  if (crc == member.crc) return bytes;
  return InvalidArgument(name, " has CRC-32 ", absl::Hex(crc, absl::kZeroPad8),
                         ", the directory says ",
                         absl::Hex(member.crc, absl::kZeroPad8));
}

}  // namespace hawser
