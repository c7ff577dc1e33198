// Transforms and linear algebra as calls of a device's library: the emulated
// library promises as little as the real ones, and results are the CPU's.
#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/autodiff/gradient_transform.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/linalg/fft.h"
#include "core/ops/linalg/linalg.h"
#include "core/ops/linalg/matrices.h"
#include "tests/kernels/gpu/failing_device.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::gpu {
namespace {

using testing::ExpressionBody;
using testing::ExpressionModule;

// Numbers around 1, of no sign in particular.
Values DrawnArguments(const Module& module, uint64_t seed) {
  Random random(seed);
  return RandomArguments(module.signature(), random, /*extremes=*/false);
}

Tolerance ToleranceOf(DType dtype) {
  const bool wide = RealPart(dtype) == DType::kF64;
  return wide ? Tolerance{.atol = 1e-9, .rtol = 1e-9}
              : Tolerance{.atol = 2e-3, .rtol = 2e-3};
}

// Counts the calls of libraries.
class CountingDevice : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  absl::Status RunCall(Stream stream, CallPlan plan,
                       const CallOperands& operands) override {
    ++calls;
    return ForwardingDevice::RunCall(stream, plan, operands);
  }
  std::atomic<int> calls{0};
};

enum class Host { kAbsent, kThere };

// The results of the module by the library, without a host to help unless there
// is one for what the library must not get, are those of the CPU. Four times,
// so that memory that a call has overwritten shows, and captures do. Sets
// `*calls` to how many were made.
void ExpectByLibrary(const Module& module, const Values& arguments,
                     Host host = Host::kAbsent, int* calls = nullptr) {
  const auto device =
      std::make_shared<CountingDevice>(emu::MakeEmuDevice({.seed = 1}));
  Rig rig(device, {}, host == Host::kThere);
  ASSERT_OK_AND_ASSIGN(const Values want, Reference(module, arguments));
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig.Compile(module));
  std::vector<runtime::Argument> buffers;
  for (const Literal& value : arguments) buffers.emplace_back(rig.Put(value));
  for (int time = 0; time < 4; ++time) {
    ASSERT_OK_AND_ASSIGN(const Values got, RunOn(run, buffers));
    ASSERT_EQ(got.size(), want.size());
    for (size_t r = 0; r < got.size(); ++r) {
      ASSERT_THAT(got[r],
                  LiteralNear(want[r], ToleranceOf(want[r].shape().dtype())))
          << run->Explain();
    }
  }
  if (calls != nullptr) {
    *calls = device->calls;
  } else {
    EXPECT_GT(device->calls, 0);
  }
}

// ---- Fourier transforms ---------------------------------------------------

Expression Transformed(const Expression& x, const char* type,
                       const Dims& lengths) {
  return Apply(kFft, {x},
               {{"fft_length", lengths}, {"fft_type", std::string(type)}});
}

// Transforms along the last axes, of `lengths` on the real side, of `batch`.
Module FftModule(const char* type, DType real, Dims batch,
                 const Dims& lengths) {
  const bool is_wide = real == DType::kF64;
  const std::string name = type;
  Dims dims = std::move(batch);
  dims.insert(dims.end(), lengths.begin(), lengths.end());
  if (name == "IRFFT") dims.back() = HalfOf(dims.back());
  const DType dtype = name == "RFFT" ? real
                      : is_wide      ? DType::kC128
                                     : DType::kC64;
  return ExpressionModule(
      {Shape::Of(dtype, dims)}, [&](const std::vector<Expression>& p) {
        return std::vector<Expression>{Transformed(p[0], type, lengths)};
      });
}

constexpr const char* kTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};

