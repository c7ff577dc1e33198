// A call of a library on every kind of device, and on the host.
#ifndef HAWSER_TESTS_KERNELS_CUDA_DEVICE_CALLS_H_
#define HAWSER_TESTS_KERNELS_CUDA_DEVICE_CALLS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <iostream>
#include <random>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/base/values/dtype.h"
#include "kernels/emu/library_calls/convolution.h"
#include "kernels/emu/library_calls/fft.h"
#include "kernels/emu/library_calls/linalg.h"
#include "kernels/gpu/device/call_check.h"
#include "tests/kernels/cuda/device_suite.h"

namespace hawser::testing {

using CallBytes = std::vector<char>;
using CallNumbers = std::vector<std::complex<double>>;

// Calls each(T{}) with the C++ type of a dtype that libraries take.
template <typename Each>
void WithNumber(DType dtype, const Each& each) {
  switch (dtype) {
    case DType::kF32:
      each(float{});
      break;
    case DType::kF64:
      each(double{});
      break;
    case DType::kF16:
      each(Half{});
      break;
    case DType::kBF16:
      each(BFloat16{});
      break;
    case DType::kC64:
      each(std::complex<float>{});
      break;
    default:
      each(std::complex<double>{});
  }
}

// The numbers of a value in memory.
inline CallNumbers NumbersOf(const CallBytes& bytes, DType dtype) {
  CallNumbers out;
  const auto each = [&]<typename T>(T) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    for (const T& v : values) {
      if constexpr (kIsHalf<T>) {
        out.emplace_back(static_cast<float>(v));
      } else {
        out.emplace_back(v);
      }
    }
  };
  WithNumber(dtype, each);
  return out;
}

inline CallBytes BytesOf(const CallNumbers& numbers, DType dtype) {
  CallBytes out(numbers.size() * ByteWidth(dtype));
  const auto each = [&]<typename T>(T) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      T value;
      if constexpr (kIsHalf<T>) {
        value = T(static_cast<float>(numbers[i].real()));
      } else if constexpr (std::is_floating_point_v<T>) {
        value = static_cast<T>(numbers[i].real());
      } else {
        value = T(numbers[i]);
      }
      std::memcpy(&out[i * sizeof(T)], &value, sizeof(T));
    }
  };
  WithNumber(dtype, each);
  return out;
}

inline CallNumbers Drawn(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> part(-1, 1);
  CallNumbers out(count);
  for (auto& x : out) x = {part(random), part(random)};
  return out;
}

// The results of a call on the host.
template <typename Spec>
std::vector<CallBytes> OnHost(const Spec& spec,
                              std::vector<CallBytes> operands) {
  std::vector<CallBytes> results;
  gpu::CallOperands call;
  for (const int64_t size : gpu::BytesOf(spec).results) {
    results.emplace_back(size);
  }
  for (CallBytes& b : operands) {
    call.operands.push_back({reinterpret_cast<uint64_t>(b.data())});
  }
  for (CallBytes& b : results) {
    call.results.push_back({reinterpret_cast<uint64_t>(b.data())});
  }
  EXPECT_EQ(emu::RunCall(spec, call), absl::OkStatus());
  return results;
}

inline void ExpectNear(const CallNumbers& got, const CallNumbers& want,
                       double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  double most = 1;
  for (const auto& w : want) most = std::max(most, std::abs(w));
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_LE(std::abs(got[i] - want[i]), tolerance * most)
        << "element " << i << ": " << got[i] << ", not " << want[i];
  }
}

inline double ToleranceOf(DType dtype) {
  if (BitWidth(dtype) < 32) return 1e-2;
  return RealPart(dtype) == DType::kF64 ? 1e-12 : 2e-5;
}

class DeviceCallTest : public DeviceTest {
 protected:
  // The results of a call on the device; none where it has no such routine,
  // which is printed. `captured`: as a graph.
  template <typename Spec>
  std::vector<CallBytes> OnDevice(const Spec& spec,
                                  const std::vector<CallBytes>& operands,
                                  bool captured = false) {
    const auto plan = device().PlanCall(spec);
    if (absl::IsUnimplemented(plan.status()) ||
        absl::IsFailedPrecondition(plan.status())) {
      std::cout << "no routine: " << plan.status().message() << "\n";
      return {};
    }
    EXPECT_EQ(plan.status(), absl::OkStatus());
    if (!plan.ok()) return {};
    gpu::CallOperands call;
    std::vector<testing::OnDevice<char>> given;
    for (const CallBytes& b : operands) {
      given.push_back(bench_->Put(b));
      call.operands.push_back(given.back().address);
    }
    std::vector<testing::OnDevice<char>> results;
    for (const int64_t size : gpu::BytesOf(spec).results) {
      results.push_back(bench_->Make<char>(size));
      call.results.push_back(results.back().address);
    }
    call.workspace = bench_->Make<char>(device().WorkspaceBytes(*plan)).address;
    EXPECT_EQ(device().RunCall(stream(), *plan, call), absl::OkStatus());
    if (captured) {
      // A library prepares itself in its first run, and may have overwritten
      // the operands.
      for (size_t k = 0; k < operands.size(); ++k) {
        given[k] = bench_->Put(operands[k]);
        call.operands[k] = given[k].address;
      }
      EXPECT_EQ(RunCaptured(*plan, call), absl::OkStatus());
    }
    for (size_t k = 0; k < operands.size() && Keeps(spec); ++k) {
      EXPECT_EQ(bench_->Get(given[k]), operands[k]) << "operand " << k;
    }
    std::vector<CallBytes> values;
    for (const auto& r : results) values.push_back(bench_->Get(r));
    EXPECT_EQ(bench_->status(), absl::OkStatus());
    EXPECT_EQ(device().DestroyCall(*plan), absl::OkStatus());
    return values;
  }

 private:
  // Whether operands are afterwards as they were.
  static bool Keeps(const gpu::FftSpec& spec) {
    return spec.kind != gpu::FftKind::kRealInverse;
  }
  template <typename Spec>
  static bool Keeps(const Spec& spec) {
    return true;
  }

  absl::Status RunCaptured(gpu::CallPlan plan, const gpu::CallOperands& call) {
    HAWSER_RETURN_IF_ERROR(device().BeginCapture(stream()));
    const absl::Status run = device().RunCall(stream(), plan, call);
    HAWSER_ASSIGN_OR_RETURN(const gpu::Graph graph,
                            device().EndCapture(stream()));
    HAWSER_RETURN_IF_ERROR(run);
    HAWSER_ASSIGN_OR_RETURN(const gpu::GraphExec exec,
                            device().Instantiate(graph));
    HAWSER_RETURN_IF_ERROR(device().LaunchGraph(stream(), exec));
    HAWSER_RETURN_IF_ERROR(device().AwaitStream(stream()));
    HAWSER_RETURN_IF_ERROR(device().DestroyGraphExec(exec));
    return device().DestroyGraph(graph);
  }
};

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_KERNELS_CUDA_DEVICE_CALLS_H_
