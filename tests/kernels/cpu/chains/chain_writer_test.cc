// ChainWriter's links compute what its ops compute one by one, and moves no
// more than it has to.
#include "kernels/cpu/chains/chain_writer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "gtest/gtest.h"

namespace hawser::cpu {
namespace {

using Lanes = std::vector<int32_t>;
constexpr int kLanesOfAll = 3;

// The rows of an op on s32, or bools.
std::vector<const ChainRow*> RowsOf(const OpDef& op, DType of, DType to) {
  std::vector<const ChainRow*> rows;
  Attributes attributes;
  if (&op == &kCompare) attributes.Set("direction", std::string("LT"));
  for (const ChainRow& row : ChainRowsOf(op)) {
    if (&op == &kSelect || IsOf(row, of, to, attributes)) rows.push_back(&row);
  }
  return rows;
}

// A chain in the making, with what its values should be. Bools are 0 and 1.
struct Sketch {
  ChainWriter writer;
  std::vector<DType> dtypes;
  std::vector<Lanes> want;
  std::vector<ChainOperand> read;  // kNone: made

  ChainValue Read(int32_t first, ChainOperand b = ChainOperand::kLanes) {
    Lanes lanes(kLanesOfAll, first);
    for (int k = 0; k < kLanesOfAll; ++k) {
      if (b == ChainOperand::kLanes) lanes[k] += 1000 * k;
    }
    return Add(DType::kS32, lanes, b, writer.AddRead(DType::kS32, b));
  }
  ChainValue Op(const OpDef& op, const std::vector<ChainValue>& operands,
                const std::function<int32_t(const Lanes&)>& of, DType to,
                DType from = DType::kS32) {
    Lanes lanes;
    for (int k = 0; k < kLanesOfAll; ++k) {
      Lanes in;
      for (const ChainValue v : operands) in.push_back(want[v][k]);
      lanes.push_back(of(in));
    }
    return Add(to, lanes, ChainOperand::kNone,
               writer.AddOp(RowsOf(op, from, to), operands, to));
  }
  ChainValue Plus(ChainValue a, ChainValue b) {
    return Op(
        kAdd, {a, b}, [](const Lanes& x) { return x[0] + x[1]; }, DType::kS32);
  }
  ChainValue Minus(ChainValue a, ChainValue b) {
    return Op(
        kSubtract, {a, b}, [](const Lanes& x) { return x[0] - x[1]; },
        DType::kS32);
  }
  ChainValue Less(ChainValue a, ChainValue b) {
    return Op(
        kCompare, {a, b}, [](const Lanes& x) { return x[0] < x[1]; },
        DType::kBool);
  }
  ChainValue Both(ChainValue a, ChainValue b) {
    return Op(
        kAnd, {a, b}, [](const Lanes& x) { return x[0] & x[1]; }, DType::kBool,
        DType::kBool);
  }
  ChainValue Select(ChainValue m, ChainValue a, ChainValue b) {
    return Op(
        kSelect, {m, a, b},
        [](const Lanes& x) { return x[0] != 0 ? x[1] : x[2]; }, DType::kS32);
  }

  ChainValue Add(DType dtype, Lanes lanes, ChainOperand b, ChainValue v) {
    EXPECT_EQ(v, static_cast<ChainValue>(want.size()));
    dtypes.push_back(dtype);
    want.push_back(std::move(lanes));
    read.push_back(b);
    return v;
  }
};

// Runs links as chains.h says they work, on lanes of s32.
class Runner {
 public:
  explicit Runner(const Sketch& sketch) : sketch_(sketch) {
    for (size_t v = 0; v < sketch.want.size(); ++v) {
      if (sketch.read[v] != ChainOperand::kNone) memory_[v] = sketch.want[v];
    }
  }

  void Run(const std::vector<WrittenLink>& links) {
    for (const WrittenLink& link : links) Do(link);
  }
  const std::map<ChainValue, Lanes>& memory() const { return memory_; }

 private:
  const Lanes& Memory(const WrittenLink& link) {
    const bool is_there = link.spill >= 0 ? spilled_.contains(link.spill)
                                          : memory_.contains(link.value);
    EXPECT_TRUE(is_there) << "reads what nothing stored: " << link.value;
    return link.spill >= 0 ? spilled_[link.spill] : memory_[link.value];
  }

