// Products that no library takes, by matrix instructions where there are some:
// which kernel does them, and how near to sums in f64 they come.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "kernels/emu/emu_device.h"
#include "tests/kernels/gpu/drawn_products.h"
#include "tests/kernels/gpu/forwarding_device.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::gpu {
namespace {

using runtime::Numerics;

// Returns how many times as many products are drawn: HAWSER_DRAWN_PRODUCTS says
// it, for the slow test.
int Searches() {
  const char* const given = std::getenv("HAWSER_DRAWN_PRODUCTS");
  int times = 1;
  if (given != nullptr) {
    EXPECT_TRUE(absl::SimpleAtoi(given, &times)) << given;
  }
  return times;
}

// It has no library of products, and another architecture if a test says so.
class BareDevice : public ForwardingDevice {
 public:
  explicit BareDevice(std::string target = "host")
      : ForwardingDevice(emu::MakeEmuDevice({.seed = 1})),
        facts_(ForwardingDevice::facts()) {
    facts_.target = std::move(target);
  }
  const DeviceFacts& facts() const override { return facts_; }
  absl::StatusOr<CallPlan> PlanCall(const LibraryCall& call) override {
    return Unimplemented("no library");
  }
  absl::StatusOr<KernelBinary> Compile(absl::string_view name,
                                       absl::string_view text,
                                       const CompileOptions& options) override {
    texts += std::string(text);
    return ForwardingDevice::Compile(name, text, options);
  }
  std::string texts;

 private:
  DeviceFacts facts_;
};

// [batch, m, k] x [batch, k, n], each factor with its last axes swapped or not.
struct MatrixProduct {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  bool turned[2] = {};
  DType factor = DType::kF32, result = DType::kF32;

  Dims Left() const {
    return turned[0] ? Dims{batch, k, m} : Dims{batch, m, k};
  }
  Dims Right() const {
    return turned[1] ? Dims{batch, n, k} : Dims{batch, k, n};
  }
  std::string Words() const {
    return absl::StrCat(DTypeName(factor), " to ", DTypeName(result), ", ",
                        batch, " of ", m, " x ", n, " x ", k,
                        turned[0] ? ", left turned" : "",
                        turned[1] ? ", right turned" : "");
  }
};

Module ModuleOf(const MatrixProduct& p) {
  Attributes attributes = {
      {"lhs_batching_dimensions", Dims{0}},
      {"lhs_contracting_dimensions", Dims{p.turned[0] ? 1 : 2}},
      {"rhs_batching_dimensions", Dims{0}},
      {"rhs_contracting_dimensions", Dims{p.turned[1] ? 2 : 1}}};
  if (p.result != p.factor) attributes.Set("result_dtype", p.result);
  return testing::ExpressionModule(
      {Shape::Of(p.factor, p.Left()), Shape::Of(p.factor, p.Right())},
      [&](const std::vector<Expression>& x) {
        return std::vector<Expression>{Apply(kDotGeneral, x, attributes)};
      });
}

// Every bit of the fraction is drawn; sizes are from 1/8 to 8.
Literal Drawn(DType dtype, const Dims& dims, Random& random) {
  Literal l = Literal::Zeros(Shape::Of(dtype, dims));
  VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsFloat<T>) {
      const auto x = l.mutable_data<T>();
      for (int64_t i = 0; i < l.shape().num_elements(); ++i) {
        const double unit = static_cast<double>(random.Bits() >> 11) * 0x1p-53;
        const double size =
            std::ldexp(1 + unit, static_cast<int>(random.Below(6)) - 3);
        x[i] = static_cast<T>(
            static_cast<ComputeType<T>>(random.OneIn(2) ? size : -size));
      }
    }
  });
  return l;
}

std::vector<double> Doubles(const Literal& l) {
  std::vector<double> values;
  VisitDType(l.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsFloat<T>) {
      for (const T x : l.data<T>()) {
        values.push_back(static_cast<double>(static_cast<ComputeType<T>>(x)));
      }
    }
  });
  return values;
}

// Half of the distance of neighbours, of numbers from 1 on.
double UnitOf(DType dtype) {
  return dtype == DType::kBF16  ? 0x1p-8
         : dtype == DType::kF16 ? 0x1p-11
         : dtype == DType::kF32 ? 0x1p-24
                                : 0x1p-53;
}

