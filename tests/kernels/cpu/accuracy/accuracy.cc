#include "tests/kernels/cpu/accuracy/accuracy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/text/parser.h"
#include "core/ops/elementwise/math.h"
#include "core/ops/registry.h"
#include "kernels/cpu/tiles/tile_program.h"
#include "kernels/cpu/tiles/tile_runner.h"
#include "kernels/plan/plan.h"

namespace hawser::cpu {
namespace {

constexpr int64_t kBlock = 4096;
// Of f64, and of two operands.
constexpr int64_t kSamples = int64_t{1} << 20;

template <typename Function>
constexpr AccurateFunction Row(const OpDef& op, Function function) {
  return {&op, function, function};
}

constexpr AccurateFunction kFunctions[] = {
    Row(kExponential, [](auto x, auto) { return std::exp(x); }),
    Row(kExponentialMinusOne, [](auto x, auto) { return std::expm1(x); }),
    Row(kLog, [](auto x, auto) { return std::log(x); }),
    Row(kLogPlusOne, [](auto x, auto) { return std::log1p(x); }),
    Row(kLogistic,
        [](auto x, auto) {
          // Without what overflows.
          const auto e = std::exp(-std::abs(x));
          return (x < 0 ? e : decltype(e){1}) / (1 + e);
        }),
    Row(kRsqrt, [](auto x, auto) { return 1 / std::sqrt(x); }),
    Row(kCbrt, [](auto x, auto) { return std::cbrt(x); }),
    Row(kErf, [](auto x, auto) { return std::erf(x); }),
    Row(kErfc, [](auto x, auto) { return std::erfc(x); }),
    Row(kLgamma, [](auto x, auto) { return std::lgamma(x); }),
    Row(kSine, [](auto x, auto) { return std::sin(x); }),
    Row(kCosine, [](auto x, auto) { return std::cos(x); }),
    Row(kTan, [](auto x, auto) { return std::tan(x); }),
    Row(kTanh, [](auto x, auto) { return std::tanh(x); }),
    Row(kPower, [](auto x, auto y) { return std::pow(x, y); }),
    Row(kAtan2, [](auto x, auto y) { return std::atan2(x, y); }),
};

constexpr DType kDTypes[] = {DType::kF16, DType::kBF16, DType::kF32,
                             DType::kF64};

// Exponents of the smallest and of the first number too large, and bits behind
// the leading one.
struct Range {
  int smallest, beyond, bits;
};
Range RangeOf(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return {-24, 16, 10};
    case DType::kBF16:
      return {-133, 128, 7};
    case DType::kF32:
      return {-149, 128, 23};
    default:
      return {-1074, 1024, 52};
  }
}

// In units of the last place of a result.
double Distance(const Range& range, long double got, long double want) {
  if (std::isnan(got) || std::isnan(want)) {
    return std::isnan(got) && std::isnan(want)
               ? 0
               : std::numeric_limits<double>::infinity();
  }
  const long double beyond = std::ldexp(1.0L, range.beyond);
  got = std::clamp(got, -beyond, beyond);
  want = std::clamp(want, -beyond, beyond);
  if (got == want) return 0;
  const int exponent =
      want == 0 ? range.smallest
                : std::min(std::ilogb(want), range.beyond - 1) - range.bits;
  const int unit = std::max(exponent, range.smallest);
  return static_cast<double>(std::abs(got - want) / std::ldexp(1.0L, unit));
}

std::string TextOf(const OpDef& op, DType dtype) {
  const std::string type = absl::StrCat(DTypeName(dtype), "[", kBlock, "]");
  const bool two = op.arity.min == 2;
  return absl::StrCat("module \"m\"\ncomputation @0 \"main\" (%0: ", type,
                      two ? absl::StrCat(", %1: ", type) : "", ") {\n  %",
                      two ? 2 : 1, ": ", type, " = ", op.name,
                      two ? "(%0, %1)" : "(%0)", "\n  return %", two ? 2 : 1,
                      "\n}\n");
}

// Fills blocks of operands, one after the other.
template <typename T>
class Operands {
 public:
  Operands(const AccurateFunction& function, int64_t one_of)
      : two_(function.op->arity.min == 2), one_of_(one_of) {
    constexpr int kBits = 8 * sizeof(T);
    count_ = kSamples;
    if (!two_ && kBits == 16) count_ = int64_t{1} << 16;
    if (!two_ && kBits == 32) count_ = (int64_t{1} << 32) / one_of;
  }
  int64_t count() const { return count_; }

