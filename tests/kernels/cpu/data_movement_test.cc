// Ops that only move elements, against the definition: which operand element
// stands at each index of the result.
#include <algorithm>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "core/ops/movement/gather.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "tests/kernels/cpu/evaluate.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

Dims IndexOf(int64_t position, const Shape& shape) {
  Dims index(shape.rank(), 0);
  for (int i = shape.rank(); i-- > 0;) {
    index[i] = position % shape.dim(i);
    position /= shape.dim(i);
  }
  return index;
}

int64_t PositionOf(absl::Span<const int64_t> index, const Shape& shape) {
  int64_t position = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    EXPECT_GE(index[i], 0);
    EXPECT_LT(index[i], shape.dim(i));
    position = position * shape.dim(i) + index[i];
  }
  return position;
}

// Where an element of the result comes from: an operand and its index there.
struct Source {
  int operand;
  Dims index;
};

void ExpectMoved(const Literal& got, const std::vector<Literal>& operands,
                 const std::function<Source(const Dims&)>& source) {
  const int64_t width = ByteWidth(got.shape().dtype());
  for (int64_t i = 0; i < got.shape().num_elements(); ++i) {
    const Source from = source(IndexOf(i, got.shape()));
    const Literal& operand = operands[from.operand];
    const int64_t position = PositionOf(from.index, operand.shape());
    ASSERT_EQ(std::memcmp(got.bytes().data() + i * width,
                          operand.bytes().data() + position * width, width),
              0)
        << "element " << i << " of " << got.shape().ToString();
  }
}

class DataMovementTest : public testing::TestWithParam<DType> {
 protected:
  Literal Make(absl::Span<const int64_t> dims) {
    return RandomLiteral(Shape::Of(GetParam(), dims), random_);
  }
  // Sizes 1 to 5 of up to five axes, sometimes with an empty one.
  Dims MakeDims(int min_rank = 0) {
    Dims dims;
    const int64_t rank = random_.Between(min_rank, 5);
    for (int64_t i = 0; i < rank; ++i) {
      dims.push_back(random_.OneIn(20) ? 0 : random_.Between(1, 5));
    }
    return dims;
  }
  Dims Permutation(int64_t n) {
    Dims p(n);
    std::iota(p.begin(), p.end(), 0);
    for (int64_t i = n; i > 1; --i) std::swap(p[i - 1], p[random_.Below(i)]);
    return p;
  }

  static constexpr int kRounds = 60;
  Random random_{42};
};

TEST_P(DataMovementTest, Transpose) {
  for (int round = 0; round < kRounds; ++round) {
    const Literal x = Make(MakeDims());
    const Dims p = Permutation(x.shape().rank());
    ExpectMoved(EvaluateOp(kTranspose, {x}, {{"permutation", p}}), {x},
                [&](const Dims& at) {
                  Dims index(at.size());
                  for (size_t i = 0; i < at.size(); ++i) index[p[i]] = at[i];
                  return Source{0, index};
                });
  }
}

TEST_P(DataMovementTest, LargeTransposes) {
  for (const Dims& dims : {Dims{130, 67}, Dims{3, 70, 129}, Dims{65, 2, 33}}) {
    const Literal x = Make(dims);
    const Dims p = Permutation(dims.size());
    ExpectMoved(EvaluateOp(kTranspose, {x}, {{"permutation", p}}, {},
                           {.pool = Threads(3)}),
                {x}, [&](const Dims& at) {
                  Dims index(at.size());
                  for (size_t i = 0; i < at.size(); ++i) index[p[i]] = at[i];
                  return Source{0, index};
                });
  }
}

TEST_P(DataMovementTest, BroadcastInDim) {
  for (int round = 0; round < kRounds; ++round) {
    const Dims dims = MakeDims(1);
    // Some axes of the result, in any order, some of them with size 1.
    const Dims order = Permutation(dims.size());
    const Dims where(order.begin(),
                     order.begin() + random_.Between(0, dims.size()));
    Dims operand;
    for (int64_t axis : where) {
      operand.push_back(random_.OneIn(3) ? 1 : dims[axis]);
    }
    const Literal x = Make(operand);
    ExpectMoved(EvaluateOp(kBroadcastInDim, {x},
                           {{"dims", dims}, {"broadcast_dimensions", where}}),
                {x}, [&](const Dims& at) {
                  Dims index;
                  for (size_t i = 0; i < where.size(); ++i) {
                    index.push_back(operand[i] == 1 ? 0 : at[where[i]]);
                  }
                  return Source{0, index};
                });
  }
}

