// Kernels, products and graphs of every kind of device.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "tests/kernels/cuda/device_suite.h"
#include "tests/kernels/emu/products.h"
#include "tests/kernels/emu/samples.h"

namespace hawser::testing {
namespace {

using absl::OkStatus;
using Arg = gpu::KernelArgument;

class DeviceKernelTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!bench_.has_value()) return;
    const absl::Status status =
        device().Compile("k.cu", "HK_GLOBAL k() {}", {}).status();
    if (absl::IsFailedPrecondition(status)) GTEST_SKIP() << status.message();
    ASSERT_EQ(status, OkStatus());
  }
};
HAWSER_ON_EVERY_DEVICE(DeviceKernelTest);

constexpr char kAddOne[] = R"(
HK_GLOBAL HK_BOUNDS(256) add_one(float* y, const float* x, u32 n, float by) {
  const u32 i = HK_BID * 256u + HK_TID;
  if (i < n) Store(y + i, Load(x + i) + by);
}
)";
constexpr uint32_t kSize = 300;

std::vector<Arg> AddOneArguments(const OnDevice<float>& y,
                                 const OnDevice<float>& x, float by) {
  return {y.Write(), x.Read(), Arg::Scalar(kSize), Arg::Scalar(by)};
}
constexpr gpu::LaunchShape kAddOneShape = {.grid = {2}, .threads = 256};

TEST_P(DeviceKernelTest, SampleKernelsGiveTheRightValues) {
  for (const Sample& sample : Samples()) {
    EXPECT_EQ(sample.run(&*bench_, sample.text), OkStatus()) << sample.name;
  }
}

TEST_P(DeviceKernelTest, CompilingSaysWhatIsWrong) {
  const absl::Status bad =
      device().Compile("bad.cu", "HK_GLOBAL k() { oops }", {}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(bad));
  EXPECT_TRUE(absl::StrContains(bad.message(), "bad.cu")) << bad;
  EXPECT_TRUE(absl::StrContains(bad.message(), "oops")) << bad;
  EXPECT_TRUE(absl::IsInvalidArgument(
      device().LoadModule("no binary").status()));
  const auto binary = device().Compile("k.cu", kAddOne, {});
  ASSERT_EQ(binary.status(), OkStatus());
  const auto module = device().LoadModule(binary->bytes);
  ASSERT_EQ(module.status(), OkStatus());
  const absl::Status absent = device().FindKernel(*module, "two").status();
  EXPECT_TRUE(absl::IsNotFound(absent)) << absent;
  const auto kernel = device().FindKernel(*module, "add_one");
  EXPECT_EQ(kernel, device().FindKernel(*module, "add_one"));
  EXPECT_EQ(device().UnloadModule(*module), OkStatus());
  EXPECT_TRUE(absl::IsInvalidArgument(
      device().Launch(stream(), *kernel, {.threads = 32}, {})));
}

TEST_P(DeviceKernelTest, LaunchesAreCheckedBeforeTheyAreQueued) {
  const gpu::Kernel kernel = bench_->Kernel(kAddOne, "add_one");
  const auto x = bench_->Put(std::vector<float>(kSize, 1.0f));
  const auto y = bench_->Make<float>(kSize);
  struct Case {
    const char* says;
    gpu::LaunchShape shape;
    std::vector<Arg> arguments;
  };
  const std::vector<Arg> right = AddOneArguments(y, x, 1);
  const Case cases[] = {
      {"has 4 parameters", {.threads = 32}, {y.Write()}},
      {"threads a block", {.threads = 33}, right},
      {"its bounds are 256", {.threads = 512}, right},
      {"blocks along axis 1", {.grid = {1, 70000}, .threads = 32}, right},
      {"has 4 bytes, its argument 8",
       {.threads = 32},
       {right[0], right[1], right[2], Arg::Scalar(1.0)}},
      {"bytes of shared memory",
       {.threads = 32, .dynamic_shared_bytes = 1 << 20},
       right},
  };
  for (const Case& k : cases) {
    const absl::Status status =
        device().Launch(stream(), kernel, k.shape, k.arguments);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << k.says << ": " << status;
    EXPECT_TRUE(absl::StrContains(status.message(), k.says)) << status;
  }
  EXPECT_EQ(device().Health(), OkStatus());
  EXPECT_EQ(device().Launch(stream(), kernel,
                            {.grid = {0, 1, 1}, .threads = 256}, right),
            OkStatus());
  EXPECT_EQ(device().Launch(stream(), kernel, kAddOneShape, right),
            OkStatus());
  EXPECT_EQ(bench_->Get(y), std::vector<float>(kSize, 2.0f));
}

