// Fourier transforms of many lengths beside their definition, and what must
// hold of those that are too long for it.
#include "core/ops/linalg/fft.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/threads/thread_pool.h"
#include "core/ir/builder.h"
#include "core/ops/movement/shape.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "tests/reference/evaluator.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

Module ModuleOf(const OpDef& op, const Literal& x, Attributes attributes) {
  Module module("test");
  ComputationBuilder b(&module, "main");
  const ValueId v = b.Parameter(x.shape());
  EXPECT_OK(b.Finish({b.Add(op, {v}, std::move(attributes))}));
  return module;
}

absl::StatusOr<Literal> RunOn(runtime::HostEvaluator& evaluator,
                              const OpDef& op, const Literal& x,
                              Attributes attributes) {
  const Module module = ModuleOf(op, x, std::move(attributes));
  HAWSER_ASSIGN_OR_RETURN(const auto results,
                          evaluator.Evaluate(module, 0, {&x, 1}, {}));
  return results[0];
}

Attributes Of(const std::string& type, Dims lengths) {
  return {{"fft_length", std::move(lengths)}, {"fft_type", type}};
}
Literal Fft(const std::string& type, const Literal& x, Dims lengths,
            const CpuEvaluator::Options& options = {}) {
  CpuEvaluator evaluator(options);
  auto result = RunOn(evaluator, kFft, x, Of(type, std::move(lengths)));
  EXPECT_OK(result);
  return result.ok() ? *result : Literal();
}
Literal ByDefinition(const std::string& type, const Literal& x, Dims lengths) {
  reference::Evaluator evaluator;
  auto result = RunOn(evaluator, kFft, x, Of(type, std::move(lengths)));
  EXPECT_OK(result);
  return result.ok() ? *result : Literal();
}
Literal Transposed(const Literal& x, Dims permutation) {
  CpuEvaluator evaluator;
  return *RunOn(evaluator, kTranspose, x,
                {{"permutation", std::move(permutation)}});
}

// Numbers between -1 and 1.
Literal Drawn(DType dtype, const Dims& dims, uint64_t seed) {
  Random random(seed);
  Literal out = Literal::Zeros(Shape::Of(dtype, dims));
  VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto number = [&] {
      return static_cast<double>(random.Between(-1 << 24, 1 << 24)) / (1 << 24);
    };
    if constexpr (kIsComplex<T>) {
      for (T& x : out.mutable_data<T>()) {
        const double re = number();
        x = T(std::complex<double>(re, number()));
      }
    } else if constexpr (kIsFloat<T>) {
      for (T& x : out.mutable_data<T>()) x = T(number());
    }
  });
  return out;
}

std::vector<std::complex<double>> Numbers(const Literal& x) {
  std::vector<std::complex<double>> numbers;
  VisitDType(x.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplex<T> || kIsFloat<T>) {
      for (const T& v : x.data<T>()) numbers.emplace_back(v);
    }
  });
  return numbers;
}

bool SameBits(const Literal& x, const Literal& y) {
  return x.shape() == y.shape() &&
         std::memcmp(x.bytes().data(), y.bytes().data(), x.bytes().size()) == 0;
}

// The largest difference of elements, in last places of the root of the sum of
// squares of what `x`, one transform, is made of; of the inverse ones over n.
// An element of IRFFT may stand for its conjugate, too.
double ErrorOf(const Literal& got, const Literal& want, const Literal& x,
               absl::string_view type) {
  const auto a = Numbers(got), b = Numbers(want);
  double squares = 0, most = 0;
  for (const auto& v : Numbers(x)) squares += std::norm(v);
  if (type == "IRFFT") squares *= 2;
  for (size_t k = 0; k < a.size(); ++k) {
    most = std::max(most, std::abs(a[k] - b[k]));
    // What is not finite is as wrong as can be.
    if (!std::isfinite(std::abs(a[k]))) return HUGE_VAL;
  }
  const double unit =
      ByteWidth(RealPart(got.shape().dtype())) == 4 ? 0x1p-23 : 0x1p-52;
  const double n = type[0] == 'I' ? static_cast<double>(a.size()) : 1;
  return most / (unit * std::sqrt(squares) / n);
}

struct Side {
  const char* type;
  DType takes;
};
constexpr Side kSides[] = {{"FFT", DType::kC64},  {"IFFT", DType::kC64},
                           {"RFFT", DType::kF32}, {"IRFFT", DType::kC64},
                           {"FFT", DType::kC128}, {"IFFT", DType::kC128},
                           {"RFFT", DType::kF64}, {"IRFFT", DType::kC128}};

int64_t TakenOf(const Side& side, int64_t n) {
  return side.type == std::string("IRFFT") ? HalfOf(n) : n;
}

// What is measured; the op's row promises 16.
constexpr double kMostError = 10;