TEST_P(DataMovementTest, Reshape) {
  const Literal x = Make({2, 3, 4});
  const Literal y = EvaluateOp(kReshape, {x}, {{"dims", Dims{4, 6}}});
  EXPECT_EQ(y.shape(), Shape::Of(GetParam(), {4, 6}));
  EXPECT_EQ(y.bytes(), x.bytes());
}

TEST_P(DataMovementTest, Reverse) {
  for (int round = 0; round < kRounds; ++round) {
    const Literal x = Make(MakeDims());
    const Dims order = Permutation(x.shape().rank());
    const Dims axes(order.begin(),
                    order.begin() + random_.Between(0, order.size()));
    ExpectMoved(EvaluateOp(kReverse, {x}, {{"dimensions", axes}}), {x},
                [&](Dims at) {
                  for (int64_t axis : axes) {
                    at[axis] = x.shape().dim(axis) - 1 - at[axis];
                  }
                  return Source{0, at};
                });
  }
}

TEST_P(DataMovementTest, Concatenate) {
  for (int round = 0; round < kRounds; ++round) {
    const Dims dims = MakeDims(1);
    const int64_t axis = random_.Below(dims.size());
    std::vector<Literal> parts;
    for (int64_t i = random_.Between(1, 4); i > 0; --i) {
      Dims part = dims;
      part[axis] = random_.Below(4);
      parts.push_back(Make(part));
    }
    ExpectMoved(EvaluateOp(kConcatenate, parts, {{"dimension", axis}}), parts,
                [&](Dims at) {
                  int part = 0;
                  while (at[axis] >= parts[part].shape().dim(axis)) {
                    at[axis] -= parts[part++].shape().dim(axis);
                  }
                  return Source{part, at};
                });
  }
}

TEST_P(DataMovementTest, Pad) {
  for (int round = 0; round < 2 * kRounds; ++round) {
    const Literal x = Make(MakeDims());
    Dims low, high, interior;
    bool fits = true;
    for (int64_t size : x.shape().dims()) {
      low.push_back(random_.Between(-3, 3));
      high.push_back(random_.Between(-3, 3));
      interior.push_back(random_.Below(3));
      const int64_t spread = size + std::max<int64_t>(size - 1, 0) *
                                        interior.back();
      fits &= low.back() + spread + high.back() >= 0;
    }
    if (!fits) continue;
    const std::vector<Literal> operands = {x, Make({})};
    ExpectMoved(
        EvaluateOp(kPad, operands,
                   {{"edge_padding_low", low},
                    {"edge_padding_high", high},
                    {"interior_padding", interior}}),
        operands, [&](Dims at) {
          for (size_t i = 0; i < at.size(); ++i) {
            at[i] -= low[i];
            const int64_t step = interior[i] + 1;
            if (at[i] < 0 || at[i] % step != 0 ||
                at[i] / step >= x.shape().dim(i)) {
              return Source{1, {}};
            }
            at[i] /= step;
          }
          return Source{0, at};
        });
  }
}

TEST_P(DataMovementTest, Slice) {
  for (int round = 0; round < kRounds; ++round) {
    const Literal x = Make(MakeDims());
    Dims start, limit, step;
    for (int64_t size : x.shape().dims()) {
      start.push_back(random_.Between(0, size));
      limit.push_back(random_.Between(start.back(), size));
      step.push_back(random_.Between(1, 3));
    }
    ExpectMoved(EvaluateOp(kSlice, {x},
                           {{"start_indices", start},
                            {"limit_indices", limit},
                            {"strides", step}}),
                {x}, [&](Dims at) {
                  for (size_t i = 0; i < at.size(); ++i) {
                    at[i] = start[i] + at[i] * step[i];
                  }
                  return Source{0, at};
                });
  }
}

// Starts from -3 to 8, of every integer dtype in turn.
std::vector<Literal> RandomStarts(int64_t n, Random& random, Dims* values) {
  const DType dtype = random.PickDType(kInts);
  std::vector<Literal> out;
  for (int64_t i = 0; i < n; ++i) {
    values->push_back(random.Between(IsUnsigned(dtype) ? 0 : -3, 8));
    out.push_back(Cast(Literal::Scalar<int64_t>(values->back()), dtype));
  }
  return out;
}

