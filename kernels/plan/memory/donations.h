// FindDonations: finds which results may take the memory of which arguments.
#ifndef HAWSER_KERNELS_PLAN_MEMORY_DONATIONS_H_
#define HAWSER_KERNELS_PLAN_MEMORY_DONATIONS_H_

#include <vector>

#include "kernels/plan/memory/lifetimes.h"

namespace hawser::plan {

// Result `result` may take the memory of argument `argument` when the caller
// gave that away: step `step` writes where it has read, or comes after the
// argument's last use.
struct Donation {
  int argument = -1;
  int result = -1;
  int step = -1;
  bool in_place = false;  // the step reads the argument while writing
};

// At most one donation for each argument and for each result. Results that may
// be written over an argument in place come first, among them those over the
// argument of their own number.
std::vector<Donation> FindDonations(const Lifetimes& lifetimes);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_MEMORY_DONATIONS_H_
