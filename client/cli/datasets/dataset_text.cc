#include "client/cli/datasets/dataset_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"
#include "core/runtime/datasets.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

Json TimeJson(absl::Time time) {
  if (time == absl::InfinitePast()) return Json();
  if (time == absl::InfiniteFuture()) return "forever";
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

}  // namespace

Json ShapeJson(const Shape& shape) {
  return Json::object(
      {{"dtype", DTypeName(shape.dtype())}, {"dims", Dims(shape.dims())}});
}

Json ArrayJson(const std::string& name, const Shape& shape) {
  Json json = Json::object({{"name", name}});
  json.update(ShapeJson(shape));
  return json;
}

Json DatasetJson(const DatasetInfo& info) {
  Json arrays = Json::array();
  for (const DatasetInfo::Array& array : info.arrays) {
    arrays.push_back(ArrayJson(array.name, array.shape));
  }
  return Json::object({{"token", info.token},
                       {"arrays", std::move(arrays)},
                       {"bytes", info.bytes},
                       {"durable", info.durable},
                       {"last_used", TimeJson(info.last_used)},
                       {"pinned_until", TimeJson(info.pinned_until)},
                       {"tags", info.tags}});
}

std::string TimeText(absl::Time time) {
  if (time == absl::InfinitePast()) return "-";
  if (time == absl::InfiniteFuture()) return "forever";
  return absl::FormatTime("%Y-%m-%dT%H:%MZ", time, absl::UTCTimeZone());
}

std::string ArraysText(const DatasetInfo& info) {
  return absl::StrJoin(info.arrays, ", ", [](std::string* out, const auto& a) {
    absl::StrAppend(out, a.name, a.name.empty() ? "" : " ", a.shape.ToString());
  });
}

absl::StatusOr<RowSpan> ParseRowSpan(absl::string_view text) {
  const size_t colon = text.find(':');
  const absl::string_view begin = text.substr(0, colon);
  const absl::string_view end =
      colon == absl::string_view::npos ? "" : text.substr(colon + 1);
  const auto is_number = [](absl::string_view digits) {
    return std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit);
  };
  RowSpan span;
  int64_t last = 0;
  const bool good = colon != absl::string_view::npos && is_number(begin) &&
                    is_number(end) &&
                    (begin.empty() || absl::SimpleAtoi(begin, &span.begin)) &&
                    (end.empty() || absl::SimpleAtoi(end, &last));
  if (!good) {
    return InvalidArgument("\"", text, "\" are no rows: must be BEGIN:END");
  }
  if (!end.empty()) span.end = last;
  return span;
}

RowRange RowsOf(const RowSpan& span, const Shape& shape) {
  const int64_t extent = shape.rank() == 0 ? 0 : shape.dim(0);
  return {span.begin, span.end.value_or(extent) - span.begin};
}

absl::Status EachDataset(runtime::Client* client, DatasetQuery query,
                         absl::FunctionRef<void(const DatasetInfo&)> each) {
  while (true) {
    HAWSER_ASSIGN_OR_RETURN(const DatasetPage page,
                            client->datasets().Ask(query, {}));
    for (const DatasetInfo& info : page.datasets) {
      if (info.token <= query.after) {
        return Internal("the server lists ", info.token, " behind ",
                        query.after, ", which is not in order");
      }
      query.after = info.token;
      each(info);
    }
    if (!page.more) return absl::OkStatus();
    if (page.datasets.empty()) {
      return Internal("the server has more datasets behind ", query.after,
                      " and lists none");
    }
  }
}

absl::StatusOr<std::string> TokenNamed(absl::string_view name,
                                       runtime::Client* client) {
  HAWSER_RETURN_IF_ERROR(CheckDatasetName(name));
  if (!IsTag(name)) return std::string(name);
  HAWSER_ASSIGN_OR_RETURN(
      const DatasetInfo info,
      client->datasets().Ask(StatDataset{std::string(name)}, {}));
  return info.token;
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
