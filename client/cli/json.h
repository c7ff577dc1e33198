// A JSON value to print: what --json writes.
#ifndef HAWSER_CLIENT_CLI_JSON_H_
#define HAWSER_CLIENT_CLI_JSON_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"

namespace hawser::cli {

class Json {
 public:
  using Member = std::pair<std::string, Json>;
  using List = std::vector<Json>;
  using Members = std::vector<Member>;

  Json() = default;                    // null
  Json(bool value) : value_(value) {}  // NOLINT: values are Json
  template <std::integral T>
  Json(T value) : value_(static_cast<int64_t>(value)) {}   // NOLINT
  Json(double value) : value_(value) {}                    // NOLINT
  Json(std::string value) : value_(std::move(value)) {}    // NOLINT
  Json(const char* value) : value_(std::string(value)) {}  // NOLINT
  Json(absl::string_view value)                            // NOLINT
      : value_(std::string(value)) {}
  Json(List values) : value_(std::move(values)) {}       // NOLINT
  Json(Members members) : value_(std::move(members)) {}  // NOLINT

  // One line. NaN and infinities, which JSON lacks, become null; bytes that
  // are not ASCII are written as they are.
  std::string ToString() const;

 private:
  void AppendTo(std::string* out) const;

  std::variant<std::monostate, bool, int64_t, double, std::string, List,
               Members>
      value_;
};

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_JSON_H_
