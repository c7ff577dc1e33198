#include "client/formats/numpy/npz.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/formats/files/array_format.h"
#include "client/formats/files/quoted.h"
#include "client/formats/numpy/npy.h"
#include "client/formats/numpy/npy_header.h"
#include "client/formats/zip/zip.h"
#include "client/formats/zip/zip_layout.h"
#include "core/base/status.h"

namespace hawser {
namespace {

bool IsZip(const FileBytes& file) {
  return file.StartsWith(kZipMagic) || file.StartsWith(kEmptyZipMagic);
}

std::string Named(const ZipMember& member) {
  return absl::StrCat("member ", Quoted(member.name));
}

absl::StatusOr<NamedArray> ParseMember(const ZipMember& member) {
  HAWSER_ASSIGN_OR_RETURN(const FileBytes bytes, UnpackMember(member));
  absl::StatusOr<Literal> value = ParseNpy(bytes);
  if (!value.ok()) return Annotate(value.status(), Named(member));
  return NamedArray{std::string(absl::StripSuffix(member.name, ".npy")),
                    *std::move(value)};
}

absl::StatusOr<std::vector<ArrayReader>> ListNpz(const FileBytes& file) {
  HAWSER_ASSIGN_OR_RETURN(const std::vector<ZipMember> members,
                          ReadZipDirectory(file));
  if (members.empty()) return InvalidArgument("holds no arrays");
  std::vector<ArrayReader> readers;
  for (const ZipMember& member : members) {
    if (!absl::EndsWith(member.name, ".npy")) {
      return InvalidArgument(Named(member), " is no npy file");
    }
    readers.push_back({.bytes = member.size,
                       .packed = member.deflated,
                       .read = [member] { return ParseMember(member); }});
  }
  return readers;
}

}  // namespace

absl::StatusOr<NamedArrays> ParseNpz(const FileBytes& file) {
  HAWSER_ASSIGN_OR_RETURN(const auto readers, ListNpz(file));
  NamedArrays arrays;
  for (const ArrayReader& reader : readers) {
    HAWSER_ASSIGN_OR_RETURN(arrays.emplace_back(), reader.read());
  }
  return arrays;
}

absl::StatusOr<ArraysToFill> LayOutNpz(const std::string& path,
                                       absl::Span<const ArrayToFill> arrays) {
  if (arrays.empty()) return InvalidArgument(path, ": there are no arrays");
  std::vector<MemberToFill> members;
  for (const ArrayToFill& array : arrays) {
    absl::StatusOr<std::string> header = NpyHeaderOf(array.shape);
    if (!header.ok()) {
      return Annotate(header.status(),
                      absl::StrCat(path, ": array ", Quoted(array.name)));
    }
    members.push_back({absl::StrCat(array.name, ".npy"), *std::move(header),
                       array.shape.byte_size()});
  }
  return LayOutZip(path, members);
}

extern constinit const ArrayFormat kNpzFormat = {
    .is_it = IsZip,
    .parse = ParseNpz,
    .list = ListNpz,
    .suffix = ".npz",
    .lay_out = LayOutNpz,
    .holds_names = true,
};

}  // namespace hawser