TEST_P(DeviceKernelTest, LargeSharedMemoryIsThere) {
  const int64_t bytes = device().facts().max_shared_bytes_per_block;
  const auto y = bench_->Make<uint32_t>(64);
  bench_->Launch(
      bench_->Kernel("HK_GLOBAL last(u32* y, u32 n) {\n"
                     "  HK_DYNAMIC_SHARED(u32, s);\n"
                     "  for (u32 i = HK_TID; i < n; i += 64u) s[i] = i;\n"
                     "  HK_SYNC();\n"
                     "  const u32 v = s[n - 1u - HK_TID];\n"
                     "  Store(y + HK_TID, v);\n}",
                     "last"),
      {.threads = 64, .dynamic_shared_bytes = bytes},
      {y.Write(), Arg::Scalar(static_cast<uint32_t>(bytes / 4))});
  const auto values = bench_->Get(y);
  ASSERT_EQ(bench_->status(), OkStatus());
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], bytes / 4 - 1 - i);
}

TEST_P(DeviceKernelTest, StrictKernelsRoundEveryStep) {
  constexpr char kText[] =
      "HK_GLOBAL k(float* y, float a, float b) {\n"
      "  if (HK_TID == 0) Store(y, a * a - b);\n}";
  const auto binary = device().Compile("k.cu", kText, {.strict = true});
  ASSERT_EQ(binary.status(), OkStatus());
  const auto module = device().LoadModule(binary->bytes);
  const auto y = bench_->Make<float>(1);
  const float a = 1 + 0x1p-12f, b = a * a;
  bench_->Launch(*device().FindKernel(*module, "k"), {.threads = 32},
                 {y.Write(), Arg::Scalar(a), Arg::Scalar(b)});
  EXPECT_EQ(bench_->Get(y)[0], 0.0f);
}

gpu::Graph CaptureTwoSteps(Bench* bench, gpu::Kernel kernel,
                           const OnDevice<float>& x, const OnDevice<float>& y,
                           const OnDevice<float>& z, float by) {
  gpu::Device& d = bench->device();
  EXPECT_EQ(d.BeginCapture(bench->stream()), OkStatus());
  for (const auto& [to, from] : {std::pair(y, x), std::pair(z, y)}) {
    EXPECT_EQ(d.Launch(bench->stream(), kernel, kAddOneShape,
                       AddOneArguments(to, from, by)),
              OkStatus());
  }
  const auto graph = d.EndCapture(bench->stream());
  EXPECT_EQ(graph.status(), OkStatus());
  return graph.ok() ? *graph : gpu::Graph();
}

TEST_P(DeviceKernelTest, GraphsAreReplayedAndUpdated) {
  const gpu::Kernel kernel = bench_->Kernel(kAddOne, "add_one");
  const auto x = bench_->Put(std::vector<float>(kSize, 1.0f));
  const auto y = bench_->Make<float>(kSize), z = bench_->Make<float>(kSize),
             w = bench_->Make<float>(kSize);
  const gpu::Graph first = CaptureTwoSteps(&*bench_, kernel, x, y, z, 1);
  const auto exec = device().Instantiate(first);
  ASSERT_EQ(exec.status(), OkStatus());
  ASSERT_EQ(device().LaunchGraph(stream(), *exec), OkStatus());
  const gpu::Graph second = CaptureTwoSteps(&*bench_, kernel, x, y, w, 10);
  EXPECT_TRUE(*device().Update(*exec, second));
  ASSERT_EQ(device().LaunchGraph(stream(), *exec), OkStatus());
  EXPECT_EQ(bench_->Get(z), std::vector<float>(kSize, 3.0f));
  EXPECT_EQ(bench_->Get(w), std::vector<float>(kSize, 21.0f));
  ASSERT_EQ(device().BeginCapture(stream()), OkStatus());
  ASSERT_EQ(device().Fill(stream(), y.address, 0, 4), OkStatus());
  const gpu::Graph other = *device().EndCapture(stream());
  EXPECT_FALSE(*device().Update(*exec, other));
  ASSERT_EQ(device().LaunchGraph(stream(), *exec), OkStatus());  // as it was
  EXPECT_EQ(bench_->Get(w), std::vector<float>(kSize, 21.0f));
  for (const gpu::Graph g : {first, second, other}) {
    EXPECT_EQ(device().DestroyGraph(g), OkStatus());
  }
  EXPECT_EQ(device().DestroyGraphExec(*exec), OkStatus());
  EXPECT_TRUE(absl::IsInvalidArgument(device().LaunchGraph(stream(), *exec)));
}

