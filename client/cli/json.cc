#include "client/cli/json.h"

#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hawser::cli {
namespace {

void AppendString(const std::string& text, std::string* out) {
  out->push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\n') {
      out->append("\\n");
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(out, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

void AppendDouble(double value, std::string* out) {
  if (!std::isfinite(value)) {
    out->append("null");
    return;
  }
  char buffer[40];  // the shortest text that reads back the same
  out->append(buffer,
              std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

}  // namespace

void Json::AppendTo(std::string* out) const {
  if (const auto* truth = std::get_if<bool>(&value_)) {
    out->append(*truth ? "true" : "false");
  } else if (const auto* integer = std::get_if<int64_t>(&value_)) {
    absl::StrAppend(out, *integer);
  } else if (const auto* real = std::get_if<double>(&value_)) {
    AppendDouble(*real, out);
  } else if (const auto* text = std::get_if<std::string>(&value_)) {
    AppendString(*text, out);
  } else if (const auto* list = std::get_if<List>(&value_)) {
    absl::string_view separator = "[";
    for (const Json& value : *list) {
      absl::StrAppend(out, separator);
      value.AppendTo(out);
      separator = ", ";
    }
    out->append(list->empty() ? "[]" : "]");
  } else if (const auto* members = std::get_if<Members>(&value_)) {
    absl::string_view separator = "{";
    for (const auto& [name, value] : *members) {
      absl::StrAppend(out, separator);
      AppendString(name, out);
      out->append(": ");
      value.AppendTo(out);
      separator = ", ";
    }
    out->append(members->empty() ? "{}" : "}");
  } else {
    out->append("null");
  }
}

std::string Json::ToString() const {
  std::string out;
  AppendTo(&out);
  return out;
}

}  // namespace hawser::cli
