#include "client/formats/csv/csv_records.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "core/base/status.h"

namespace hawser {

std::string CsvField::Value() const {
  return quoted ? absl::StrReplaceAll(text, {{"\"\"", "\""}})
                : std::string(text);
}

std::string CsvPlace(int64_t row, size_t column) {
  return absl::StrCat("row ", row, ", column ", column + 1);
}

absl::StatusOr<bool> CsvRecords::Next(std::vector<CsvField>* fields) {
  fields->clear();
  if (rest_.empty()) return false;
  ++row_;
  for (bool last = false; !last; last = TakeRecordEnd()) {
    if (fields->size() == kMostFields) {
      return InvalidArgument("row ", row_, " has more than ", kMostFields,
                             " fields");
    }
    HAWSER_ASSIGN_OR_RETURN(const CsvField field, TakeField(fields->size()));
    fields->push_back(field);
  }
  return true;
}

absl::StatusOr<CsvField> CsvRecords::TakeField(size_t column) {
  if (!rest_.empty() && rest_[0] == '"') return TakeQuoted(column);
  const char ends[] = {separator_, '\n', '"'};
  size_t size = rest_.find_first_of(absl::string_view(ends, sizeof(ends)));
  if (size == absl::string_view::npos) size = rest_.size();
  if (size < rest_.size() && rest_[size] == '"') {
    return InvalidArgument(CsvPlace(row_, column),
                           ": a quote stands inside a field without quotes");
  }
  absl::string_view text = rest_.substr(0, size);
  rest_.remove_prefix(size);
  const bool line_ends = rest_.empty() || rest_[0] == '\n';
  if (line_ends) absl::ConsumeSuffix(&text, "\r");
  return CsvField{text, false};
}

absl::StatusOr<CsvField> CsvRecords::TakeQuoted(size_t column) {
  size_t end = 1;
  for (;; end += 2) {
    end = rest_.find('"', end);
    if (end == absl::string_view::npos) {
      return InvalidArgument(CsvPlace(row_, column),
                             ": a quote is opened and never closed");
    }
    if (end + 1 == rest_.size() || rest_[end + 1] != '"') break;
  }
  const absl::string_view text = rest_.substr(1, end - 1);
  rest_.remove_prefix(end + 1);
  if (absl::StartsWith(rest_, "\r\n") || rest_ == "\r") rest_.remove_prefix(1);
  if (!rest_.empty() && rest_[0] != separator_ && rest_[0] != '\n') {
    return InvalidArgument(CsvPlace(row_, column),
                           ": the field goes on after its closing quote");
  }
  return CsvField{text, true};
}

bool CsvRecords::TakeRecordEnd() {
  if (rest_.empty()) return true;
  const bool last = rest_[0] == '\n';
  rest_.remove_prefix(1);
  return last;
}

}  // namespace hawser
