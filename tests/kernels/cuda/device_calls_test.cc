// Transforms and linear algebra by the libraries of every kind of device, next
// to their definition on the host (kernels/emu/library_calls).
#include "tests/kernels/cuda/device_calls.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

#include "core/base/values/dtype.h"

namespace hawser::testing {
namespace {

using absl::OkStatus;
using gpu::FftKind;
using gpu::MatrixUse;
using Bytes = CallBytes;
using Numbers = CallNumbers;

HAWSER_ON_EVERY_DEVICE(DeviceCallTest);

// ---- Fourier transforms ---------------------------------------------------

using Lengths = absl::InlinedVector<int64_t, 3>;

// An operand of the transform: of an inverse to real numbers, the transform of
// some.
Bytes OperandOf(const gpu::FftSpec& spec) {
  const DType real = RealPart(spec.complex);
  gpu::FftSpec forward = spec;
  forward.kind = FftKind::kRealForward;
  const int64_t reals = gpu::BytesOf(forward).operands[0] / ByteWidth(real);
  if (spec.kind == FftKind::kRealForward) {
    return BytesOf(Drawn(reals, 1), real);
  }
  if (spec.kind == FftKind::kRealInverse) {
    return OnHost(forward, {BytesOf(Drawn(reals, 2), real)})[0];
  }
  return BytesOf(Drawn(reals, 3), spec.complex);
}

TEST_P(DeviceCallTest, TransformsAreThoseOfTheDefinition) {
  for (const DType complex : {DType::kC64, DType::kC128}) {
    for (const auto kind : {FftKind::kForward, FftKind::kInverse,
                            FftKind::kRealForward, FftKind::kRealInverse}) {
      for (const Lengths& lengths :
           {Lengths{2}, Lengths{5}, Lengths{8}, Lengths{12}, Lengths{97},
            Lengths{1024}, Lengths{1009}, Lengths{3, 4}, Lengths{16, 16},
            Lengths{5, 7}, Lengths{3, 2, 4}, Lengths{4, 1, 6},
            Lengths{7, 3, 5}}) {
        for (const int64_t batch : {1, 3}) {
          const gpu::FftSpec spec{.kind = kind,
                                  .complex = complex,
                                  .lengths = lengths,
                                  .batch = batch};
          const Bytes operand = OperandOf(spec);
          const DType result =
              kind == FftKind::kRealInverse ? RealPart(complex) : complex;
          const auto got = OnDevice(spec, {operand}, /*captured=*/batch == 3);
          if (got.empty()) continue;
          SCOPED_TRACE(::testing::Message()
                       << DTypeName(complex) << " kind "
                       << static_cast<int>(kind) << " of " << lengths[0]
                       << ", rank " << lengths.size() << ", batch " << batch);
          ExpectNear(NumbersOf(got[0], result),
                     NumbersOf(OnHost(spec, {operand})[0], result),
                     ToleranceOf(complex));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// ---- linear algebra -------------------------------------------------------

constexpr DType kDTypes[] = {DType::kF32, DType::kF64, DType::kC64,
                             DType::kC128};

// `batch` Hermitian matrices, positive definite unless `shift` is below 0.
Numbers Hermitian(int64_t batch, int64_t n, bool complex, double shift) {
  Numbers a(batch * n * n);
  for (int64_t b = 0; b < batch; ++b) {
    Numbers x = Drawn(n * n, 10 + b);
    if (!complex) {
      for (auto& v : x) v = v.real();
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        std::complex<double> sum = i == j ? shift : 0;
        for (int64_t k = 0; k < n; ++k) {
          sum += x[i * n + k] * std::conj(x[j * n + k]);
        }
        a[(b * n + i) * n + j] = sum;
      }
    }
  }
  return a;
}

std::vector<int32_t> InfoOf(const Bytes& bytes) {
  std::vector<int32_t> info(bytes.size() / 4);
  std::memcpy(info.data(), bytes.data(), bytes.size());
  return info;
}

// 0 outside of one triangle.
Numbers Triangle(Numbers a, int64_t n, bool lower) {
  for (size_t at = 0; at < a.size(); ++at) {
    const auto i = static_cast<int64_t>(at) / n % n;
    const auto j = static_cast<int64_t>(at) % n;
    if (i != j && (i > j) != lower) a[at] = 0;
  }
  return a;
}

TEST_P(DeviceCallTest, CholeskyFactorsAreThoseOfTheDefinition) {
  for (const DType dtype : kDTypes) {
    for (const int64_t n : {1, 3, 33, 65}) {
      for (const int64_t batch : {1, 5}) {
        for (const bool lower : {false, true}) {
          const gpu::FactorizationSpec spec{
              .kind = gpu::Factorization::kCholesky,
              .dtype = dtype,
              .batch = batch,
              .size = n,
              .lower = lower};
          SCOPED_TRACE(::testing::Message() << DTypeName(dtype) << " " << n
                                            << " x " << batch << lower);
          const Bytes a =
              BytesOf(Hermitian(batch, n, IsComplex(dtype), 1.0 + n), dtype);
          const auto got = OnDevice(spec, {a});
          if (got.empty()) continue;
          EXPECT_EQ(InfoOf(got[1]), std::vector<int32_t>(batch, 0));
          ExpectNear(Triangle(NumbersOf(got[0], dtype), n, lower),
                     Triangle(NumbersOf(OnHost(spec, {a})[0], dtype), n, lower),
                     ToleranceOf(dtype));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(DeviceCallTest, CholeskySaysWhichMatrixIsNotDefinite) {
  for (const DType dtype : kDTypes) {
    for (const int64_t batch : {1, 3}) {
      Numbers a = Hermitian(batch, 4, IsComplex(dtype), 5);
      a[(batch - 1) * 16 + 5] = -1;  // on the diagonal of the last
      const auto got = OnDevice(
          gpu::FactorizationSpec{.dtype = dtype, .batch = batch, .size = 4},
          {BytesOf(a, dtype)});
      if (got.empty()) continue;
      const std::vector<int32_t> info = InfoOf(got[1]);
      for (int64_t k = 0; k + 1 < batch; ++k) EXPECT_EQ(info[k], 0);
      EXPECT_GT(info.back(), 0);
    }
  }
}

TEST_P(DeviceCallTest, EigenvectorsGiveTheMatrixBack) {
  for (const DType dtype : kDTypes) {
    for (const int64_t n : {1, 2, 17, 33}) {
      for (const int64_t batch : {1, 4}) {
        for (const bool lower : {false, true}) {
          const gpu::FactorizationSpec spec{.kind = gpu::Factorization::kEigh,
                                            .dtype = dtype,
                                            .batch = batch,
                                            .size = n,
                                            .lower = lower};
          SCOPED_TRACE(::testing::Message() << DTypeName(dtype) << " " << n
                                            << " x " << batch << lower);
          const Numbers whole = Hermitian(batch, n, IsComplex(dtype), -1);
          const auto got =
              OnDevice(spec, {BytesOf(Triangle(whole, n, lower), dtype)});
          if (got.empty()) continue;
          EXPECT_EQ(InfoOf(got[2]), std::vector<int32_t>(batch, 0));
          const Numbers w = NumbersOf(got[0], RealPart(dtype));
          const Numbers v = NumbersOf(got[1], dtype);
          Numbers again(whole.size());
          for (int64_t b = 0; b < batch; ++b) {
            for (int64_t k = 0; k < n; ++k) {
              const auto* row = &v[(b * n + k) * n];
              const double value = w[b * n + k].real();
              if (k > 0) {
                EXPECT_LE(w[b * n + k - 1].real(), value);
              }
              for (int64_t i = 0; i < n; ++i) {
                for (int64_t j = 0; j < n; ++j) {
                  again[(b * n + i) * n + j] +=
                      std::conj(row[i]) * value * row[j];
                }
              }
            }
          }
          ExpectNear(again, whole, 10 * ToleranceOf(dtype));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Element (i, j) of L U, for packed factors that are transposed.
std::complex<double> ProductAt(const std::complex<double>* packed, int64_t n,
                               int64_t i, int64_t j) {
  std::complex<double> sum = 0;
  for (int64_t k = 0; k <= std::min(i, j); ++k) {
    sum += (k == i ? 1.0 : packed[k * n + i]) * packed[j * n + k];
  }
  return sum;
}

TEST_P(DeviceCallTest, LuGivesTheMatrixBack) {
  for (const DType dtype : kDTypes) {
    for (const int64_t n : {1, 2, 33, 130}) {
      for (const int64_t batch : {1, 3}) {
        SCOPED_TRACE(::testing::Message()
                     << DTypeName(dtype) << " " << n << " x " << batch);
        Numbers a = Drawn(batch * n * n, 6), numbers(batch * n);
        if (!IsComplex(dtype)) {
          for (auto& x : a) x = x.real();
        }
        for (int64_t i = 0; i < batch * n; ++i) {
          numbers[i] = static_cast<double>(i % n);
        }
        const auto got =
            OnDevice(gpu::FactorizationSpec{.kind = gpu::Factorization::kLu,
                                            .dtype = dtype,
                                            .batch = batch,
                                            .size = n},
                     {BytesOf(a, dtype), BytesOf(numbers, DType::kF64)});
        if (got.empty()) continue;
        EXPECT_EQ(InfoOf(got[3]), std::vector<int32_t>(batch, 0));
        const Numbers packed = NumbersOf(got[0], dtype);
        const Numbers order = NumbersOf(got[2], DType::kF64);
        const std::vector<int32_t> pivots = InfoOf(got[1]);
        Numbers again(a.size()), exchanged = numbers;
        for (int64_t b = 0; b < batch; ++b) {
          const auto* of = &packed[b * n * n];
          for (int64_t i = 0; i < n; ++i) {
            std::swap(exchanged[b * n + i],
                      exchanged[b * n + pivots[b * n + i] - 1]);
            const auto row = static_cast<int64_t>(order[b * n + i].real());
            for (int64_t j = 0; j < n; ++j) {
              again[(b * n + j) * n + row] = ProductAt(of, n, i, j);
            }
          }
        }
        EXPECT_EQ(exchanged, order);
        ExpectNear(again, a, 10 * ToleranceOf(dtype));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(DeviceCallTest, QrGivesTheMatrixBack) {
  for (const DType dtype : kDTypes) {
    for (const auto& [m, n] : {std::pair{1, 1}, {5, 5}, {40, 7}, {7, 40}}) {
      for (const bool full : {false, true}) {
        SCOPED_TRACE(::testing::Message() << DTypeName(dtype) << " " << m
                                          << " x " << n << " " << full);
        constexpr int64_t kBatch = 2;
        const int64_t cols = full ? m : std::min(m, n);
        Numbers a = Drawn(kBatch * m * n, 8);
        if (!IsComplex(dtype)) {
          for (auto& x : a) x = x.real();
        }
        const auto got = OnDevice(gpu::QrSpec{.dtype = dtype,
                                              .batch = kBatch,
                                              .rows = m,
                                              .columns = n,
                                              .q_columns = cols},
                                  {BytesOf(a, dtype)});
        if (got.empty()) continue;
        const Numbers r = NumbersOf(got[0], dtype),
                      q = NumbersOf(got[1], dtype);
        Numbers again(a.size()), unit(kBatch * cols * cols), want(unit.size());
        for (int64_t b = 0; b < kBatch; ++b) {
          const auto* of_q = &q[b * cols * m];
          for (int64_t j = 0; j < n; ++j) {
            for (int64_t k = 0; k <= std::min<int64_t>(j, std::min(m, n) - 1);
                 ++k) {
              const auto value = r[(b * n + j) * m + k];
              if (k == j) {
                EXPECT_LE(std::abs(value.imag()), ToleranceOf(dtype));
              }
              for (int64_t i = 0; i < m; ++i) {
                again[(b * n + j) * m + i] += of_q[k * m + i] * value;
              }
            }
          }
          for (int64_t x = 0; x < cols; ++x) {
            want[(b * cols + x) * cols + x] = 1;
            for (int64_t y = 0; y < cols; ++y) {
              for (int64_t i = 0; i < m; ++i) {
                unit[(b * cols + x) * cols + y] +=
                    std::conj(of_q[x * m + i]) * of_q[y * m + i];
              }
            }
          }
        }
        ExpectNear(again, a, 10 * ToleranceOf(dtype));
        ExpectNear(unit, want, 10 * ToleranceOf(dtype));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(DeviceCallTest, TriangularSolvesAreThoseOfTheDefinition) {
  for (const DType dtype : kDTypes) {
    for (int flags = 0; flags < 16; ++flags) {
      for (const auto use :
           {MatrixUse::kAsIs, MatrixUse::kTransposed, MatrixUse::kAdjoint}) {
        const bool left = flags & 1;
        const int64_t n = flags & 8 ? 40 : 4;
        for (const int64_t batch : {1, 3}) {
          const gpu::TriangularSolveSpec spec{.dtype = dtype,
                                              .batch = batch,
                                              .rows = left ? n : 3,
                                              .columns = left ? 3 : n,
                                              .left_side = left,
                                              .lower = (flags & 2) != 0,
                                              .unit_diagonal = (flags & 4) != 0,
                                              .use = use};
          Numbers a = Drawn(batch * n * n, 4);
          for (auto& x : a) x /= 4 * n;
          for (int64_t i = 0; i < batch * n; ++i) a[i * n + i % n] += 2;
          const std::vector<Bytes> operands = {
              BytesOf(a, dtype), BytesOf(Drawn(batch * n * 3, 5), dtype)};
          const auto got = OnDevice(spec, operands, /*captured=*/batch == 1);
          if (got.empty()) continue;
          SCOPED_TRACE(::testing::Message()
                       << DTypeName(dtype) << " flags " << flags << " use "
                       << static_cast<int>(use) << " batch " << batch);
          ExpectNear(NumbersOf(got[0], dtype),
                     NumbersOf(OnHost(spec, operands)[0], dtype),
                     ToleranceOf(dtype));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// ---- refusals -------------------------------------------------------------

TEST_P(DeviceCallTest, RefusesWhatMakesNoSense) {
  const auto refused = [&](const gpu::LibraryCall& call) {
    return device().PlanCall(call).status();
  };
  for (const absl::Status& status :
       {refused(gpu::FftSpec{}), refused(gpu::FactorizationSpec{.size = 0}),
        refused(gpu::TriangularSolveSpec{.rows = -1, .columns = 2})}) {
    if (absl::IsFailedPrecondition(status)) continue;  // no library
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  }
  const absl::Status halves =
      refused(gpu::FactorizationSpec{.dtype = DType::kF16, .size = 2});
  EXPECT_TRUE(absl::IsUnimplemented(halves) ||
              absl::IsFailedPrecondition(halves))
      << halves;
}

TEST_P(DeviceCallTest, WhatMayBlockIsNotCaptured) {
  const auto plan = device().PlanCall(gpu::FactorizationSpec{.size = 2});
  if (!plan.ok()) GTEST_SKIP() << plan.status();
  const auto a = bench_->Put(std::vector<float>{2, 0, 0, 2});
  const auto info = bench_->Make<int32_t>(1);
  ASSERT_EQ(device().BeginCapture(stream()), OkStatus());
  EXPECT_TRUE(absl::IsFailedPrecondition(device().RunCall(
      stream(), *plan,
      {.operands = {a.address}, .results = {a.address, info.address}})));
  EXPECT_FALSE(device().EndCapture(stream()).ok());
}

}  // namespace
}  // namespace hawser::testing
