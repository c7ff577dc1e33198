// Probes: hidden results of an execution, that say what was in it.
#ifndef HAWSER_CLIENT_SDK_PROBES_PROBES_H_
#define HAWSER_CLIENT_SDK_PROBES_PROBES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/graph/places.h"
#include "client/sdk/graph/printed.h"
#include "client/sdk/probes/checker.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"

namespace hawser::sdk {

// Writes "label = value (file:line)" to stderr, as one line where it is one; of
// a value in a loop, the turn in which it came last, or that it never did.
// `turns`: as Printed's. It writes nothing for a branch outside of loops that
// was not taken.
void WriteValue(const Printed& printed, const Literal& value,
                absl::Span<const int64_t> turns);

// Makes the value an extra result of the function that is being traced; outside
// of a trace, writes it at once.
void Show(Printed printed);

// Invariant: an execution's last results are the tensors of each of `prints`,
// then, where there are `checks`, a verdict (verdict.h). Immutable once made.
class Probes {
 public:
  Probes() = default;
  // Takes a traced module, whose results end with those of `prints`; adds to it
  // what HAWSER_CHECK_NAN and HAWSER_CHECK_INDICES ask for (read once).
  // `places`: of its entry.
  static absl::StatusOr<Probes> Make(std::vector<Printed> prints,
                                     const Places& places, Module* module);

  // Returns how many results they are.
  size_t size() const;
  // Prints, then says what the checks found. Errors: kInvalidArgument naming
  // the first instruction that made a NaN of operands without one, or whose
  // index is out of range, the user's line, and the turns of the loops it is
  // in.
  absl::Status Tell(absl::Span<const Literal> hidden) const;

 private:
  std::vector<Printed> prints_;  // without their tensors
  std::vector<Check> checks_;
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_PROBES_PROBES_H_
