// A chain computes what the rows of its ops compute one after the other.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/values/compare.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "gtest/gtest.h"
#include "hwy/cache_control.h"
#include "kernels/cpu/chains/chain_rows.h"
#include "kernels/cpu/chains/chains.h"
#include "tests/kernels/cpu/chains/by_row.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

// Around the widths of vectors and of strips.
constexpr int64_t kChainLengths[] = {1, 3, 8, 17, 63, 64, 65, 128, 129, 300};

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

ChainOp LoadOf(DType dtype) {
  return dtype == DType::kBool ? ChainOp::kLoadMask
         : dtype == DType::kU8 ? ChainOp::kLoadU8
                               : ChainOp::kLoad;
}
ChainOp StoreOf(DType dtype) {
  return dtype == DType::kBool ? ChainOp::kStoreMask : ChainOp::kStore;
}

// To kEnd.
struct TestLink {
  ChainOp op = ChainOp::kEnd;
  ChainOperand b = ChainOperand::kNone;
  char* at = nullptr;
  bool is_spill = false;
  bool is_streamed = false;
  bool reloads = false;
};

void RunLinks(int64_t width, Isa isa, absl::Span<const TestLink> links,
              int64_t n) {
  const Chains* chains = FindChains(width, isa);
  ASSERT_NE(chains, nullptr);
  std::vector<ChainLink> found;
  for (const TestLink& link : links) {
    ChainLink& run =
        found.emplace_back(LinkAt(*chains, link.op, link.b, link.at));
    run.is_spill = link.is_spill;
    run.reloads = link.reloads;
    run.is_streamed = link.is_streamed;
    ASSERT_NE(run.run, nullptr) << static_cast<int>(link.op);
  }
  RunChain(*chains, found, n);
}

// A row with dtypes that it is of.
struct Use {
  const ChainRow& row;
  DType operand, result;
  Attributes attributes;
};

DType OperandOf(const Use& use, int k) {
  if (use.row.op != &kSelect) return use.operand;
  return k == 0 ? DType::kBool : use.result;
}

std::vector<Use> AllUses() {
  std::vector<Use> uses;
  for (const ChainRow& row : ChainRows()) {
    Attributes attributes;
    if (row.op == &kCompare) {
      attributes.Set("direction",
                     std::string(CompareDirectionName(row.direction)));
    }
    for (const DType operand : AllDTypes()) {
      for (const DType result : AllDTypes()) {
        const bool same = row.op->name != kConvert.name &&
                          row.op->name != kBitcastConvert.name &&
                          row.of != ChainRow::kBools &&
                          row.to != ChainRow::kBools;
        // Halves: ChainWriter's test.
        if (IsHalfType(operand) || IsHalfType(result)) continue;
        if (!IsOf(row, operand, result, attributes) ||
            (same && operand != result)) {
          continue;
        }
        uses.push_back({row, operand, result, attributes});
      }
    }
  }
  return uses;
}

int64_t LaneWidth(const Use& use) {
  if (use.result != DType::kBool) return ByteWidth(use.result);
  return use.operand == DType::kBool ? 4 : ByteWidth(use.operand);
}

