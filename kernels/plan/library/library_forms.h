// Ops as calls of a device's library, with ordinary instructions around them.
#ifndef HAWSER_KERNELS_PLAN_LIBRARY_LIBRARY_FORMS_H_
#define HAWSER_KERNELS_PLAN_LIBRARY_LIBRARY_FORMS_H_

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// True if the module has an op that some library computes.
bool HasLibraryOps(const Module& module);

// The module with calls for those of its ops that `target.takes_call` takes.
absl::StatusOr<Module> WithLibraryCalls(const Module& module,
                                        const Target& target);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_LIBRARY_LIBRARY_FORMS_H_
