// Scanner: the words of a short text.
#ifndef HAWSER_CLIENT_STABLEHLO_TILINGS_SCANNER_H_
#define HAWSER_CLIENT_STABLEHLO_TILINGS_SCANNER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/base/status.h"

namespace hawser::stablehlo {

// Reads from front to back and skips spaces. Errors: kInvalidArgument with the
// whole text.
class Scanner {
 public:
  explicit Scanner(absl::string_view text) : whole_(text), rest_(text) {}

  bool TakeIf(absl::string_view word) {
    rest_ = absl::StripLeadingAsciiWhitespace(rest_);
    return absl::ConsumePrefix(&rest_, word);
  }
  absl::Status Expect(absl::string_view word) {
    return TakeIf(word) ? absl::OkStatus() : Invalid(word);
  }
  bool done() {
    rest_ = absl::StripLeadingAsciiWhitespace(rest_);
    return rest_.empty();
  }
  // A number from 0 to 2^31.
  absl::StatusOr<int64_t> Number() {
    rest_ = absl::StripLeadingAsciiWhitespace(rest_);
    size_t size = 0;
    while (size < rest_.size() && absl::ascii_isdigit(rest_[size])) ++size;
    int32_t value = 0;
    if (!absl::SimpleAtoi(rest_.substr(0, size), &value)) {
      return Invalid("a number");
    }
    rest_.remove_prefix(size);
    return value;
  }
  // "1,2" up to what ends the list, which is taken.
  absl::StatusOr<std::vector<int64_t>> Numbers(absl::string_view end) {
    std::vector<int64_t> numbers;
    while (!TakeIf(end)) {
      if (!numbers.empty()) HAWSER_RETURN_IF_ERROR(Expect(","));
      HAWSER_ASSIGN_OR_RETURN(const int64_t number, Number());
      numbers.push_back(number);
    }
    return numbers;
  }
  // What stands before `end`, which is taken.
  absl::StatusOr<absl::string_view> Until(absl::string_view end) {
    rest_ = absl::StripLeadingAsciiWhitespace(rest_);
    const size_t size = rest_.find(end);
    if (size == absl::string_view::npos) return Invalid(end);
    const absl::string_view found = rest_.substr(0, size);
    rest_.remove_prefix(size + end.size());
    return found;
  }
  absl::Status Invalid(absl::string_view wanted) const {
    return InvalidArgument("sharding ", Quoted(whole_), ": expected ", wanted,
                           " at ", Quoted(rest_));
  }

 private:
  absl::string_view whole_;
  absl::string_view rest_;
};

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_TILINGS_SCANNER_H_