  void Do(const WrittenLink& link) {
    if (link.b == ChainOperand::kIntoH) {
      std::swap(a_, h_);
      Do({link.op, ChainOperand::kH});
      return std::swap(a_, h_);
    }
    Lanes b = a_;
    const bool stores =
        link.op == ChainOp::kStore || link.op == ChainOp::kStoreMask;
    if (link.b == ChainOperand::kH) b = h_;
    if ((link.b == ChainOperand::kLanes ||
         link.b == ChainOperand::kBroadcast) &&
        !stores) {
      b = Memory(link);
    }
    const auto each = [&](Lanes& to, auto of) {
      Lanes result(kLanesOfAll);
      for (int k = 0; k < kLanesOfAll; ++k) result[k] = of(a_[k], b[k], m_[k]);
      to = result;
    };
    switch (link.op) {
      case ChainOp::kLoad:
        a_ = b;
        break;
      case ChainOp::kLoadMask:
        m_ = b;
        break;
      case ChainOp::kCopyToH:
        h_ = a_;
        break;
      case ChainOp::kSwap:
        std::swap(a_, h_);
        break;
      case ChainOp::kStore:
      case ChainOp::kStoreMask:
        (link.spill >= 0 ? spilled_[link.spill] : memory_[link.value]) =
            link.op == ChainOp::kStore ? a_ : m_;
        break;
      case ChainOp::kIntAdd:
        each(a_, [](int x, int y, int) { return x + y; });
        break;
      case ChainOp::kIntSubtract:
        each(a_, [](int x, int y, int) { return x - y; });
        break;
      case ChainOp::kIntReverseSubtract:
        each(a_, [](int x, int y, int) { return y - x; });
        break;
      case ChainOp::kIntLess:
        each(m_, [](int x, int y, int) { return x < y; });
        break;
      case ChainOp::kIntGreater:
        each(m_, [](int x, int y, int) { return x > y; });
        break;
      case ChainOp::kAnd:
        each(m_, [](int, int y, int m) { return y & m; });
        break;
      case ChainOp::kBlendNot:
        each(a_, [](int x, int y, int m) { return m != 0 ? x : y; });
        break;
      case ChainOp::kBlend:
        each(a_, [](int x, int y, int m) { return m != 0 ? y : x; });
        break;
      default:
        ADD_FAILURE() << "op " << static_cast<int>(link.op);
    }
  }