TEST_P(DeviceKernelTest, ACaptureRefusesWhatCannotBeReplayed) {
  const auto x = bench_->Put(std::vector<float>(kSize, 1.0f));
  const gpu::Stream second = *device().CreateStream(0);
  const gpu::Event event = *device().CreateEvent();
  const std::function<absl::Status()> calls[] = {
      [&] { return device().Allocate(stream(), 4).status(); },
      [&] { return device().Free(stream(), x.address); },
      [&] { return device().RecordEvent(stream(), event); },
      [&] { return device().AwaitEventOn(stream(), event); },
      [&] { return device().AwaitStream(stream()); },
      [&] { return device().Notify(stream(), [](absl::Status) {}); },
      [&] { return device().BeginCapture(stream()); },
      [&] { return device().DestroyStream(stream()); },
  };
  for (const auto& call : calls) {
    ASSERT_EQ(device().BeginCapture(stream()), OkStatus());
    const absl::Status refused = call();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    // Other streams go on.
    const auto other = device().Allocate(second, 4);
    EXPECT_EQ(other.status(), OkStatus());
    EXPECT_EQ(device().AwaitStream(second), OkStatus());
    EXPECT_EQ(device().Free(second, *other), OkStatus());
    EXPECT_EQ(device().EndCapture(stream()).status(), refused);
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(
      device().EndCapture(stream()).status()));
  EXPECT_EQ(bench_->Get(x)[0], 1.0f);
}

// ---- products: where a device has a routine, it is right ------------------

class DeviceProductTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!bench_.has_value()) return;
    const absl::Status status =
        device().PlanCall(Product(DType::kF32, DType::kF32)).status();
    if (absl::IsFailedPrecondition(status)) GTEST_SKIP() << status.message();
  }
  // Passes, too, where the library has no such routine; prints it.
  template <typename F, typename D>
  void Expect(const gpu::GemmSpec& spec, double tolerance = 0) {
    const absl::Status status = CheckProduct<F, D>(&*bench_, spec, tolerance);
    if (absl::IsUnimplemented(status)) {
      std::cout << "no routine: " << status.message() << "\n";
    } else {
      EXPECT_EQ(status, OkStatus());
    }
  }
};
HAWSER_ON_EVERY_DEVICE(DeviceProductTest);

constexpr ProductSize kProductSizes[] = {
    {2, 5, 7, 3}, {1, 64, 64, 64}, {3, 1, 128, 16}, {2, 128, 1, 8}};

TEST_P(DeviceProductTest, EveryLayout) {
  for (const ProductSize& size : kProductSizes) {
    for (int layouts = 0; layouts < 8; ++layouts) {
      for (const int64_t gap : {0, 3, 8}) {
        SCOPED_TRACE(::testing::Message() << layouts << " " << gap);
        Expect<float, float>(
            Product(DType::kF32, DType::kF32, layouts, gap, size));
      }
    }
  }
}

TEST_P(DeviceProductTest, EveryType) {
  using C64 = std::complex<float>;
  using C128 = std::complex<double>;
  for (const ProductSize& size : kProductSizes) {
    auto product = [&](DType f, DType d) {
      return Product(f, d, 0, 0, size);
    };
    Expect<Half, Half>(product(DType::kF16, DType::kF16), 0x1p-10);
    Expect<Half, float>(product(DType::kF16, DType::kF32));
    Expect<BFloat16, BFloat16>(product(DType::kBF16, DType::kBF16), 0x1p-7);
    Expect<BFloat16, float>(product(DType::kBF16, DType::kF32));
    Expect<double, double>(product(DType::kF64, DType::kF64));
    Expect<C64, C64>(product(DType::kC64, DType::kC64));
    Expect<C128, C128>(product(DType::kC128, DType::kC128));
    Expect<int8_t, int32_t>(product(DType::kS8, DType::kS32));
  }
}

