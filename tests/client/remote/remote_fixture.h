// A RemoteClient over a FakeServer, and the few steps every test takes.
#ifndef HAWSER_TESTS_CLIENT_REMOTE_REMOTE_FIXTURE_H_
#define HAWSER_TESTS_CLIENT_REMOTE_REMOTE_FIXTURE_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "client/remote/remote_client.h"
#include "gtest/gtest.h"
#include "tests/client/remote/fake_server.h"
#include "tests/testing/matchers.h"

namespace hawser {

using runtime::BufferPtr;

inline runtime::CallOptions Within(absl::Duration duration) {
  runtime::CallOptions call;
  call.cancel = CancelToken(absl::Now() + duration);
  return call;
}

// Longer than anything here takes, short enough to fail a test that hangs.
inline runtime::CallOptions Soon() { return Within(absl::Seconds(20)); }

class RemoteTest : public testing::Test {
 protected:
  explicit RemoteTest(absl::Duration lease = absl::Seconds(60))
      : server(lease), client(Connect()) {}

  std::shared_ptr<runtime::Client> Connect(RemoteOptions options = {}) {
    return MakeRemoteClient(server.NewTransport(), std::move(options));
  }
  // (f32[n]) -> (f32[n]), which adds one.
  std::shared_ptr<runtime::Executable> CompilePlusOne(int64_t n = 2) {
    auto executable = client->Compile(PlusOneModule({n}), {}, Soon());
    EXPECT_OK(executable);
    return *executable;
  }
  static absl::StatusOr<BufferPtr> Step(runtime::Executable& executable,
                                        runtime::Argument argument,
                                        runtime::CallOptions call = {}) {
    auto results =
        executable.Execute({std::move(argument)}, {.call = std::move(call)});
    if (!results.ok()) return results.status();
    return (*results)[0];
  }
  static absl::StatusOr<Literal> FetchOf(const BufferPtr& buffer) {
    return buffer->Fetch(Soon()).Await();
  }
  // f32[n] of one value.
  static Literal Filled(int64_t n, float value) {
    Literal out = Literal::Uninitialized(Shape::Of(DType::kF32, {n}));
    for (float& x : out.mutable_data<float>()) x = value;
    return out;
  }

  FakeServer server;
  std::shared_ptr<runtime::Client> client;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_REMOTE_REMOTE_FIXTURE_H_
