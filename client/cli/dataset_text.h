// Datasets and arrays as `hawser` prints them.
#ifndef HAWSER_CLIENT_CLI_DATASET_TEXT_H_
#define HAWSER_CLIENT_CLI_DATASET_TEXT_H_

#include "client/cli/json.h"
#include "core/base/shape.h"
#include "core/runtime/dataset.h"

namespace hawser::cli {

// {"dtype": "f32", "dims": [2, 3]}
Json::Members ShapeMembers(const Shape& shape);
// Token, arrays, bytes, bytes sent, durable.
Json DatasetJson(const DatasetInfo& info);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_DATASET_TEXT_H_
