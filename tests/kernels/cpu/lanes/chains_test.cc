// A chain gives what the rows of its ops give one after the other, and keeps to
// their ulp over all numbers.
#include "kernels/cpu/lanes/chains.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <utility>
#include <vector>

#include "core/base/values/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "gtest/gtest.h"
#include "hwy/cache_control.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

constexpr Isa kChainIsas[] = {Isa::kSse4, Isa::kAvx2, Isa::kAvx512};

// Around the widths of vectors and of strips.
constexpr int64_t kChainLengths[] = {1, 3, 8, 17, 63, 64, 65, 128, 129, 300};

Literal ByRow(const OpDef& op, const std::vector<Literal>& operands) {
  std::vector<DType> dtypes;
  std::vector<const char*> in;
  for (const Literal& l : operands) {
    dtypes.push_back(l.shape().dtype());
    in.push_back(l.bytes().data());
  }
  Literal result = Literal::Zeros(operands[0].shape());
  const ElementFn fn =
      FindCpuKernel(op)->element({dtypes, dtypes[0], Attributes()});
  fn(in.data(), result.mutable_bytes().data(), result.shape().num_elements());
  return result;
}

char* At(Literal& value) { return value.mutable_bytes().data(); }
// Of what a chain only reads.
char* At(const Literal& value) {
  return const_cast<char*>(value.bytes().data());
}

Literal CopyOf(const Literal& value) {
  Literal copy = Literal::Zeros(value.shape());
  std::memcpy(At(copy), value.bytes().data(), value.bytes().size());
  return copy;
}

// `value`'s first element, in every place.
Literal Spread(const Literal& value) {
  Literal all = Literal::Zeros(value.shape());
  const auto width = static_cast<int64_t>(ByteWidth(value.shape().dtype()));
  for (int64_t i = 0; i < value.shape().num_elements(); ++i) {
    std::memcpy(At(all) + i * width, value.bytes().data(), width);
  }
  return all;
}

// The op as one chain, where what its links take besides is lanes, one element
// or the lanes themselves.
void ExpectRow(const ChainRow& row, DType dtype, Isa isa, ChainOther other,
               int64_t n) {
  const ChainFn fn = FindChain(dtype, isa);
  ASSERT_NE(fn, nullptr);
  Random random(static_cast<uint64_t>(n) * 7 + static_cast<uint64_t>(isa));
  std::vector<Literal> operands;
  for (int k = 0; k < row.op->arity.min; ++k) {
    operands.push_back(RandomLiteral(Shape::Of(dtype, {n}), random));
    const bool alike = k != row.operand && other == ChainOther::kOne;
    if (alike) operands[k] = Spread(operands[k]);
  }
  if (other == ChainOther::kItself) {
    if (row.links[0].operand < 0 || row.links[1].operand >= 0) return;
    operands[row.links[0].operand] = operands[row.operand];
  }
  std::vector<ChainLink> links;
  for (const ChainRow::Link& l : row.links) {
    if (l.op == ChainOp::kEnd) continue;
    links.push_back({l.op, l.operand < 0 ? ChainOther::kNone : other,
                     l.operand < 0 ? nullptr
                                   : At(std::as_const(operands[l.operand]))});
  }
  links.push_back({});
  const Literal want = ByRow(*row.op, operands);
  Literal got = Literal::Zeros(want.shape());
  fn(At(std::as_const(operands[row.operand])), links.data(), At(got), n);
  const Tolerance tolerance =
      row.op->ulp > 0 ? Tolerance{.ulp = static_cast<double>(row.op->ulp)}
                      : Tolerance{};
  EXPECT_OK(CompareLiterals(got, want, tolerance))
      << row.op->name << " on operand " << row.operand << " of " << n << " "
      << DTypeName(dtype) << " by " << IsaName(isa);
  Literal in_place = CopyOf(operands[row.operand]);
  fn(At(in_place), links.data(), At(in_place), n);
  EXPECT_THAT(in_place, LiteralBitEquals(got));
}

TEST(Chains, OfOneOpGiveWhatItsRowGives) {
  for (const ChainRow& row : ChainRows()) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      if (row.f32_only && dtype != DType::kF32) continue;
      for (const Isa isa : kChainIsas) {
        if (isa > MachineIsa()) continue;
        for (const ChainOther other :
             {ChainOther::kLanes, ChainOther::kOne, ChainOther::kItself}) {
          for (const int64_t n : kChainLengths) {
            ExpectRow(row, dtype, isa, other, n);
          }
        }
      }
    }
  }
}

