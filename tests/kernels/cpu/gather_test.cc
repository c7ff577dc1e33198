#include "core/ops/movement/gather.h"

#include <algorithm>
#include <cstring>

#include "core/ops/rules.h"
#include "tests/kernels/cpu/evaluate.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

struct GatherAttributes {
  Dims collapsed, offset, sizes, map;
  int64_t vector_axis = 0;
};

Literal Gather(const Literal& operand, const Literal& indices,
               const GatherAttributes& a, int threads = 1) {
  return EvaluateOp(kGather, {operand, indices},
                    {{"collapsed_slice_dims", a.collapsed},
                     {"offset_dims", a.offset},
                     {"slice_sizes", a.sizes},
                     {"start_index_map", a.map},
                     {"index_vector_dim", a.vector_axis}},
                    {}, {.pool = Threads(threads)});
}

// The definition of StableHLO's gather, one element of the result at a time.
int64_t SourceOf(Dims at, const Literal& operand, const Literal& indices,
                 const GatherAttributes& a) {
  Dims batch, offset;
  for (size_t i = 0; i < at.size(); ++i) {
    (Contains(a.offset, i) ? offset : batch).push_back(at[i]);
  }
  Dims start(operand.shape().rank(), 0);
  for (size_t k = 0; k < a.map.size(); ++k) {
    Dims where = batch;
    if (a.vector_axis < indices.shape().rank()) {
      where.insert(where.begin() + a.vector_axis, k);
    }
    int64_t position = 0;
    for (int i = 0; i < indices.shape().rank(); ++i) {
      position = position * indices.shape().dim(i) + where[i];
    }
    const int64_t axis = a.map[k];
    start[axis] = std::clamp<int64_t>(
        indices.data<int64_t>()[position], 0,
        operand.shape().dim(axis) - a.sizes[axis]);
  }
  int64_t from = 0;
  size_t next = 0;
  for (int i = 0; i < operand.shape().rank(); ++i) {
    const int64_t inside = Contains(a.collapsed, i) ? 0 : offset[next++];
    from = from * operand.shape().dim(i) + start[i] + inside;
  }
  return from;
}

void ExpectGathered(const Literal& operand, const Literal& indices,
                    const GatherAttributes& a) {
  const Literal got = Gather(operand, indices, a);
  const Shape& shape = got.shape();
  const int64_t width = ByteWidth(shape.dtype());
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    Dims at(shape.rank());
    int64_t rest = i;
    for (int axis = shape.rank(); axis-- > 0;) {
      at[axis] = rest % shape.dim(axis);
      rest /= shape.dim(axis);
    }
    const int64_t from = SourceOf(at, operand, indices, a);
    ASSERT_EQ(std::memcmp(got.bytes().data() + i * width,
                          operand.bytes().data() + from * width, width),
              0)
        << "element " << i << " of " << shape.ToString();
  }
}

Literal RandomGatherIndices(const Dims& dims, Random& random) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kS64, dims));
  for (int64_t& i : out.mutable_data<int64_t>()) i = random.Between(-2, 6);
  return out;
}

// Any gather: random slices, collapsed axes, maps and places of the offset
// axes among the result's.
TEST(GatherTest, AgainstTheDefinition) {
  Random random(17);
  for (int round = 0; round < 400; ++round) {
    const Dims dims = [&] {
      Dims d;
      for (int64_t i = random.Between(1, 4); i > 0; --i) {
        d.push_back(random.Between(1, 5));
      }
      return d;
    }();
    const int rank = static_cast<int>(dims.size());
    GatherAttributes a;
    for (int i = 0; i < rank; ++i) {
      a.sizes.push_back(random.Between(0, dims[i]));
      if (random.OneIn(3)) {
        a.sizes[i] = 1;
        a.collapsed.push_back(i);
      }
      if (random.OneIn(2)) a.map.insert(a.map.begin(), i);
    }
    Dims index_dims = {random.Between(1, 3), random.Between(1, 3)};
    a.vector_axis = random.Below(3);
    if (a.map.size() == 1 && random.OneIn(2)) {
      a.vector_axis = 2;  // scalar indices
    } else {
      index_dims.insert(index_dims.begin() + a.vector_axis, a.map.size());
    }
    const int64_t windows = rank - a.collapsed.size();
    for (int64_t i = 0; i < windows + 2; ++i) {
      const int64_t wanted = windows - a.offset.size();
      if (random.Below(windows + 2 - i) < wanted) a.offset.push_back(i);
    }
    const Literal operand = RandomLiteral(
        Shape::Of(random.PickDType(kAnyDType), dims), random);
    ExpectGathered(operand, RandomGatherIndices(index_dims, random), a);
  }
}

TEST(GatherTest, RowsByEveryIndexDType) {
  const Literal table = Literal::Of<float>({0, 1, 10, 11, 20, 21}, {3, 2});
  const GatherAttributes rows{
      .collapsed = {0}, .offset = {1}, .sizes = {1, 2}, .map = {0},
      .vector_axis = 1};
  const Literal want = Literal::Of<float>({20, 21, 0, 1, 20, 21}, {3, 2});
  for (DType dtype : AllDTypes()) {
    if (!IsInteger(dtype)) continue;
    // Beyond the end is the last row.
    const Literal indices =
        Cast(Literal::Vector<int32_t>({2, 0, 100}), dtype);
    EXPECT_THAT(Gather(table, indices, rows), LiteralEquals(want))
        << DTypeName(dtype);
  }
  EXPECT_THAT(Gather(table, Literal::Vector<int8_t>({2, -7, 2}), rows),
              LiteralEquals(want));
}

TEST(GatherTest, ManyRowsOnSeveralThreads) {
  Random random(2);
  const Literal table = RandomLiteral(Shape::Of(DType::kF32, {100, 33}), random);
  Literal indices = Literal::Uninitialized(Shape::Of(DType::kS32, {20000}));
  for (int32_t& i : indices.mutable_data<int32_t>()) {
    i = static_cast<int32_t>(random.Below(100));
  }
  const GatherAttributes rows{
      .collapsed = {0}, .offset = {1}, .sizes = {1, 33}, .map = {0},
      .vector_axis = 1};
  const Literal got = Gather(table, indices, rows, 4);
  for (int i = 0; i < 20000; ++i) {
    ASSERT_EQ(std::memcmp(got.bytes().data() + i * 132,
                          table.bytes().data() +
                              indices.data<int32_t>()[i] * 132,
                          132),
              0);
  }
}

TEST(GatherTest, Empty) {
  const Literal table = Literal::Of<float>({1, 2}, {2, 1});
  const GatherAttributes rows{
      .collapsed = {0}, .offset = {1}, .sizes = {1, 1}, .map = {0},
      .vector_axis = 1};
  const Literal none = Literal::Uninitialized(Shape::Of(DType::kS32, {0}));
  EXPECT_EQ(Gather(table, none, rows).shape(), Shape::Of(DType::kF32, {0, 1}));
}

}  // namespace
}  // namespace hawser::cpu
