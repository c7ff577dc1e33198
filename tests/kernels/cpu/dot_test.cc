#include "core/ops/contraction/dot.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <vector>

#include "core/ops/elementwise/convert.h"
#include "core/ops/rules.h"
#include "kernels/cpu/libraries/libraries.h"
#include "kernels/cpu/products/gemm.h"
#include "kernels/cpu/program.h"
#include "tests/kernels/cpu/evaluate.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

// tsan sees what oneDNN asks of memory, and not how its threads take turns.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libdnnl";
}

namespace hawser::cpu {
namespace {

struct DotAxes {
  Dims lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
};

Literal Dot(const Literal& lhs, const Literal& rhs, const DotAxes& axes,
            int threads = 1) {
  return EvaluateOp(kDotGeneral, {lhs, rhs},
                    {{"lhs_batching_dimensions", axes.lhs_batch},
                     {"rhs_batching_dimensions", axes.rhs_batch},
                     {"lhs_contracting_dimensions", axes.lhs_contracting},
                     {"rhs_contracting_dimensions", axes.rhs_contracting}},
                    {}, {.pool = Threads(threads)});
}

Dims Free(const Shape& shape, const Dims& batch, const Dims& contracting) {
  Dims free;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!Contains(batch, i) && !Contains(contracting, i)) free.push_back(i);
  }
  return free;
}

// Calls fn for every index below `sizes`, in row-major order.
template <typename Fn>
void ForEachIndex(const Dims& sizes, Fn fn) {
  int64_t count = 1;
  for (int64_t s : sizes) count *= s;
  for (int64_t i = 0; i < count; ++i) {
    Dims index(sizes.size());
    int64_t rest = i;
    for (size_t k = sizes.size(); k-- > 0;) {
      index[k] = rest % sizes[k];
      rest /= sizes[k];
    }
    fn(index);
  }
}

Dims SizesOf(const Shape& shape, const Dims& axes) {
  Dims sizes;
  for (int64_t axis : axes) sizes.push_back(shape.dim(axis));
  return sizes;
}

// One side's element at these indices along these lists of axes.
template <typename T>
T ElementAt(const Literal& x, const Dims& batch, const Dims& b,
            const Dims& free, const Dims& f, const Dims& contracting,
            const Dims& c) {
  const Dims strides = x.shape().Strides();
  int64_t at = 0;
  for (size_t i = 0; i < batch.size(); ++i) at += b[i] * strides[batch[i]];
  for (size_t i = 0; i < free.size(); ++i) at += f[i] * strides[free[i]];
  for (size_t i = 0; i < contracting.size(); ++i) {
    at += c[i] * strides[contracting[i]];
  }
  return x.data<T>()[at];
}

// The definition, in T.
template <typename T>
std::vector<T> Naive(const Literal& l, const Literal& r, const DotAxes& a) {
  const Dims lf = Free(l.shape(), a.lhs_batch, a.lhs_contracting);
  const Dims rf = Free(r.shape(), a.rhs_batch, a.rhs_contracting);
  std::vector<T> out;
  ForEachIndex(SizesOf(l.shape(), a.lhs_batch), [&](const Dims& b) {
    ForEachIndex(SizesOf(l.shape(), lf), [&](const Dims& i) {
      ForEachIndex(SizesOf(r.shape(), rf), [&](const Dims& j) {
        T sum{};
        ForEachIndex(SizesOf(l.shape(), a.lhs_contracting), [&](const Dims& k) {
          sum += ElementAt<T>(l, a.lhs_batch, b, lf, i, a.lhs_contracting, k) *
                 ElementAt<T>(r, a.rhs_batch, b, rf, j, a.rhs_contracting, k);
        });
        out.push_back(sum);
      });
    });
  });
  return out;
}

