#include "kernels/plan/parallel/first_places.h"

#include "core/base/status.h"

namespace hawser::plan {

absl::StatusOr<Shapes> InferFirstPlaces(const InferContext& context) {
  Dims dims = context.operands[0].dims();
  const int64_t count = context.attributes.GetInt("count");
  if (dims.empty() || count < 1 || count > dims.back() ||
      context.attributes.GetInt("dimension") !=
          static_cast<int64_t>(dims.size()) - 1) {
    return InvalidArgument("first_places: ", count, " along the last axis of ",
                           context.operands[0].ToString());
  }
  dims.back() = count;
  return Shapes{Shape::Of(DType::kS32, dims)};
}

}  // namespace hawser::plan