// The op as one chain, where what its links take besides is lanes, one element
// or the lanes themselves.
void ExpectRow(const Use& use, Isa isa, ChainOperand b, int64_t n) {
  const ChainRow& row = use.row;
  const int64_t width = LaneWidth(use);
  if (!HasLinks(row, *FindChains(width, isa))) return;
  Random random(static_cast<uint64_t>(n) * 7 + static_cast<uint64_t>(isa));
  std::vector<Literal> operands;
  for (int k = 0; k < row.op->arity.min; ++k) {
    operands.push_back(
        RandomLiteral(Shape::Of(OperandOf(use, k), {n}), random));
    const bool alike = k != row.operand && b == ChainOperand::kBroadcast;
    if (alike) operands[k] = Spread(operands[k]);
  }
  if (b == ChainOperand::kA) {
    if (row.links[0].operand < 0 || row.links[1].op != ChainOp::kEnd ||
        row.of == ChainRow::kBools) {
      return;
    }
    operands[row.links[0].operand] = operands[row.operand];
  }
  Literal first = CopyOf(operands[row.operand]);
  std::vector<TestLink> links;
  const bool has_one =
      row.links[1].op == ChainOp::kEnd || row.links[0].op == ChainOp::kLoadMask;
  const ChainRow::Link& last = row.links[row.links[1].op != ChainOp::kEnd];
  if (b == ChainOperand::kH) {
    if (!has_one || last.operand < 0 || row.of == ChainRow::kBools) return;
    links.push_back({ChainOp::kLoad, ChainOperand::kLanes,
                     At(std::as_const(operands[last.operand]))});
    links.push_back({ChainOp::kCopyToH});
  }
  links.push_back({LoadOf(use.operand), ChainOperand::kLanes, At(first)});
  for (const ChainRow::Link& l : row.links) {
    if (l.op == ChainOp::kEnd) continue;
    const bool alone = l.operand < 0;
    const bool of_bools = l.op == ChainOp::kLoadMask;
    links.push_back({l.op,
                     alone      ? ChainOperand::kNone
                     : of_bools ? ChainOperand::kLanes
                                : b,
                     alone ? nullptr : At(std::as_const(operands[l.operand]))});
  }
  const Literal want = ByRow(*row.op, operands, use.result, use.attributes);
  Literal got = Literal::Zeros(want.shape());
  links.push_back({StoreOf(use.result), ChainOperand::kLanes, At(got)});
  links.push_back({});
  RunLinks(width, isa, links, n);
  const Tolerance tolerance =
      row.op->ulp > 0 ? Tolerance{.ulp = static_cast<double>(row.op->ulp)}
                      : Tolerance{};
  EXPECT_OK(CompareLiterals(got, want, tolerance))
      << row.op->name << " on operand " << row.operand << " of " << n << " "
      << DTypeName(use.operand) << " by " << IsaName(isa);
  if (ByteWidth(use.operand) != ByteWidth(use.result)) return;
  links[links.size() - 2].at = At(first);
  RunLinks(width, isa, links, n);
  EXPECT_EQ(first.bytes(), got.bytes());
}

TEST(Chains, OfOneOpGiveWhatItsRowGives) {
  for (const Use& use : AllUses()) {
    for (const Isa isa : kChainIsas) {
      if (isa > MachineIsa()) continue;
      for (const ChainOperand b :
           {ChainOperand::kLanes, ChainOperand::kBroadcast, ChainOperand::kA,
            ChainOperand::kH}) {
        for (const int64_t n : kChainLengths) ExpectRow(use, isa, b, n);
      }
    }
  }
}

template <typename T>
void ExpectRotated(DType dtype, Isa isa, int64_t n) {
  Random random(static_cast<uint64_t>(n));
  const Literal words = RandomLiteral(Shape::Of(dtype, {n}), random);
  constexpr int kBits = 8 * sizeof(T);
  for (const int by : {1, 7, kBits / 2, kBits - 1}) {
    T one = static_cast<T>(by);
    Literal got = Literal::Zeros(words.shape());
    const TestLink links[] = {{ChainOp::kLoad, ChainOperand::kLanes, At(words)},
                              {ChainOp::kRotateLeft, ChainOperand::kBroadcast,
                               reinterpret_cast<char*>(&one)},
                              {ChainOp::kStore, ChainOperand::kLanes, At(got)},
                              {}};
    RunLinks(sizeof(T), isa, links, n);
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(got.data<T>()[i], std::rotl(words.data<T>()[i], by))
          << i << " of " << n << " by " << by << ", " << IsaName(isa);
    }
  }
}

TEST(Chains, RotateWords) {
  for (const Isa isa : kChainIsas) {
    if (isa > MachineIsa()) continue;
    for (const int64_t n : kChainLengths) {
      ExpectRotated<uint32_t>(DType::kU32, isa, n);
      ExpectRotated<uint64_t>(DType::kU64, isa, n);
    }
  }
}

// ---- quotients by one number ------------------------------------------------

