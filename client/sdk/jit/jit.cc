#include "client/sdk/jit/jit.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/sdk/graph/client_state.h"
#include "client/sdk/graph/evaluate.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/graph/trace.h"
#include "core/base/clock.h"
#include "core/base/or_expired.h"
#include "core/base/status.h"
#include "core/passes/optimize.h"

namespace hawser::sdk {
namespace {

bool MustCheck() {
  static const bool check = [] {
    const char* value = std::getenv("HAWSER_CHECK_JIT");
    return value != nullptr && std::string(value) == "1";
  }();
  return check;
}

// What a leaf says about where to compute.
absl::Status AgreeOn(const Leaf& leaf, Client* client)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex) {
  if (leaf.value.valid() || leaf.tensor.node() == nullptr) {
    if (leaf.shape.dtype() != DType::kInvalid) return absl::OkStatus();
    return NoValueError();
  }
  HAWSER_RETURN_IF_ERROR(Usable(leaf.tensor));
  if (leaf.tensor.node()->As<Traced>() != nullptr) {
    return LeakedError(leaf.tensor);
  }
  return Agree(ClientOf(leaf.tensor), client);
}

absl::StatusOr<std::vector<runtime::Argument>> ToArguments(
    const Flat& arguments, const Execution& execution) {
  std::vector<runtime::Argument> out;
  out.reserve(arguments.leaves.size());
  for (const Leaf& leaf : arguments.leaves) {
    if (leaf.value.valid()) {
      out.emplace_back(leaf.value);
    } else if (leaf.tensor.node() != nullptr) {
      HAWSER_ASSIGN_OR_RETURN(
          out.emplace_back(),
          ToArgument(leaf.tensor, execution.client, execution.call));
    } else {
      return InvalidArgument("argument ", out.size(),
                             " is a Shape, which only Warm takes");
    }
  }
  return out;
}

// The donated leaves of one call, which gets its arguments back when nothing
// was executed.
class Donations {
 public:
  explicit Donations(const Flat& flat) : flat_(flat) {}

  absl::Status Take(absl::Span<const runtime::Argument> arguments) {
    MutexLock lock(&graph_mutex);
    for (size_t i = 0; i < flat_.leaves.size(); ++i) {
      const Leaf& leaf = flat_.leaves[i];
      if (!leaf.donated) continue;
      Literal value;
      if (leaf.tensor.node() != nullptr) {
        const absl::Status taken = Surrender(leaf.tensor, &value);
        if (!taken.ok()) {
          GiveBackLocked(arguments);
          return Annotate(taken, absl::StrCat("argument ", i));
        }
      }
      indices_.push_back(static_cast<int>(i));
      values_.push_back(std::move(value));
    }
    return absl::OkStatus();
  }
  void GiveBack(absl::Span<const runtime::Argument> arguments) {
    MutexLock lock(&graph_mutex);
    GiveBackLocked(arguments);
  }
  const std::vector<int>& indices() const { return indices_; }

 private:
  void GiveBackLocked(absl::Span<const runtime::Argument> arguments)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex) {
    for (size_t k = 0; k < indices_.size(); ++k) {
      const Tensor& tensor = flat_.leaves[indices_[k]].tensor;
      if (tensor.node() == nullptr) continue;
      PutBack(tensor, std::move(values_[k]), arguments[indices_[k]]);
    }
    indices_.clear();
  }

  const Flat& flat_;
  std::vector<int> indices_;
  std::vector<Literal> values_;
};

}  // namespace

// A call that knows where and with which executable, and then with what.
struct JitCore::Prepared {
  Execution execution;
  EntryPtr entry;
  std::vector<runtime::Argument> values;
};

absl::Status AgreeOn(const Flat& arguments, Client* client) {
  MutexLock lock(&graph_mutex);
  for (size_t i = 0; i < arguments.leaves.size(); ++i) {
    const absl::Status status = AgreeOn(arguments.leaves[i], client);
    if (!status.ok()) return Annotate(status, absl::StrCat("argument ", i));
  }
  return absl::OkStatus();
}

absl::StatusOr<TracedModule> JitCore::TraceFor(const Flat& arguments,
                                               TraceFn fn) const {
  auto traced = TraceFunction(arguments, fn, where_);
  if (traced.ok()) return traced;
  return Annotate(traced.status(), absl::StrCat("tracing the function of ",
                                                where_.file, ":", where_.line));
}

absl::StatusOr<JitCore::EntryPtr> JitCore::Build(const Flat& arguments,
                                                 const Execution& execution,
                                                 TraceFn fn) const {
  auto entry = std::make_shared<Entry>();
  entry->client = execution.client;
  HAWSER_ASSIGN_OR_RETURN(TracedModule traced, TraceFor(arguments, fn));
  entry->prototype = std::move(traced.prototype);
  entry->digest = DigestOf(traced.module);
  HAWSER_ASSIGN_OR_RETURN(Module module, Optimize(std::move(traced.module)));
  HAWSER_ASSIGN_OR_RETURN(
      entry->executable, execution.client.runtime()->Compile(
                             std::make_shared<const Module>(std::move(module)),
                             {.numerics = execution.numerics}, execution.call));
  return EntryPtr(std::move(entry));
}

