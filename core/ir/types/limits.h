// ModuleLimits: how large a module may be.
#ifndef HAWSER_CORE_IR_TYPES_LIMITS_H_
#define HAWSER_CORE_IR_TYPES_LIMITS_H_

#include <cstdint>

namespace hawser {

// The limits of what one end accepts from the other. The defaults bound decode
// time and memory: 65,536 instructions verify in tens of milliseconds.
struct ModuleLimits {
  int64_t bytes = int64_t{16} << 20;        // encoded
  int64_t instructions = int64_t{1} << 16;  // all computations together
  int64_t computations = int64_t{1} << 12;
  int64_t operands = int64_t{1} << 20;        // all instructions together
  int nesting = 64;                           // calls inside calls
  int64_t elements = int64_t{1} << 40;        // of any one value
  int64_t constant_bytes = int64_t{8} << 20;  // all constants together
};

}  // namespace hawser
#endif  // HAWSER_CORE_IR_TYPES_LIMITS_H_
