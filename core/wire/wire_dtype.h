// A dtype's number from the wire.
#ifndef HAWSER_CORE_WIRE_WIRE_DTYPE_H_
#define HAWSER_CORE_WIRE_WIRE_DTYPE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/base/values/dtype.h"

namespace hawser {

// Errors: kUnimplemented for a number this end does not know or only reserves;
// kInvalidArgument for 0.
absl::StatusOr<DType> DTypeFromWire(uint64_t number);

}  // namespace hawser
#endif  // HAWSER_CORE_WIRE_WIRE_DTYPE_H_