absl::StatusOr<JitCore::EntryPtr> JitCore::Find(const Flat& arguments,
                                                const Key& key,
                                                const Execution& execution,
                                                TraceFn fn) {
  const CancelToken& cancel = execution.call.cancel;
  while (true) {
    std::optional<Promise<EntryPtr>> promise;  // ours to keep
    Future<EntryPtr> known;
    {
      MutexLock lock(&mu_);
      if (auto* entry = entries_.Find(key)) {
        known = *entry;
      } else {
        entries_.Put(key, promise.emplace().future());
      }
    }
    if (promise.has_value()) {
      auto entry = Build(arguments, execution, fn);
      if (!entry.ok()) {  // the next call tries again
        MutexLock lock(&mu_);
        entries_.Erase(key);
      }
      promise->Set(entry);
      return entry;
    }
    auto entry = OrExpired(known, cancel).Await();
    // The limits of the call that was building it are not this one's.
    const bool over = absl::IsCancelled(entry.status()) ||
                      absl::IsDeadlineExceeded(entry.status());
    if (over && cancel.Check().ok()) continue;
    if (!entry.ok() || !MustCheck()) return entry;
    HAWSER_RETURN_IF_ERROR(CheckSame(arguments, **entry, fn));
    return entry;
  }
}

absl::Status JitCore::CheckSame(const Flat& arguments, const Entry& entry,
                                TraceFn fn) const {
  HAWSER_ASSIGN_OR_RETURN(const TracedModule again, TraceFor(arguments, fn));
  if (DigestOf(again.module) == entry.digest) return absl::OkStatus();
  return FailedPrecondition(
      "the function of ", where_.file, ":", where_.line,
      " traces to another graph than before with the same arguments: it "
      "depends on something that is not an argument");
}

absl::Status JitCore::Prepare(const Flat& arguments, const RunOptions& options,
                              TraceFn fn, Prepared* call) {
  call->execution = FromNow(options);
  Client& client = call->execution.client;
  HAWSER_RETURN_IF_ERROR(AgreeOn(arguments, &client));
  if (!client.valid()) client = Client::Default();
  Key key;
  key.push_back(reinterpret_cast<intptr_t>(client.runtime()));
  key.push_back(static_cast<int64_t>(options.numerics));
  key.insert(key.end(), arguments.sizes.begin(), arguments.sizes.end());
  for (const Leaf& leaf : arguments.leaves) {
    key.push_back(static_cast<int64_t>(leaf.shape.dtype()));
    key.push_back(leaf.shape.rank());
    key.insert(key.end(), leaf.shape.dims().begin(), leaf.shape.dims().end());
  }
  HAWSER_ASSIGN_OR_RETURN(call->entry,
                          Find(arguments, key, call->execution, fn));
  return absl::OkStatus();
}

absl::Status JitCore::PrepareValues(const Flat& arguments,
                                    const RunOptions& options, TraceFn fn,
                                    Prepared* call) {
  HAWSER_RETURN_IF_ERROR(Prepare(arguments, options, fn, call));
  HAWSER_RETURN_IF_ERROR(EvaluateRecorded(arguments, call->execution));
  HAWSER_ASSIGN_OR_RETURN(call->values,
                          ToArguments(arguments, call->execution));
  return absl::OkStatus();
}

absl::Status JitCore::EvaluateRecorded(const Flat& arguments,
                                       const Execution& execution) {
  absl::InlinedVector<Tensor, 4> tensors;
  for (const Leaf& leaf : arguments.leaves) {
    if (leaf.tensor.node() != nullptr) tensors.push_back(leaf.tensor);
  }
  return Evaluate(tensors, execution);
}

absl::StatusOr<CallResult> JitCore::Run(Flat arguments,
                                        const RunOptions& options, TraceFn fn) {
  Prepared call;
  HAWSER_RETURN_IF_ERROR(PrepareValues(arguments, options, fn, &call));
  Donations donations(arguments);
  HAWSER_RETURN_IF_ERROR(donations.Take(call.values));
  auto buffers = call.entry->executable->Execute(
      call.values,
      {.call = call.execution.call, .donated = donations.indices()});
  if (!buffers.ok()) {
    donations.GiveBack(call.values);
    return buffers.status();
  }
  CallResult result{{}, call.entry->prototype};
  result.tensors.reserve(buffers->size());
  for (runtime::BufferPtr& buffer : *buffers) {
    Shapes shapes = {buffer->shape()};
    result.tensors.push_back(MakeTensor(
        std::move(shapes),
        Ready{.client = call.execution.client, .buffers = {std::move(buffer)}},
        where_));
  }
  return result;
}

absl::StatusOr<CallResult> JitCore::Call(Flat arguments,
                                         const RunOptions& options,
                                         TraceFn fn) {
  Prepared call;
  HAWSER_RETURN_IF_ERROR(PrepareValues(arguments, options, fn, &call));
  const Execution& execution = call.execution;
  HAWSER_ASSIGN_OR_RETURN(
      auto literals, call.entry->executable->Call(call.values, execution.call)
                         .Await(execution.call.cancel.deadline()));
  CallResult result{{}, call.entry->prototype};
  for (Literal& literal : literals) {
    Shapes shapes = {literal.shape()};
    result.tensors.push_back(MakeTensor(
        std::move(shapes),
        Host{.value = std::move(literal), .ran_on = execution.client.name()},
        where_));
  }
  return result;
}

absl::Status JitCore::Warm(Flat arguments, const RunOptions& options,
                           TraceFn fn) {
  Prepared call;
  return Prepare(arguments, options, fn, &call);
}

}  // namespace hawser::sdk
