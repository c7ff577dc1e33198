// Ops on halves, as chains on f32, give what their rows give on halves.
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "core/base/values/compare.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "gtest/gtest.h"
#include "kernels/cpu/chains/chain_writer.h"
#include "tests/kernels/cpu/chains/by_row.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

constexpr int64_t kHalfLengths[] = {1, 15, 64, 129, 300};

char* MemoryOf(const Literal& value) {
  return const_cast<char*>(value.bytes().data());  // what is read only
}

// The row alone, on what is read as lanes.
Literal ByChain(const ChainRow& row, const std::vector<Literal>& operands,
                DType to, const Chains& chains) {
  ChainWriter writer;
  std::vector<ChainValue> values;
  std::vector<char*> memory;
  for (const Literal& l : operands) {
    const DType dtype = l.shape().dtype();
    ChainValue v = writer.AddRead(dtype, ChainOperand::kLanes);
    memory.push_back(MemoryOf(l));
    if (IsHalfType(dtype) && row.op != &kConvert) {
      const ChainRow* widen = &kWidenRow;
      v = writer.AddOp({&widen, 1}, {&v, 1}, dtype);
      memory.push_back(nullptr);
    }
    values.push_back(v);
  }
  const ChainRow* only = &row;
  writer.AddOp({&only, 1}, values, to);
  Literal result = Literal::Zeros(Shape::Of(to, operands[0].shape().dims()));
  memory.push_back(result.mutable_bytes().data());
  std::vector<Wanted> wanted(memory.size(), Wanted::kNo);
  wanted.back() = Wanted::kYes;
  alignas(64) char spill[ChainWriter::kSpillSlots * kStripBytes];
  std::vector<ChainLink> links;
  for (const WrittenLink& link : writer.Write(wanted)) {
    char* const at = link.spill >= 0   ? spill + link.spill * kStripBytes
                     : link.value >= 0 ? memory[link.value]
                                       : nullptr;
    links.push_back(LinkAt(chains, link.op, link.b, at));
    links.back().is_spill = link.spill >= 0;
  }
  links.push_back(LinkAt(chains, ChainOp::kEnd));
  RunChain(chains, links, result.shape().num_elements());
  return result;
}

void ExpectHalves(const ChainRow& row, DType from, DType to, Isa isa) {
  const Chains& chains = *FindChains(sizeof(float), isa);
  const bool has_f16 =
      chains.find(ChainOp::kRoundF16, ChainOperand::kNone).run != nullptr;
  if (!has_f16 && (from == DType::kF16 || to == DType::kF16)) return;
  Attributes attributes;
  if (row.op == &kCompare) {
    attributes.Set("direction",
                   std::string(CompareDirectionName(row.direction)));
  }
  for (const int64_t n : kHalfLengths) {
    Random random(static_cast<uint64_t>(n));
    std::vector<Literal> operands;
    for (int k = 0; k < row.op->arity.min; ++k) {
      const bool is_bool = row.op == &kSelect && k == 0;
      operands.push_back(
          RandomLiteral(Shape::Of(is_bool ? DType::kBool : from, {n}), random));
    }
    const Tolerance tolerance =
        row.op->ulp > 0 ? Tolerance{.ulp = static_cast<double>(row.op->ulp)}
                        : Tolerance{};
    EXPECT_OK(CompareLiterals(ByChain(row, operands, to, chains),
                              ByRow(*row.op, operands, to, attributes),
                              tolerance))
        << row.op->name << " on operand " << row.operand << " of " << n << " "
        << DTypeName(from) << " to " << DTypeName(to) << " by " << IsaName(isa);
  }
}

TEST(Halves, OfOneOpGiveWhatItsRowGives) {
  int ops = 0;
  for (const ChainRow& row : ChainRows()) {
    Attributes attributes;
    if (row.op == &kCompare) {
      attributes.Set("direction",
                     std::string(CompareDirectionName(row.direction)));
    }
    for (const DType from : AllDTypes()) {
      for (const DType to : AllDTypes()) {
        const bool has_half = IsHalfType(from) || IsHalfType(to);
        const bool changes = row.op == &kConvert || row.to == ChainRow::kBools;
        if (!has_half || (!changes && from != to) ||
            row.op == &kBitcastConvert || !IsOf(row, from, to, attributes)) {
          continue;
        }
        ++ops;
        for (const Isa isa : kChainIsas) {
          if (isa <= MachineIsa()) ExpectHalves(row, from, to, isa);
        }
      }
    }
  }
  EXPECT_GT(ops, 80);
}

TEST(Halves, OfF16AreLinksWhereInstructionsKnowThem) {
  for (const Isa isa : kChainIsas) {
    if (isa > MachineIsa()) continue;
    const Chains& chains = *FindChains(sizeof(float), isa);
    for (const auto& [op, other] :
         {std::pair(ChainOp::kLoadF16, ChainOperand::kLanes),
          std::pair(ChainOp::kRoundF16, ChainOperand::kNone),
          std::pair(ChainOp::kStoreF16, ChainOperand::kLanes)}) {
      EXPECT_EQ(chains.find(op, other).run != nullptr, isa >= Isa::kAvx2)
          << IsaName(isa);
    }
  }
}

// All f16 there are, and every bf16, through f32 and back; ties and what is
// beyond the largest half.
TEST(Halves, AreRoundedOnceToTheNearestEven) {
  const ChainRow* narrow = nullptr;
  for (const ChainRow& row : ChainRowsOf(kConvert)) {
    if (row.of == ChainRow::kSingles) narrow = &row;
  }
  ASSERT_NE(narrow, nullptr);
  constexpr int64_t kCount = 1 << 18;
  Literal x = Literal::Zeros(Shape::Of(DType::kF32, {kCount}));
  for (int64_t k = 0; k < kCount; ++k) {
    // Upper bits all there are, lower ones around what decides.
    const uint32_t low[] = {0x0000, 0x7FFF, 0x8000, 0x8001};
    const auto upper = static_cast<uint32_t>(k / 4);
    const uint32_t bits = upper << 16 | low[k % 4];
    std::memcpy(x.mutable_bytes().data() + 4 * k, &bits, 4);
  }
  for (const DType half : {DType::kBF16, DType::kF16}) {
    const Literal want = ByRow(kConvert, {x}, half, Attributes());
    for (const Isa isa : kChainIsas) {
      if (isa > MachineIsa()) continue;
      const Chains& chains = *FindChains(sizeof(float), isa);
      if (half == DType::kF16 &&
          chains.find(ChainOp::kRoundF16, ChainOperand::kNone).run == nullptr) {
        continue;
      }
      EXPECT_OK(CompareLiterals(ByChain(*narrow, {x}, half, chains), want, {}))
          << DTypeName(half) << " by " << IsaName(isa);
    }
  }
}

}  // namespace
}  // namespace hawser::cpu
