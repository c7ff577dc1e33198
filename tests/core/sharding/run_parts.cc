#include "tests/core/sharding/run_parts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/algorithm/container.h"
#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/expression.h"
#include "core/ops/windows/convolution.h"
#include "core/ops/linalg/fft.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {
namespace {

// Calls fn(index in the whole, index in the box) for each element of the box.
template <typename Fn>
void ForEachIn(const Shape& whole, const Box& box, Fn fn) {
  const Dims sizes = SizesOf(box);
  for (int64_t i = 0; i < ElementsOf(box); ++i) {
    int64_t from = 0, left = i, step = 1;
    for (int axis = static_cast<int>(box.size()) - 1; axis >= 0; --axis) {
      from += (box[axis].begin + left % sizes[axis]) * step;
      left /= sizes[axis];
      step *= whole.dim(axis);
    }
    fn(from, i);
  }
}

}  // namespace

absl::StatusOr<std::vector<Literal>> RunModule(
    const Module& module, absl::Span<const Literal> arguments) {
  static auto& evaluator = *new cpu::CpuEvaluator();
  return evaluator.Evaluate(module,
                            static_cast<int>(module.computations().size()) - 1,
                            arguments, CancelToken());
}

Literal CutOf(const Literal& whole, const Box& box) {
  Literal part = Literal::Zeros(ShapeOf(whole.shape(), box));
  const size_t width = ByteWidth(whole.shape().dtype());
  ForEachIn(whole.shape(), box, [&](int64_t from, int64_t to) {
    std::memcpy(part.mutable_bytes().data() + to * width,
                whole.bytes().data() + from * width, width);
  });
  return part;
}

std::vector<Literal> ArgumentsOf(absl::Span<const Piece> takes,
                                 absl::Span<const int64_t> offsets,
                                 absl::Span<const Literal> arguments) {
  std::vector<Literal> values;
  for (const Piece& piece : takes) {
    values.push_back(CutOf(arguments[piece.value], piece.box));
  }
  for (int64_t offset : offsets) {
    values.push_back(Literal::Scalar<int64_t>(offset));
  }
  return values;
}

bool SumsFloats(const Module& module) {
  for (const Computation& computation : module.computations()) {
    for (const Instruction& instruction : computation.instructions()) {
      if (instruction.op != &kReduce && instruction.op != &kDotGeneral &&
          instruction.op != &kConvolution && instruction.op != &kFft) {
        continue;
      }
      for (ValueId operand : instruction.operands) {
        const DType dtype = computation.shape(operand).dtype();
        if (IsFloat(dtype) || IsComplex(dtype)) return true;
      }
    }
  }
  return false;
}

Tolerance ToleranceOf(const Module& module) {
  if (!SumsFloats(module)) return {};
  return {.atol = 0.05, .rtol = 0.02};
}

namespace {

// A value that tasks give in pieces.
class Pieced {
 public:
  explicit Pieced(const Shape& shape)
      : value_(Literal::Zeros(shape)), given_(shape.num_elements(), 0) {}

  const Literal& value() const { return value_; }
  // Errors: kInternal, it is none, or an element was given before.
  absl::Status Give(const Box& box, const Literal& part) {
    if (part.shape() != ShapeOf(value_.shape(), box)) {
      return Internal("a piece is ", part.shape().ToString(), ", must be ",
                      ToString(box));
    }
    bool once = true;
    const size_t width = ByteWidth(value_.shape().dtype());
    ForEachIn(value_.shape(), box, [&](int64_t to, int64_t from) {
      once = once && ++given_[to] == 1;
      std::memcpy(value_.mutable_bytes().data() + to * width,
                  part.bytes().data() + from * width, width);
    });
    pieces_.push_back(box);
    return once ? absl::OkStatus()
                : Internal("elements of ", ToString(box), " are given twice");
  }
  // Errors: kInternal, not all of it was given, or by a piece of which only a
  // part lies in it.
  absl::StatusOr<Literal> Take(const Box& box) {
    bool all = true;
    ForEachIn(value_.shape(), box, [&](int64_t from, int64_t) {
      all = all && given_[from] == 1;
    });
    if (!all) return Internal(ToString(box), " is taken before it is given");
    for (const Box& piece : pieces_) {
      bool apart = ElementsOf(box) == 0;
      for (size_t i = 0; i < box.size(); ++i) {
        apart = apart || piece[i].end <= box[i].begin ||
                box[i].end <= piece[i].begin;
      }
      if (!apart && !Contains(box, piece)) {
        return Internal(ToString(box), " is taken, of which ", ToString(piece),
                        " is given");
      }
    }
    taken_.push_back(box);
    return CutOf(value_, box);
  }
  bool GivenAll() const {
    return std::all_of(given_.begin(), given_.end(),
                       [](int times) { return times == 1; });
  }
  bool TakenAll() const {
    return std::all_of(pieces_.begin(), pieces_.end(), [&](const Box& piece) {
      return std::any_of(taken_.begin(), taken_.end(), [&](const Box& box) {
        return Contains(box, piece);
      });
    });
  }

 private:
  Literal value_;
  std::vector<int> given_;  // how often each element was
  std::vector<Box> pieces_, taken_;
};

}  // namespace

