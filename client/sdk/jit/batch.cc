#include "client/sdk/jit/batch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/jit/call_arguments.h"
#include "core/base/status.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"

namespace hawser::sdk {
namespace {

Shape RowsOf(const Shape& shape, int64_t rows) {
  Dims dims = shape.dims();
  dims[0] = rows;
  return Shape::Of(shape.dtype(), dims);
}

absl::Status CheckBuckets(absl::Span<const int64_t> buckets) {
  int64_t last = 0;
  for (int64_t bucket : buckets) {
    if (bucket > last) {
      last = bucket;
      continue;
    }
    return InvalidArgument("batch_buckets ", DimsToString(buckets),
                           " must be positive and ascend");
  }
  return absl::OkStatus();
}

// The rows all marked leaves have.
absl::StatusOr<int64_t> RowsIn(const Flat& arguments) {
  int64_t rows = -1;
  for (size_t i = 0; i < arguments.leaves.size(); ++i) {
    const Leaf& leaf = arguments.leaves[i];
    if (!leaf.batched) continue;
    if (leaf.shape.rank() == 0) {
      return InvalidArgument("argument ", i, " is Batched, but ",
                             leaf.shape.ToString(), " has no leading axis");
    }
    if (rows >= 0 && leaf.shape.dim(0) != rows) {
      return InvalidArgument("argument ", i, " has ", leaf.shape.dim(0),
                             " rows, the Batched one before it ", rows);
    }
    rows = leaf.shape.dim(0);
  }
  if (rows >= 0) return rows;
  return InvalidArgument(
      "a Jit with batch_buckets needs an argument that is marked: f(w, "
      "Batched(x))");
}

absl::StatusOr<Literal> PadLiteral(const Literal& value, int64_t rows) {
  const Shape shape = RowsOf(value.shape(), rows);
  HAWSER_ASSIGN_OR_RETURN(Literal padded, Literal::Allocate(shape));
  const absl::Span<const char> from = value.bytes();
  const absl::Span<char> to = padded.mutable_bytes();
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
  if (to.size() > from.size()) {
    std::memset(to.data() + from.size(), 0, to.size() - from.size());
  }
  return padded;
}

Tensor PadTensor(const Tensor& tensor, int64_t rows, SourceLocation where) {
  const OpScope s("Batched", where, {&tensor, 1});
  const Dims none(tensor.rank(), 0);
  Dims high = none;
  high[0] = rows - tensor.dim(0);
  return s.Add(kPad, {tensor, s.ConstantOf(0, tensor.dtype())},
               {{"edge_padding_low", none},
                {"edge_padding_high", std::move(high)},
                {"interior_padding", none}});
}

// The value of a tensor that is in this process; none for any other.
absl::StatusOr<Literal> HostValue(const Tensor& tensor) {
  MutexLock lock(&graph_mutex);
  HAWSER_RETURN_IF_ERROR(Usable(tensor));
  const auto* host = NodeOf(tensor)->As<Host>();
  return host == nullptr ? Literal() : host->value;
}

absl::StatusOr<Batch> BatchOf(const Flat& arguments,
                              absl::Span<const int64_t> buckets) {
  HAWSER_RETURN_IF_ERROR(CheckBuckets(buckets));
  HAWSER_ASSIGN_OR_RETURN(const int64_t rows, RowsIn(arguments));
  const auto at = std::lower_bound(buckets.begin(), buckets.end(), rows);
  if (at != buckets.end()) return Batch{.rows = rows, .bucket = *at};
  return InvalidArgument("a batch of ", rows,
                         " rows is above the largest of batch_buckets ",
                         DimsToString(buckets));
}

}  // namespace

absl::StatusOr<Batch> ChooseBucket(absl::Span<const int64_t> buckets,
                                   SourceLocation where, Flat* arguments) {
  const auto batch = BatchOf(*arguments, buckets);
  if (!batch.ok()) return InCall(batch.status(), where);
  *arguments = WithRows(std::move(*arguments), batch->bucket);
  for (const Leaf& leaf : arguments->leaves) {
    arguments->sizes.push_back(leaf.batched);
  }
  return batch;
}

Flat WithRows(Flat arguments, int64_t rows) {
  for (Leaf& leaf : arguments.leaves) {
    if (leaf.batched) leaf.shape = RowsOf(leaf.shape, rows);
  }
  return arguments;
}

absl::Status PadToBucket(const Batch& batch, Flat* arguments,
                         SourceLocation where) {
  for (Leaf& leaf : arguments->leaves) {
    if (!leaf.batched) continue;
    Literal value = leaf.value;
    if (NodeOf(leaf.tensor) != nullptr) {
      HAWSER_ASSIGN_OR_RETURN(value, HostValue(leaf.tensor));
    }
    if (value.valid()) {
      HAWSER_ASSIGN_OR_RETURN(leaf.value, PadLiteral(value, batch.bucket));
      leaf.tensor = Tensor();
    } else if (NodeOf(leaf.tensor) != nullptr) {
      leaf.tensor = PadTensor(leaf.tensor, batch.bucket, where);
      HAWSER_RETURN_IF_ERROR(leaf.tensor.status());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> FirstRows(const Tensor& result, int64_t rows,
                                 SourceLocation where) {
  HAWSER_ASSIGN_OR_RETURN(Literal value, HostValue(result));
  if (value.valid()) {
    HAWSER_ASSIGN_OR_RETURN(value, FirstRows(value, rows));
    Shapes shapes = {value.shape()};
    return MakeTensor(
        std::move(shapes),
        Host{.value = std::move(value), .ran_on = RanOnOf(result)}, where);
  }
  const OpScope s("Batched", where, {&result, 1});
  Dims limits = result.shape().dims();
  limits[0] = rows;
  return s.Add(kSlice, {result},
               {{"start_indices", Dims(limits.size(), 0)},
                {"limit_indices", limits},
                {"strides", Dims(limits.size(), 1)}});
}

absl::StatusOr<Literal> FirstRows(const Literal& result, int64_t rows) {
  const Shape shape = RowsOf(result.shape(), rows);
  return Literal::FromBytes(
      shape, result.bytes().subspan(0, static_cast<size_t>(shape.byte_size())));
}

}  // namespace hawser::sdk