// Two operands that share batch and contracting axes, all axes in any order.
struct Problem {
  explicit Problem(Random& random, DType dtype) {
    const int64_t batches = random.Below(3);
    const int64_t contracted = random.Below(3);
    std::vector<int64_t> shared;
    for (int64_t i = 0; i < batches + contracted; ++i) {
      shared.push_back(random.OneIn(25) ? 0 : random.Between(1, 5));
    }
    auto side = [&](Dims* batch, Dims* contracting) {
      const int64_t free = random.Below(3);
      const int64_t rank = batches + contracted + free;
      Dims order(rank);
      std::iota(order.begin(), order.end(), 0);
      for (int64_t i = rank; i > 1; --i) {
        std::swap(order[i - 1], order[random.Below(i)]);
      }
      Dims dims(rank);
      for (int64_t i = 0; i < rank; ++i) {
        dims[order[i]] =
            i < batches + contracted ? shared[i] : random.Between(1, 5);
        if (i < batches) {
          batch->push_back(order[i]);
        } else if (i < batches + contracted) {
          contracting->push_back(order[i]);
        }
      }
      Literal small = Literal::Uninitialized(Shape::Of(DType::kS8, dims));
      for (int8_t& x : small.mutable_data<int8_t>()) {
        x = static_cast<int8_t>(random.Between(0, 3));
      }
      return Cast(small, dtype);
    };
    lhs = side(&axes.lhs_batch, &axes.lhs_contracting);
    rhs = side(&axes.rhs_batch, &axes.rhs_contracting);
  }
  Literal lhs, rhs;
  DotAxes axes;
};

// Small whole numbers: exact in every dtype, so any layout mistake shows.
TEST(DotGeneralTest, EveryDTypeAndAxisOrder) {
  Random random(77);
  for (DType dtype : AllDTypes()) {
    if (!kDotGeneral.dtypes.Has(dtype)) continue;
    for (int round = 0; round < 120; ++round) {
      const Problem p(random, dtype);
      const Literal got = Dot(p.lhs, p.rhs, p.axes);
      const std::vector<double> want = Naive<double>(
          Cast(p.lhs, DType::kF64), Cast(p.rhs, DType::kF64), p.axes);
      const Literal expected =
          Cast(Literal::Of<double>(want, got.shape().dims()), dtype);
      ASSERT_THAT(got, LiteralEquals(expected))
          << p.lhs.shape().ToString() << " " << p.rhs.shape().ToString();
    }
  }
}

TEST(DotGeneralTest, IntegersWrap) {
  const Literal x = Literal::Of<int8_t>({100, 100}, {1, 2});
  const Literal y = Literal::Of<int8_t>({100, 50}, {2, 1});
  // 15000 mod 256 = 152 = -104
  EXPECT_THAT(Dot(x, y, {{}, {}, {1}, {0}}),
              LiteralEquals(Literal::Of<int8_t>({-104}, {1, 1})));
  const uint64_t big = uint64_t{1} << 63;
  EXPECT_THAT(Dot(Literal::Vector<uint64_t>({big, 3}),
                  Literal::Vector<uint64_t>({2, 5}), {{}, {}, {0}, {0}}),
              LiteralEquals(Literal::Scalar<uint64_t>(15)));
}

TEST(DotGeneralTest, ComplexNumbers) {
  using C = std::complex<double>;
  const Literal x = Literal::Vector<C>({C(1, 2), C(3, -1)});
  const Literal y = Literal::Vector<C>({C(0, 1), C(2, 2)});
  // i(1+2i) + (2+2i)(3-i) = (-2+i) + (8+4i)
  EXPECT_THAT(Dot(x, y, {{}, {}, {0}, {0}}),
              LiteralEquals(Literal::Scalar(C(6, 5))));
}

TEST(DotGeneralTest, HalvesAccumulateInFloat) {
  // One after another, an f16 sum of ones stays at 2048.
  const Literal ones = Full(Half(1), {1, 5000});
  EXPECT_THAT(Dot(ones, ones, {{}, {}, {1}, {1}}),
              LiteralEquals(Literal::Of<Half>({Half(5000)}, {1, 1})));
}

// The same as the product of the operands converted first, bit for bit, by
// strides and by a transposed copy.
TEST(DotGeneralTest, AWiderResultIsOfConvertedOperands) {
  int pairs = 0;
  for (const DType from : AllDTypes()) {
    for (const DType to : AllDTypes()) {
      if (!WidensProduct(from, to)) continue;
      ++pairs;
      Random random(pairs);
      const Literal x = RandomLiteral(Shape::Of(from, {3, 4, 5}), random);
      const Literal y = RandomLiteral(Shape::Of(from, {5, 3, 6}), random);
      Attributes axes = {{"lhs_batching_dimensions", Dims{}},
                         {"lhs_contracting_dimensions", Dims{0, 2}},
                         {"rhs_batching_dimensions", Dims{}},
                         {"rhs_contracting_dimensions", Dims{1, 0}}};
      const auto wide = [&](const Literal& v) {
        return EvaluateOp(kConvert, {v}, {{"dtype", to}});
      };
      const Literal want = EvaluateOp(kDotGeneral, {wide(x), wide(y)}, axes);
      axes.Set("result_dtype", to);
      EXPECT_THAT(EvaluateOp(kDotGeneral, {x, y}, axes), LiteralEquals(want))
          << from << " " << to;
    }
  }
  EXPECT_EQ(pairs, 18);
}