template <typename T>
void ExpectQuotients(const std::vector<T>& by, DType dtype, uint64_t seed) {
  constexpr int64_t kCount = 4096;
  const Shape shape = Shape::Of(dtype, {kCount});
  Random random(seed);
  // Bytes, and all bit patterns.
  Literal x = Literal::Zeros(shape), got = Literal::Zeros(shape);
  T* in = reinterpret_cast<T*>(At(x));
  for (int64_t k = 0; k < kCount; ++k) {
    const uint64_t bits = random.Bits();
    std::memcpy(in + k, &bits, sizeof(T));
    if (k % 4096 < 512) in[k] = static_cast<T>(k % 256);
    // All of a strip near 1.
    const T unit =
        static_cast<T>(1 + 0x1p-52 * static_cast<double>(bits >> 12));
    if (k % 4096 >= 2048) in[k] = k % 3 == 0 ? -unit : unit;
  }
  for (const T y : by) {
    const std::vector<T> want = [&] {
      std::vector<T> all(in, in + kCount);
      for (T& one : all) one /= y;
      return all;
    }();
    Literal wanted = Literal::Zeros(shape);
    std::memcpy(At(wanted), want.data(), kCount * sizeof(T));
    T one = y;
    for (const Isa isa : kChainIsas) {
      if (isa > MachineIsa()) continue;
      const TestLink links[] = {
          {ChainOp::kLoad, ChainOperand::kLanes, At(x)},
          {ChainOp::kDivide, ChainOperand::kBroadcast,
           reinterpret_cast<char*>(&one)},
          {ChainOp::kStore, ChainOperand::kLanes, At(got)},
          {}};
      RunLinks(sizeof(T), isa, links, kCount);
      ASSERT_OK(CompareLiterals(got, wanted, {}))
          << "by " << y << ", " << IsaName(isa);
    }
  }
}

template <typename T>
std::vector<T> Divisors() {
  constexpr T kMost = std::numeric_limits<T>::max();
  constexpr T kLeast = std::numeric_limits<T>::min();
  std::vector<T> by = {1,
                       2,
                       -4,
                       T{0.5},
                       255,
                       3,
                       10,
                       T{0.229},
                       T{0},
                       -T{0},
                       kMost,
                       kLeast,
                       kLeast / 4,
                       kMost / 2,
                       std::numeric_limits<T>::infinity(),
                       std::numeric_limits<T>::quiet_NaN(),
                       T{2} - std::numeric_limits<T>::epsilon(),
                       T{1} + std::numeric_limits<T>::epsilon(),
                       std::ldexp(T{1}, 29),
                       std::ldexp(T{1}, -31)};
  Random random(3);
  for (int k = 0; k < 200; ++k) {
    const double mantissa =
        1 + 0x1p-52 * static_cast<double>(random.Bits() >> 12);
    by.push_back(static_cast<T>(
        std::ldexp(k % 2 == 0 ? mantissa : -mantissa, k % 70 - 35)));
  }
  return by;
}

TEST(Chains, QuotientsByOneNumberAreRoundedCorrectly) {
  ExpectQuotients<float>(Divisors<float>(), DType::kF32, 1);
  ExpectQuotients<double>(Divisors<double>(), DType::kF64, 2);
}

// Where a power is no number, too large, too small, or not quite.
TEST(Chains, PowersOfEIncludeTheEdges) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> of = {
      kNan,   -kNan,   kInfinity, -kInfinity, 0.0f,    -0.0f,   1e-45f,
      -1e-8f, 88.722f, 88.73f,    127.5f,     1e30f,   3e38f,   -87.3f,
      -87.4f, -100.0f, -103.9f,   -104.1f,    -127.5f, -140.0f, -3e38f};
  Literal x =
      Literal::Zeros(Shape::Of(DType::kF32, {static_cast<int64_t>(of.size())}));
  std::copy(of.begin(), of.end(), x.mutable_data<float>().begin());
  const Literal want = ByRow(kExponential, {x});
  for (const Isa isa : kChainIsas) {
    if (isa > MachineIsa()) continue;
    Literal got = Literal::Zeros(x.shape());
    const TestLink links[] = {{ChainOp::kLoad, ChainOperand::kLanes, At(x)},
                              {ChainOp::kExp},
                              {ChainOp::kStore, ChainOperand::kLanes, At(got)},
                              {}};
    RunLinks(sizeof(float), isa, links, x.shape().num_elements());
    EXPECT_OK(CompareLiterals(got, want, {.ulp = 1})) << IsaName(isa);
  }
}

