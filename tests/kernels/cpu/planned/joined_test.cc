// concatenate and pad against their definitions, element by element: by the
// row, in a plan alone, and in a plan beside an elementwise op.
#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/cpu/planned/planned_program.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

using testing::ExpressionBody;

Dims UnraveledIn(const Dims& dims, int64_t place) {
  Dims index(dims.size(), 0);
  for (size_t a = dims.size(); a-- > 0;) {
    index[a] = place % dims[a];
    place /= dims[a];
  }
  return index;
}

int64_t RaveledIn(const Dims& dims, const Dims& index) {
  int64_t place = 0;
  for (size_t a = 0; a < dims.size(); ++a) place = place * dims[a] + index[a];
  return place;
}

void CopyElement(const Literal& from, int64_t i, Literal* to, int64_t k) {
  const int64_t width = ByteWidth(from.shape().dtype());
  std::memcpy(to->mutable_bytes().data() + k * width,
              from.bytes().data() + i * width, width);
}

class JoinedTest : public ::testing::Test {
 protected:
  void Expect(const std::vector<Literal>& arguments, const ExpressionBody& body,
              const Literal& want) {
    std::vector<Shape> shapes;
    for (const Literal& value : arguments) shapes.push_back(value.shape());
    const Module module = hawser::testing::ExpressionModule(shapes, body);
    CpuEvaluator evaluator({.pool = &pool_});
    const auto by_row = evaluator.Evaluate(module, 0, arguments, {});
    ASSERT_OK(by_row);
    ASSERT_THAT((*by_row)[0], LiteralEquals(want));
    const auto program = PlannedProgram::Make(module, runtime::Numerics::kFast);
    ASSERT_OK(program);
    const auto planned = program->Run(
        arguments, {.pool = &pool_, .allocator = allocator_.get()});
    ASSERT_OK(planned);
    ASSERT_THAT((*planned)[0], LiteralEquals(want)) << program->Explain();
  }

  void ExpectJoined(const std::vector<Literal>& operands, int64_t axis) {
    Dims dims = operands[0].shape().dims();
    dims[axis] = 0;
    for (const Literal& o : operands) dims[axis] += o.shape().dims()[axis];
    const DType dtype = operands[0].shape().dtype();
    Literal want = Literal::Uninitialized(Shape::Of(dtype, dims));
    for (int64_t k = 0; k < want.shape().num_elements(); ++k) {
      Dims at = UnraveledIn(dims, k);
      size_t which = 0;
      while (at[axis] >= operands[which].shape().dims()[axis]) {
        at[axis] -= operands[which++].shape().dims()[axis];
      }
      const Literal& from = operands[which];
      CopyElement(from, RaveledIn(from.shape().dims(), at), &want, k);
    }
    Expect(
        operands,
        [&](const std::vector<Expression>& p) {
          return std::vector<Expression>{
              Apply(kConcatenate, p, {{"dimension", axis}})};
        },
        want);
  }

  struct Amounts {
    Dims low, high, interior;
  };
  void ExpectPadded(const Literal& x, const Literal& value, const Amounts& by) {
    const Dims& from = x.shape().dims();
    Dims dims;
    for (size_t a = 0; a < from.size(); ++a) {
      dims.push_back(from[a] +
                     std::max<int64_t>(from[a] - 1, 0) * by.interior[a] +
                     by.low[a] + by.high[a]);
      if (dims.back() < 0) return;
    }
    Literal want = Literal::Uninitialized(Shape::Of(x.shape().dtype(), dims));
    for (int64_t k = 0; k < want.shape().num_elements(); ++k) {
      Dims at = UnraveledIn(dims, k);
      bool lands = true;
      for (size_t a = 0; a < at.size(); ++a) {
        const int64_t step = by.interior[a] + 1;
        at[a] -= by.low[a];
        lands =
            lands && at[a] >= 0 && at[a] % step == 0 && at[a] / step < from[a];
        at[a] /= step;
      }
      CopyElement(lands ? x : value, lands ? RaveledIn(from, at) : 0, &want, k);
    }
    Expect(
        {x, value},
        [&](const std::vector<Expression>& p) {
          return std::vector<Expression>{
              Apply(kPad, p,
                    {{"edge_padding_low", by.low},
                     {"edge_padding_high", by.high},
                     {"interior_padding", by.interior}})};
        },
        want);
  }

