#include "client/sdk/jit/bucketed_function.h"

#include <algorithm>
#include <utility>

#include "client/sdk/graph/node.h"
#include "client/sdk/jit/batch.h"
#include "client/sdk/jit/call_arguments.h"
#include "client/sdk/jit/jit.h"
#include "client/sdk/jit/row_wise.h"
#include "client/sdk/jit/traced_module.h"
#include "core/base/status.h"

namespace hawser::sdk {
namespace {

// The prototype of a function with buckets.
struct BatchedPrototype {
  std::shared_ptr<const void> prototype;  // the function's own
  std::vector<bool> batched;              // results that have the batch
};

// Returns which results have the batch, for arguments with the shapes of a
// bucket.
absl::StatusOr<std::vector<bool>> FindBatched(const Flat& arguments, TraceFn fn,
                                              SourceLocation where) {
  int64_t rows = 0;
  for (const Leaf& leaf : arguments.leaves) {
    if (leaf.batched) rows = leaf.shape.dim(0);
  }
  // One row is a special case of many: it broadcasts.
  rows = std::max<int64_t>(rows, 2);
  HAWSER_ASSIGN_OR_RETURN(const TracedModule small,
                          TraceFunction(WithRows(arguments, rows), fn, where));
  HAWSER_ASSIGN_OR_RETURN(
      const TracedModule large,
      TraceFunction(WithRows(arguments, rows + 1), fn, where));
  return FindBatchedResults(small, large, rows);
}

std::vector<bool> MarksOf(const Flat& arguments) {
  std::vector<bool> marks;
  for (const Leaf& leaf : arguments.leaves) marks.push_back(leaf.batched);
  return marks;
}

// The donated tensors that are padded: a copy goes below, and the tensor itself
// goes the same way once that is done.
std::vector<Tensor> DonatedBatches(const Flat& arguments) {
  std::vector<Tensor> donated;
  for (const Leaf& leaf : arguments.leaves) {
    if (leaf.donated && leaf.batched) donated.push_back(leaf.tensor);
  }
  return donated;
}

void GiveAway(const std::vector<Tensor>& donated) {
  MutexLock lock(&graph_mutex);
  for (const Tensor& tensor : donated) {
    Literal value;
    if (NodeOf(tensor) != nullptr) Surrender(tensor, &value).IgnoreError();
  }
}

}  // namespace

BucketedFunction::BucketedFunction(JitOptions options, SourceLocation where)
    : buckets_(std::move(options.batch_buckets)),
      where_(where),
      core_(std::make_unique<JitCore>(options.strict_cuts, where)) {}
BucketedFunction::~BucketedFunction() = default;

CallResult BucketedFunction::TraceBatched(
    const std::vector<bool>& marks, TraceFn fn,
    std::vector<Tensor> parameters) const {
  Flat shapes;
  for (size_t i = 0; i < parameters.size(); ++i) {
    shapes.leaves.push_back(
        {.shape = parameters[i].shape(), .batched = marks[i]});
  }
  CallResult traced = fn(std::move(parameters));
  auto batched = FindBatched(shapes, fn, where_);
  if (!batched.ok()) return {{FailedTensor(batched.status())}, nullptr};
  traced.prototype = std::make_shared<const BatchedPrototype>(
      BatchedPrototype{std::move(traced.prototype), *std::move(batched)});
  return traced;
}

absl::StatusOr<CallResult> BucketedFunction::RunPadded(
    Flat arguments, const RunOptions& options, TraceFn fn, Below below) const {
  Client client = options.client;
  HAWSER_RETURN_IF_ERROR(AgreeOn(arguments, where_, &client));
  HAWSER_ASSIGN_OR_RETURN(const Batch batch,
                          ChooseBucket(buckets_, where_, &arguments));
  const bool padded = batch.rows < batch.bucket;
  const std::vector<bool> marks = MarksOf(arguments);
  std::vector<Tensor> donated;
  if (padded) {
    donated = DonatedBatches(arguments);
    HAWSER_RETURN_IF_ERROR(PadToBucket(batch, &arguments, where_));
  }
  HAWSER_ASSIGN_OR_RETURN(
      CallResult result,
      (core_.get()->*below)(
          std::move(arguments), options, [&](std::vector<Tensor> parameters) {
            return TraceBatched(marks, fn, std::move(parameters));
          }));
  GiveAway(donated);
  const auto kept =
      std::static_pointer_cast<const BatchedPrototype>(result.prototype);
  result.prototype = kept->prototype;
  for (size_t i = 0; padded && i < result.tensors.size(); ++i) {
    if (!kept->batched[i]) continue;
    HAWSER_ASSIGN_OR_RETURN(result.tensors[i],
                            FirstRows(result.tensors[i], batch.rows, where_));
  }
  return result;
}

absl::StatusOr<CallResult> BucketedFunction::Run(Flat arguments,
                                                 const RunOptions& options,
                                                 TraceFn fn) {
  if (buckets_.empty()) return core_->Run(std::move(arguments), options, fn);
  return RunPadded(std::move(arguments), options, fn, &JitCore::Run);
}

absl::StatusOr<CallResult> BucketedFunction::Call(Flat arguments,
                                                  const RunOptions& options,
                                                  TraceFn fn) {
  if (buckets_.empty()) return core_->Call(std::move(arguments), options, fn);
  return RunPadded(std::move(arguments), options, fn, &JitCore::Call);
}

absl::Status BucketedFunction::Warm(Flat arguments, const RunOptions& options,
                                    TraceFn fn) {
  if (buckets_.empty()) return core_->Warm(std::move(arguments), options, fn);
  Client client = options.client;
  HAWSER_RETURN_IF_ERROR(AgreeOn(arguments, where_, &client));
  HAWSER_RETURN_IF_ERROR(ChooseBucket(buckets_, where_, &arguments).status());
  const std::vector<bool> marks = MarksOf(arguments);
  return core_->Warm(std::move(arguments), options,
                     [&](std::vector<Tensor> parameters) {
                       return TraceBatched(marks, fn, std::move(parameters));
                     });
}

absl::StatusOr<std::string> BucketedFunction::ToText(Flat arguments,
                                                     TraceFn fn) const {
  if (!buckets_.empty()) {
    HAWSER_RETURN_IF_ERROR(ChooseBucket(buckets_, where_, &arguments).status());
  }
  return core_->ToText(std::move(arguments), fn);
}

}  // namespace hawser::sdk
