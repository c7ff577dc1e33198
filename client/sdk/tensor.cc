#include "client/sdk/tensor.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/sdk/graph/evaluate.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/jit/batch.h"
#include "client/sdk/ops/index.h"
#include "core/base/absent_size.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using sdk::graph_mutex;

// What there is of a tensor that needs no more evaluating.
struct Found {
  Literal value;              // in this process
  runtime::BufferPtr buffer;  // else where it is
};

absl::StatusOr<Found> Find(const Tensor& tensor) {
  MutexLock lock(&graph_mutex);
  HAWSER_RETURN_IF_ERROR(sdk::Usable(tensor));
  sdk::Node* node = tensor.node();
  if (const auto* host = node->As<sdk::Host>()) return Found{host->value, {}};
  if (const auto* ready = node->As<sdk::Ready>()) {
    return Found{ready->fetched, ready->buffers[tensor.result()]};
  }
  return FailedPrecondition("not evaluated");
}

// Keeps small values, for printing and fetching again.
void Remember(const Tensor& tensor, const Literal& value) {
  if (value.shape().byte_size() > sdk::kSmallBytes) return;
  MutexLock lock(&graph_mutex);
  auto* ready = tensor.node()->As<sdk::Ready>();
  if (ready != nullptr && ready->buffers.size() == 1) ready->fetched = value;
}

}  // namespace

absl::Status Tensor::status() const {
  MutexLock lock(&graph_mutex);
  return sdk::Usable(*this);
}

const Shape& Tensor::shape() const {
  static const auto& none = *new Shape;
  const bool known = node() != nullptr && !node()->shapes().empty();
  return known ? node()->shapes()[result_] : none;
}

int64_t Tensor::dim(int64_t axis, SourceLocation where) const {
  const Shape& known = shape();
  if (axis < known.rank() && axis >= -known.rank()) return known.dim(axis);
  const std::string call =
      absl::StrCat("dim(", axis, ") of ",
                   node() == nullptr ? "a Tensor that was never given a value"
                                     : known.ToString());
  if (node() == nullptr) {
    return AbsentSize({sdk::At(FailedPrecondition(call), where)});
  }
  if (known.dtype() == DType::kInvalid) {
    return AbsentSize({.why = status(), .earlier = true});
  }
  return AbsentSize(
      {sdk::At(InvalidArgument(call, ": axis ", axis,
                               " is out of range for rank ", known.rank()),
               where)});
}

absl::Status Tensor::Eval(const RunOptions& options) const {
  return sdk::Evaluate({this, 1}, sdk::FromNow(options));
}

absl::Status Eval(absl::Span<const Tensor> tensors, const RunOptions& options) {
  return sdk::Evaluate(tensors, sdk::FromNow(options));
}

absl::StatusOr<Literal> Tensor::Fetch(const RunOptions& options) const {
  const sdk::Execution execution = sdk::FromNow(options);
  HAWSER_RETURN_IF_ERROR(sdk::Evaluate({this, 1}, execution));
  HAWSER_ASSIGN_OR_RETURN(Found found, Find(*this));
  if (found.value.valid()) return found.value;
  auto value = found.buffer->Fetch(execution.call)
                   .Await(execution.call.cancel.deadline());
  if (value.ok()) Remember(*this, *value);
  return value;
}

Future<Literal> Tensor::FetchAsync(const RunOptions& options) const {
  const sdk::Execution execution = sdk::FromNow(options);
  const absl::Status queued = sdk::Evaluate({this, 1}, execution);
  if (!queued.ok()) return Future<Literal>(queued);
  auto found = Find(*this);
  if (!found.ok()) return Future<Literal>(found.status());
  if (found->value.valid()) return Future<Literal>(std::move(found->value));
  return found->buffer->Fetch(execution.call);
}

absl::StatusOr<Literal> Tensor::Head(int64_t rows,
                                     const RunOptions& options) const {
  HAWSER_RETURN_IF_ERROR(status());
  if (const auto absence = FindAbsence(rows)) return absence->why;
  if (rank() == 0 || rows < 0) {
    return InvalidArgument("there are no ", rows, " rows in ",
                           shape().ToString());
  }
  const auto found = Find(*this);
  if (found.ok() && found->value.valid()) {
    return sdk::FirstRows(found->value, std::min(rows, dim(0)));
  }
  return Rows(Operand(*this, {}), 0, std::min(rows, dim(0))).Fetch(options);
}

std::string Tensor::ran_on() const {
  if (node() == nullptr) return "";
  runtime::BufferPtr buffer;
  {
    MutexLock lock(&graph_mutex);
    if (const auto* host = node()->As<sdk::Host>()) return host->ran_on;
    if (const auto* ready = node()->As<sdk::Ready>()) {
      buffer = ready->buffers[result_];
    }
  }
  if (buffer == nullptr) return "";
  return buffer->ran_on();
}

absl::StatusOr<Tensor> Tensor::To(const Client& client,
                                  const CallOptions& call) const {
  HAWSER_RETURN_IF_ERROR(status());
  if (!client.valid()) return FailedPrecondition("To needs a client");
  const sdk::Execution execution = {.call = call.FromNow()};
  Client home;
  {
    MutexLock lock(&graph_mutex);
    home = sdk::ClientOf(*this);
  }
  sdk::Execution here = execution;
  here.client = home.valid() ? home : client;
  HAWSER_RETURN_IF_ERROR(sdk::Evaluate({this, 1}, here));
  HAWSER_ASSIGN_OR_RETURN(Found found, Find(*this));
  if (found.buffer != nullptr && here.client == client) return *this;
  if (!found.value.valid()) {
    HAWSER_ASSIGN_OR_RETURN(found.value,
                            found.buffer->Fetch(execution.call)
                                .Await(execution.call.cancel.deadline()));
  }
  HAWSER_ASSIGN_OR_RETURN(
      runtime::BufferPtr moved,
      client.runtime()->Upload(found.value, execution.call));
  return sdk::MakeTensor(
      {shape()}, sdk::Ready{.client = client, .buffers = {std::move(moved)}},
      node()->where());
}

absl::StatusOr<Literal> Tensor::FetchAs(const char* function, DType dtype,
                                        bool single, const RunOptions& options,
                                        SourceLocation where) const {
  HAWSER_RETURN_IF_ERROR(status());
  const auto refuse = [&](absl::string_view why) {
    return sdk::At(InvalidArgument(function, "<", DTypeName(dtype), "> of ",
                                   shape().ToString(), ": ", why),
                   where);
  };
  if (this->dtype() != dtype) {
    return refuse("the types differ, and nothing is converted; use Convert");
  }
  if (single && shape().num_elements() != 1) {
    return refuse("there is not exactly one element");
  }
  return Fetch(options);
}

}  // namespace hawser
