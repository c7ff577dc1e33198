#include "client/formats/array_file.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "client/formats/gunzip.h"
#include "client/formats/idx.h"
#include "client/formats/npy.h"
#include "client/formats/npy_header.h"
#include "core/base/status.h"

namespace hawser {
namespace {

struct FormatRow {
  absl::string_view magic;
  absl::StatusOr<Literal> (*parse)(const FileBytes&);
};
constexpr FormatRow kFormats[] = {
    {kNpyMagic, ParseNpy},
    {kGzipMagic, ParseIdx},
    {absl::string_view("\0\0", 2), ParseIdx},
};

}  // namespace

absl::StatusOr<Literal> ParseArray(const FileBytes& file) {
  for (const FormatRow& row : kFormats) {
    if (file.StartsWith(row.magic)) return row.parse(file);
  }
  if (file.size == 0) return InvalidArgument("is empty");
  const absl::string_view front(
      file.data.get(), static_cast<size_t>(std::min<int64_t>(file.size, 8)));
  return InvalidArgument("is neither npy nor IDX, it begins with \"",
                         absl::CHexEscape(front), "\"");
}

absl::StatusOr<Literal> ReadArray(const std::string& path) {
  HAWSER_ASSIGN_OR_RETURN(FileBytes file, MapFile(path));
  absl::StatusOr<Literal> value = ParseArray(file);
  if (!value.ok()) return Annotate(value.status(), path);
  return value;
}

}  // namespace hawser
