// Streams, events, memory and graphs of the emulated device: ordered work is
// done in order, and a missing wait is found.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/mutex.h"
#include "tests/kernels/emu/bench.h"

namespace hawser::testing {
namespace {

constexpr char kAddOne[] = R"(
HK_GLOBAL HK_BOUNDS(256) add_one(float* y, const float* x, u32 n, float by) {
  const u32 i = HK_BID * 256u + HK_TID;
  if (i < n) Store(y + i, Load(x + i) + by);
}
)";
constexpr uint32_t kSize = 300;

struct Chain {
  Bench bench;
  gpu::Kernel kernel;
  OnDevice<float> x, y;

  explicit Chain(emu::EmuOptions options = {.seed = 1})
      : bench(options),
        kernel(bench.Kernel(kAddOne, "add_one")),
        x(bench.Put(std::vector<float>(kSize, 1.0f))),
        y(bench.Make<float>(kSize)) {}
  absl::Status Add(gpu::Stream stream, const OnDevice<float>& to,
                   const OnDevice<float>& from, float by = 1) {
    return bench.device().Launch(
        stream, kernel, {.grid = {2}, .threads = 256},
        std::vector<gpu::KernelArgument>{
            to.Write(), from.Read(), gpu::KernelArgument::Scalar(kSize),
            gpu::KernelArgument::Scalar(by)});
  }
};

// y = x + 1 on one stream, z = y + 1 on another; with or without a wait.
std::vector<float> TwoStreams(uint64_t seed, bool with_wait) {
  Chain c({.seed = seed});
  gpu::Device& d = c.bench.device();
  const gpu::Stream second = *d.CreateStream(0);
  const gpu::Event event = *d.CreateEvent();
  const auto z = c.bench.Put(std::vector<float>(kSize));
  EXPECT_EQ(d.Fill(c.bench.stream(), c.y.address, 0, kSize * 4),
            absl::OkStatus());
  EXPECT_EQ(d.AwaitStream(c.bench.stream()), absl::OkStatus());
  EXPECT_EQ(c.Add(c.bench.stream(), c.y, c.x), absl::OkStatus());
  EXPECT_EQ(d.RecordEvent(c.bench.stream(), event), absl::OkStatus());
  if (with_wait) {
    EXPECT_EQ(d.AwaitEventOn(second, event), absl::OkStatus());
  }
  EXPECT_EQ(c.Add(second, z, c.y), absl::OkStatus());
  EXPECT_EQ(d.AwaitStream(second), absl::OkStatus());
  return c.bench.Get(z);
}

TEST(Streams, AnEventOrdersThem) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(TwoStreams(seed, true), std::vector<float>(kSize, 3.0f)) << seed;
  }
}

TEST(Streams, AMissingWaitShows) {
  int wrong = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    wrong += TwoStreams(seed, false) != std::vector<float>(kSize, 3.0f);
  }
  EXPECT_GT(wrong, 2);
  EXPECT_LT(wrong, 20);
}

TEST(Streams, HostMemoryIsReadLate) {
  int wrong = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Chain c({.seed = seed});
    std::vector<float> from(kSize, 2.0f);
    ASSERT_EQ(c.bench.device().CopyToDevice(c.bench.stream(), c.y.address,
                                            from.data(), kSize * 4),
              absl::OkStatus());
    from.assign(kSize, 9.0f);  // too early
    wrong += c.bench.Get(c.y)[0] == 9.0f;
  }
  EXPECT_EQ(wrong, 10);
}

TEST(Streams, NotifyComesWithoutAnyoneWaiting) {
  Chain c;
  Mutex mu;
  CondVar changed;
  absl::Status said = absl::UnknownError("nothing yet");
  ASSERT_EQ(c.Add(c.bench.stream(), c.y, c.x), absl::OkStatus());
  ASSERT_EQ(c.bench.device().Notify(c.bench.stream(),
                                    [&](absl::Status status) {
                                      MutexLock lock(&mu);
                                      said = status;
                                      changed.SignalAll();
                                    }),
            absl::OkStatus());
  MutexLock lock(&mu);
  changed.Wait(&mu, [&] { return !absl::IsUnknown(said); });
  EXPECT_EQ(said, absl::OkStatus());
}