// The most that it is off, over `lengths`.
double MostError(const std::vector<int64_t>& lengths) {
  double most = 0;
  for (const int64_t n : lengths) {
    for (const Side& side : kSides) {
      const Literal x = Drawn(side.takes, {TakenOf(side, n)}, n);
      const double error =
          ErrorOf(Fft(side.type, x, {n}), ByDefinition(side.type, x, {n}), x,
                  side.type);
      EXPECT_LT(error, kMostError)
          << side.type << " of " << DTypeName(side.takes) << ", " << n;
      most = std::max(most, error);
    }
  }
  return most;
}

TEST(FftTest, GivesItsDefinitionOfSmallLengths) {
  std::vector<int64_t> lengths;
  for (int64_t n = 1; n <= 130; ++n) lengths.push_back(n);
  std::cout << MostError(lengths) << " last places at most\n";
}

// Pure powers, mixtures, primes that have passes, primes and squares of primes
// that have none, before and behind the lengths at which the way changes.
TEST(FftTest, GivesItsDefinitionOfLongerLengths) {
  std::cout << MostError({243, 256, 337, 343, 529, 625, 1009, 1022, 1024, 1025,
                          1155, 1369, 2018, 2048, 2049, 2187})
            << " last places at most\n";
}

TEST(FftTest, WithoutElementsThereIsNothingToDo) {
  EXPECT_EQ(Fft("FFT", Drawn(DType::kC64, {3, 0}, 1), {0}).shape(),
            Shape::Of(DType::kC64, {3, 0}));
  EXPECT_EQ(Fft("RFFT", Drawn(DType::kF32, {0, 8}, 1), {8}).shape(),
            Shape::Of(DType::kC64, {0, 5}));
  EXPECT_EQ(Fft("IRFFT", Drawn(DType::kC64, {0, 3}, 1), {0, 4}).shape(),
            Shape::Of(DType::kF32, {0, 4}));
}

// Along several axes, of every kind: within what one axis may be off.
TEST(FftTest, GivesItsDefinitionAlongSeveralAxes) {
  const std::vector<Dims> cases = {{4, 6},    {5, 1},    {1, 5},   {37, 3},
                                   {3, 5, 8}, {2, 9, 7}, {1, 1, 2}};
  for (const Dims& lengths : cases) {
    for (const Side& side : kSides) {
      Dims takes = lengths;
      takes.back() = TakenOf(side, takes.back());
      const Literal x = Drawn(side.takes, takes, 7);
      EXPECT_LT(ErrorOf(Fft(side.type, x, lengths),
                        ByDefinition(side.type, x, lengths), x, side.type),
                kMostError)
          << side.type << " " << DimsToString(lengths);
    }
  }
}

// Columns are rows that lie across, whatever stands beside them and however
// they are taken to lanes.
TEST(FftTest, ColumnsHaveTheBitsOfRows) {
  for (const int64_t n : {4, 15, 37, 64, 1031, 1500, 4096}) {
    for (const int64_t beside : {2, 3, 8, 9, 16, 17, 40}) {
      for (const DType dtype : {DType::kC64, DType::kC128}) {
        const Literal x = Drawn(dtype, {2, n, beside}, n);
        const Literal rows = Fft("FFT", x, {beside});
        const Literal columns =
            Transposed(Fft("FFT", Transposed(rows, {0, 2, 1}), {n}), {0, 2, 1});
        EXPECT_TRUE(SameBits(Fft("FFT", x, {n, beside}), columns))
            << DTypeName(dtype) << " " << n << " x " << beside;
      }
    }
  }
}

TEST(FftTest, RowsHaveTheSameBitsAlone) {
  for (const int64_t n : {7, 12, 100, 135, 1031, 2048, 3000}) {
    for (const Side& side : kSides) {
      const int64_t takes = TakenOf(side, n);
      const Literal all = Drawn(side.takes, {19, takes}, n);
      const Literal whole = Fft(side.type, all, {n});
      const int64_t bytes = takes * ByteWidth(side.takes);
      const auto given = static_cast<int64_t>(whole.bytes().size() / 19);
      for (const int64_t row : {0, 5, 18}) {
        const Literal x =
            *Literal::FromBytes(Shape::Of(side.takes, {takes}),
                                all.bytes().subspan(row * bytes, bytes));
        EXPECT_EQ(whole.bytes().subspan(row * given, given),
                  Fft(side.type, x, {n}).bytes())
            << side.type << " " << n;
      }
    }
  }
}

TEST(FftTest, ThreadsDoNotChangeBits) {
  const std::vector<Dims> cases = {{64, 256},    {1 << 18},     {100003},
                                   {4, 1 << 15}, {300, 2, 128}, {200000}};
  for (const Dims& dims : cases) {
    for (const Side& side : kSides) {
      Dims takes = dims;
      takes.back() = TakenOf(side, takes.back());
      const Literal x = Drawn(side.takes, takes, 3);
      const Literal want = Fft(side.type, x, dims);
      for (const int threads : {2, 5}) {
        ThreadPool pool(threads);
        EXPECT_TRUE(SameBits(Fft(side.type, x, dims, {.pool = &pool}), want))
            << side.type << " " << DimsToString(dims) << " " << threads;
      }
    }
  }
}