  void Fill(int64_t begin, T* x, T* y) {
    for (int64_t k = 0; k < kBlock; ++k) {
      if (two_ || sizeof(T) == 8) {
        x[k] = Sample(begin + k);
        if (two_) y[k] = Sample(begin + k);
        continue;
      }
      const auto bits =
          static_cast<uint32_t>((begin + k) * (sizeof(T) == 4 ? one_of_ : 1));
      std::memcpy(static_cast<void*>(x + k), &bits, sizeof(T));
    }
  }

 private:
  // Of any bits, of numbers that are neither large nor small, and of what lies
  // between.
  T Sample(int64_t k) {
    const uint64_t bits = random_();
    if (k % 4 == 0) {
      T any;
      std::memcpy(static_cast<void*>(&any), &bits, sizeof(T));
      return any;
    }
    const double part = std::ldexp(static_cast<double>(bits >> 11), -53);
    const int scale = k % 4 == 1 ? 1 : static_cast<int>(bits % 13) - 4;
    const double sign = (bits & 0x400) != 0 ? -1 : 1;
    return static_cast<T>(sign * std::ldexp(part, scale));
  }

  const bool two_;
  const int64_t one_of_;
  int64_t count_;
  std::mt19937_64 random_{7};
};

template <typename T>
long double Exact(const AccurateFunction& function, T x, T y) {
  if constexpr (sizeof(T) == 8) {
    return function.wide(x, y);
  } else {
    return function.exact(static_cast<double>(x), static_cast<double>(y));
  }
}

template <typename T>
absl::Status MeasureOf(const AccurateFunction& function,
                       absl::Span<const TileProgram> programs, int64_t one_of,
                       std::vector<Accuracy>* all) {
  const Range range = RangeOf(kDTypeOf<T>);
  Operands<T> operands(function, one_of);
  std::vector<T> x(kBlock), y(kBlock), got(kBlock);
  std::vector<long double> want(kBlock);
  std::vector<T> rounded(kBlock);
  for (int64_t begin = 0; begin < operands.count(); begin += kBlock) {
    operands.Fill(begin, x.data(), y.data());
    for (int64_t k = 0; k < kBlock; ++k) {
      want[k] = Exact(function, x[k], y[k]);
      rounded[k] = static_cast<T>(static_cast<double>(want[k]));
    }
    for (size_t p = 0; p < programs.size(); ++p) {
      char* const from[] = {reinterpret_cast<char*>(x.data()),
                            reinterpret_cast<char*>(y.data())};
      char* const to[] = {reinterpret_cast<char*>(got.data())};
      HAWSER_RETURN_IF_ERROR(RunTiles(
          programs[p], absl::MakeConstSpan(from).first(function.op->arity.min),
          to, {}));
      Accuracy& a = (*all)[p];
      a.values += kBlock;
      for (int64_t k = 0; k < kBlock; ++k) {
        if (got[k] == rounded[k]) continue;
        const double ulp =
            Distance(range, static_cast<double>(got[k]), want[k]);
        if (ulp <= a.ulp) continue;
        a = {ulp, static_cast<double>(x[k]), static_cast<double>(y[k]),
             static_cast<double>(got[k]), a.values};
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const AccurateFunction> AccurateFunctions() { return kFunctions; }
absl::Span<const DType> AccurateDTypes() { return kDTypes; }

std::vector<Isa> IsasHere() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::kBase, Isa::kSse4, Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= MachineIsa()) isas.push_back(isa);
  }
  return isas;
}

absl::StatusOr<std::vector<Accuracy>> Measure(const AccurateFunction& function,
                                              DType dtype,
                                              absl::Span<const Isa> isas,
                                              int64_t one_of) {
  HAWSER_ASSIGN_OR_RETURN(const Module module,
                          ParseModule(TextOf(*function.op, dtype), FindOp));
  HAWSER_ASSIGN_OR_RETURN(const plan::Plan plan,
                          plan::MakePlan(module, plan::CpuTarget()));
  std::vector<TileProgram> programs;
  for (const Isa isa : isas) {
    HAWSER_ASSIGN_OR_RETURN(
        TileProgram program,
        MakeTileProgram(plan.module, plan.entry().regions.back(),
                        {.isa = isa}));
    programs.push_back(std::move(program));
  }
  std::vector<Accuracy> all(isas.size(), {.ulp = 0.5});
  absl::Status status;
  VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!kIsComplex<T> && !kIsInteger<T> &&
                  !std::is_same_v<T, bool>) {
      status = MeasureOf<T>(function, programs, one_of, &all);
    }
  });
  HAWSER_RETURN_IF_ERROR(status);
  return all;
}

}  // namespace hawser::cpu
