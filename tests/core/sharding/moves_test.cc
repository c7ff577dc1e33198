#include "core/sharding/moves.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/sharding/run_parts.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {
namespace {

Literal Counted(const Dims& dims) {
  Literal value = Literal::Uninitialized(Shape::Of(DType::kS32, dims));
  int32_t next = 0;
  for (int32_t& x : value.mutable_data<int32_t>()) x = next++;
  return value;
}

Box DrawnBox(Random& random, const Box& within) {
  Box box;
  for (const Interval& axis : within) {
    const int64_t begin = random.Between(axis.begin, axis.end);
    box.push_back({begin, random.Between(begin, axis.end)});
  }
  return box;
}

const std::vector<Dims>& SomeDims() {
  static const auto& all = *new std::vector<Dims>{
      {}, {1}, {7}, {3, 4}, {1, 5}, {5, 1}, {2, 3, 4}, {4, 1, 3, 2}};
  return all;
}

TEST(MovesTest, ASliceHereIsTheSliceOfAModule) {
  Random random(20261123);
  for (const Dims& dims : SomeDims()) {
    const Literal whole = Counted(dims);
    for (int turn = 0; turn < 40; ++turn) {
      const Box of = DrawnBox(random, WholeBox(whole.shape()));
      const Box wanted = DrawnBox(random, of);
      const Literal own = CutOf(whole, of);
      const Literal want = CutOf(whole, wanted);
      EXPECT_THAT(*SliceBox(own, of, wanted), LiteralBitEquals(want))
          << ToString(of) << ToString(wanted);
      const auto module = JoinModule(DType::kS32, {of}, wanted);
      ASSERT_OK(module);
      EXPECT_THAT((*RunModule(*module, {own}))[0], LiteralBitEquals(want))
          << ToString(of) << ToString(wanted);
    }
  }
}

TEST(MovesTest, PiecesAreJoinedHereAndByAModule) {
  Random random(20261124);
  for (const Dims& dims : SomeDims()) {
    const Literal whole = Counted(dims);
    for (int turn = 0; turn < 40; ++turn) {
      const Box wanted = DrawnBox(random, WholeBox(whole.shape()));
      // Two halves of a box that holds it, and one more that overlaps them.
      Box first = WholeBox(whole.shape()), second = first;
      if (!first.empty()) {
        const int64_t at = random.Between(0, dims[0]);
        first[0].end = second[0].begin = at;
      }
      const std::vector<Box> boxes = {first, second,
                                      DrawnBox(random, WholeBox(whole.shape()))};
      std::vector<Literal> pieces;
      Literal joined = Literal::Zeros(ShapeOf(whole.shape(), wanted));
      for (const Box& box : boxes) {
        pieces.push_back(CutOf(whole, box));
        CopyBox(pieces.back(), box, wanted, &joined);
      }
      const Literal want = CutOf(whole, wanted);
      EXPECT_THAT(joined, LiteralBitEquals(want)) << ToString(wanted);
      const auto module = JoinModule(DType::kS32, boxes, wanted);
      ASSERT_OK(module);
      EXPECT_THAT((*RunModule(*module, pieces))[0], LiteralBitEquals(want))
          << ToString(wanted);
    }
  }
}

TEST(MovesTest, RowsAreSharedNotCopied) {
  const Literal whole = Counted({6, 3});
  const Literal rows =
      *SliceBox(whole, WholeBox(whole.shape()), {{2, 5}, {0, 3}});
  EXPECT_EQ(rows.bytes().data(), whole.bytes().data() + 2 * 3 * 4);
}

}  // namespace
}  // namespace hawser
