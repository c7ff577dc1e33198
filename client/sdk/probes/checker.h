// Checker: a module made again, with checks after what it does.
#ifndef HAWSER_CLIENT_SDK_PROBES_CHECKER_H_
#define HAWSER_CLIENT_SDK_PROBES_CHECKER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/graph/places.h"
#include "client/sdk/probes/check_depths.h"
#include "client/sdk/probes/verdict.h"
#include "core/ir/builder.h"
#include "core/ir/module.h"
#include "core/ir/source_location.h"
#include "core/ops/expression.h"

namespace hawser::sdk {

// Something that is not to be, of one instruction at one place.
struct Check {
  std::string what;  // "HAWSER_CHECK_NAN: log gives NaN in a f32[2]"
  SourceLocation where;
  int loops = 0;  // around it
};

// Copies a module, adding one result to its entry: the verdict of its checks
// (verdict.h). A loop in which something is checked has two states after those
// it had, the number of its turn and the first verdict of a turn, and a branch
// one more result; what has nothing to check in it is copied as it is. The
// instructions of a condition run once more for their checks, since it gives a
// bool alone: at the beginning of each iteration, and on the last state after
// the loop. Invariant: the other results are those of the module, of the same
// instructions; checks_ are in the order in which the program does what they
// check, and a check's number is its place there.
class Checker {
 public:
  Checker(const Module& from, CheckKinds kinds)
      : from_(from),
        depths_(from, kinds),
        kinds_(kinds),
        to_(from.name()),
        whole_(from.computations().size(), -1) {}

  bool has_checks() const {
    return depths_.Of(static_cast<int>(whole_.size()) - 1) !=
           CheckDepths::kNothing;
  }
  // The copy, if it has checks; `places` are those of the entry. Call it once.
  // Errors: none that a verified module has.
  absl::StatusOr<Module> Run(const Places& places);
  // The checks by their numbers, after Run.
  std::vector<Check> TakeChecks() { return std::move(checks_); }

 private:
  struct Frame;
  struct Site;

  // Copies the computation of `frame` after its parameters; returns its
  // results.
  std::vector<Expression> Copy(Frame frame);
  void CopyPlain(Frame& frame, const Site& site);
  void CopyWhile(Frame& frame, const Site& site);
  void CopyCase(Frame& frame, const Site& site);
  // These give the number of the new computation.
  int CopyCondition(const Site& site, int turns);
  int CopyBody(const Frame& around, const Site& site, int turns);
  int CopyBranch(const Frame& around, const Site& site, size_t branch,
                 int turns);
  int CopyWhole(int computation);
  int Finish(ExpressionScope* scope, absl::Span<const Expression> results);

  // Returns the frame of computation `which` that `site` calls with these
  // arguments, inside `loops` loops.
  Frame Called(const Site& site, size_t which, ExpressionScope* scope,
               const std::vector<Expression>& arguments, int loops,
               Findings* findings) const;
  void AddIndexChecks(Frame& frame, const Site& site);
  void AddNanChecks(Frame& frame, const Site& site);
  void AddCheck(Frame& frame, const Site& site, std::string what,
                const Expression& fails);

  const Module& from_;
  const CheckDepths depths_;
  const CheckKinds kinds_;
  Module to_;
  std::vector<int> whole_;  // by computation: its copy as it is, or -1
  Monoids monoids_;
  std::vector<Check> checks_;
  absl::Status status_;  // the first error
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_PROBES_CHECKER_H_
