// Datasets and arrays as `hawser` prints and takes them.
#ifndef HAWSER_CLIENT_CLI_DATASETS_DATASET_TEXT_H_
#define HAWSER_CLIENT_CLI_DATASETS_DATASET_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/command/command.h"
#include "core/base/values/shape.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"

namespace hawser::cli {

// {"dtype": "f32", "dims": [2, 3]}
Json ShapeJson(const Shape& shape);
// {"name": "x", "dtype": "f32", "dims": [2, 3]}
Json ArrayJson(const std::string& name, const Shape& shape);
// An object of token, arrays, bytes, durable, last_used, pinned_until and tags.
// Times are those of RFC 3339, null where there is none, or "forever".
Json DatasetJson(const DatasetInfo& info);
// "2026-11-21T21:57Z"; "-" for no time, "forever" for an infinite one.
std::string TimeText(absl::Time time);
// "images u8[60000,28,28], labels u8[60000]"; an array without a name is its
// shape alone.
std::string ArraysText(const DatasetInfo& info);

// "BEGIN:END": rows along the leading axis, END left out; either may be empty.
struct RowSpan {
  int64_t begin = 0;
  std::optional<int64_t> end;  // without it: all that follow
};
// Errors: kInvalidArgument naming the text.
absl::StatusOr<RowSpan> ParseRowSpan(absl::string_view text);
// The rows of an array that `span` names; they may lie outside it.
RowRange RowsOf(const RowSpan& span, const Shape& shape);

// Calls `each` for every dataset of `query`, page after page in order of their
// tokens. Errors: the server's; kInternal, its pages do not go on.
absl::Status EachDataset(runtime::Client* client, DatasetQuery query,
                         absl::FunctionRef<void(const DatasetInfo&)> each);

// The token that `name` stands for: itself, or that of the tag's dataset.
// Errors: as CheckDatasetName and StatDataset.
absl::StatusOr<std::string> TokenNamed(absl::string_view name,
                                       runtime::Client* client);

// The two parts of "TOKEN:ARRAY"; the second is empty where there is no colon.
std::pair<absl::string_view, absl::string_view> SplitToken(
    absl::string_view word);
// The name of the array that `wanted` names; an empty name stands for the only
// array. Errors: kNotFound naming the arrays there are.
absl::StatusOr<std::string> ChooseArray(const DatasetInfo& info,
                                        absl::string_view wanted);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_DATASETS_DATASET_TEXT_H_