TEST(LibraryFft, IsThatOfTheCpu) {
  uint64_t seed = 0;
  for (const char* type : kTypes) {
    for (const DType real : {DType::kF32, DType::kF64}) {
      for (const Dims& lengths :
           {Dims{2}, Dims{5}, Dims{12}, Dims{64}, Dims{97}, Dims{3, 4},
            Dims{4, 5}, Dims{1, 6}, Dims{3, 2, 4}, Dims{2, 4, 3}}) {
        const Dims batch = seed % 3 == 0   ? Dims{}
                           : seed % 3 == 1 ? Dims{3}
                                           : Dims{2, 2};
        SCOPED_TRACE(absl::StrCat(type, " ", DTypeName(real), " of ",
                                  DimsToString(lengths), " over ",
                                  DimsToString(batch)));
        const Module module = FftModule(type, real, batch, lengths);
        ExpectByLibrary(module, DrawnArguments(module, ++seed));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// What a real inverse overwrites is never the program's own value.
TEST(LibraryFft, AnInverseLeavesItsOperandAlone) {
  const Module module = ExpressionModule(
      {Shape::Of(DType::kC64, {3, 5})}, [](const std::vector<Expression>& p) {
        const Expression y = p[0] * p[0];
        return std::vector<Expression>{Transformed(y, "IRFFT", {8}), y,
                                       Transformed(y, "IRFFT", {9}), p[0]};
      });
  ExpectByLibrary(module, DrawnArguments(module, 7));
}

TEST(LibraryFft, FusesWithWhatIsAround) {
  const Module module = ExpressionModule(
      {Shape::Of(DType::kF32, {4, 16}), Shape::Of(DType::kF32, {4, 16})},
      [](const std::vector<Expression>& p) {
        const Expression product =
            Transformed(p[0], "RFFT", {16}) * Transformed(p[1], "RFFT", {16});
        return std::vector<Expression>{Transformed(product, "IRFFT", {16})};
      });
  ExpectByLibrary(module, DrawnArguments(module, 3));
  Rig rig;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig.Compile(module));
  EXPECT_FALSE(run->blocks());
}

TEST(LibraryFft, GradientsAreThoseOfTheCpu) {
  for (const char* type : kTypes) {
    const Module transform = FftModule(type, DType::kF64, {2}, {3, 6});
    Module loss =
        ExpressionModule(transform.signature().parameters, [&](const auto& p) {
          Expression y = Transformed(p[0], type, {3, 6});
          if (IsComplex(y.dtype())) y = Apply(kReal, {y * Conjugate(y)});
          return std::vector<Expression>{SummedAll(y * y)};
        });
    ASSERT_OK_AND_ASSIGN(const Module both, ValueAndGradient(std::move(loss)));
    ExpectByLibrary(both, DrawnArguments(both, 11));
  }
}

// ---- linear algebra -------------------------------------------------------

// x x^H + n I, well conditioned.
Expression Definite(const Expression& x) {
  const Expression product =
      formulas::MatrixProduct(x, formulas::MatrixAdjoint(x));
  const double n = static_cast<double>(x.dims().back());
  return Choose(formulas::WhereColumns(x, CompareDirection::kEq, 0),
                product + n, product);
}

constexpr DType kDTypes[] = {DType::kF32, DType::kF64, DType::kC64,
                             DType::kC128};

TEST(LibraryCholesky, IsThatOfTheCpu) {
  for (const DType dtype : kDTypes) {
    for (const Dims& dims : {Dims{5, 5}, Dims{3, 4, 4}}) {
      for (const bool lower : {false, true}) {
        SCOPED_TRACE(absl::StrCat(DTypeName(dtype), DimsToString(dims), lower));
        const Module module =
            ExpressionModule({Shape::Of(dtype, dims)}, [&](const auto& p) {
              return std::vector<Expression>{
                  Apply(kCholesky, {Definite(p[0])}, {{"lower", lower}})};
            });
        ExpectByLibrary(module, DrawnArguments(module, 5));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Of four matrices one is right, one not definite, two are not finite; the
// triangle that is not read may hold anything.
TEST(LibraryCholesky, OneMatrixIsNaNWithoutTheOthers) {
  const float nan = std::nanf(""), inf = INFINITY;
  const Literal a =
      F32({4, nan, 2, 5, 4, 0, 6, 4, nan, 0, 1, 2, inf, 1, 1, 9}, {4, 2, 2});
  const Module module = ExpressionModule({a.shape()}, [&](const auto& p) {
    return std::vector<Expression>{Apply(kCholesky, {p[0]}, {{"lower", true}})};
  });
  ExpectByLibrary(module, {a});
}

TEST(LibraryTriangularSolve, IsThatOfTheCpu) {
  uint64_t seed = 0;
  for (const DType dtype : kDTypes) {
    for (int flags = 0; flags < 8; ++flags) {
      for (const auto op : {kNoTranspose, kTransposeOf, kAdjointOf}) {
        for (const Dims& batch : {Dims{}, Dims{3}}) {
          const bool left = flags & 1;
          Dims a = batch, b = batch;
          a.insert(a.end(), {4, 4});
          b.insert(b.end(), {left ? 4 : 3, left ? 3 : 4});
          const Module module = ExpressionModule(
              {Shape::Of(dtype, a), Shape::Of(dtype, b)}, [&](const auto& p) {
                return std::vector<Expression>{formulas::TriangularSolved(
                    Definite(p[0]), p[1],
                    {.left = left,
                     .lower = (flags & 2) != 0,
                     .unit_diagonal = (flags & 4) != 0,
                     .op = op})};
              });
          SCOPED_TRACE(absl::StrCat(DTypeName(dtype), " ", flags, " ", op));
          int calls = 0;
          ExpectByLibrary(module, DrawnArguments(module, ++seed), Host::kThere,
                          &calls);
          EXPECT_EQ(calls, 8);  // with the product, four times
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// The other triangle, and a unit diagonal, may hold anything.
TEST(LibraryTriangularSolve, WhatHasNoFiniteAnswerIsTheHosts) {
  const Literal good = F32({2, NAN, 1, 4}, {2, 2}), b = F32({4, 6}, {2, 1});
  const struct {
    Literal a, b;
    bool unit_diagonal;
    int calls;
  } cases[] = {
      {good, b, false, 4},
      {good, F32({4, INFINITY}, {2, 1}), false, 0},
      {F32({2, 0, 1, 0}, {2, 2}), b, false, 0},
      {F32({0, 0, 1, 0}, {2, 2}), b, true, 4},
      {F32({2, 0, NAN, 1}, {2, 2}), b, true, 0},
  };
  for (const auto& c : cases) {
    const Module module =
        ExpressionModule({c.a.shape(), c.b.shape()}, [&](const auto& p) {
          return std::vector<Expression>{formulas::TriangularSolved(
              p[0], p[1],
              {.unit_diagonal = c.unit_diagonal, .op = kNoTranspose})};
        });
    int calls = -1;
    ExpectByLibrary(module, {c.a, c.b}, Host::kThere, &calls);
    EXPECT_EQ(calls, c.calls) << c.a.ToString() << c.b.ToString();
  }
}

// Eigenvectors have no phase of their own: A is put together again.
TEST(LibraryEigh, GivesTheMatrixBack) {
  for (const DType dtype : kDTypes) {
    for (const Dims& dims : {Dims{6, 6}, Dims{3, 4, 4}}) {
      for (const bool lower : {false, true}) {
        SCOPED_TRACE(absl::StrCat(DTypeName(dtype), DimsToString(dims), lower));
        const Module module =
            ExpressionModule({Shape::Of(dtype, dims)}, [&](const auto& p) {
              const Expression a = Definite(p[0]);
              const Expression w = Apply(kEigh, {a}, {{"lower", lower}});
              const Expression v = ResultOf(w, 1);
              Expression scaled = formulas::AlongColumns(w, a.dims());
              if (IsComplex(dtype)) {
                scaled = Apply(kComplex, {scaled, Like(scaled, 0)});
              }
              return std::vector<Expression>{
                  w,
                  formulas::MatrixProduct(v * scaled,
                                          formulas::MatrixAdjoint(v)),
                  formulas::MatrixProduct(formulas::MatrixAdjoint(v), v)};
            });
        ExpectByLibrary(module, DrawnArguments(module, 9));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(LibraryEigh, WhatIsNotFiniteIsNaN) {
  const Literal a =
      F32({2, 9, 1, 2, NAN, 0, 0, 1, 1, 0, INFINITY, 1}, {3, 2, 2});
  const Module module = ExpressionModule({a.shape()}, [&](const auto& p) {
    return std::vector<Expression>{Apply(kEigh, {p[0]}, {{"lower", true}})};
  });
  ExpectByLibrary(module, {a});
}

// The rows of L U put back where they came from, then what the row gives.
TEST(LibraryLu, IsThatOfTheCpu) {
  for (const DType dtype : kDTypes) {
    for (const Dims& dims : {Dims{5, 5}, Dims{3, 4, 4}}) {
      SCOPED_TRACE(absl::StrCat(DTypeName(dtype), DimsToString(dims)));
      const Module module =
          ExpressionModule({Shape::Of(dtype, dims)}, [&](const auto& p) {
            const Expression packed = Apply(kLu, {p[0]});
            const Expression unit = Like(packed, 1);
            const Expression lower =
                Choose(formulas::WhereColumns(packed, CompareDirection::kEq, 0),
                       unit, formulas::TriangleOf(packed, true));
            const Expression order =
                formulas::PermutationMatrix(ResultOf(packed, 2), dtype);
            std::vector<Expression> results = {formulas::MatrixProduct(
                formulas::MatrixTransposed(order),
                formulas::MatrixProduct(lower,
                                        formulas::TriangleOf(packed, false)))};
            if (!IsComplex(dtype)) {
              results.insert(results.end(), {packed, ResultOf(packed, 1),
                                             ResultOf(packed, 2)});
            }
            return results;
          });
      ExpectByLibrary(module, DrawnArguments(module, 17));
      if (HasFatalFailure()) return;
    }
  }
}

// Q R, Q^H Q, and what of R is 0.
TEST(LibraryQr, GivesTheMatrixBack) {
  for (const DType dtype : kDTypes) {
    for (const Dims& dims : {Dims{4, 4}, Dims{2, 5, 3}, Dims{3, 5}}) {
      const bool full = dims.size() == 3;
      SCOPED_TRACE(absl::StrCat(DTypeName(dtype), DimsToString(dims)));
      const Module module =
          ExpressionModule({Shape::Of(dtype, dims)}, [&](const auto& p) {
            const Expression q = Apply(kQr, {p[0]}, {{"full_matrices", full}});
            const Expression r = ResultOf(q, 1);
            return std::vector<Expression>{
                formulas::MatrixProduct(q, r),
                formulas::MatrixProduct(formulas::MatrixAdjoint(q), q),
                formulas::TriangleOf(r, /*lower=*/true, /*strict=*/true)};
          });
      ExpectByLibrary(module, DrawnArguments(module, 19));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(LibraryLu, WhatIsNotFiniteIsNaNAndExchangesNothing) {
  const Literal a = F32({1, 2, 3, 4, NAN, 0, 5, 1, 0, 0, 0, 0}, {3, 2, 2});
  const Module module = ExpressionModule({a.shape()}, [&](const auto& p) {
    const Expression packed = Apply(kLu, {p[0]});
    return std::vector<Expression>{packed, ResultOf(packed, 1),
                                   ResultOf(packed, 2)};
  });
  ExpectByLibrary(module, {a});
}

TEST(LibraryCholesky, GradientsAreThoseOfTheCpu) {
  for (const DType dtype : {DType::kF64, DType::kC128}) {
    Module loss =
        ExpressionModule({Shape::Of(dtype, {2, 3, 3})}, [&](const auto& p) {
          const Expression factor =
              Apply(kCholesky, {Definite(p[0])}, {{"lower", true}});
          Expression y = factor * formulas::ConjugateOf(factor);
          if (IsComplex(dtype)) y = Apply(kReal, {y});
          return std::vector<Expression>{SummedAll(y * y)};
        });
    ASSERT_OK_AND_ASSIGN(const Module both, ValueAndGradient(std::move(loss)));
    ExpectByLibrary(both, DrawnArguments(both, 13), Host::kThere);
  }
}

// ---- what no library does -------------------------------------------------

TEST(LibraryCalls, EmptyAndSingleElementsAreTheHosts) {
  Rig rig;
  for (const char* type : kTypes) {
    for (const Dims& batch : {Dims{}, Dims{0}, Dims{2}}) {
      for (const Dims& lengths : {Dims{1}, Dims{1, 1}, Dims{0}, Dims{4, 1}}) {
        const Module module = FftModule(type, DType::kF32, batch, lengths);
        SCOPED_TRACE(absl::StrCat(type, DimsToString(batch), " ",
                                  DimsToString(lengths)));
        const Values arguments = DrawnArguments(module, 1);
        ASSERT_OK_AND_ASSIGN(const Values want, Reference(module, arguments));
        ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig.Compile(module));
        ASSERT_OK_AND_ASSIGN(const Values got,
                             RunOn(run, {arguments.begin(), arguments.end()}));
        EXPECT_THAT(got[0], LiteralNear(want[0], ToleranceOf(DType::kF32)));
      }
    }
  }
  const Module empty =
      ExpressionModule({Shape::Of(DType::kF32, {0, 3, 3})}, [](const auto& p) {
        return std::vector<Expression>{
            Apply(kCholesky, {p[0]}, {{"lower", true}})};
      });
  EXPECT_OK(rig.Compile(empty));
}

class RefusedCalls : public ::testing::Test {
 protected:
  std::shared_ptr<FailingDevice> device_ =
      std::make_shared<FailingDevice>(emu::MakeEmuDevice({.seed = 1}));
  Rig rig_{device_, {}};
  const Module module_ = FftModule("IFFT", DType::kF32, {2}, {6});
  const Values arguments_ = DrawnArguments(module_, 2);
};

TEST_F(RefusedCalls, AreTheHosts) {
  ASSERT_OK_AND_ASSIGN(const Values want, Reference(module_, arguments_));
  for (const absl::Status& refusal :
       {Unimplemented("not these"), FailedPrecondition("no libcufft")}) {
    device_->FailNext("PlanCall", refusal);
    ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig_.Compile(module_));
    EXPECT_TRUE(run->blocks()) << run->Explain();
    ASSERT_OK_AND_ASSIGN(const Values got,
                         RunOn(run, {arguments_.begin(), arguments_.end()}));
    EXPECT_THAT(got[0], LiteralNear(want[0], ToleranceOf(DType::kF32)));
  }
  device_->FailNext("PlanCall", Unavailable("the device is lost"), 9);
  EXPECT_THAT(rig_.Compile(module_),
              StatusIs(absl::StatusCode::kUnavailable, "lost"));
}

TEST_F(RefusedCalls, StrictNumericsAskNoLibrary) {
  device_->FailNext("PlanCall", Unavailable("it was asked"), 9);
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr run,
                       rig_.Compile(module_, runtime::Numerics::kStrict));
  EXPECT_TRUE(run->blocks());
}

}  // namespace
}  // namespace hawser::gpu
