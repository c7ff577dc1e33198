// TracedModule: a function as a trace left it.
#ifndef HAWSER_CLIENT_SDK_JIT_TRACED_MODULE_H_
#define HAWSER_CLIENT_SDK_JIT_TRACED_MODULE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "client/sdk/graph/places.h"
#include "client/sdk/graph/printed.h"
#include "client/sdk/jit/untyped_call.h"
#include "client/sdk/structure.h"
#include "core/ir/module.h"
#include "core/ir/source_location.h"

namespace hawser::sdk {

struct TracedModule {
  // Its results are the function's, then what is printed.
  Module module;
  Places places;
  std::shared_ptr<const void> prototype;  // the result's structure
  std::vector<Printed> printed;
};

// Calls `fn` once, with parameters of the shapes of `arguments`, made at
// `where`. Errors: the first one in it.
absl::StatusOr<TracedModule> TraceFunction(const Flat& arguments, TraceFn fn,
                                           SourceLocation where);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_JIT_TRACED_MODULE_H_
