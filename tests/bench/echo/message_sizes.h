// How long the messages of a step are, for a bare exchange of as many bytes.
#ifndef HAWSER_TESTS_BENCH_ECHO_MESSAGE_SIZES_H_
#define HAWSER_TESTS_BENCH_ECHO_MESSAGE_SIZES_H_

#include <cstddef>

namespace hawser::bench {

// Bytes of a serialized message, each way.
struct MessageSizes {
  size_t request = 0;
  size_t answer = 0;
};

// Two f32[16] with an Execute on the session stream, one with its answer.
MessageSizes SizesOfStep();
// The same with the stateless Call.
MessageSizes SizesOfCall();

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_ECHO_MESSAGE_SIZES_H_
