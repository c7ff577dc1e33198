// Histories of registers that several clients read and change, and whether they
// can have been one after the other.
#ifndef HAWSER_TESTS_E2E_HISTORY_HISTORY_H_
#define HAWSER_TESTS_E2E_HISTORY_HISTORY_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace hawser::testing {

// One call on a register, from when it was made until its answer.
struct Call {
  enum Kind { kRead, kWrite, kSwap } kind = kRead;
  std::string value;     // what it read, or wrote
  std::string expected;  // of kSwap: what it found
  int64_t begin = 0;
  int64_t end = kNever;  // kNever: no answer says whether it was done
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  std::string ToString() const;
};

// Whether there is an order of these calls in which each reads what the last
// write before it wrote, `initial` at first, and which has every call that
// ended before another began in front of it. A write without an answer may be
// anywhere behind its begin, or nowhere. By search over (calls done, value);
// writes without an answer whose value no other call saw are left out before,
// which changes nothing.
bool IsLinearizable(std::vector<Call> calls, const std::string& initial);

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_E2E_HISTORY_HISTORY_H_