TEST(Streams, PollingAnEventMakesProgress) {
  Chain c;
  gpu::Device& d = c.bench.device();
  const gpu::Event event = *d.CreateEvent();
  EXPECT_TRUE(*d.IsDone(event));  // never recorded
  ASSERT_EQ(c.Add(c.bench.stream(), c.y, c.x), absl::OkStatus());
  ASSERT_EQ(d.RecordEvent(c.bench.stream(), event), absl::OkStatus());
  while (!*d.IsDone(event)) std::this_thread::yield();
  EXPECT_EQ(d.DestroyEvent(event), absl::OkStatus());
  EXPECT_TRUE(absl::IsInvalidArgument(d.AwaitEvent(event)));
}

TEST(Streams, AFaultEndsTheDevice) {
  Chain c;
  gpu::Device& d = c.bench.device();
  OnDevice<float> half = c.y;
  half.size = kSize / 2;
  ASSERT_EQ(c.Add(c.bench.stream(), half, c.x), absl::OkStatus());
  const absl::Status status = d.AwaitStream(c.bench.stream());
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_NE(status.message().find("kernel add_one"), absl::string_view::npos)
      << status;
  const absl::Status lost = absl::UnavailableError(
      absl::StrCat("the device is lost: ", status.message()));
  EXPECT_EQ(d.Health(), lost);
  EXPECT_EQ(c.Add(c.bench.stream(), c.y, c.x), lost);
  EXPECT_EQ(d.AwaitStream(c.bench.stream()), lost);
}

TEST(Memory, IsCountedAndGivenBack) {
  Bench bench({.memory_bytes = 1 << 20});
  gpu::Device& d = bench.device();
  const auto a = *d.Allocate(bench.stream(), 700 << 10);
  EXPECT_EQ(d.memory().live_bytes, 700 << 10);
  EXPECT_EQ(d.memory().live_allocations, 1);
  const absl::Status full = d.Allocate(bench.stream(), 400 << 10).status();
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  ASSERT_EQ(d.Free(bench.stream(), a), absl::OkStatus());
  EXPECT_TRUE(absl::IsInvalidArgument(d.Free(bench.stream(), a)));
  EXPECT_EQ(d.memory().live_bytes, 0);
  // The stream frees it first.
  const auto b = d.Allocate(bench.stream(), 400 << 10);
  ASSERT_EQ(b.status(), absl::OkStatus());
  EXPECT_EQ(d.memory().peak_bytes, 700 << 10);
  EXPECT_EQ(d.Free(bench.stream(), *b), absl::OkStatus());
  EXPECT_EQ(d.Free(bench.stream(), {}), absl::OkStatus());
}

TEST(Memory, UseAfterFreeIsFound) {
  Chain c;
  gpu::Device& d = c.bench.device();
  ASSERT_EQ(d.Free(c.bench.stream(), c.x.address), absl::OkStatus());
  ASSERT_EQ(c.Add(c.bench.stream(), c.y, c.x), absl::OkStatus());
  const absl::Status status = d.AwaitStream(c.bench.stream());
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_NE(status.message().find("argument 1"), absl::string_view::npos)
      << status;
}

TEST(Memory, FreeingOnAnotherStreamWithoutAWaitIsFound) {
  int found = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Chain c({.seed = seed});
    gpu::Device& d = c.bench.device();
    const gpu::Stream second = *d.CreateStream(0);
    const auto a = *d.Allocate(c.bench.stream(), 64);
    ASSERT_EQ(d.Free(second, a), absl::OkStatus());
    const absl::Status status = d.AwaitStream(second);
    EXPECT_TRUE(status.ok() || absl::IsInternal(status)) << status;
    found += !status.ok();
  }
  EXPECT_GT(found, 2);
}

TEST(Memory, FreshMemoryIsPoison) {
  Bench bench;
  const auto x = bench.Make<float>(4);
  for (const float v : bench.Get(x)) EXPECT_NE(v, v);
}

gpu::Graph CaptureTwoSteps(Chain* c, const OnDevice<float>& to, float by) {
  gpu::Device& d = c->bench.device();
  EXPECT_EQ(d.BeginCapture(c->bench.stream()), absl::OkStatus());
  EXPECT_EQ(c->Add(c->bench.stream(), c->y, c->x, by), absl::OkStatus());
  EXPECT_EQ(c->Add(c->bench.stream(), to, c->y, by), absl::OkStatus());
  return *d.EndCapture(c->bench.stream());
}