absl::StatusOr<std::vector<Literal>> RunTasks(
    const Sharding& sharding, absl::Span<const Literal> arguments,
    std::vector<Literal>* between_values) {
  std::vector<Pieced> results, between;
  for (const Shape& shape : sharding.whole.results) results.emplace_back(shape);
  for (const Shape& shape : sharding.between) between.emplace_back(shape);
  for (const ShardTask& task : sharding.tasks) {
    std::vector<Literal> values;
    for (const Piece& piece : task.takes) {
      const size_t value = piece.value;
      if (value < arguments.size()) {
        values.push_back(CutOf(arguments[value], piece.box));
        continue;
      }
      HAWSER_ASSIGN_OR_RETURN(
          values.emplace_back(),
          between[value - arguments.size()].Take(piece.box));
    }
    for (int64_t offset : task.offsets) {
      values.push_back(Literal::Scalar<int64_t>(offset));
    }
    HAWSER_ASSIGN_OR_RETURN(const auto parts, RunModule(*task.module, values));
    for (size_t i = 0; i < task.gives.size(); ++i) {
      const auto& [value, box] = task.gives[i];
      const int beyond = value - static_cast<int>(results.size());
      Pieced& to = beyond < 0 ? results[value] : between[beyond];
      HAWSER_RETURN_IF_ERROR(to.Give(box, parts[i]));
    }
  }
  std::vector<Literal> values;
  for (const Pieced& result : results) {
    if (!result.GivenAll()) return Internal("a result lacks elements");
    values.push_back(result.value());
  }
  for (const Pieced& value : between) {
    if (!value.TakenAll()) return Internal("a piece is given that none takes");
    if (between_values != nullptr) between_values->push_back(value.value());
  }
  return values;
}

ShardSpec RandomSpec(const Signature& signature, Random& random) {
  ShardSpec spec;
  spec.max_tasks = 64;
  if (random.OneIn(2)) spec.unnamed = ShardSpec::Unnamed::kWhole;
  if (random.OneIn(2)) spec.contracted = ShardSpec::Contracted::kSplit;
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const Shape& shape = signature.parameters[i];
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (random.OneIn(2)) continue;
      AxisCut& cut = spec.parameters.emplace_back();
      cut.value = static_cast<int>(i);
      cut.axis = random.OneIn(2) ? axis : axis - shape.rank();
      if (random.OneIn(3)) {
        cut.kind = AxisCut::Kind::kEveryIndex;
      } else if (random.OneIn(2)) {
        cut.kind = AxisCut::Kind::kParts;
        cut.parts = random.Between(1, 4);
      } else {  // uneven, empty ones too
        cut.kind = AxisCut::Kind::kSizes;
        int64_t left = shape.dim(axis);
        for (int part = 0; part < 2; ++part) {
          cut.sizes.push_back(random.Between(0, left));
          left -= cut.sizes.back();
        }
        cut.sizes.push_back(left);
      }
    }
  }
  return spec;
}

namespace {

// Of complex numbers, those with an infinite part as NaN: which parts of their
// products are infinite, and which NaN, depends on the order of the factors.
Literal InfiniteAsNaN(const Literal& value) {
  return VisitDType(value.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplex<T>) {
      constexpr auto kNaN =
          std::numeric_limits<typename T::value_type>::quiet_NaN();
      Literal result = Literal::Zeros(value.shape());
      absl::c_transform(
          value.data<T>(), result.mutable_data<T>().begin(), [](T x) {
            const bool finite =
                std::isfinite(x.real()) && std::isfinite(x.imag());
            return finite ? x : T(kNaN, kNaN);
          });
      return result;
    } else {
      return value;
    }
  });
}

}  // namespace

void ExpectWhole(const Module& module, const Sharding& sharding,
                 uint64_t seed) {
  ExpectWhole(module, sharding, seed, ToleranceOf(module));
}

void ExpectWhole(const Module& module, const Sharding& sharding, uint64_t seed,
                 const Tolerance& tolerance) {
  Random random(seed);
  const auto arguments =
      RandomArguments(module.signature(), random, !SumsFloats(module));
  const auto whole = RunModule(module, arguments);
  ASSERT_OK(whole) << "seed " << seed;
  const auto got = RunTasks(sharding, arguments);
  ASSERT_OK(got) << "seed " << seed << "\n" << Print(module);
  const auto seen = [&](const Literal& value) {
    return SumsFloats(module) ? InfiniteAsNaN(value) : value;
  };
  for (size_t k = 0; k < whole->size(); ++k) {
    EXPECT_OK(CompareLiterals(seen((*got)[k]), seen((*whole)[k]), tolerance))
        << "seed " << seed << ", result " << k << "\n"
        << Print(module);
  }
}

// elixir-nx/nx PR 1544: l + [[1]] transposed [0,2,1], r - 1 squeezed [0,1],
// contracted over [2,1] and [1,0].
Module SeedModule() {
  Module module("seed");
  ComputationBuilder b(&module, "main");
  Monoids monoids;
  ExpressionScope scope{b, monoids};
  const Expression l(&scope, b.Parameter(Shape::Of(DType::kF32, {2, 2, 3})));
  const Expression r(&scope,
                     b.Parameter(Shape::Of(DType::kS32, {1, 1, 3, 2, 2})));
  const Expression left = Transposed(l + 1, {0, 2, 1});
  const Expression right = Reshaped(ConvertTo(r - 1, DType::kF32), {3, 2, 2});
  const Expression product =
      Apply(kDotGeneral, {left, right},
            {{"lhs_batching_dimensions", Dims{}},
             {"lhs_contracting_dimensions", Dims{2, 1}},
             {"rhs_batching_dimensions", Dims{}},
             {"rhs_contracting_dimensions", Dims{1, 0}}});
  EXPECT_OK(b.Finish({product.value()}));
  return module;
}

std::vector<Literal> SeedArguments() {
  std::vector<float> l;
  std::vector<int32_t> r;
  for (int i = 0; i < 12; ++i) {
    l.push_back(static_cast<float>(i));
    r.push_back(i + 10);
  }
  return {Literal::Of<float>(absl::MakeConstSpan(l), {2, 2, 3}),
          Literal::Of<int32_t>(absl::MakeConstSpan(r), {1, 1, 3, 2, 2})};
}

}  // namespace hawser
