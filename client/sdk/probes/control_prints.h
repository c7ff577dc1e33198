// Carries values that are printed in loops and branches out of them as results.
#ifndef HAWSER_CLIENT_SDK_PROBES_CONTROL_PRINTS_H_
#define HAWSER_CLIENT_SDK_PROBES_CONTROL_PRINTS_H_

#include <vector>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/printed.h"
#include "client/sdk/graph/region.h"
#include "client/sdk/tensor.h"

namespace hawser::sdk {

// A loop as it was traced. Condition and body take the state, then `lifted`;
// after what a loop asks of them they give the tensors of what is printed.
struct PrintingLoop {
  std::vector<Tensor> initial;
  std::vector<Tensor> lifted;
  Region condition, body;
  std::vector<Printed> in_condition, in_body;

  bool prints() const { return !in_condition.empty() || !in_body.empty(); }
};

// Adds the loop, and shows what it printed: of its body in the last turn that
// came there, kept in states after the user's; of its condition the last time
// it was asked. Result: the last state, of the user's states alone.
std::vector<Tensor> AddPrintingLoop(const OpScope& s, PrintingLoop loop);

// The tensors of what is printed in a branch, of the trace of that branch.
// Gives each that has no turns the turn of a run.
std::vector<Tensor> PrintedHere(std::vector<Printed>* printed,
                                SourceLocation where);
// Returns the tensors that another branch gives in their place.
std::vector<Tensor> NotPrintedHere(const std::vector<Printed>& printed,
                                   SourceLocation where);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_PROBES_CONTROL_PRINTS_H_