TEST_P(DataMovementTest, DynamicSlice) {
  for (int round = 0; round < kRounds; ++round) {
    const Literal x = Make(MakeDims());
    Dims sizes, starts;
    for (int64_t size : x.shape().dims()) {
      sizes.push_back(random_.Between(0, size));
    }
    std::vector<Literal> operands =
        RandomStarts(x.shape().rank(), random_, &starts);
    operands.insert(operands.begin(), x);
    ExpectMoved(
        EvaluateOp(kDynamicSlice, operands, {{"slice_sizes", sizes}}), {x},
        [&](Dims at) {
          for (size_t i = 0; i < at.size(); ++i) {
            at[i] += std::clamp<int64_t>(starts[i], 0,
                                         x.shape().dim(i) - sizes[i]);
          }
          return Source{0, at};
        });
  }
}

TEST_P(DataMovementTest, DynamicUpdateSlice) {
  for (int round = 0; round < kRounds; ++round) {
    const Literal x = Make(MakeDims());
    Dims sizes, starts;
    for (int64_t size : x.shape().dims()) {
      sizes.push_back(random_.Between(0, size));
    }
    const Literal update = Make(sizes);
    std::vector<Literal> operands =
        RandomStarts(x.shape().rank(), random_, &starts);
    operands.insert(operands.begin(), {x, update});
    ExpectMoved(EvaluateOp(kDynamicUpdateSlice, operands), {x, update},
                [&](const Dims& at) {
                  Dims inside = at;
                  for (size_t i = 0; i < at.size(); ++i) {
                    inside[i] -= std::clamp<int64_t>(
                        starts[i], 0, x.shape().dim(i) - sizes[i]);
                    if (inside[i] < 0 || inside[i] >= sizes[i]) {
                      return Source{0, at};
                    }
                  }
                  return Source{1, inside};
                });
  }
}

INSTANTIATE_TEST_SUITE_P(
    Widths, DataMovementTest,
    testing::Values(DType::kBool, DType::kF16, DType::kF32, DType::kC64,
                    DType::kC128),
    [](const auto& info) { return std::string(DTypeName(info.param)); });

TEST(DataMovementTest, Rank16) {
  Dims dims(16, 1);
  dims[0] = 2;
  dims[7] = 3;
  dims[15] = 4;
  Random random(1);
  const Literal x = RandomLiteral(Shape::Of(DType::kS16, dims), random);
  Dims reversed(16);
  for (int i = 0; i < 16; ++i) reversed[i] = 15 - i;
  const Literal once =
      EvaluateOp(kTranspose, {x}, {{"permutation", reversed}});
  EXPECT_EQ(once.shape().dim(0), 4);
  EXPECT_THAT(EvaluateOp(kTranspose, {once}, {{"permutation", reversed}}),
              LiteralBitEquals(x));
}

TEST(DataMovementTest, StartsBeyondS64AreClamped) {
  const Literal x = Literal::Vector<int32_t>({1, 2, 3});
  const Literal start =
      Literal::Scalar<uint64_t>(std::numeric_limits<uint64_t>::max());
  EXPECT_THAT(EvaluateOp(kDynamicSlice, {x, start},
                         {{"slice_sizes", Dims{1}}}),
              LiteralEquals(Literal::Vector<int32_t>({3})));
}

TEST(IotaTest, CountsAlongItsAxis) {
  auto iota = [](DType dtype, const Dims& dims, int64_t axis) {
    return EvaluateOp(
        kIota, {},
        {{"dims", dims}, {"dtype", dtype}, {"iota_dimension", axis}});
  };
  EXPECT_THAT(iota(DType::kS32, {2, 3}, 1),
              LiteralEquals(Literal::Of<int32_t>({0, 1, 2, 0, 1, 2}, {2, 3})));
  EXPECT_THAT(iota(DType::kS32, {2, 3}, 0),
              LiteralEquals(Literal::Of<int32_t>({0, 0, 0, 1, 1, 1}, {2, 3})));
  EXPECT_EQ(iota(DType::kF32, {0, 3}, 1).shape().num_elements(), 0);
  EXPECT_EQ(iota(DType::kU8, {300}, 0).data<uint8_t>()[299], 43);  // wraps
  EXPECT_THAT(iota(DType::kC64, {2}, 0),
              LiteralEquals(Literal::Vector<std::complex<float>>({0, 1})));
  // 2049 has no f16; it rounds to even.
  EXPECT_EQ(static_cast<float>(iota(DType::kF16, {2050}, 0).data<Half>()[2049]),
            2048);
}

}  // namespace
}  // namespace hawser::cpu