TEST(DotGeneralTest, EmptyAndScalar) {
  const Literal none = Literal::Uninitialized(Shape::Of(DType::kF32, {3, 0}));
  EXPECT_THAT(Dot(none, none, {{}, {}, {1}, {1}}),
              LiteralEquals(Full(0.0f, {3, 3})));
  EXPECT_EQ(Dot(none, none, {{}, {}, {0}, {0}}).shape(),
            Shape::Of(DType::kF32, {0, 0}));
  EXPECT_THAT(Dot(Literal::Scalar(3.0f), Literal::Scalar(4.0f), {}),
              LiteralEquals(Literal::Scalar(12.0f)));
}

TEST(DotGeneralTest, NaNIsNotLostAgainstZero) {
  for (int64_t n : {1, 4, 300}) {
    Literal x = Full(0.0f, {4, n});
    x.mutable_data<float>()[0] = std::numeric_limits<float>::infinity();
    const Literal zero = Full(0.0f, {n, 3});
    const Literal got = Dot(x, zero, {{}, {}, {1}, {0}});
    EXPECT_TRUE(std::isnan(got.data<float>()[0])) << n;
    EXPECT_EQ(got.data<float>()[3], 0) << n;
    const Literal vector = Dot(x, Full(0.0f, {n}), {{}, {}, {1}, {0}});
    EXPECT_TRUE(std::isnan(vector.data<float>()[0])) << n;
  }
}

// Both operands lie as matrices once their axes are taken in another order:
// there is memory for the result alone.
TEST(DotGeneralTest, ContractingAxesInAnyOrderAreNotCopied) {
  const Shape lhs = Shape::Of(DType::kF32, {64, 32, 16});
  const Shape rhs = Shape::Of(DType::kF32, {32, 16, 8});
  const Module module = OpModule(kDotGeneral, {lhs, rhs},
                                 {{"lhs_batching_dimensions", Dims{}},
                                  {"rhs_batching_dimensions", Dims{}},
                                  {"lhs_contracting_dimensions", Dims{2, 1}},
                                  {"rhs_contracting_dimensions", Dims{1, 0}}});
  const auto program = CpuProgram::Make(module, 0);
  ASSERT_OK(program);
  const auto allocator = HostAllocator::Make(int64_t{64 * 8 * 4 + 4096});
  const auto got =
      program->Run({Full(1.0f, {64, 32, 16}), Full(2.0f, {32, 16, 8})},
                   {.allocator = allocator.get()});
  ASSERT_OK(got);
  EXPECT_THAT((*got)[0], LiteralEquals(Full(1024.0f, {64, 8})));
}

// The matrix shapes a library treats differently, each side plain or
// transposed, against the same product in f64 by the own loops.
class GemmTest : public testing::Test {
 protected:
  static constexpr int64_t kSizes[] = {1, 2, 7, 64, 300};

  template <typename T>
  std::vector<T> Run(int64_t batches, int64_t m, int64_t n, int64_t k,
                     bool trans_a, bool trans_b, const Libraries& libraries,
                     ThreadPool* pool) {
    Random random(m * 1000 + n * 10 + k);
    const Literal a =
        RandomLiteral(Shape::Of(kDTypeOf<T>, {batches, m, k}), random, false);
    const Literal b =
        RandomLiteral(Shape::Of(kDTypeOf<T>, {batches, k, n}), random, false);
    // The last row is not to be written.
    std::vector<T> c(batches * m * n + 1, T{-1234});
    const GemmProblem problem{
        .dtype = kDTypeOf<T>,
        .batches = batches,
        .m = m,
        .n = n,
        .k = k,
        .a = {a.bytes().data(), m * k, trans_a ? 1 : k, trans_a ? m : 1},
        .b = {b.bytes().data(), k * n, trans_b ? 1 : n, trans_b ? k : 1},
        .c = reinterpret_cast<char*>(c.data())};
    EXPECT_OK(RunGemm(problem, {.pool = pool}, libraries));
    EXPECT_EQ(c.back(), T{-1234});
    return c;
  }

