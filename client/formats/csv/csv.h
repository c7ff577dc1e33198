// Tables of numbers in text: CSV files.
#ifndef HAWSER_CLIENT_FORMATS_CSV_CSV_H_
#define HAWSER_CLIENT_FORMATS_CSV_CSV_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/formats/files/file_bytes.h"
#include "client/formats/files/named_array.h"
#include "core/base/values/dtype.h"

namespace hawser {

// The facts that a CSV file does not say about itself.
struct CsvOptions {
  // One per column in order, or one for all: bool, an integer, a float. Never
  // guessed: a guess may change with the rows.
  std::vector<DType> dtypes;
  bool header = true;         // the first record names the columns
  bool matrix = false;        // one array [rows, columns] without a name
  bool empty_is_nan = false;  // for floats; else an empty field is an error
  char separator = ',';
};

// Reads each column as an array [rows], named by its header, or "column1" and
// so on where there is none; with `matrix` one array. Numbers are decimal,
// blanks around them are skipped; "nan", "inf", "true" and "false" are known in
// upper and lower case. Floats are rounded to nearest.
// Errors: kInvalidArgument naming row (from 1, the header is one), column and
// text: a field that is no value of its dtype or does not fit it, records of
// unequal length, quotes as RFC 4180 forbids them, two columns of one name;
// options that do not fit the file. kResourceExhausted where there is no room.
// They name no file.
absl::StatusOr<NamedArrays> ParseCsv(const FileBytes& file,
                                     const CsvOptions& options);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_CSV_CSV_H_
