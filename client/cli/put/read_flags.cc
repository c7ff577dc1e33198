#include "client/cli/put/read_flags.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/command/command.h"
#include "core/base/status.h"

namespace hawser::cli {
namespace {

absl::StatusOr<std::vector<DType>> ReadDTypes(const std::string& text) {
  std::vector<DType> dtypes;
  if (text.empty()) return dtypes;
  for (const absl::string_view name : absl::StrSplit(text, ',')) {
    const auto dtype = ParseDType(name);
    if (!dtype.ok()) {
      return UsageError(
          absl::StrCat("--dtype ", text, ": ", dtype.status().message()));
    }
    dtypes.push_back(*dtype);
  }
  return dtypes;
}

absl::StatusOr<Shape> ReadShape(const std::string& text,
                                const std::vector<DType>& dtypes) {
  if (dtypes.size() != 1) {
    return UsageError("--shape needs one --dtype: raw files do not say theirs");
  }
  Dims dims;
  for (const absl::string_view size :
       absl::StrSplit(text, ',', absl::SkipEmpty())) {
    int64_t value;
    if (!absl::SimpleAtoi(size, &value) || value < 0) {
      return UsageError(
          absl::StrCat("--shape ", text, ": \"", size, "\" is no size"));
    }
    dims.push_back(value);
  }
  const auto shape = Shape::Make(dtypes[0], dims);
  if (shape.ok()) return shape;
  return UsageError(
      absl::StrCat("--shape ", text, ": ", shape.status().message()));
}

absl::StatusOr<char> ReadSeparator(const CommandLine& line) {
  if (!line.Has(kSeparatorFlag.name)) return ',';
  const std::string text = line.Get(kSeparatorFlag.name);
  if (text == "\\t") return '\t';
  if (text.size() == 1) return text[0];
  return UsageError(
      absl::StrCat("--separator \"", text, "\" is not one character"));
}

}  // namespace

absl::StatusOr<ReadOptions> ReadOptionsOf(const CommandLine& line) {
  ReadOptions options;
  CsvOptions& csv = options.csv;
  HAWSER_ASSIGN_OR_RETURN(csv.dtypes, ReadDTypes(line.Get(kDTypeFlag.name)));
  HAWSER_ASSIGN_OR_RETURN(csv.separator, ReadSeparator(line));
  csv.header = !line.Has(kNoHeaderFlag.name);
  csv.matrix = line.Has(kMatrixFlag.name);
  csv.empty_is_nan = line.Has(kEmptyFlag.name);
  if (line.Has(kShapeFlag.name)) {
    for (const Flag& flag :
         {kCsvFlag, kNoHeaderFlag, kMatrixFlag, kEmptyFlag, kSeparatorFlag}) {
      if (!line.Has(flag.name)) continue;
      return UsageError(
          absl::StrCat("--shape is for raw files, ", flag.name, " for CSV"));
    }
    options.format = ReadOptions::Format::kRaw;
    HAWSER_ASSIGN_OR_RETURN(options.raw,
                            ReadShape(line.Get(kShapeFlag.name), csv.dtypes));
  } else if (line.Has(kCsvFlag.name)) {
    options.format = ReadOptions::Format::kCsv;
    if (csv.dtypes.empty()) return UsageError("--csv needs --dtype");
  }
  return options;
}

}  // namespace hawser::cli