// A sum of k products in any order is off by less than k units of its format
// for each unit of the products' sizes; a factor of TF32 by one of 2^-11.
void ExpectNear(const MatrixProduct& p, const Literal& left,
                const Literal& right, const Literal& result, bool tf32) {
  const auto a = Doubles(left), b = Doubles(right), d = Doubles(result);
  const double sums = UnitOf(p.result == DType::kF64 ? p.result : DType::kF32);
  const double factors = tf32 ? 2.1 * 0x1p-11 : 0;
  for (int64_t at = 0; at < p.batch * p.m * p.n; ++at) {
    const int64_t batch = at / (p.m * p.n), i = at / p.n % p.m, j = at % p.n;
    long double sum = 0, size = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      const int64_t l = p.turned[0] ? k * p.m + i : i * p.k + k;
      const int64_t r = p.turned[1] ? j * p.k + k : k * p.n + j;
      const long double x = static_cast<long double>(a[batch * p.m * p.k + l]) *
                            b[batch * p.k * p.n + r];
      sum += x;
      size += std::abs(x);
    }
    const double k = static_cast<double>(p.k);
    const double allowed =
        static_cast<double>(size * (1.1 * (k + 1) * sums + factors) +
                            1.1 * UnitOf(p.result) * std::abs(sum));
    ASSERT_LE(std::abs(d[at] - static_cast<double>(sum)), allowed)
        << p.Words() << ", result " << at << " is " << d[at] << ", not "
        << static_cast<double>(sum);
  }
}

class MatrixProducts : public ::testing::Test {
 protected:
  MatrixProducts()
      : device_(std::make_shared<BareDevice>()), rig_(device_, {}) {}

  // Runs it by matrix instructions, `tile` rows and columns a block (0: any).
  void Check(const MatrixProduct& p, int64_t tile = 0) {
    SCOPED_TRACE(p.Words());
    const bool tf32 = p.factor == DType::kF32 && p.result == DType::kF32;
    device_->texts.clear();
    ASSERT_OK_AND_ASSIGN(
        const ExecutablePtr run,
        rig_.Compile(ModuleOf(p), tf32 ? Numerics::kTf32 : Numerics::kFast));
    const Literal left = Drawn(p.factor, p.Left(), random_);
    const Literal right = Drawn(p.factor, p.Right(), random_);
    ASSERT_OK_AND_ASSIGN(const Values got, RunOn(run, {left, right}));
    if (tile != 0 && absl::StrContains(device_->texts, "WarpMma<")) {
      EXPECT_TRUE(absl::StrContains(device_->texts,
                                    absl::StrCat("const u32 row = HK_TID / "
                                                 "128u * ",
                                                 tile / 2, "u;")))
          << device_->texts;
    }
    ExpectNear(p, left, right, got[0], tf32);
  }

  Random random_{11};
  std::shared_ptr<BareDevice> device_;
  Rig rig_;
};

struct DTypes {
  DType factor, result;
};
constexpr DTypes kMatrixDTypes[] = {
    {DType::kBF16, DType::kBF16}, {DType::kBF16, DType::kF32},
    {DType::kF16, DType::kF16},   {DType::kF16, DType::kF32},
    {DType::kF32, DType::kF32},   {DType::kF64, DType::kF64},
    {DType::kF32, DType::kF64},   {DType::kBF16, DType::kF64}};

// One, odd, a multiple of a tile, a tile and one, up to 300.
TEST_F(MatrixProducts, OfDrawnSizesAreNearSumsInF64) {
  const Dims edges = {1, 2, 7, 8, 31, 32, 33, 63, 64, 65, 127, 129, 300};
  for (int turn = 0; turn < 16 * Searches(); ++turn) {
    const DTypes dtypes = kMatrixDTypes[turn % 8];
    const auto size = [&] {
      return random_.OneIn(3) ? random_.Between(1, 100) : random_.Pick(edges);
    };
    MatrixProduct p{.batch = random_.OneIn(2) ? 1 : random_.Between(2, 3),
                    .m = size(),
                    .n = size(),
                    .k = size(),
                    .turned = {random_.OneIn(2), random_.OneIn(2)},
                    .factor = dtypes.factor,
                    .result = dtypes.result};
    if (p.batch * p.m * p.n * p.k > 4'000'000) p.batch = 1;
    if (p.m * p.n * p.k > 4'000'000) p.m = 5;
    Check(p, 32);
  }
}

