// Small modules for the client suites, and calls that fail a test themselves.
#ifndef HAWSER_TESTS_CONFORMANCE_PROGRAMS_H_
#define HAWSER_TESTS_CONFORMANCE_PROGRAMS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"

namespace hawser {

using ModulePtr = std::shared_ptr<const Module>;
using ExecutablePtr = std::shared_ptr<runtime::Executable>;

// (x, y) -> x + y
ModulePtr AddModule(const Shape& shape);
// (x) -> x, -x
ModulePtr NegateModule(const Shape& shape);
// (i, limit) -> i counted up to limit, both s64[]: work as long as one likes.
ModulePtr CountModule();
inline constexpr int64_t kEndless = int64_t{1} << 60;
// () -> 0, 1, ... of s64[elements].
ModulePtr IotaModule(int64_t elements);

// Plenty for a loaded machine; a caller that would rather fail than hang.
runtime::CallOptions Patient();

// Null, and a failure, when that does not work.
ExecutablePtr Compile(runtime::Client& client, const ModulePtr& module);
std::vector<runtime::BufferPtr> Execute(
    const ExecutablePtr& executable,
    const std::vector<runtime::Argument>& arguments,
    const runtime::ExecuteOptions& options = {});
absl::StatusOr<Literal> Get(const runtime::BufferPtr& buffer,
                            const runtime::CallOptions& call = Patient());

// s64[n], every element `value`.
Literal Full(int64_t value, int64_t n);
// `shape` full of bits of every kind, always the same ones for a seed.
Literal RandomBits(const Shape& shape, uint64_t seed);

}  // namespace hawser
#endif  // HAWSER_TESTS_CONFORMANCE_PROGRAMS_H_
