// Values that no server has yet.
#ifndef HAWSER_CLIENT_BENCH_FRESH_BYTES_H_
#define HAWSER_CLIENT_BENCH_FRESH_BYTES_H_

#include <cstdint>

#include "core/base/literal.h"

namespace hawser::bench {

// u8[bytes] of which no chunk is one of another number's, in memory that has
// been written to.
Literal FreshBytes(int64_t bytes, uint64_t number);

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_FRESH_BYTES_H_