// Enough blocks for the larger tiles, whose edges are inside.
TEST_F(MatrixProducts, InLargerTilesAreNearSumsInF64) {
  for (const DTypes dtypes : kMatrixDTypes) {
    MatrixProduct p{.batch = 32,
                    .m = 65,
                    .n = 97,
                    .k = 33,
                    .factor = dtypes.factor,
                    .result = dtypes.result};
    Check(p, 64);
    if (dtypes.result == DType::kF64) continue;
    p.turned[0] = p.turned[1] = true;
    p.batch = 33;
    p.m = 130;
    p.n = 129;
    p.k = 34;
    Check(p, 128);
  }
}

// Factors are quarters: the sums are exact, and each result rounds once.
TEST_F(MatrixProducts, InLargerTilesTakeTailsAlong) {
  for (const int64_t size : {65, 130}) {
    const MatrixProduct p{.batch = 33, .m = size, .n = size, .k = 20};
    const Dims result = {p.batch, p.m, p.n};
    const Module module = testing::ExpressionModule(
        testing::ShapesOf(DType::kBF16, {p.Left(), p.Right(), result}),
        [&](const std::vector<Expression>& x) {
          const Expression y = Apply(kDotGeneral, {x[0], x[1]},
                                     {{"lhs_batching_dimensions", Dims{0}},
                                      {"lhs_contracting_dimensions", Dims{2}},
                                      {"rhs_batching_dimensions", Dims{0}},
                                      {"rhs_contracting_dimensions", Dims{1}}});
          return std::vector<Expression>{
              Apply(kMaximum, {y * x[2] + x[2], Like(y, 0)})};
        });
    const Values arguments =
        RandomArguments(module.signature(), random_, /*extremes=*/false);
    ASSERT_OK_AND_ASSIGN(const Values want,
                         Reference(module, arguments, Numerics::kFast));
    device_->texts.clear();
    ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig_.Compile(module));
    ASSERT_OK_AND_ASSIGN(const Values got,
                         RunOn(run, {arguments.begin(), arguments.end()}));
    EXPECT_TRUE(absl::StrContains(
        device_->texts, absl::StrCat("128u * ", size < 128 ? 32 : 64, "u;")));
    EXPECT_TRUE(absl::StrContains(device_->texts, "Max("));
    EXPECT_THAT(got[0],
                LiteralNear(want[0], Tolerance{.atol = 0.3, .rtol = 0.03}));
  }
}

TEST_F(MatrixProducts, OverNothingAreZero) {
  for (const DTypes dtypes : kMatrixDTypes) {
    Check({.batch = 2,
           .m = 5,
           .n = 9,
           .k = 0,
           .factor = dtypes.factor,
           .result = dtypes.result});
  }
}

// One factor's lines reach the sums of their own rows or columns alone, though
// they share tiles with others.
TEST_F(MatrixProducts, KeepWhatIsNoNumberToItsRow) {
  for (const DTypes dtypes : kMatrixDTypes) {
    const MatrixProduct p{.batch = 1,
                          .m = 20,
                          .n = 12,
                          .k = 35,
                          .factor = dtypes.factor,
                          .result = dtypes.result};
    SCOPED_TRACE(p.Words());
    ASSERT_OK_AND_ASSIGN(const ExecutablePtr run,
                         rig_.Compile(ModuleOf(p), Numerics::kTf32));
    Literal left = Drawn(p.factor, p.Left(), random_);
    VisitDType(p.factor, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (kIsFloat<T>) {
        using C = ComputeType<T>;
        const auto x = left.mutable_data<T>();
        x[3 * 35 + 34] = T(std::numeric_limits<C>::quiet_NaN());
        x[5 * 35 + 17] = T(std::numeric_limits<C>::infinity());
      }
    });
    const Literal right = Drawn(p.factor, p.Right(), random_);
    ASSERT_OK_AND_ASSIGN(const Values got, RunOn(run, {left, right}));
    const auto d = Doubles(got[0]);
    for (int64_t at = 0; at < p.m * p.n; ++at) {
      EXPECT_EQ(std::isnan(d[at]), at / p.n == 3) << at;
      EXPECT_EQ(std::isinf(d[at]), at / p.n == 5) << at;
    }
  }
}