TEST(Graphs, AreReplayedAndUpdated) {
  Chain c;
  gpu::Device& d = c.bench.device();
  const auto z = c.bench.Make<float>(kSize), w = c.bench.Make<float>(kSize);
  const gpu::Graph first = CaptureTwoSteps(&c, z, 1);
  const gpu::GraphExec exec = *d.Instantiate(first);
  ASSERT_EQ(d.LaunchGraph(c.bench.stream(), exec), absl::OkStatus());
  const gpu::Graph second = CaptureTwoSteps(&c, w, 10);
  EXPECT_TRUE(*d.Update(exec, second));
  ASSERT_EQ(d.LaunchGraph(c.bench.stream(), exec), absl::OkStatus());
  EXPECT_EQ(c.bench.Get(z), std::vector<float>(kSize, 3.0f));
  EXPECT_EQ(c.bench.Get(w), std::vector<float>(kSize, 21.0f));
  ASSERT_EQ(d.BeginCapture(c.bench.stream()), absl::OkStatus());
  ASSERT_EQ(c.Add(c.bench.stream(), c.y, c.x), absl::OkStatus());
  const gpu::Graph shorter = *d.EndCapture(c.bench.stream());
  EXPECT_FALSE(*d.Update(exec, shorter));
  for (const gpu::Graph g : {first, second, shorter}) {
    EXPECT_EQ(d.DestroyGraph(g), absl::OkStatus());
  }
  EXPECT_EQ(d.DestroyGraphExec(exec), absl::OkStatus());
  EXPECT_TRUE(absl::IsInvalidArgument(d.LaunchGraph(c.bench.stream(), exec)));
}

TEST(Graphs, OneGraphOnTwoStreamsRunsInTurns) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Chain c({.seed = seed});
    gpu::Device& d = c.bench.device();
    const gpu::Stream second = *d.CreateStream(1);
    const auto z = c.bench.Make<float>(kSize);
    const gpu::GraphExec exec = *d.Instantiate(CaptureTwoSteps(&c, z, 1));
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(d.LaunchGraph(i % 2 == 0 ? c.bench.stream() : second, exec),
                absl::OkStatus());
    }
    ASSERT_EQ(d.AwaitStream(second), absl::OkStatus());
    EXPECT_EQ(c.bench.Get(z), std::vector<float>(kSize, 3.0f));
  }
}

TEST(Graphs, ACaptureRefusesWhatCannotBeReplayed) {
  Chain c;
  gpu::Device& d = c.bench.device();
  ASSERT_EQ(d.BeginCapture(c.bench.stream()), absl::OkStatus());
  EXPECT_TRUE(absl::IsFailedPrecondition(
      d.Allocate(c.bench.stream(), 4).status()));
  const absl::Status ended = d.EndCapture(c.bench.stream()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(ended)) << ended;
  EXPECT_NE(ended.message().find("Allocate"), absl::string_view::npos);
  EXPECT_EQ(c.Add(c.bench.stream(), c.y, c.x), absl::OkStatus());
  EXPECT_EQ(c.bench.Get(c.y)[0], 2.0f);
}

TEST(Graphs, ACaptureEndsWithTheLaunchThatWasRefused) {
  Chain c;
  gpu::Device& d = c.bench.device();
  ASSERT_EQ(d.BeginCapture(c.bench.stream()), absl::OkStatus());
  const absl::Status refused = d.Launch(c.bench.stream(), c.kernel,
                                        {.threads = 33}, {});
  EXPECT_TRUE(absl::IsInvalidArgument(refused));
  EXPECT_EQ(d.EndCapture(c.bench.stream()).status(), refused);
}