  Literal Draw(DType dtype, const Dims& dims) {
    return RandomLiteral(Shape::Of(dtype, dims), random_);
  }

  Random random_{11};
  ThreadPool pool_{2};
  const std::shared_ptr<HostAllocator> allocator_ = HostAllocator::Make(0);
};

// A dtype of every width.
constexpr DType kWidths[] = {DType::kU8,  DType::kBF16, DType::kF32,
                             DType::kF64, DType::kC128, DType::kBool};

TEST_F(JoinedTest, OperandsOfEverySizeAlongEveryAxis) {
  for (const DType dtype : kWidths) {
    for (const int64_t count : {2, 3, 5, 8}) {
      for (const int64_t inner : {1, 2, 3, 16, 17, 130}) {
        for (const int64_t axis : {0, 1, 2}) {
          std::vector<Literal> operands;
          for (int64_t k = 0; k < count; ++k) {
            Dims dims = {151 / inner + 1, 3, inner};
            // Equal ones, and ones of other sizes, of none too.
            if (axis != 2 || inner > 3) {
              dims[axis] = random_.OneIn(6) ? 0 : random_.Between(1, inner);
            }
            operands.push_back(Draw(dtype, dims));
          }
          ExpectJoined(operands, axis);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(JoinedTest, RowsOfMoreThanABlock) {
  for (const DType dtype : {DType::kU8, DType::kF32}) {
    ExpectJoined(
        {Draw(dtype, {3, 9000}), Draw(dtype, {3, 1}), Draw(dtype, {3, 70001})},
        1);
    ExpectJoined({Draw(dtype, {100001}), Draw(dtype, {0}), Draw(dtype, {1})},
                 0);
  }
}

// Many blocks of short rows, and results that are written past the caches.
TEST_F(JoinedTest, ManyRows) {
  for (const int64_t count : {2, 3, 8, 9}) {
    for (const int64_t inner : {1, 2, 3, 5, 12, 16, 40, 200}) {
      const bool is_large = count == 3 && (inner == 3 || inner == 40);
      const int64_t rows = is_large ? (5 << 20) / (3 * inner) : 9001;
      std::vector<Literal> operands;
      Literal want =
          Literal::Uninitialized(Shape::Of(DType::kU8, {rows, count * inner}));
      char* const to = want.mutable_bytes().data();
      for (int64_t k = 0; k < count; ++k) {
        operands.push_back(Draw(DType::kU8, {rows, inner}));
        const char* const from = operands.back().bytes().data();
        for (int64_t r = 0; r < rows; ++r) {
          std::memcpy(to + (r * count + k) * inner, from + r * inner, inner);
        }
      }
      Expect(
          operands,
          [](const std::vector<Expression>& p) {
            return std::vector<Expression>{
                Apply(kConcatenate, p, {{"dimension", int64_t{1}}})};
          },
          want);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(JoinedTest, ALargePaddedResult) {
  constexpr int64_t kRows = 150000;
  const Literal x = Draw(DType::kF32, {kRows, 5});
  const Literal value = Draw(DType::kF32, {});
  Literal want = Literal::Uninitialized(Shape::Of(DType::kF32, {kRows, 8}));
  for (int64_t r = 0; r < kRows; ++r) {
    float* const to = want.mutable_data<float>().data() + r * 8;
    std::fill_n(to, 8, value.data<float>()[0]);
    std::copy_n(x.data<float>().data() + r * 5, 5, to + 2);
  }
  Expect(
      {x, value},
      [](const std::vector<Expression>& p) {
        return std::vector<Expression>{
            Apply(kPad, p,
                  {{"edge_padding_low", Dims{0, 2}},
                   {"edge_padding_high", Dims{0, 1}},
                   {"interior_padding", Dims{0, 0}}})};
      },
      want);
}

// Views and constants beside it leave it to its row.
TEST_F(JoinedTest, StacksAndConstantPaddingRunByTheirRows) {
  const Literal x = Draw(DType::kF32, {2000}), y = Draw(DType::kF32, {2000});
  Literal want = Literal::Uninitialized(Shape::Of(DType::kF32, {2001, 2}));
  for (int64_t i = 0; i < 2000; ++i) {
    CopyElement(x, i, &want, 2 * i);
    CopyElement(y, i, &want, 2 * i + 1);
  }
  const auto stacked = [](const std::vector<Expression>& p) {
    return Apply(kConcatenate,
                 {Reshaped(p[0], {2000, 1}), Reshaped(p[1], {2000, 1})},
                 {{"dimension", int64_t{1}}});
  };
  Literal stack = Literal::Uninitialized(Shape::Of(DType::kF32, {2000, 2}));
  std::copy_n(want.bytes().data(), 16000, stack.mutable_bytes().data());
  Expect(
      {x, y},
      [&](const std::vector<Expression>& p) {
        return std::vector<Expression>{stacked(p)};
      },
      stack);
  want.mutable_data<float>()[4000] = want.mutable_data<float>()[4001] = 1.5f;
  Expect(
      {stack},
      [&](const std::vector<Expression>& p) {
        return std::vector<Expression>{Apply(
            kPad, {p[0], Filled(p[0].scope(), Shape::Of(DType::kF32, {}), 1.5)},
            {{"edge_padding_low", Dims{0, 0}},
             {"edge_padding_high", Dims{1, 0}},
             {"interior_padding", Dims{0, 0}}})};
      },
      want);
}

TEST_F(JoinedTest, OneOperandTwice) {
  const Literal x = Draw(DType::kF32, {1000, 3});
  Literal want = Literal::Uninitialized(Shape::Of(DType::kF32, {1000, 6}));
  for (int64_t k = 0; k < 6000; ++k) {
    CopyElement(x, k / 6 * 3 + k % 3, &want, k);
  }
  Expect(
      {x},
      [](const std::vector<Expression>& p) {
        return std::vector<Expression>{
            Apply(kConcatenate, {p[0], p[0]}, {{"dimension", int64_t{1}}})};
      },
      want);
}

TEST_F(JoinedTest, PaddingOfEveryKind) {
  for (const DType dtype : kWidths) {
    for (int round = 0; round < 25; ++round) {
      const auto rank = random_.Between(0, 4);
      Dims dims;
      Amounts by;
      for (int64_t a = 0; a < rank; ++a) {
        dims.push_back(random_.OneIn(20)  ? 0
                       : random_.OneIn(3) ? random_.Between(10, 40)
                                          : random_.Between(1, 6));
        by.low.push_back(random_.OneIn(2) ? 0 : random_.Between(-3, 5));
        by.high.push_back(random_.OneIn(2) ? 0 : random_.Between(-3, 5));
        by.interior.push_back(random_.OneIn(2) ? 0 : random_.Between(0, 3));
      }
      ExpectPadded(Draw(dtype, dims), Draw(dtype, {}), by);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(JoinedTest, PaddingOfLargeRows) {
  const Literal value = Draw(DType::kU8, {});
  const Literal line = Draw(DType::kU8, {100001});
  for (const int64_t low : {-50000, -1, 0, 70000}) {
    for (const int64_t interior : {0, 1, 20000}) {
      if (interior == 20000) {
        ExpectPadded(Draw(DType::kU8, {7}), value,
                     {{low}, {50001}, {interior}});
      } else {
        ExpectPadded(line, value, {{low}, {-3}, {interior}});
      }
    }
  }
  const Literal rows = Draw(DType::kF32, {3, 2, 9001});
  ExpectPadded(rows, Draw(DType::kF32, {}), {{1, 0, 2}, {0, -1, 5}, {1, 0, 0}});
  // All is cut away, and nothing is there.
  ExpectPadded(Draw(DType::kF32, {3, 5000}), Draw(DType::kF32, {}),
               {{0, -9000}, {0, 9000}, {0, 0}});
  ExpectPadded(Draw(DType::kF32, {3, 0}), Draw(DType::kF32, {}),
               {{0, 2000}, {0, 2000}, {0, 0}});
}

TEST_F(JoinedTest, NoPaddingIsACopy) {
  const Literal x = Draw(DType::kF32, {50, 300});
  ExpectPadded(x, Draw(DType::kF32, {}), {{0, 0}, {0, 0}, {0, 0}});
}

}  // namespace
}  // namespace hawser::cpu