TEST(Chains, IotaFromAnyNumber) {
  for (const Isa isa : kChainIsas) {
    if (isa > MachineIsa()) continue;
    int64_t first = -5;
    Literal of4 = Literal::Zeros(Shape::Of(DType::kS32, {300}));
    Literal of8 = Literal::Zeros(Shape::Of(DType::kS64, {300}));
    for (Literal* to : {&of4, &of8}) {
      const TestLink links[] = {
          {ChainOp::kIota, ChainOperand::kBroadcast,
           reinterpret_cast<char*>(&first)},
          {ChainOp::kStore, ChainOperand::kLanes, At(*to)},
          {}};
      RunLinks(ByteWidth(to->shape().dtype()), isa, links, 300);
    }
    for (int64_t k = 0; k < 300; ++k) {
      EXPECT_EQ(of4.data<int32_t>()[k], k - 5);
      EXPECT_EQ(of8.data<int64_t>()[k], k - 5);
    }
  }
}

// A spill slot holds a strip's lanes, however many there are.
TEST(Chains, CopySwapAndSpillLanes) {
  alignas(64) char spill[kStripBytes];
  for (const Isa isa : kChainIsas) {
    if (isa > MachineIsa()) continue;
    for (const int64_t n : kChainLengths) {
      Random random(static_cast<uint64_t>(n));
      const Shape shape = Shape::Of(DType::kF32, {n});
      Literal x = RandomLiteral(shape, random),
              y = RandomLiteral(shape, random);
      Literal got = Literal::Zeros(shape), held = Literal::Zeros(shape);
      const TestLink links[] = {
          {ChainOp::kLoad, ChainOperand::kLanes, At(x)},
          {ChainOp::kCopyToH},
          {ChainOp::kLoad, ChainOperand::kLanes, At(y)},
          {ChainOp::kSwap},
          {ChainOp::kStore, ChainOperand::kLanes, spill, /*is_spill=*/true},
          {ChainOp::kSubtract, ChainOperand::kH},
          {ChainOp::kMultiply, ChainOperand::kLanes, spill, /*is_spill=*/true},
          {ChainOp::kStore, ChainOperand::kLanes, At(got)},
          {ChainOp::kLoad, ChainOperand::kH},
          {ChainOp::kStore, ChainOperand::kLanes, At(held)},
          {}};
      RunLinks(sizeof(float), isa, links, n);
      EXPECT_THAT(held, LiteralBitEquals(y));
      EXPECT_OK(CompareLiterals(
          got, ByRow(kMultiply, {ByRow(kSubtract, {x, y}), x}), {}))
          << n << " by " << IsaName(isa);
    }
  }
}

// What goes to h is that of h and a, and a stays.
TEST(Chains, OfHeldLanesLeaveTheOthers) {
  constexpr ChainOp kOps[] = {ChainOp::kAdd,
                              ChainOp::kSubtract,
                              ChainOp::kReverseSubtract,
                              ChainOp::kMultiply,
                              ChainOp::kIntAdd,
                              ChainOp::kIntSubtract,
                              ChainOp::kIntReverseSubtract,
                              ChainOp::kIntXor};
  for (int n = 0; n < kChainOps; ++n) {
    const auto op = static_cast<ChainOp>(n);
    EXPECT_EQ(CanWriteH(op), std::count(std::begin(kOps), std::end(kOps), op));
  }
  constexpr int64_t n = 130;
  for (const Isa isa : kChainIsas) {
    if (isa > MachineIsa()) continue;
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      Random random(11);
      const Shape shape = Shape::Of(dtype, {n});
      Literal x = RandomLiteral(shape, random),
              y = RandomLiteral(shape, random);
      for (const ChainOp op : kOps) {
        Literal want = Literal::Zeros(shape), got = Literal::Zeros(shape);
        Literal other = Literal::Zeros(shape);
        const auto width = static_cast<int64_t>(ByteWidth(dtype));
        const TestLink one[] = {
            {ChainOp::kLoad, ChainOperand::kLanes, At(x)},
            {op, ChainOperand::kLanes, At(y)},
            {ChainOp::kStore, ChainOperand::kLanes, At(want)},
            {}};
        RunLinks(width, isa, one, n);
        const TestLink held[] = {
            {ChainOp::kLoad, ChainOperand::kLanes, At(x)},
            {ChainOp::kCopyToH},
            {ChainOp::kLoad, ChainOperand::kLanes, At(y)},
            {op, ChainOperand::kIntoH},
            {ChainOp::kStore, ChainOperand::kLanes, At(other)},
            {ChainOp::kLoad, ChainOperand::kH},
            {ChainOp::kStore, ChainOperand::kLanes, At(got)},
            {}};
        RunLinks(width, isa, held, n);
        EXPECT_EQ(got.bytes(), want.bytes()) << static_cast<int>(op);
        EXPECT_EQ(other.bytes(), y.bytes());
      }
    }
  }
}

