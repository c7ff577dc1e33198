// The records of a CSV file, RFC 4180, as text without types.
#ifndef HAWSER_CLIENT_FORMATS_CSV_CSV_RECORDS_H_
#define HAWSER_CLIENT_FORMATS_CSV_CSV_RECORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hawser {

// One field, as it lies in the file.
struct CsvField {
  absl::string_view text;  // without the quotes around it
  bool quoted = false;     // every quote inside is there twice

  std::string Value() const;
};

// Reads records one after the other. They end with a line end, LF or CRLF,
// which the last one may lack; fields in quotes may hold separators, line ends
// and quotes, each of those twice.
class CsvRecords {
 public:
  // The most fields of one record, which bounds the memory that one takes.
  static constexpr size_t kMostFields = size_t{1} << 20;

  // `text` outlives this and every field.
  CsvRecords(absl::string_view text, char separator)
      : rest_(text), separator_(separator) {}

  // Reads the next record into `fields`. Returns false after the last one.
  // Errors: kInvalidArgument naming row and column, for a quote that is not
  // closed or stands where it must not, and for too many fields.
  absl::StatusOr<bool> Next(std::vector<CsvField>* fields);
  // The number of the last record, from 1; the header counts.
  int64_t row() const { return row_; }

 private:
  absl::StatusOr<CsvField> TakeField(size_t column);
  absl::StatusOr<CsvField> TakeQuoted(size_t column);
  // Takes the separator or line end after a field. Returns whether the record
  // ends there.
  bool TakeRecordEnd();

  absl::string_view rest_;
  const char separator_;
  int64_t row_ = 0;
};

// The place of a field, for errors: "row 3, column 2".
std::string CsvPlace(int64_t row, size_t column);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_CSV_CSV_RECORDS_H_