  template <typename T>
  void ExpectSame(const Libraries& libraries, double tolerance) {
    ThreadPool pool(3);
    for (int64_t m : kSizes) {
      for (int64_t n : kSizes) {
        for (int64_t k : kSizes) {
          for (int trans = 0; trans < 4; ++trans) {
            const auto got =
                Run<T>(2, m, n, k, trans & 1, trans & 2, libraries, &pool);
            const auto want =
                Run<double>(2, m, n, k, trans & 1, trans & 2, {}, nullptr);
            for (size_t i = 0; i < got.size(); ++i) {
              ASSERT_NEAR(got[i], want[i], tolerance * static_cast<double>(k))
                  << m << " " << n << " " << k << " " << trans;
            }
          }
        }
      }
    }
  }
};

TEST_F(GemmTest, OwnLoopsOfFloat) { ExpectSame<float>({}, 1e-5); }

TEST_F(GemmTest, BlasAgreesWithOwnLoops) {
  const Blas* blas = FindBlas();
  if (blas == nullptr) GTEST_SKIP() << "no BLAS on this machine";
  ExpectSame<float>({.blas = blas}, 1e-5);
  ExpectSame<double>({.blas = blas}, 1e-14);
}

// Of numbers that bf16 holds; a result is rounded once.
TEST_F(GemmTest, OneDnnAgreesWithOwnLoopsInBf16) {
  const Dnnl* dnnl = Dnnl::OfProcess();
  if (dnnl == nullptr || !dnnl->has_bf16()) {
    GTEST_SKIP() << "no oneDNN 2, or a processor without bf16";
  }
  ThreadPool pool(3);
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {64, 64, 64}, {300, 70, 129}, {33, 500, 4100}, {50, 40, 20000}}) {
    for (int trans = 0; trans < 4; ++trans) {
      const auto got = Run<BFloat16>(2, m, n, k, trans & 1, trans & 2,
                                     {.dnnl = dnnl}, &pool);
      const auto want =
          Run<BFloat16>(2, m, n, k, trans & 1, trans & 2, {}, nullptr);
      for (size_t i = 0; i < got.size(); ++i) {
        const auto value = static_cast<float>(want[i]);
        // Sums in another order may round to the neighbour.
        ASSERT_NEAR(static_cast<float>(got[i]), value,
                    std::abs(value) / 128 + 1e-5 * static_cast<double>(k))
            << m << " " << n << " " << k << " " << trans << " at " << i;
      }
      EXPECT_EQ(got, Run<BFloat16>(2, m, n, k, trans & 1, trans & 2,
                                   {.dnnl = dnnl}, nullptr));
    }
  }
}

TEST_F(GemmTest, OneDnnKeepsNaNAndInfinity) {
  const Dnnl* dnnl = Dnnl::OfProcess();
  if (dnnl == nullptr || !dnnl->has_bf16()) {
    GTEST_SKIP() << "no oneDNN 2, or a processor without bf16";
  }
  constexpr int64_t kSide = 64;
  const auto infinity = std::numeric_limits<float>::infinity();
  std::vector<BFloat16> a(kSide * kSide, BFloat16(0.0f)), b(a), c(a);
  a[0] = BFloat16(infinity);
  a[kSide] = BFloat16(infinity);
  b[0] = BFloat16(1.0f);
  ASSERT_OK(dnnl->Multiply({DType::kBF16, DType::kBF16, DType::kBF16}, kSide,
                           kSide, kSide, {a.data(), kSide, 1},
                           {b.data(), kSide, 1}, c.data(), kSide));
  EXPECT_EQ(static_cast<float>(c[0]), infinity);
  EXPECT_TRUE(std::isnan(static_cast<float>(c[1])));
  EXPECT_TRUE(std::isnan(static_cast<float>(c[kSide + 1])));
  EXPECT_EQ(static_cast<float>(c[2 * kSide]), 0.0f);
}

