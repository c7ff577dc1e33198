#include "client/formats/array_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "client/formats/files/array_format.h"
#include "client/formats/files/mapped_array.h"
#include "core/base/status.h"

namespace hawser {

// Each is defined in the file of its format.
extern const ArrayFormat kSafetensorsFormat, kNpyFormat, kNpzFormat, kPgmFormat,
    kPpmFormat, kIdxFormat;

namespace {

// The first one that fits is the file's format.
constexpr const ArrayFormat* kFormats[] = {&kSafetensorsFormat, &kNpyFormat,
                                           &kNpzFormat,         &kPgmFormat,
                                           &kPpmFormat,         &kIdxFormat};

const ArrayFormat* FormatOf(const FileBytes& file) {
  for (const ArrayFormat* format : kFormats) {
    if (format->is_it(file)) return format;
  }
  return nullptr;
}

const ArrayFormat* WriterOf(absl::string_view path) {
  for (const ArrayFormat* format : kFormats) {
    if (format->lay_out != nullptr &&
        absl::EndsWithIgnoreCase(path, format->suffix)) {
      return format;
    }
  }
  return nullptr;
}

bool IsCsv(absl::string_view name, const ReadOptions& options) {
  return options.format == ReadOptions::Format::kCsv ||
         absl::EndsWithIgnoreCase(name, ".csv");
}

// Goes up with every change to the arrays that a reader makes of a file.
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
  const ArrayFormat* format =
      options.format == ReadOptions::Format::kAny ? FormatOf(file) : nullptr;
  if (format != nullptr) return format->parse(file);
  if (IsCsv(name, options)) return ParseCsv(file, options.csv);
  if (file.size == 0) return InvalidArgument("is empty");
  const absl::string_view front(
      file.data.get(), static_cast<size_t>(std::min<int64_t>(file.size, 8)));
  return InvalidArgument(
      "is none of npy, npz, safetensors, IDX, pgm and ppm, and not called "
      ".csv; it "
      "begins with \"",
      absl::CHexEscape(front), "\"");
}

namespace {

absl::StatusOr<NamedArrays> ReadMapped(const FileBytes& file,
                                       const std::string& path,
                                       const ReadOptions& options) {
  absl::StatusOr<NamedArrays> arrays = ParseArrays(file, path, options);
  HAWSER_RETURN_IF_ERROR(file.CheckUnchanged());
  if (!arrays.ok()) return Annotate(arrays.status(), path);
  return arrays;
}

}  // namespace

absl::StatusOr<NamedArrays> ReadArrays(const std::string& path,
                                       const ReadOptions& options) {
  HAWSER_ASSIGN_OR_RETURN(const FileBytes file, MapFile(path));
  return ReadMapped(file, path, options);
}

absl::StatusOr<std::vector<ArrayReader>> OpenArrays(
    const std::string& path, const ReadOptions& options) {
  HAWSER_ASSIGN_OR_RETURN(const FileBytes file, MapFile(path));
  const ArrayFormat* format =
      options.format == ReadOptions::Format::kAny ? FormatOf(file) : nullptr;
  if (format == nullptr || format->list == nullptr) {
    std::vector<ArrayReader> readers;
    HAWSER_ASSIGN_OR_RETURN(NamedArrays arrays,
                            ReadMapped(file, path, options));
    for (NamedArray& array : arrays) {
      const int64_t bytes = array.value.shape().byte_size();
      readers.push_back({.bytes = bytes,
                         .read = [array = std::move(array)] { return array; }});
    }
    return readers;
  }
  auto readers = format->list(file);
  if (!readers.ok()) return Annotate(readers.status(), path);
  for (ArrayReader& reader : *readers) {
    reader.read = [path, file,
                   read =
                       std::move(reader.read)]() -> absl::StatusOr<NamedArray> {
      absl::StatusOr<NamedArray> array = read();
      HAWSER_RETURN_IF_ERROR(file.CheckUnchanged());
      if (!array.ok()) return Annotate(array.status(), path);
      return array;
    };
  }
  return readers;
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
  return FormatOf(file) != nullptr || IsCsv(path, options);
}

bool HoldsNames(absl::string_view path) {
  const ArrayFormat* format = WriterOf(path);
  return format != nullptr && format->holds_names;
}

absl::StatusOr<ArraysToFill> LayOutArrays(
    const std::string& path, absl::Span<const ArrayToFill> arrays) {
  const ArrayFormat* format = WriterOf(path);
  if (format != nullptr) return format->lay_out(path, arrays);
  std::string known;
  for (const ArrayFormat* one : kFormats) {
    if (one->lay_out != nullptr) absl::StrAppend(&known, " ", one->suffix);
  }
  return InvalidArgument(path, ": is called none of", known);
}

absl::Status WriteArrays(const std::string& path,
                         absl::Span<const NamedArray> arrays) {
  return WriteFilled(path, LayOutArrays, arrays);
}

std::string ReadingOf(absl::string_view name, const ReadOptions& options) {
  if (options.format == ReadOptions::Format::kRaw) {
    return absl::StrCat("raw ", options.raw.ToString());  // needs no reader
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