  const Sketch& sketch_;
  Lanes a_ = Lanes(kLanesOfAll), h_ = a_, m_ = a_;
  std::map<int, Lanes> spilled_;
  std::map<ChainValue, Lanes> memory_;
};

void ExpectRight(Sketch& sketch, const std::vector<Wanted>& wanted,
                 bool slots_suffice) {
  const std::vector<WrittenLink> links = sketch.writer.Write(wanted);
  Runner runner(sketch);
  runner.Run(links);
  for (size_t v = 0; v < wanted.size(); ++v) {
    if (wanted[v] == Wanted::kNo) continue;
    ASSERT_TRUE(runner.memory().contains(static_cast<ChainValue>(v))) << v;
    EXPECT_EQ(runner.memory().at(static_cast<ChainValue>(v)), sketch.want[v])
        << v;
  }
  if (!slots_suffice) return;
  // After a late store nothing as wide is loaded any more.
  for (size_t k = 0; k < links.size(); ++k) {
    const bool stores =
        links[k].spill < 0 &&
        (links[k].op == ChainOp::kStore || links[k].op == ChainOp::kStoreMask);
    if (!stores || wanted[links[k].value] != Wanted::kAfterLoads) continue;
    for (size_t n = k + 1; n < links.size(); ++n) {
      const ChainValue v = links[n].value;
      const bool reads = v >= 0 && links[n].b == ChainOperand::kLanes &&
                         links[n].spill < 0 &&
                         sketch.read[v] == ChainOperand::kLanes &&
                         sketch.dtypes[v] == sketch.dtypes[links[k].value];
      EXPECT_FALSE(reads) << "link " << n << " behind " << k;
    }
  }
}

std::vector<Wanted> OnlyLast(const Sketch& sketch) {
  std::vector<Wanted> wanted(sketch.want.size(), Wanted::kNo);
  wanted.back() = Wanted::kYes;
  return wanted;
}

TEST(ChainWriter, OneAfterTheOtherMovesNothing) {
  Sketch sketch;
  ChainValue x = sketch.Read(3);
  for (int k = 0; k < 5; ++k) x = sketch.Plus(x, sketch.Read(k));
  const auto links = sketch.writer.Write(OnlyLast(sketch));
  ASSERT_EQ(links.size(), 7);  // load, five ops, store
  EXPECT_EQ(links.front().op, ChainOp::kLoad);
  EXPECT_EQ(links.back().op, ChainOp::kStore);
  EXPECT_TRUE(links.back().is_last);
}

// x += y; y -= x, as ciphers do: two values that live stay in registers.
TEST(ChainWriter, TwoValuesStayInRegisters) {
  Sketch sketch;
  ChainValue x = sketch.Read(3), y = sketch.Read(5);
  for (int k = 0; k < 4; ++k) {
    x = sketch.Plus(x, y);
    y = sketch.Minus(y, x);
  }
  std::vector<Wanted> wanted(sketch.want.size(), Wanted::kNo);
  wanted[x] = wanted[y] = Wanted::kYes;
  const auto links = sketch.writer.Write(wanted);
  int swaps = 0;
  for (const WrittenLink& link : links) {
    EXPECT_LT(link.spill, 0);
    swaps += link.op == ChainOp::kSwap;
  }
  EXPECT_LE(swaps, 1);  // to store both
  int stores = 0;
  for (const WrittenLink& link : links) stores += link.op == ChainOp::kStore;
  EXPECT_EQ(stores, 2);
}

TEST(ChainWriter, TheMaskStaysForAllThatReadIt) {
  Sketch sketch;
  const ChainValue x = sketch.Read(3), y = sketch.Read(5);
  const ChainValue less = sketch.Less(x, y);
  const ChainValue a = sketch.Select(less, x, y);
  sketch.Select(less, a, x);
  const auto links = sketch.writer.Write(OnlyLast(sketch));
  for (const WrittenLink& link : links) {
    EXPECT_NE(link.op, ChainOp::kLoadMask);
    EXPECT_NE(link.op, ChainOp::kStoreMask);
  }
}

TEST(ChainWriter, MoreValuesThanSpillSlotsAreStored) {
  Sketch sketch;
  std::vector<ChainValue> values;
  const ChainValue x = sketch.Read(3);
  for (int k = 0; k < 2 * ChainWriter::kSpillSlots; ++k) {
    values.push_back(sketch.Plus(x, sketch.Read(k, ChainOperand::kBroadcast)));
  }
  // The last ones first, so that all of them live.
  ChainValue all = values.back();
  values.pop_back();
  while (!values.empty()) {
    all = sketch.Minus(all, values.back());
    values.pop_back();
  }
  ExpectRight(sketch, OnlyLast(sketch), /*slots_suffice=*/false);
}

// Ops on random values, of which random ones are wanted.
TEST(ChainWriter, RandomOnesAreRight) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](size_t n) {
      return static_cast<int>(random() % std::max<size_t>(n, 1));
    };
    Sketch sketch;
    std::vector<ChainValue> numbers, bools;
    for (int k = 0; k < 1 + below(3); ++k) numbers.push_back(sketch.Read(k));
    numbers.push_back(sketch.Read(7, ChainOperand::kBroadcast));
    const int ops = 1 + below(seed % 2 == 0 ? 8 : 60);
    for (int k = 0; k < ops; ++k) {
      const ChainValue a = numbers[below(numbers.size())];
      const ChainValue b = numbers[below(numbers.size())];
      const int kind = below(bools.empty() ? 4 : 6);
      if (kind < 2) {
        numbers.push_back(sketch.Plus(a, b));
      } else if (kind < 3) {
        numbers.push_back(sketch.Minus(a, b));
      } else if (kind < 4) {
        bools.push_back(sketch.Less(a, b));
      } else if (kind < 5 && a != b) {
        numbers.push_back(sketch.Select(bools[below(bools.size())], a, b));
      } else if (bools.size() > 1) {
        const int one = below(bools.size() - 1);
        bools.push_back(sketch.Both(bools[one], bools.back()));
      }
    }
    std::vector<Wanted> wanted;
    for (const ChainOperand read : sketch.read) {
      const bool made = read == ChainOperand::kNone;
      wanted.push_back(made ? static_cast<Wanted>(below(3)) : Wanted::kNo);
    }
    ExpectRight(sketch, wanted, /*slots_suffice=*/seed % 2 == 0);
    if (HasFailure()) return;
  }
}

TEST(ChainRows, OfAnOpStandTogether) {
  size_t rows = 0;
  std::set<const OpDef*> ops;
  for (const ChainRow& row : ChainRows()) {
    if (!ops.insert(row.op).second) continue;
    for (const ChainRow& one : ChainRowsOf(*row.op)) {
      EXPECT_EQ(one.op, row.op);
      ++rows;
    }
  }
  EXPECT_EQ(rows, ChainRows().size());
  EXPECT_TRUE(ChainRowsOf(kPower).empty());
}

}  // namespace
}  // namespace hawser::cpu
