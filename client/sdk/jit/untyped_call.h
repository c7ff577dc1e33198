// A call of a traced function without its C++ types: what the templates of
// function.h and grad.h stand on.
#ifndef HAWSER_CLIENT_SDK_JIT_UNTYPED_CALL_H_
#define HAWSER_CLIENT_SDK_JIT_UNTYPED_CALL_H_

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "client/sdk/structure.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser::sdk {

// The tensors that a function returned, and the structure they were taken from.
struct CallResult {
  std::vector<Tensor> tensors;
  std::shared_ptr<const void> prototype;
};
// The user's function, called with traced tensors.
using TraceFn = absl::FunctionRef<CallResult(std::vector<Tensor> parameters)>;

// True if a trace is being built on this thread.
bool Tracing();
// An invalid tensor that keeps `error`.
Tensor FailedTensor(const absl::Status& error);
// A leaf as a tensor, for calling the function inside another trace.
Tensor ToTensor(const Leaf& leaf, SourceLocation where);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_JIT_UNTYPED_CALL_H_
