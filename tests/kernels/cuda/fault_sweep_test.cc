// A failure at each call of the CUDA runtime that the engine makes, one run for
// each. Kernels of the fake runtime do nothing, so only values of transfers are
// compared.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/text/parser.h"
#include "core/ops/registry.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/gpu/gpu_client.h"
#include "tests/kernels/cuda/fake_runtime.h"
#include "tests/testing/matchers.h"

namespace hawser::testing {
namespace {

using runtime::BufferPtr;

// Two kernels of two parameters each: the fake runtime knows no others.
constexpr char kText[] = R"(module "m"
computation @0 "main" (%0: f32[8,4], %1: f32[16]) {
  %2: f32[4,8] = transpose(%0) permutation=[1,0]
  %3: f32[16] = sqrt(%1)
  return %2, %3
}
)";

struct Failure {
  const char* name;
  cudaError_t error;
  bool ends_the_device;
};
std::ostream& operator<<(std::ostream& out, const Failure& failure) {
  return out << failure.name;
}

// Whether the status has a code that a caller can act on.
bool IsTyped(const absl::Status& status, const Failure& failure) {
  if (!failure.ends_the_device) {
    return absl::IsResourceExhausted(status) || absl::IsInternal(status);
  }
  return absl::IsInternal(status) || absl::IsUnavailable(status);
}

absl::StatusOr<std::shared_ptr<gpu::GpuClient>> MakeClient(
    const std::string& folder) {
  HAWSER_ASSIGN_OR_RETURN(std::unique_ptr<gpu::Device> device,
                          cuda::MakeCudaDevice(0));
  return gpu::GpuClient::Make(std::move(device),
                              {.kernels = {.folder = folder}});
}

// Values there and back, by a literal and by a run.
std::vector<absl::Status> Scenario(gpu::GpuClient& client,
                                   const Literal& value) {
  std::vector<absl::Status> statuses;
  const Literal vector = Literal::Zeros(Shape::Of(DType::kF32, {16}));
  const auto fetch = [&](const BufferPtr& buffer, bool compare) {
    const auto got = buffer->Fetch({}).Await(absl::Now() + absl::Seconds(30));
    statuses.push_back(got.status());
    if (got.ok() && compare) {
      EXPECT_EQ(got->bytes(), value.bytes());
    }
  };
  const auto there = client.Upload(value, {});
  if (there.ok()) {
    fetch(*there, true);
  } else {
    statuses.push_back(there.status());
  }
  const auto module = ParseModule(kText, FindOp);
  const auto run =
      client.Compile(std::make_shared<const Module>(*module), {}, {});
  statuses.push_back(run.status());
  for (int k = 0; k < 4 && run.ok(); ++k) {
    const auto results = (*run)->Execute({{value, vector}}, {});
    statuses.push_back(results.status());
    if (!results.ok()) continue;
    for (const BufferPtr& r : *results) fetch(r, false);
  }
  return statuses;
}

class CudaFaultSweep : public ::testing::TestWithParam<Failure> {};

TEST_P(CudaFaultSweep, EveryCallOfTheRuntime) {
  const Failure& failure = GetParam();
  const std::string folder =
      absl::StrCat(::testing::TempDir(), "/sweep_", failure.name);
  const Literal value = Literal::Zeros(Shape::Of(DType::kF32, {8, 4}));
  int64_t calls = 0;
  for (int64_t at = 0; at == 0 || at <= calls; ++at) {
    SCOPED_TRACE(absl::StrCat("call ", at, " of ", calls));
    FakeRuntime::Reset();
    FakeRuntime& fake = FakeRuntime::Get();
    fake.parameters = {8, 8};
    fake.fail_at = at;
    fake.fail_with = failure.error;
    fake.fails_for_ever = failure.ends_the_device;
    {
      auto client = MakeClient(folder);
      if (!client.ok()) {
        ASSERT_NE(at, 0) << client.status();
        EXPECT_FALSE(absl::IsUnknown(client.status())) << client.status();
      } else {
        const auto statuses = Scenario(**client, value);
        if (at == 0 && absl::IsFailedPrecondition(statuses[1])) {
          GTEST_SKIP() << statuses[1];  // no NVRTC
        }
        int faults = 0;
        for (const absl::Status& status : statuses) {
          if (status.ok()) continue;
          ASSERT_NE(at, 0) << status;
          EXPECT_TRUE(IsTyped(status, failure)) << status;
          faults += absl::IsInternal(status);
        }
        if (failure.ends_the_device && fake.lost != cudaSuccess) {
          // At most two calls meet the fault at the same time.
          EXPECT_LE(faults, 2);
          Scenario(**client, value);
          EXPECT_TRUE(absl::IsUnavailable((*client)->Ping({})));
          for (const absl::Status& status : Scenario(**client, value)) {
            EXPECT_TRUE(absl::IsUnavailable(status)) << status;
          }
        } else if (fake.calls > at) {
          EXPECT_OK((*client)->Ping({}));
          for (const absl::Status& status : Scenario(**client, value)) {
            EXPECT_OK(status);
          }
        }
      }
    }
    if (at == 0) calls = fake.calls;
    EXPECT_EQ(fake.LiveObjects(), 0);
    EXPECT_EQ(fake.live_bytes, 0u);
    if (HasFailure()) return;
  }
  EXPECT_GT(calls, 100);
}

INSTANTIATE_TEST_SUITE_P(
    Failures, CudaFaultSweep,
    ::testing::Values(Failure{"memory", cudaErrorMemoryAllocation, false},
                      Failure{"fault", cudaErrorIllegalAddress, true},
                      Failure{"ecc", cudaErrorECCUncorrectable, true}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hawser::testing