// A result without elements, of sums of nothing.
TEST_F(GemmTest, NothingIsWrittenOfNoRows) {
  EXPECT_THAT(Run<float>(2, 0, 4, 0, false, false, {}, nullptr),
              testing::ElementsAre(-1234));
  EXPECT_THAT(Run<float>(2, 4, 0, 0, false, false, {}, nullptr),
              testing::ElementsAre(-1234));
  EXPECT_THAT(Run<float>(0, 4, 4, 0, false, false, {}, nullptr),
              testing::ElementsAre(-1234));
}

// Rows, or columns, further apart than the interface of a BLAS can say.
TEST_F(GemmTest, StridesBeyondABlasAreForTheOwnLoops) {
  constexpr int64_t kApart = (int64_t{1} << 32) + 8;
  constexpr size_t kBytes = (kApart + 2) * sizeof(float);
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no address space for it";
  float* const far = static_cast<float*>(memory);
  far[0] = 1, far[1] = 2, far[kApart] = 3, far[kApart + 1] = 4;
  const float near[] = {1, 10, 100, 1000};
  for (const bool transposed : {false, true}) {
    std::vector<float> c(4);
    const GemmProblem problem{
        .dtype = DType::kF32,
        .m = 2,
        .n = 2,
        .k = 2,
        .a = {static_cast<const char*>(memory), 0, transposed ? 1 : kApart,
              transposed ? kApart : 1},
        .b = {reinterpret_cast<const char*>(near), 0, 2, 1},
        .c = reinterpret_cast<char*>(c.data())};
    EXPECT_OK(RunGemm(problem, {}, {.blas = FindBlas()}));
    EXPECT_THAT(c, transposed ? testing::ElementsAre(301, 3010, 402, 4020)
                              : testing::ElementsAre(201, 2010, 403, 4030));
  }
  munmap(memory, kBytes);
}

TEST_F(GemmTest, ThreadsDoNotChangeBits) {
  ThreadPool pool(4);
  for (const Blas* blas : {FindBlas(), static_cast<const Blas*>(nullptr)}) {
    EXPECT_EQ(
        Run<float>(1, 600, 2100, 90, false, true, {.blas = blas}, &pool),
        Run<float>(1, 600, 2100, 90, false, true, {.blas = blas}, nullptr));
    EXPECT_EQ(
        Run<float>(1, 9000, 1, 5000, false, false, {.blas = blas}, &pool),
        Run<float>(1, 9000, 1, 5000, false, false, {.blas = blas}, nullptr));
  }
}

TEST_F(GemmTest, StopsWhenCancelled) {
  const CancelToken token = CancelToken::WithFlag();
  token.Cancel();
  std::vector<float> c(100 * 100), a(100 * 100);
  const GemmProblem problem{
      .dtype = DType::kF32,
      .m = 100,
      .n = 100,
      .k = 100,
      .a = {reinterpret_cast<const char*>(a.data()), 0, 100, 1},
      .b = {reinterpret_cast<const char*>(a.data()), 0, 100, 1},
      .c = reinterpret_cast<char*>(c.data())};
  for (const Blas* blas : {FindBlas(), static_cast<const Blas*>(nullptr)}) {
    EXPECT_THAT(RunGemm(problem, {.cancel = token}, {.blas = blas}),
                StatusIs(absl::StatusCode::kCancelled, ""));
  }
}

TEST(BlasTest, WhatIsNoBlasIsRefused) {
  EXPECT_EQ(OpenBlas("libhawser-no-such-library.so"), nullptr);
  EXPECT_EQ(OpenBlas("libm.so.6"), nullptr);
}

TEST(BlasTest, ItsNameHasItsVersionAndItsKernels) {
  const Blas* blas = FindBlas();
  if (blas == nullptr || blas->name.rfind("OpenBLAS", 0) != 0) {
    GTEST_SKIP() << "no OpenBLAS on this machine";
  }
  EXPECT_THAT(blas->name, testing::MatchesRegex("OpenBLAS [0-9][^ ]* [^ ]+"));
}

TEST(DnnlTest, WhatIsNoOneDnnIsRefused) {
  EXPECT_EQ(Dnnl::Open("libhawser-no-such-library.so"), nullptr);
  EXPECT_EQ(Dnnl::Open("libm.so.6"), nullptr);
}

}  // namespace
}  // namespace hawser::cpu
