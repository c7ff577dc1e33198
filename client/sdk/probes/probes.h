// Probes: hidden results of an execution, that say what was in it.
#ifndef HAWSER_CLIENT_SDK_PROBES_PROBES_H_
#define HAWSER_CLIENT_SDK_PROBES_PROBES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/graph/trace.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/ir/source_location.h"

namespace hawser::sdk {

// Writes "label = value (file:line)" to stderr, as one line where it is one.
void WriteValue(const Printed& printed, const Literal& value);

// Where a function is traced: an extra result of it; else writes it at once.
void Show(Printed printed);

// Invariant: an execution's last results are one value for each of `prints`,
// then, where there are `checks`, a bool for each of them. Immutable once made.
class Probes {
 public:
  Probes() = default;
  // Of a traced module, whose results end with those of `prints`; adds to it
  // what HAWSER_CHECK_NAN and HAWSER_CHECK_INDICES ask for (read once).
  // `where`: of each instruction of its entry; may be shorter.
  static absl::StatusOr<Probes> Make(std::vector<Printed> prints,
                                     absl::Span<const SourceLocation> where,
                                     Module* module);

  // How many results they are.
  size_t size() const { return prints_.size() + (checks_.empty() ? 0 : 1); }
  // Prints, then says what the checks found. Errors: kInvalidArgument naming
  // the first instruction that made a NaN of operands without one, or whose
  // index is out of range, and the user's line.
  absl::Status Tell(absl::Span<const Literal> hidden) const;

 private:
  class Maker;
  // Something that is not to be. It counts where all of `unless` are false.
  struct Check {
    std::string what;  // empty: it counts for others alone
    std::vector<int> unless;
  };

  std::vector<Printed> prints_;
  std::vector<Check> checks_;
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_PROBES_PROBES_H_
