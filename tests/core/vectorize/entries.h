// Batches run on the reference evaluator, and compared entry by entry.
#ifndef HAWSER_TESTS_CORE_VECTORIZE_ENTRIES_H_
#define HAWSER_TESTS_CORE_VECTORIZE_ENTRIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/values/compare.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {

// The text form read, which must be right.
Module ParsedModule(absl::string_view text);
absl::StatusOr<std::vector<Literal>> RunOnReference(
    const Module& module, absl::Span<const Literal> arguments);

// Entry b along axis 0.
Literal EntryOf(const Literal& batch, int64_t b);

// What an argument may be, so that a module says the same in every order and
// its loops end.
enum class Role : uint8_t {
  kFree,
  kFixed,    // an initial value of a reduce: what it was
  kCounter,  // of a loop: the number of the entry
};
// A module without constants in its entry: each became a parameter, behind
// those there were.
struct OpenModule {
  Module module;
  std::vector<Role> roles;      // of each parameter
  std::vector<Literal> values;  // those that constants had
};
OpenModule Opened(const Module& module);

// Whether it adds or multiplies floats up in an order of the engine's.
bool FoldsFloats(const Module& module);

// Some of the parameters, mostly.
std::vector<bool> SomeBatched(const OpenModule& open, Random& random);
// The arguments, those batched with a new axis 0.
std::vector<Literal> DrawArguments(const OpenModule& open,
                                   const std::vector<bool>& batched,
                                   int64_t size, Random& random);

// Expects of each entry the bits that `module` gives for it.
void ExpectEntries(const Module& module, const std::vector<bool>& batched,
                   int64_t size, absl::Span<const Literal> arguments,
                   const std::string& which,
                   const Tolerance& tolerance = {.bits = true});

}  // namespace hawser
#endif  // HAWSER_TESTS_CORE_VECTORIZE_ENTRIES_H_
