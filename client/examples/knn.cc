#include "client/examples/knn.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "client/examples/shuffle.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// Pixels centred to [-128, 127]: every partial sum of a dot product of 784 of
// them then stays below 2^24, where float counts without gaps, so all machines
// agree exactly.
Tensor Centred(const Tensor& images) {
  const Tensor rows = Reshape(images, {images.dim(0), -1});
  return Convert(rows, DType::kF32) - 128;
}

// Rows [begin, begin + count) of a host value.
Literal HostRows(const Literal& all, int64_t begin, int64_t count) {
  std::vector<int64_t> rows(count);
  std::iota(rows.begin(), rows.end(), begin);
  return RowsInOrder(all, rows);
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> NearestLabels(const Dataset& data,
                                                   const Literal& images,
                                                   int64_t batch_size,
                                                   const AfterBatch& after) {
  if (batch_size < 1) {
    return InvalidArgument("a batch of ", batch_size, " images is none");
  }
  // |x - t|^2 = |x|^2 + |t|^2 - 2 x.t, and |x|^2 is the same for every t.
  auto prepare = Jit([](Tensor train) {
    const Tensor rows = Centred(train);
    return std::tuple(rows, Sum(Square(rows) * 0.5f, {.axes = {1}}));
  });
  auto classify = Jit([](Tensor rows, Tensor half_norms, Tensor labels,
                         Tensor batch) {
    const Tensor dots = Dot(Centred(batch), Transpose(rows));
    return Take(labels, ArgMin(half_norms - dots, {.axis = 1}));
  });
  HAWSER_ASSIGN_OR_RETURN(auto prepared, prepare(data["images"]));
  const auto& [rows, half_norms] = prepared;

  const int64_t total = images.shape().dim(0);
  std::vector<uint8_t> found;
  for (int64_t begin = 0; begin < total; begin += batch_size) {
    const int64_t count = std::min(batch_size, total - begin);
    HAWSER_ASSIGN_OR_RETURN(Tensor labels,
                            classify(rows, half_norms, data["labels"],
                                     HostRows(images, begin, count)));
    HAWSER_ASSIGN_OR_RETURN(const Literal got, labels.Fetch());
    for (uint8_t label : got.data<uint8_t>()) found.push_back(label);
    HAWSER_RETURN_IF_ERROR(
        after(static_cast<int>(begin / batch_size), labels));
  }
  return found;
}

}  // namespace hawser
