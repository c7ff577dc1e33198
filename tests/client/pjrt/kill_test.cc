// A server that dies between any two entries: the same conversation, with the
// server killed after its first call, its second, and so on, gives the same
// values each time.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/pjrt/plugin.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"

namespace hawser::pjrt {
namespace {

// w + x @ x; w is donated.
constexpr char kStep[] =
    "(%w: tensor<2x2xf32> {tf.aliasing_output = 0 : i32}, "
    "%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {\n"
    "  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : "
    "(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>\n"
    "  %1 = stablehlo.add %w, %0 : tensor<2x2xf32>\n"
    "  %2 = stablehlo.multiply %1, %1 : tensor<2x2xf32>\n"
    "  return %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>\n}\n";

// A conversation, of which one step follows the other.
class Conversation {
 public:
  // Kills the server after so many calls of the plugin.
  explicit Conversation(int kill_after) : kill_after_(kill_after) {
    auto server = testing::StartHawserd({"--device=cpu"}, &address_);
    EXPECT_OK(server);
    if (server.ok()) server_.emplace(*std::move(server));
  }

  // All that it fetched.
  std::vector<float> Run() {
    Begin();
    Work();
    End();
    return fetched_;
  }
  void Begin() {
    MakeClient();
    w_ = Put({1, 1, 1, 1});
    x_ = Put({1, 2, 3, 4});
    step_ = Compile();
    all_ = {w_, x_};
  }
  void Work() {
    Buffer* w = w_;
    for (int i = 0; i < 3; ++i) {
      std::vector<Buffer*> results = Execute(step_, w, x_);
      w = results[0];
      all_.insert(all_.end(), results.begin(), results.end());
      if (i == 1) Fetch(results[1]);
    }
    Fetch(w);
    Device* const device = Call(MUST(Buffer_Device, w, nullptr)).device;
    Buffer* const copy =
        Call(MUST(Buffer_CopyToDevice, w, device, nullptr)).dst_buffer;
    Fetch(copy);
    Fetch(all_.back());
    Event* const ready = Call(MUST(Buffer_ReadyEvent, x_, nullptr)).event;
    Call(MUST(Event_Await, ready));
    Call(MUST(Event_Destroy, ready));
    all_.push_back(copy);
  }
  void End() {
    for (Buffer* buffer : all_) Call(MUST(Buffer_Destroy, buffer));
    Call(MUST(LoadedExecutable_Destroy, step_));
    Call(MUST(Client_Destroy, client_));
  }
  void KillServer() { server_.reset(); }
  const std::vector<float>& fetched() const { return fetched_; }
  int calls() const { return calls_; }

 private:
  // After each call.
  template <typename Args>
  Args Call(Args args) {
    Count();
    return args;
  }
  void Count() {
    if (++calls_ == kill_after_) server_.reset();
  }

  void MakeClient() {
    client_ = ClientOf(address_);
    Count();
  }
  Buffer* Put(const std::vector<float>& values) {
    const int64_t dims[] = {2, 2};
    Client_BufferFromHostBufferArgs args = {};
    args.client = client_;
    args.data = values.data();
    args.type = kF32;
    args.dims = dims;
    args.num_dims = 2;
    args = Call(Must(EntryId::kClient_BufferFromHostBuffer, args));
    MUST(Event_Await, args.done_with_host_buffer);
    MUST(Event_Destroy, args.done_with_host_buffer);
    return args.buffer;
  }
  LoadedExecutable* Compile() {
    const std::string text = absl::StrCat("func.func @main", kStep);
    const Program program = ProgramOf(text);
    return Call(MUST(Client_Compile, client_, &program, nullptr, 0, nullptr))
        .executable;
  }
  std::vector<Buffer*> Execute(LoadedExecutable* step, Buffer* w, Buffer* x) {
    Buffer* arguments[] = {w, x};
    std::vector<Buffer*> results(2);
    Buffer* const* const lists[] = {arguments};
    Buffer** const outputs[] = {results.data()};
    LoadedExecutable_ExecuteArgs args = {};
    args.executable = step;
    args.argument_lists = lists;
    args.num_devices = 1;
    args.num_args = 2;
    args.output_lists = outputs;
    Call(Must(EntryId::kLoadedExecutable_Execute, args));
    return results;
  }
  // In two calls, as a program has it.
  void Fetch(Buffer* buffer) {
    float values[4];
    Event* const done = Call(MUST(Buffer_ToHostBuffer, buffer, nullptr, values,
                                  sizeof(values), nullptr))
                            .event;
    Call(MUST(Event_Await, done));
    MUST(Event_Destroy, done);
    fetched_.insert(fetched_.end(), values, values + 4);
  }

  const int kill_after_;
  std::string address_;
  std::optional<testing::Process> server_;
  Client* client_ = nullptr;
  Buffer *w_ = nullptr, *x_ = nullptr;
  LoadedExecutable* step_ = nullptr;
  std::vector<Buffer*> all_;
  int calls_ = 0;
  std::vector<float> fetched_;
};

TEST(KillTest, AServerThatDiesBetweenAnyTwoCallsChangesNothing) {
  Conversation whole(0);
  const std::vector<float> want = whole.Run();
  ASSERT_EQ(want.size(), 16u);
  EXPECT_EQ(want[4], 22);  // 1 + 3 * 7
  for (int k = 1; k <= whole.calls(); ++k) {
    Conversation killed(k);
    EXPECT_EQ(killed.Run(), want) << "killed after call " << k;
  }
}

class ExitTest : public PjrtTest {};

TEST_F(ExitTest, WhileAServerWorksIsQuick) {
  // The process that exits is a fresh one, which begins this test again.
  constexpr char kServer[] = "HAWSER_TEST_SERVER";
  std::string address;
  std::optional<testing::Process> server;
  if (const char* const given = std::getenv(kServer)) {
    address = given;
  } else {
    auto started = testing::StartHawserd({"--device=cpu"}, &address);
    ASSERT_OK(started);
    server.emplace(*std::move(started));
    setenv(kServer, address.c_str(), 1);
  }
  MUST(Client_Destroy, std::exchange(client_, ClientOf(address)));
  LoadedExecutable* const program = Compile(kLong);
  const absl::Time begin = absl::Now();
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        Buffer* a = Put(std::vector<float>(1 << 20), {1024, 1024});
        std::vector<Buffer*> results(1);
        Run(program, {a}, &results);
        exit(0);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_LT(absl::Now() - begin, absl::Seconds(20));
  unsetenv(kServer);
  MUST(LoadedExecutable_Destroy, program);
}

// The connection's threads are not in a child: it may end as it likes.
TEST(KillTest, ChildrenOfAProgramWithAServerEndAndDoNotHang) {
  for (const bool dies : {false, true}) {
    Conversation conversation(0);
    conversation.Begin();
    if (dies) conversation.KillServer();
    const auto in_child = [&](int code, auto work) {
      const pid_t child = fork();
      if (child == 0) {
        // Its errors are no failures of this test.
        if (freopen("/dev/null", "w", stdout) == nullptr) _exit(1);
        work();
        exit(code);
      }
      EXPECT_EQ(ExitOf(child), code) << (dies ? "the server is gone" : "");
    };
    in_child(7, [] {});
    in_child(8, [&] { conversation.End(); });
    in_child(9, [&] { conversation.Work(); });
    conversation.Work();
    conversation.End();
    EXPECT_EQ(conversation.fetched().size(), 16u);
  }
}

}  // namespace
}  // namespace hawser::pjrt