TEST(Chains, ReadWhatTheyStored) {
  for (const Isa isa : kChainIsas) {
    if (isa > MachineIsa()) continue;
    for (const int64_t n : kChainLengths) {
      Random random(static_cast<uint64_t>(n));
      const Shape shape = Shape::Of(DType::kF32, {n});
      Literal x = RandomLiteral(shape, random),
              y = RandomLiteral(shape, random);
      Literal stored = Literal::Zeros(shape), got = Literal::Zeros(shape);
      const TestLink links[] = {
          {ChainOp::kLoad, ChainOperand::kLanes, At(x)},
          {ChainOp::kSubtract, ChainOperand::kLanes, At(y)},
          {ChainOp::kStore, ChainOperand::kLanes, At(stored)},
          {.op = ChainOp::kMultiply,
           .b = ChainOperand::kLanes,
           .at = At(stored),
           .reloads = true},
          {ChainOp::kStore, ChainOperand::kLanes, At(got)},
          {}};
      RunLinks(sizeof(float), isa, links, n);
      const Literal difference = ByRow(kSubtract, {x, y});
      EXPECT_OK(CompareLiterals(stored, difference, {})) << n;
      EXPECT_OK(
          CompareLiterals(got, ByRow(kMultiply, {difference, difference}), {}))
          << n;
    }
  }
}

// Streamed lanes may begin at any address, and whole lines are not all of
// them.
TEST(Chains, StreamTheSameBits) {
  constexpr int64_t kMost = 300;
  Random random(5);
  const Literal x = RandomLiteral(Shape::Of(DType::kF32, {kMost}), random);
  for (const Isa isa : kChainIsas) {
    if (isa > MachineIsa()) continue;
    for (const int64_t n : kChainLengths) {
      for (const int64_t at : {0, 1, 16}) {
        Literal to = Literal::Zeros(Shape::Of(DType::kF32, {kMost + 32}));
        const TestLink links[] = {{ChainOp::kLoad, ChainOperand::kLanes, At(x)},
                                  {ChainOp::kNegate},
                                  {.op = ChainOp::kStore,
                                   .b = ChainOperand::kLanes,
                                   .at = At(to) + 4 * at,
                                   .is_streamed = true},
                                  {}};
        RunLinks(sizeof(float), isa, links, n);
        hwy::FlushStream();
        Literal want = Literal::Zeros(to.shape());
        const Literal negative = ByRow(kNegate, {x});
        std::memcpy(At(want) + 4 * at, At(negative), 4 * n);
        ASSERT_THAT(to, LiteralBitEquals(want))
            << n << " at " << at << " by " << IsaName(isa);
      }
    }
  }
}

// It is a wish, of memory behind all lanes too.
TEST(Chains, PrefetchAndLeaveLanesAsTheyAre) {
  constexpr int64_t kCount = 300;
  Random random(7);
  const Literal x = RandomLiteral(Shape::Of(DType::kF32, {kCount}), random);
  for (const Isa isa : kChainIsas) {
    if (isa > MachineIsa()) continue;
    for (char* next : {At(x), At(x) + 4 * kCount}) {
      Literal got = Literal::Zeros(x.shape());
      const TestLink links[] = {
          {ChainOp::kLoad, ChainOperand::kLanes, At(x)},
          {ChainOp::kPrefetch, ChainOperand::kLanes, next},
          {ChainOp::kStore, ChainOperand::kLanes, At(got)},
          {}};
      RunLinks(sizeof(float), isa, links, kCount);
      ASSERT_THAT(got, LiteralBitEquals(x)) << IsaName(isa);
    }
  }
}

TEST(Chains, AreOfLanesOfTwoWidths) {
  for (const int64_t width : {1, 2, 4, 8, 16}) {
    EXPECT_EQ(FindChains(width, MachineIsa()) != nullptr,
              width == 4 || width == 8);
    EXPECT_EQ(FindChains(width, Isa::kBase), nullptr);
  }
}

}  // namespace
}  // namespace hawser::cpu
