#include "client/sdk/tensor.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/graph/run/deadline.h"
#include "client/sdk/graph/run/evaluate.h"
#include "client/sdk/graph/run/fetch.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/jit/batch.h"
#include "client/sdk/ops/indexing/index.h"
#include "core/base/process/forked.h"
#include "core/base/status.h"
#include "core/base/values/absent_size.h"

namespace hawser {
namespace {

using sdk::FetchWithin;
using sdk::Find;
using sdk::Found;
using sdk::graph_mutex;
using sdk::HomeOf;

// The value uploaded to `client`; none where it is there already.
absl::StatusOr<runtime::BufferPtr> Move(const Tensor& tensor,
                                        const Client& client,
                                        const sdk::Execution& here) {
  HAWSER_RETURN_IF_ERROR(sdk::Evaluate({&tensor, 1}, here));
  HAWSER_ASSIGN_OR_RETURN(Found found, Find(tensor));
  if (found.buffer != nullptr && here.client == client) {
    return runtime::BufferPtr();
  }
  if (!found.value.valid()) {
    HAWSER_ASSIGN_OR_RETURN(found.value, found.buffer->Fetch(here.call).Await(
                                             here.call.cancel.deadline()));
  }
  return client.runtime()->Upload(found.value, here.call);
}

// An error of `verb`, of a tensor. An error that ended an execution on the way,
// too long or too large, gets the line where the tensor was made.
absl::Status Explain(const absl::Status& error, absl::string_view verb,
                     const Tensor& tensor, const RunOptions& options,
                     const sdk::Execution& execution) {
  const absl::Status named =
      sdk::NameDeadline(error, verb, HomeOf(tensor, options.client),
                        options.call, execution.call.cancel);
  const bool over_there = named == error && (absl::IsDeadlineExceeded(error) ||
                                             absl::IsResourceExhausted(error));
  return over_there ? Annotate(error, sdk::Describe(tensor)) : named;
}

}  // namespace

absl::Status Tensor::status() const {
  MutexLock lock(&graph_mutex);
  return sdk::Usable(*this);
}

const Shape& Tensor::shape() const {
  static const auto& none = *new Shape;
  const bool known =
      sdk::NodeOf(*this) != nullptr && !sdk::NodeOf(*this)->shapes().empty();
  return known ? sdk::NodeOf(*this)->shapes()[result_] : none;
}

int64_t Tensor::dim(int64_t axis, SourceLocation where) const {
  const Shape& known = shape();
  if (axis < known.rank() && axis >= -known.rank()) return known.dim(axis);
  const std::string call = absl::StrCat(
      "dim(", axis, ") of ",
      sdk::NodeOf(*this) == nullptr ? "a Tensor that was never given a value"
                                    : known.ToString());
  if (sdk::NodeOf(*this) == nullptr) {
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
  return hawser::Eval({this, 1}, options);
}

absl::Status Eval(absl::Span<const Tensor> tensors, const RunOptions& options) {
  const sdk::Execution execution = sdk::FromNow(options);
  const absl::Status status = sdk::Evaluate(tensors, execution);
  if (status.ok()) return status;
  return Explain(status, "Eval", tensors[0], options, execution);
}

absl::StatusOr<Literal> Tensor::Fetch(const RunOptions& options) const {
  const sdk::Execution execution = sdk::FromNow(options);
  auto value = FetchWithin(*this, execution);
  if (value.ok()) return value;
  return Explain(value.status(), "Fetch", *this, options, execution);
}

Future<Literal> Tensor::FetchAsync(const RunOptions& options) const {
  const sdk::Execution execution = sdk::FromNow(options);
  const auto name = [tensor = *this, options,
                     execution](const absl::Status& error) {
    return Explain(error, "Fetch", tensor, options, execution);
  };
  const absl::Status queued = sdk::Evaluate({this, 1}, execution);
  if (!queued.ok()) return Future<Literal>(name(queued));
  auto found = Find(*this);
  if (!found.ok()) return Future<Literal>(found.status());
  if (found->value.valid()) return Future<Literal>(std::move(found->value));
  const absl::Status forked = CheckNotForked();
  if (!forked.ok()) return Future<Literal>(forked);
  const Future<Literal> fetched = found->buffer->Fetch(execution.call);
  if (!execution.call.cancel.can_expire()) return fetched;
  auto promise = std::make_shared<Promise<Literal>>();
  fetched.OnReady([promise, name](const absl::StatusOr<Literal>& value) {
    promise->Set(value.ok() ? value : name(value.status()));
  });
  return promise->future();
}

absl::StatusOr<Literal> Tensor::Head(int64_t rows,
                                     const RunOptions& options) const {
  HAWSER_RETURN_IF_ERROR(status());
  if (const auto absence = FindAbsence(rows)) return absence->why;
  if (rank() == 0 || rows < 0) {
    return InvalidArgument("Head: there are no ", rows, " rows in ",
                           shape().ToString());
  }
  const auto found = Find(*this);
  if (found.ok() && found->value.valid()) {
    return sdk::FirstRows(found->value, std::min(rows, dim(0)));
  }
  return Rows(Operand(*this, {}), 0, std::min(rows, dim(0))).Fetch(options);
}

std::string Tensor::ran_on() const { return sdk::RanOnOf(*this).where; }

bool Tensor::on_fallback() const { return sdk::RanOnOf(*this).fallback; }

absl::StatusOr<Tensor> Tensor::To(const Client& client,
                                  const CallOptions& call) const {
  HAWSER_RETURN_IF_ERROR(status());
  if (!client.valid()) return FailedPrecondition("To needs a client");
  const sdk::Execution here = {.client = HomeOf(*this, client),
                               .call = call.FromNow()};
  auto uploaded = Move(*this, client, here);
  if (!uploaded.ok()) {
    return sdk::NameDeadline(uploaded.status(), "To", client, call,
                             here.call.cancel);
  }
  if (*uploaded == nullptr) return *this;
  return sdk::MakeTensor(
      {shape()},
      sdk::Ready{.client = client, .buffers = {*std::move(uploaded)}},
      sdk::NodeOf(*this)->where());
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
