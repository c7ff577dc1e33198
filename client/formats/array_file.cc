#include "client/formats/array_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "client/formats/idx.h"
#include "client/formats/inflater.h"
#include "client/formats/mapped_array.h"
#include "client/formats/npy.h"
#include "client/formats/npy_header.h"
#include "client/formats/npz.h"
#include "client/formats/safetensors.h"
#include "client/formats/zip.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using Parse = absl::StatusOr<NamedArrays> (*)(const FileBytes&);

template <absl::StatusOr<Literal> (*parse)(const FileBytes&)>
absl::StatusOr<NamedArrays> One(const FileBytes& file) {
  HAWSER_ASSIGN_OR_RETURN(Literal value, parse(file));
  NamedArrays arrays;
  arrays.push_back({"", std::move(value)});
  return arrays;
}

// Of files that hold one array, whatever it is called.
absl::StatusOr<ArraysToFill> LayOutOneNpy(
    const std::string& path, absl::Span<const ArrayToFill> arrays) {
  if (arrays.size() == 1) return LayOutNpy(path, arrays[0].shape);
  return InvalidArgument(path, ": an npy file holds one array, not ",
                         arrays.size());
}

bool IsNpy(const FileBytes& file) { return file.StartsWith(kNpyMagic); }
bool IsZip(const FileBytes& file) {
  return file.StartsWith(kZipMagic) || file.StartsWith(kEmptyZipMagic);
}
bool IsIdx(const FileBytes& file) {
  return file.StartsWith(kGzipMagic) ||
         file.StartsWith(absl::string_view("\0\0", 2));
}

// A format is read by what the file holds and written by what it is called. The
// first row that fits counts.
struct FormatRow {
  bool (*is_it)(const FileBytes&);
  Parse parse;
  absl::string_view suffix = "";  // of those that are written
  LayOut lay_out = nullptr;
  bool holds_names = false;
};
constexpr FormatRow kFormats[] = {
    {LooksLikeSafetensors, ParseSafetensors, ".safetensors", LayOutSafetensors,
     true},
    {IsNpy, One<ParseNpy>, ".npy", LayOutOneNpy},
    {IsZip, ParseNpz, ".npz", LayOutNpz, true},
    {IsIdx, One<ParseIdx>},
};

// Null: none.
Parse ParserOf(const FileBytes& file) {
  for (const FormatRow& row : kFormats) {
    if (row.is_it(file)) return row.parse;
  }
  return nullptr;
}

// Null: none.
const FormatRow* WriterOf(absl::string_view path) {
  for (const FormatRow& row : kFormats) {
    if (row.lay_out != nullptr && absl::EndsWithIgnoreCase(path, row.suffix)) {
      return &row;
    }
  }
  return nullptr;
}

bool IsCsv(absl::string_view name, const ReadOptions& options) {
  return options.format == ReadOptions::Format::kCsv ||
         absl::EndsWithIgnoreCase(name, ".csv");
}

// Goes up with every change to what a reader makes of a file.
constexpr int kReaders = 1;

}  // namespace

absl::StatusOr<NamedArrays> ParseArrays(const FileBytes& file,
                                        absl::string_view name,
                                        const ReadOptions& options) {
  if (options.format == ReadOptions::Format::kRaw) {
    NamedArrays arrays(1);
    HAWSER_ASSIGN_OR_RETURN(arrays[0].value, MappedArray(options.raw, file));
    return arrays;
  }
  const Parse parse =
      options.format == ReadOptions::Format::kAny ? ParserOf(file) : nullptr;
  if (parse != nullptr) return parse(file);
  if (IsCsv(name, options)) return ParseCsv(file, options.csv);
  if (file.size == 0) return InvalidArgument("is empty");
  const absl::string_view front(
      file.data.get(), static_cast<size_t>(std::min<int64_t>(file.size, 8)));
  return InvalidArgument(
      "is none of npy, npz, safetensors and IDX, and not called .csv; it "
      "begins with \"",
      absl::CHexEscape(front), "\"");
}

absl::StatusOr<NamedArrays> ReadArrays(const std::string& path,
                                       const ReadOptions& options) {
  HAWSER_ASSIGN_OR_RETURN(const FileBytes file, MapFile(path));
  absl::StatusOr<NamedArrays> arrays = ParseArrays(file, path, options);
  if (!arrays.ok()) return Annotate(arrays.status(), path);
  return arrays;
}

absl::StatusOr<Literal> ReadArray(const std::string& path) {
  HAWSER_ASSIGN_OR_RETURN(NamedArrays arrays, ReadArrays(path, {}));
  if (arrays.size() == 1) return std::move(arrays[0].value);
  const size_t named = std::min<size_t>(arrays.size(), 8);
  return InvalidArgument(
      path, ": holds ", arrays.size(), " arrays, one is wanted: ",
      absl::StrJoin(arrays.begin(), arrays.begin() + named, ", ",
                    [](std::string* out, const NamedArray& array) {
                      out->append(absl::CHexEscape(array.name));
                    }),
      named < arrays.size() ? ", ..." : "");
}

absl::StatusOr<bool> IsArrayFile(const std::string& path,
                                 const ReadOptions& options) {
  if (options.format != ReadOptions::Format::kAny) return true;
  HAWSER_ASSIGN_OR_RETURN(const FileBytes file, MapFile(path));
  return ParserOf(file) != nullptr || IsCsv(path, options);
}

bool HoldsNames(absl::string_view path) {
  const FormatRow* row = WriterOf(path);
  return row != nullptr && row->holds_names;
}

absl::StatusOr<ArraysToFill> LayOutArrays(
    const std::string& path, absl::Span<const ArrayToFill> arrays) {
  if (const FormatRow* row = WriterOf(path)) return row->lay_out(path, arrays);
  std::string known;
  for (const FormatRow& row : kFormats) {
    if (row.lay_out != nullptr) absl::StrAppend(&known, " ", row.suffix);
  }
  return InvalidArgument(path, ": is called none of", known);
}

absl::Status WriteArrays(const std::string& path,
                         absl::Span<const NamedArray> arrays) {
  return WriteFilled(path, LayOutArrays, arrays);
}

std::string ReadingOf(absl::string_view name, const ReadOptions& options) {
  if (options.format == ReadOptions::Format::kRaw) {
    return absl::StrCat("raw ", options.raw.ToString());  // as it lies there
  }
  const CsvOptions& csv = options.csv;
  const std::string dtypes =
      absl::StrJoin(csv.dtypes, ",", [](std::string* out, DType dtype) {
        absl::StrAppend(out, DTypeName(dtype));
      });
  return absl::StrCat(
      options.format == ReadOptions::Format::kCsv ? "csv" : "any", kReaders,
      IsCsv(name, options)
          ? absl::StrCat(" ", dtypes, " header=", csv.header,
                         " matrix=", csv.matrix, " nan=", csv.empty_is_nan,
                         " separator=", absl::string_view(&csv.separator, 1))
          : "");
}

}  // namespace hawser