TEST(Chains, KeepWhatIsAskedForOnTheWay) {
  for (const Isa isa : kChainIsas) {
    if (isa > MachineIsa()) continue;
    for (const int64_t n : kChainLengths) {
      Random random(static_cast<uint64_t>(n));
      const Shape shape = Shape::Of(DType::kF32, {n});
      Literal x = RandomLiteral(shape, random), y = RandomLiteral(shape, random);
      Literal kept = Literal::Zeros(shape), got = Literal::Zeros(shape);
      const ChainLink links[] = {
          {ChainOp::kMinus, ChainOther::kLanes, At(y)},
          {ChainOp::kKeep, ChainOther::kLanes, At(kept)},
          {ChainOp::kTimes, ChainOther::kItself},
          {}};
      FindChain(DType::kF32, isa)(At(x), links, At(got), n);
      const Literal difference = ByRow(kSubtract, {x, y});
      EXPECT_OK(CompareLiterals(kept, difference, {})) << n;
      EXPECT_OK(CompareLiterals(
          got, ByRow(kMultiply, {difference, difference}), {}))
          << n;
    }
  }
}

// Where the lanes belong lies at any place, and whole lines are not all of it.
TEST(Chains, EndPastTheCachesWithTheSameBits) {
  constexpr int64_t kMost = 300;
  Random random(5);
  const Shape shape = Shape::Of(DType::kF32, {kMost});
  const Literal x = RandomLiteral(shape, random);
  const ChainLink links[] = {{ChainOp::kTimes, ChainOther::kItself},
                             {ChainOp::kEndPast}};
  const Literal want = ByRow(kMultiply, {x, x});
  for (const Isa isa : kChainIsas) {
    if (isa > MachineIsa()) continue;
    for (const int64_t n : kChainLengths) {
      for (const int64_t at : {0, 1, 16}) {
        Literal to = Literal::Zeros(Shape::Of(DType::kF32, {kMost + 32}));
        FindChain(DType::kF32, isa)(At(x), links, At(to) + 4 * at, n);
        hwy::FlushStream();
        const auto* got = reinterpret_cast<const float*>(to.bytes().data());
        const auto* bits = reinterpret_cast<const float*>(want.bytes().data());
        for (int64_t i = 0; i < kMost + 32; ++i) {
          const bool inside = i >= at && i < at + n;
          const float value = inside ? bits[i - at] : 0.0f;
          ASSERT_EQ(std::memcmp(got + i, &value, sizeof(float)), 0)
              << i << " of " << n << " at " << at << " by " << IsaName(isa);
        }
      }
    }
  }
}

TEST(Chains, AreNotOfOtherDTypes) {
  for (const DType dtype : AllDTypes()) {
    const bool some = dtype == DType::kF32 || dtype == DType::kF64;
    EXPECT_EQ(FindChain(dtype, MachineIsa()) != nullptr, some);
    EXPECT_EQ(FindChain(dtype, Isa::kBase), nullptr);
  }
}

// ---- how far off -------------------------------------------------------------

struct Function {
  ChainOp op;
  const OpDef* row;
  double (*exact)(double);
};

// One of so many bit patterns is looked at.
constexpr uint64_t kOneOf = 997;

TEST(Chains, FunctionsOfF32KeepToTheirRowsUlp) {
  const Function functions[] = {
      {ChainOp::kExp, &kExponential, std::exp},
      {ChainOp::kLog, &kLog, std::log},
      {ChainOp::kTanh, &kTanh, std::tanh},
      {ChainOp::kLogistic, &kLogistic,
       [](double x) { return 1 / (1 + std::exp(-x)); }},
  };
  constexpr int64_t kCount = 4096;
  const Shape shape = Shape::Of(DType::kF32, {kCount});
  for (const Function& f : functions) {
    for (const Isa isa : kChainIsas) {
      if (isa > MachineIsa()) continue;
      const ChainLink links[] = {{f.op}, {}};
      Literal x = Literal::Zeros(shape), got = Literal::Zeros(shape);
      auto* in = reinterpret_cast<float*>(At(x));
      double worst = 0;
      for (uint64_t bits = 0; bits < uint64_t{1} << 32;) {
        for (int64_t k = 0; k < kCount; ++k, bits += kOneOf) {
          const auto pattern = static_cast<uint32_t>(bits);
          std::memcpy(in + k, &pattern, sizeof(pattern));
        }
        FindChain(DType::kF32, isa)(At(x), links, At(got), kCount);
        const float* out = got.data<float>().data();
        for (int64_t k = 0; k < kCount; ++k) {
          const double want = f.exact(in[k]);
          const auto rounded = static_cast<float>(want);
          if (!std::isfinite(rounded)) {
            ASSERT_TRUE(out[k] == rounded ||
                        (std::isnan(out[k]) && std::isnan(rounded)))
                << f.row->name << "(" << in[k] << ") is " << out[k];
            continue;
          }
          const double unit =
              std::max(std::abs(static_cast<double>(std::nextafter(
                                    rounded, HUGE_VALF)) -
                                rounded),
                       0x1p-149);
          const double off = std::abs(out[k] - want) / unit;
          ASSERT_LE(off, f.row->ulp)
              << f.row->name << "(" << in[k] << ") is " << out[k];
          worst = std::max(worst, off);
        }
      }
      std::cout << f.row->name << " by " << IsaName(isa) << ": " << worst
                << " ulp\n";
    }
  }
}

}  // namespace
}  // namespace hawser::cpu
