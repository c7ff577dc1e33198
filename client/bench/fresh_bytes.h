// Values that no server has yet.
#ifndef HAWSER_CLIENT_BENCH_FRESH_BYTES_H_
#define HAWSER_CLIENT_BENCH_FRESH_BYTES_H_

#include <cstdint>

#include "core/base/values/literal.h"

namespace hawser::bench {

// A literal u8[bytes]. No chunk of it equals one of another `number`. All of
// its memory has been written to.
Literal FreshBytes(int64_t bytes, uint64_t number);

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_FRESH_BYTES_H_