// One element at `at`: its transform is a circle of known roots.
double ImpulseError(int64_t n, int64_t at) {
  Literal x = Literal::Zeros(Shape::Of(DType::kC128, {n}));
  x.mutable_data<std::complex<double>>()[at] = 1;
  const auto y = Numbers(Fft("FFT", x, {n}));
  double most = 0;
  for (int64_t k = 0; k < n; ++k) {
    const long double angle = 2 * 3.14159265358979323846264338327950288L *
                              static_cast<long double>(k * at % n) /
                              static_cast<long double>(n);
    const std::complex<double> want(static_cast<double>(std::cos(angle)),
                                    static_cast<double>(-std::sin(angle)));
    most = std::max(most, std::abs(y[k] - want));
  }
  return most / 0x1p-52;
}

TEST(FftTest, OfLongLengthsAnImpulseIsACircle) {
  for (const int64_t n : {1 << 17, 1 << 20, 300000, 1 << 16, 65537, 500009}) {
    const double error = ImpulseError(n, n / 3);
    // Chirps have two transforms of twice the length.
    EXPECT_LT(error, 16) << n;
    std::cout << n << ": " << error << "\n";
  }
}

// Of numbers between -1 and 1, in their last places. Each way may be off by 16.
double ThereAndBack(const char* there, const char* back, DType dtype,
                    int64_t n) {
  const Literal x = Drawn(dtype, {n}, n);
  const auto want = Numbers(x);
  const auto got = Numbers(Fft(back, Fft(there, x, {n}), {n}));
  double most = 0;
  for (int64_t j = 0; j < n; ++j) {
    most = std::max(most, std::abs(got[j] - want[j]));
  }
  return most / (ByteWidth(RealPart(dtype)) == 4 ? 0x1p-23 : 0x1p-52);
}

TEST(FftTest, OfLongLengthsTheInverseGivesBack) {
  for (const int64_t n : {1 << 18, 999999, 720720, 65537}) {
    for (const DType dtype : {DType::kC64, DType::kC128}) {
      EXPECT_LT(ThereAndBack("FFT", "IFFT", dtype, n), 32) << n;
      EXPECT_LT(ThereAndBack("RFFT", "IRFFT", RealPart(dtype), n), 32) << n;
    }
  }
}

// A row of large numbers, and one of none that are finite, leave the others
// alone.
TEST(FftTest, RowsDoNotSpoilEachOther) {
  for (const int64_t n : {8, 9, 100, 1031, 4096}) {
    Literal x = Drawn(DType::kF32, {3, n}, n);
    const Literal clean = Fft("RFFT", x, {n});
    for (int64_t j = 0; j < n; ++j) {
      x.mutable_data<float>()[j] = 1e30F;
      x.mutable_data<float>()[2 * n + j] =
          std::numeric_limits<float>::quiet_NaN();
    }
    const Literal got = Fft("RFFT", x, {n});
    const size_t row = clean.bytes().size() / 3;
    EXPECT_EQ(got.bytes().subspan(row, row), clean.bytes().subspan(row, row))
        << n;
  }
}

TEST(FftTest, OneElementThatIsNotFiniteIsInAll) {
  for (const double bad :
       {HUGE_VAL, -HUGE_VAL, std::numeric_limits<double>::quiet_NaN()}) {
    for (const int64_t n : {2, 3, 16, 37, 1031, 2048}) {
      Literal x = Drawn(DType::kC128, {n}, n);
      x.mutable_data<std::complex<double>>()[n / 2] = bad;
      for (const char* type : {"FFT", "IFFT"}) {
        for (const auto& v : Numbers(Fft(type, x, {n}))) {
          EXPECT_FALSE(std::isfinite(v.real()) && std::isfinite(v.imag()))
              << type << " " << n;
        }
      }
    }
  }
}

TEST(FftTest, TooLittleMemoryIsSaid) {
  // 8 MiB of the result, and as much between the steps.
  CpuEvaluator evaluator({.memory_limit = 12 << 20});
  const Literal x = Drawn(DType::kC64, {1 << 20}, 1);
  EXPECT_THAT(RunOn(evaluator, kFft, x, Of("FFT", {1 << 20})).status(),
              StatusIs(absl::StatusCode::kResourceExhausted, "fft"));
}

TEST(FftTest, ACancelEndsIt) {
  CpuEvaluator evaluator;
  const Literal x = Drawn(DType::kC64, {1 << 16}, 1);
  const CancelToken token = CancelToken::WithFlag();
  token.Cancel();
  EXPECT_THAT(
      evaluator
          .Evaluate(ModuleOf(kFft, x, Of("FFT", {1 << 16})), 0, {&x, 1}, token)
          .status(),
      StatusIs(absl::StatusCode::kCancelled, "cancelled"));
}

}  // namespace
}  // namespace hawser::cpu
