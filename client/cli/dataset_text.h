// Datasets and arrays as `hawser` prints and takes them.
#ifndef HAWSER_CLIENT_CLI_DATASET_TEXT_H_
#define HAWSER_CLIENT_CLI_DATASET_TEXT_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/json.h"
#include "core/base/shape.h"
#include "core/runtime/dataset.h"

namespace hawser::cli {

// {"dtype": "f32", "dims": [2, 3]}
Json::Members ShapeMembers(const Shape& shape);
// Token, arrays, bytes, bytes sent, durable.
Json DatasetJson(const DatasetInfo& info);

// "TOKEN:ARRAY" -> both; the second is empty where there is no colon.
std::pair<absl::string_view, absl::string_view> SplitToken(
    absl::string_view word);
// The array's name, which may be left out where there is only one.
// Errors: kNotFound naming those there are.
absl::StatusOr<std::string> ChooseArray(const DatasetInfo& info,
                                        absl::string_view wanted);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_DATASET_TEXT_H_