// With what follows them, in axes of any order.
TEST(DrawnProducts, AreThoseOfTheCpuWithoutALibrary) {
  const auto device = std::make_shared<BareDevice>();
  Rig rig(device, {});
  for (int seed = 0; seed < 24 * Searches(); ++seed) {
    const DrawnProduct drawn = DrawProduct(seed, 4);
    SCOPED_TRACE(drawn.words);
    Random random(seed);
    const Values arguments = RandomArguments(drawn.module.signature(), random,
                                             /*extremes=*/false);
    ASSERT_OK_AND_ASSIGN(const Values want,
                         Reference(drawn.module, arguments, Numerics::kFast));
    ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig.Compile(drawn.module));
    ASSERT_OK_AND_ASSIGN(const Values got,
                         RunOn(run, {arguments.begin(), arguments.end()}));
    // Factors are quarters: sums are exact in any order, a half rounds once.
    const bool half = drawn.dtype == DType::kBF16 || drawn.dtype == DType::kF16;
    const double allowed = !half                         ? 1e-5
                           : drawn.dtype == DType::kBF16 ? 0.03
                                                         : 0.004;
    ASSERT_THAT(got[0], LiteralNear(want[0], Tolerance{.atol = 10 * allowed,
                                                       .rtol = allowed}));
  }
  EXPECT_TRUE(absl::StrContains(device->texts, "WarpMma<bf16>"));
  EXPECT_TRUE(absl::StrContains(device->texts, "WarpMma<double>"));
}

// ---- which kernel ---------------------------------------------------------

// The kernels' names and texts that a client compiles for the product.
std::string TextsOf(const MatrixProduct& p, Numerics numerics,
                    const std::string& target = "host") {
  const auto device = std::make_shared<BareDevice>(target);
  Rig rig(device, {});
  EXPECT_OK(rig.Compile(ModuleOf(p), numerics));
  return device->texts;
}

TEST(MatrixKernels, AreTakenWhereNumericsAllow) {
  const auto uses = [](DType factor, DType result, Numerics numerics) {
    return absl::StrContains(
        TextsOf({.m = 40, .n = 40, .k = 40, .factor = factor, .result = result},
                numerics),
        "WarpMma<");
  };
  using enum DType;
  for (const DType d : {kBF16, kF16, kF64}) {
    EXPECT_TRUE(uses(d, d, Numerics::kFast)) << DTypeName(d);
    EXPECT_TRUE(uses(d, d, Numerics::kTf32)) << DTypeName(d);
    EXPECT_FALSE(uses(d, d, Numerics::kStrict)) << DTypeName(d);
  }
  EXPECT_TRUE(uses(kF32, kF32, Numerics::kTf32));
  EXPECT_FALSE(uses(kF32, kF32, Numerics::kFast));
  EXPECT_FALSE(uses(kF32, kF32, Numerics::kStrict));
  // These are in f64 whatever TF32 is allowed.
  EXPECT_TRUE(absl::StrContains(
      TextsOf({.m = 40, .n = 40, .k = 40, .result = kF64}, Numerics::kTf32),
      "WarpMma<double>"));
  for (const DType d : {kS32, kS8, kC64}) {
    EXPECT_FALSE(uses(d, d, Numerics::kTf32)) << DTypeName(d);
  }
}

TEST(MatrixKernels, NeedAnArchitectureThatHasThem) {
  const MatrixProduct p{
      .m = 40, .n = 40, .k = 40, .factor = DType::kF16, .result = DType::kF16};
  for (const char* target : {"sm_80", "sm_90", "sm_120"}) {
    EXPECT_TRUE(
        absl::StrContains(TextsOf(p, Numerics::kFast, target), "WarpMma<"))
        << target;
  }
  for (const char* target : {"sm_70", "sm_75", "sm_old"}) {
    EXPECT_FALSE(
        absl::StrContains(TextsOf(p, Numerics::kFast, target), "WarpMma<"))
        << target;
  }
}

}  // namespace
}  // namespace hawser::gpu
