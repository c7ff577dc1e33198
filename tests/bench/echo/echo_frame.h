// Bytes as the `data` of an EchoMessage.
#ifndef HAWSER_TESTS_BENCH_ECHO_ECHO_FRAME_H_
#define HAWSER_TESTS_BENCH_ECHO_ECHO_FRAME_H_

#include <grpcpp/support/byte_buffer.h>

#include "absl/types/span.h"

namespace hawser::bench {

// Metadata of a Put whose frames both ends hash.
inline constexpr char kHashed[] = "hashed";

// They are not copied and must outlive gRPC's use of them.
grpc::ByteBuffer FrameOf(absl::Span<const char> data);
// Copies what a frame holds, header and all, to the front of `room`, as far as
// it goes. False: there is no such frame.
bool CopyFrame(grpc::ByteBuffer* frame, absl::Span<char> room);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_ECHO_ECHO_FRAME_H_