TEST_P(DeviceProductTest, EveryTail) {
  for (const auto activation :
       {gpu::GemmActivation::kIdentity, gpu::GemmActivation::kRelu,
        gpu::GemmActivation::kGeluTanh}) {
    for (int flags = 0; flags < 4; ++flags) {
      for (const ProductSize& size : kProductSizes) {
        SCOPED_TRACE(::testing::Message()
                     << static_cast<int>(activation) << " " << flags);
        for (const DType d : {DType::kF32, DType::kBF16}) {
          gpu::GemmSpec s = Product(d, d, 0, 0, size);
          s.activation = activation;
          s.has_bias = flags & 1;
          s.has_c = flags & 2;
          s.alpha = 0.5;
          s.beta = flags & 2 ? -2 : 0;
          if (d == DType::kF32) Expect<float, float>(s, 1e-5);
          if (d == DType::kBF16) Expect<BFloat16, BFloat16>(s, 0x1p-7);
        }
      }
    }
  }
}

TEST_P(DeviceProductTest, TailsKeepNan) {
  constexpr int64_t kWidth = 16;
  const auto a = bench_->Put(std::vector<float>(kWidth * kWidth, NAN));
  const auto b = bench_->Put(std::vector<float>(kWidth * kWidth, 1.0f));
  const auto d = bench_->Put(std::vector<float>(kWidth * kWidth, 0.0f));
  for (const auto activation :
       {gpu::GemmActivation::kRelu, gpu::GemmActivation::kGeluTanh}) {
    gpu::GemmSpec s = Product(DType::kF32, DType::kF32, 0, 0,
                              {1, kWidth, kWidth, kWidth});
    s.activation = activation;
    const auto plan = device().PlanCall(s);
    if (absl::IsUnimplemented(plan.status())) continue;
    ASSERT_EQ(plan.status(), OkStatus());
    const auto workspace = bench_->Make<char>(device().WorkspaceBytes(*plan));
    EXPECT_EQ(device().RunCall(
                  stream(), *plan,
                  OperandsOf(s, {.a = a.address, .b = b.address, .d = d.address,
                                 .workspace = workspace.address})),
              OkStatus());
    for (const float x : bench_->Get(d)) {
      ASSERT_TRUE(std::isnan(x)) << static_cast<int>(activation) << ": " << x;
    }
  }
}

TEST_P(DeviceProductTest, OperandsNeedNoAlignment) {
  gpu::GemmSpec s = Product(DType::kF32, DType::kF32, 0, 0, {1, 8, 8, 8});
  const auto a = bench_->Put(std::vector<float>(65, 2.0f));
  const auto d = bench_->Put(std::vector<float>(65, 0.0f));
  const auto plan = device().PlanCall(s);
  ASSERT_EQ(plan.status(), OkStatus());
  const auto workspace = bench_->Make<char>(device().WorkspaceBytes(*plan));
  EXPECT_EQ(device().RunCall(
                stream(), *plan,
                OperandsOf(s, {.a = a.address + 4, .b = a.address + 4,
                               .d = d.address + 4,
                               .workspace = workspace.address})),
            OkStatus());
  std::vector<float> want(65, 32.0f);
  want[0] = 0;
  EXPECT_EQ(bench_->Get(d), want);
}

TEST_P(DeviceProductTest, RefusesWhatMakesNoSense) {
  gpu::GemmSpec narrow = Product(DType::kF32, DType::kF32);
  narrow.a.leading = narrow.k - 1;
  EXPECT_TRUE(absl::IsInvalidArgument(device().PlanCall(narrow).status()));
  EXPECT_TRUE(absl::IsUnimplemented(
      device().PlanCall(Product(DType::kS32, DType::kS32)).status()));
  gpu::GemmSpec empty = Product(DType::kF32, DType::kF32);
  empty.m = 0;
  const auto plan = device().PlanCall(empty);
  ASSERT_EQ(plan.status(), OkStatus());
  EXPECT_EQ(device().RunCall(stream(), *plan, {}), OkStatus());
  EXPECT_EQ(device().AwaitStream(stream()), OkStatus());
}

}  // namespace
}  // namespace hawser::testing