TEST(Threads, EachWithAStreamOfItsOwn) {
  Chain c;
  gpu::Device& d = c.bench.device();
  std::vector<std::thread> threads;
  std::vector<absl::Status> statuses(4);
  for (absl::Status& status : statuses) {
    threads.emplace_back([&c, &d, &status] {
      const gpu::Stream stream = *d.CreateStream(0);
      std::vector<float> got(kSize);
      for (int i = 0; i < 20 && status.ok(); ++i) {
        const OnDevice<float> y{*d.Allocate(stream, kSize * 4), kSize};
        status = c.Add(stream, y, c.x, static_cast<float>(i));
        status.Update(d.CopyToHost(stream, got.data(), y.address, kSize * 4));
        status.Update(d.Free(stream, y.address));
        status.Update(d.AwaitStream(stream));
        if (got[kSize - 1] != 1.0f + static_cast<float>(i)) {
          status.Update(DataLoss("turn ", i, ": ", got[kSize - 1]));
        }
      }
      status.Update(d.DestroyStream(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status, absl::OkStatus());
  }
  EXPECT_EQ(d.memory().live_allocations, 2);
}

TEST(Launches, AreCheckedBeforeTheyAreQueued) {
  Chain c;
  using Arg = gpu::KernelArgument;
  struct Case {
    const char* says;
    gpu::LaunchShape shape;
    std::vector<Arg> arguments;
  };
  const std::vector<Arg> right = {c.y.Write(), c.x.Read(),
                                  Arg::Scalar(kSize), Arg::Scalar(1.0f)};
  const Case cases[] = {
      {"has 4 parameters", {.threads = 32}, {c.y.Write()}},
      {"threads a block", {.threads = 33}, right},
      {"its bounds are 256", {.threads = 512}, right},
      {"blocks along axis 1", {.grid = {1, 70000}, .threads = 32}, right},
      {"is a pointer",
       {.threads = 32},
       {Arg::Scalar(uint64_t{0}), right[1], right[2], right[3]}},
      {"has 4 bytes, its argument 8",
       {.threads = 32},
       {right[0], right[1], right[2], Arg::Scalar(1.0)}},
      {"is const",
       {.threads = 32},
       {right[0], c.x.Update(), right[2], right[3]}},
  };
  for (const Case& k : cases) {
    const absl::Status status = c.bench.device().Launch(
        c.bench.stream(), c.kernel, k.shape, k.arguments);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << k.says << ": " << status;
    EXPECT_NE(status.message().find(k.says), absl::string_view::npos)
        << status;
  }
  EXPECT_EQ(c.bench.device().Health(), absl::OkStatus());
}

TEST(Compiling, SaysWhatIsWrong) {
  Bench bench;
  const absl::Status bad =
      bench.device().Compile("bad.cu", "HK_GLOBAL k() { oops }", {}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(bad));
  EXPECT_NE(bad.message().find("bad.cu:1"), absl::string_view::npos) << bad;
  EXPECT_TRUE(absl::IsInvalidArgument(
      bench.device().LoadModule("no binary").status()));
  Bench none({.folder = ::testing::TempDir() + "/no-compiler",
              .compiler = "no-such-compiler"});
  const absl::Status absent =
      none.device().Compile("k.cu", kAddOne, {}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(absent)) << absent;
  EXPECT_NE(absent.message().find("no-such-compiler"),
            absl::string_view::npos);
}

TEST(InPlace, IsAllowedElementByElementOnly) {
  Chain c;
  ASSERT_EQ(c.Add(c.bench.stream(), c.x, c.x), absl::OkStatus());
  EXPECT_EQ(c.bench.Get(c.x)[5], 2.0f);
  Bench bench;
  const auto x = bench.Put(std::vector<float>(256, 1.0f));
  bench.Launch(bench.Kernel("HK_GLOBAL flip(float* y, const float* x) {\n"
                            "  Store(y + HK_TID, Load(x + 255 - HK_TID));\n}",
                            "flip"),
               {.threads = 256}, {x.Write(), x.Read()});
  EXPECT_TRUE(absl::IsInternal(bench.status()));
}

TEST(Atomics, AddUpFromEveryThread) {
  Bench bench;
  const auto sum = bench.Put(std::vector<int32_t>{5, -9});
  bench.Launch(bench.Kernel("HK_GLOBAL count(s32* sum) {\n"
                            "  AtomicAdd(sum, 1);\n"
                            "  AtomicMax(sum + 1, (s32)HK_TID);\n}",
                            "count"),
               {.grid = {3}, .threads = 64}, {sum.Update()});
  EXPECT_EQ(bench.Get(sum), (std::vector<int32_t>{197, 63}));
  EXPECT_EQ(bench.status(), absl::OkStatus());
}

}  // namespace
}  // namespace hawser::testing
