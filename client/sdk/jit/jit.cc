#include "client/sdk/jit/jit.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/graph/run/deadline.h"
#include "client/sdk/graph/run/evaluate.h"
#include "client/sdk/jit/call_arguments.h"
#include "client/sdk/jit/cut_marks.h"
#include "core/base/log.h"
#include "core/base/process/forked.h"
#include "core/base/status.h"
#include "core/base/threads/or_expired.h"
#include "core/base/trace/trace.h"
#include "core/environment/environment.h"
#include "core/ir/text/printer.h"
#include "core/passes/optimize.h"
#include "kernels/cpu/evaluator.h"

namespace hawser::sdk {
namespace {

// In a signature, between leaves and cuts; no dtype.
constexpr int64_t kCut = -1;

bool MustCheck() {
  static const bool check = IsSwitchedOn("HAWSER_CHECK_JIT");
  return check;
}

}  // namespace

// A call that knows where and with which executable.
struct JitCore::Prepared {
  Execution execution;
  EntryPtr entry;
};

absl::StatusOr<TracedModule> JitCore::TraceFor(const Flat& arguments,
                                               TraceFn fn) const {
  auto traced = TraceFunction(arguments, fn, where_);
  if (traced.ok()) return traced;
  return Annotate(traced.status(), absl::StrCat("tracing the function of ",
                                                where_.file, ":", where_.line));
}

absl::Status JitCore::CheckCuts(const TracedModule& traced,
                                const ShardSpec& cuts,
                                const Client& client) const {
  const auto capabilities = client.capabilities();
  if (!capabilities.ok() || capabilities->places < 2) return absl::OkStatus();
  HAWSER_ASSIGN_OR_RETURN(
      std::vector<ShardNote> notes,
      NotesOf(traced.module, ForPlaces(cuts, capabilities->places)));
  AddLines(traced, &notes);
  const absl::Status whole = CheckNotes(notes);
  if (strict_cuts_ || whole.ok()) return whole;
  HAWSER_LOG(kWarning) << InCall(whole, where_).message();
  return absl::OkStatus();
}

absl::StatusOr<JitCore::EntryPtr> JitCore::Build(const Flat& arguments,
                                                 const Execution& execution,
                                                 TraceFn fn) const {
  auto entry = std::make_shared<Entry>();
  entry->client = execution.client;
  const auto cuts = CutsOf(arguments);
  if (!cuts.ok()) return InCall(cuts.status(), where_);
  HAWSER_ASSIGN_OR_RETURN(TracedModule traced, TraceFor(arguments, fn));
  if (*cuts != nullptr) {
    const absl::Status kept = CheckCuts(traced, **cuts, entry->client);
    if (!kept.ok()) return InCall(kept, where_);
  }
  entry->prototype = std::move(traced.prototype);
  entry->digest = DigestOf(traced.module);
  HAWSER_ASSIGN_OR_RETURN(
      entry->probes,
      Probes::Make(std::move(traced.printed), traced.places, &traced.module));
  HAWSER_ASSIGN_OR_RETURN(
      Module module,
      Optimize(std::move(traced.module), {.evaluate = cpu::EvaluateConstants}));
  HAWSER_ASSIGN_OR_RETURN(
      entry->executable,
      execution.client.runtime()->Compile(
          std::make_shared<const Module>(std::move(module)),
          {.numerics = execution.numerics, .cuts = *cuts}, execution.call));
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
  HAWSER_RETURN_IF_ERROR(CheckNotForked());
  call->execution = FromNow(options);
  Client& client = call->execution.client;
  HAWSER_RETURN_IF_ERROR(AgreeOn(arguments, where_, &client));
  if (!client.valid()) client = Client::Default();
  Key key;
  key.push_back(reinterpret_cast<intptr_t>(client.runtime().get()));
  key.push_back(static_cast<int64_t>(options.numerics));
  key.insert(key.end(), arguments.sizes.begin(), arguments.sizes.end());
  for (const Leaf& leaf : arguments.leaves) {
    key.push_back(static_cast<int64_t>(leaf.shape.dtype()));
    key.push_back(leaf.shape.rank());
    key.insert(key.end(), leaf.shape.dims().begin(), leaf.shape.dims().end());
  }
  for (const CutMark& mark : arguments.cuts) {
    const AxisCut& cut = mark.cut;
    const auto parts = static_cast<int64_t>(cut.sizes.size());
    for (int64_t number : {kCut, int64_t{cut.value}, int64_t{cut.axis},
                           static_cast<int64_t>(cut.kind), cut.parts, parts}) {
      key.push_back(number);
    }
    key.insert(key.end(), cut.sizes.begin(), cut.sizes.end());
  }
  HAWSER_ASSIGN_OR_RETURN(call->entry,
                          Find(arguments, key, call->execution, fn));
  return absl::OkStatus();
}

absl::Status JitCore::PrepareValues(const Flat& arguments,
                                    const RunOptions& options, TraceFn fn,
                                    Prepared* call) {
  HAWSER_RETURN_IF_ERROR(Prepare(arguments, options, fn, call));
  return EvaluateRecorded(arguments, call->execution);
}

absl::StatusOr<std::vector<runtime::BufferPtr>> JitCore::Execute(
    const Flat& arguments, const Prepared& call) const {
  HAWSER_ASSIGN_OR_RETURN(const auto values,
                          ToArguments(arguments, call.execution));
  Donations donations(arguments);
  HAWSER_RETURN_IF_ERROR(donations.Take(values));
  auto buffers = call.entry->executable->Execute(
      values, {.call = call.execution.call, .donated = donations.indices()});
  if (!buffers.ok()) donations.GiveBack(values);
  return buffers;
}

absl::StatusOr<runtime::Called> JitCore::Ask(const Flat& arguments,
                                             const Prepared& call) const {
  const runtime::CallOptions& limits = call.execution.call;
  const auto& executable = call.entry->executable;
  if (const auto values =
          StatelessArguments(arguments, executable->signature())) {
    Donations donations(arguments);
    HAWSER_RETURN_IF_ERROR(donations.Take(*values));
    auto answer =
        executable->Call(*values, limits).Await(limits.cancel.deadline());
    if (!answer.ok()) donations.GiveBack(*values);
    return answer;
  }
  HAWSER_ASSIGN_OR_RETURN(const auto buffers, Execute(arguments, call));
  std::vector<Future<Literal>> fetched;
  for (const runtime::BufferPtr& buffer : buffers) {
    fetched.push_back(buffer->Fetch(limits));
  }
  runtime::Called answer;
  for (const Future<Literal>& value : fetched) {
    HAWSER_ASSIGN_OR_RETURN(answer.values.emplace_back(),
                            value.Await(limits.cancel.deadline()));
  }
  if (!buffers.empty()) answer.ran_on = buffers[0]->ran_on();
  return answer;
}

absl::Status JitCore::Tell(const Prepared& call,
                           std::vector<runtime::BufferPtr>* results) const {
  const size_t shown = results->size() - call.entry->probes.size();
  if (shown == results->size()) return absl::OkStatus();
  const runtime::CallOptions& limits = call.execution.call;
  std::vector<Future<Literal>> fetched;
  for (size_t k = shown; k < results->size(); ++k) {
    fetched.push_back((*results)[k]->Fetch(limits));
  }
  results->resize(shown);
  std::vector<Literal> hidden;
  for (const Future<Literal>& value : fetched) {
    HAWSER_ASSIGN_OR_RETURN(hidden.emplace_back(),
                            value.Await(limits.cancel.deadline()));
  }
  return call.entry->probes.Tell(hidden);
}

absl::Status JitCore::Explain(const absl::Status& error, const Prepared& call,
                              const RunOptions& options) const {
  const Execution& execution = call.execution;
  return NameDeadline(
      error, absl::StrCat("the function of ", where_.file, ":", where_.line),
      execution.client, options.call, execution.call.cancel);
}

absl::StatusOr<CallResult> JitCore::Run(Flat arguments,
                                        const RunOptions& options, TraceFn fn) {
  const TraceSpan span("sdk", "run");
  Prepared call;
  absl::Status ready = PrepareValues(arguments, options, fn, &call);
  if (!ready.ok()) return Explain(ready, call, options);
  auto buffers = Execute(arguments, call);
  if (!buffers.ok()) return Explain(buffers.status(), call, options);
  const absl::Status told = Tell(call, &*buffers);
  if (!told.ok()) return Explain(told, call, options);
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
  const TraceSpan span("sdk", "call");
  Prepared call;
  absl::Status ready = PrepareValues(arguments, options, fn, &call);
  if (!ready.ok()) return Explain(ready, call, options);
  auto answer = Ask(arguments, call);
  if (!answer.ok()) return Explain(answer.status(), call, options);
  const Probes& probes = call.entry->probes;
  const size_t shown = answer->values.size() - probes.size();
  HAWSER_RETURN_IF_ERROR(
      probes.Tell(absl::MakeConstSpan(answer->values).subspan(shown)));
  answer->values.resize(shown);
  CallResult result{{}, call.entry->prototype};
  for (Literal& literal : answer->values) {
    Shapes shapes = {literal.shape()};
    result.tensors.push_back(MakeTensor(
        std::move(shapes),
        Host{.value = std::move(literal), .ran_on = answer->ran_on}, where_));
  }
  return result;
}

absl::Status JitCore::Warm(Flat arguments, const RunOptions& options,
                           TraceFn fn) {
  Prepared call;
  const absl::Status ready = Prepare(arguments, options, fn, &call);
  return Explain(ready, call, options);
}

absl::StatusOr<std::string> JitCore::ToText(Flat arguments, TraceFn fn) const {
  Client client;
  HAWSER_RETURN_IF_ERROR(AgreeOn(arguments, where_, &client));
  HAWSER_ASSIGN_OR_RETURN(const TracedModule traced, TraceFor(arguments, fn));
  return Print(traced.module);
}

}  // namespace hawser::sdk
