#include "client/cli/dataset_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"

namespace hawser::cli {

Json::Members ShapeMembers(const Shape& shape) {
  Json::List dims(shape.dims().begin(), shape.dims().end());
  return {{"dtype", DTypeName(shape.dtype())}, {"dims", std::move(dims)}};
}

Json DatasetJson(const DatasetInfo& info) {
  Json::List arrays;
  for (const DatasetInfo::Array& array : info.arrays) {
    Json::Members members = ShapeMembers(array.shape);
    members.insert(members.begin(), {"name", array.name});
    arrays.push_back(std::move(members));
  }
  return Json::Members{{"token", info.token},
                       {"arrays", std::move(arrays)},
                       {"bytes", info.bytes},
                       {"sent_bytes", info.sent_bytes},
                       {"durable", info.durable}};
}

std::pair<absl::string_view, absl::string_view> SplitToken(
    absl::string_view word) {
  const size_t colon = word.find(':');
  if (colon == absl::string_view::npos) return {word, ""};
  return {word.substr(0, colon), word.substr(colon + 1)};
}

absl::StatusOr<std::string> ChooseArray(const DatasetInfo& info,
                                        absl::string_view wanted) {
  if (info.Find(wanted) != nullptr) return std::string(wanted);
  if (wanted.empty() && info.arrays.size() == 1) return info.arrays[0].name;
  const std::string names = absl::StrJoin(
      info.arrays, ", ",
      [](std::string* out, const auto& array) { out->append(array.name); });
  return NotFound(info.token,
                  wanted.empty() ? " has several arrays" : " has no array ",
                  wanted, "; there are: ", names);
}

}  // namespace hawser::cli
