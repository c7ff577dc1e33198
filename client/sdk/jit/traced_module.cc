#include "client/sdk/jit/traced_module.h"

#include <utility>

#include "client/sdk/graph/node.h"
#include "client/sdk/graph/trace.h"
#include "core/base/trace/trace.h"

namespace hawser::sdk {

bool Tracing() { return Trace::Current() != nullptr; }

Tensor FailedTensor(const absl::Status& error) { return MakeFailed(error, {}); }

Tensor ToTensor(const Leaf& leaf, SourceLocation where) {
  return leaf.value.valid() ? MakeHost(leaf.value, where) : leaf.tensor;
}

absl::StatusOr<TracedModule> TraceFunction(const Flat& arguments, TraceFn fn,
                                           SourceLocation where) {
  const TraceSpan span("sdk", "trace");
  Trace trace("jit", Captures::kSmallValues);
  std::vector<Tensor> parameters;
  for (const Leaf& leaf : arguments.leaves) {
    parameters.push_back(trace.Parameter(leaf.shape, where));
  }
  CallResult traced;
  {
    const Trace::Scope scope(&trace);
    traced = fn(std::move(parameters));
  }
  std::vector<Printed> printed = trace.TakePrinted();
  AppendTensors(printed, &traced.tensors);
  trace.Return(traced.tensors, where);
  auto module = trace.Finish();
  if (!module.ok()) return module.status();
  return TracedModule{*std::move(module), trace.places(),
                      std::move(traced.prototype), std::move(printed)};
}

}  // namespace hawser::sdk
