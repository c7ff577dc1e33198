#include "client/cli/dataset_text.h"

#include <utility>

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

}  // namespace hawser::cli
