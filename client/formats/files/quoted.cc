#include "client/formats/files/quoted.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace hawser {
namespace {

constexpr size_t kMostBytes = 80;

}  // namespace

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kMostBytes)), "\"");
}

}  // namespace hawser
