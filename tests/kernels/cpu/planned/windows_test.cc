// The formulas over windows give what their definitions give: StableHLO's
// reduce_window and select_and_scatter, written here as loops over elements.
#include "core/ops/windows/windows.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/threads/thread_pool.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/passes/optimize.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/cpu/planned/planned_program.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"

namespace hawser::cpu {
namespace {

using Numbers = std::vector<int32_t>;
using Combine = std::function<int32_t(int32_t, int32_t)>;

// Calls `visit` with each index of an array of these sizes, in row-major order.
void ForEachIndex(const Dims& dims,
                  const std::function<void(const Dims&)>& visit) {
  if (std::count(dims.begin(), dims.end(), 0) > 0) return;
  Dims index(dims.size(), 0);
  while (true) {
    visit(index);
    size_t a = dims.size();
    while (a > 0 && ++index[a - 1] == dims[a - 1]) index[--a] = 0;
    if (a == 0) return;
  }
}

int64_t PlaceIn(const Dims& dims, const Dims& index) {
  int64_t place = 0;
  for (size_t a = 0; a < dims.size(); ++a) place = place * dims[a] + index[a];
  return place;
}

struct Drawn {
  Dims dims;
  WindowSpec spec;

  // Sizes of the spread and padded tensor, and of what its windows come to.
  Dims Padded() const {
    Dims padded;
    for (size_t a = 0; a < dims.size(); ++a) {
      const int64_t spread =
          dims[a] == 0 ? 0 : (dims[a] - 1) * spec.base_dilations[a] + 1;
      padded.push_back(spec.low[a] + spread + spec.high[a]);
    }
    return padded;
  }
  Dims Windows() const {
    Dims counts, padded = Padded();
    for (size_t a = 0; a < dims.size(); ++a) {
      const int64_t extent = (spec.sizes[a] - 1) * spec.dilations[a] + 1;
      counts.push_back(
          padded[a] < extent ? 0 : (padded[a] - extent) / spec.strides[a] + 1);
    }
    return counts;
  }
  // Where place `place` of window `window` is in the tensor; nothing where that
  // is padding.
  std::optional<int64_t> At(const Dims& window, const Dims& place) const {
    Dims at;
    for (size_t a = 0; a < dims.size(); ++a) {
      const int64_t padded =
          window[a] * spec.strides[a] + place[a] * spec.dilations[a];
      const int64_t spread = padded - spec.low[a];
      if (spread < 0 || spread % spec.base_dilations[a] != 0) return {};
      at.push_back(spread / spec.base_dilations[a]);
      if (at.back() >= dims[a]) return {};
    }
    return PlaceIn(dims, at);
  }
  std::string ToString() const {
    const auto list = [](const Dims& l) { return absl::StrJoin(l, ","); };
    return absl::StrCat("[", list(dims), "] sizes ", list(spec.sizes),
                        " strides ", list(spec.strides), " dilations ",
                        list(spec.dilations), " base ",
                        list(spec.base_dilations), " low ", list(spec.low),
                        " high ", list(spec.high));
  }
};

// Windows along two axes of some thousands of elements, which are several tiles
// with edges.
Drawn DrawImages(Random& random) {
  Drawn d;
  d.dims = {random.Between(1, 2), random.Between(12, 24),
            random.Between(12, 24), random.Between(8, 24)};
  d.spec = WindowSpec::Of(Dims(4, 1));
  const int64_t first = random.Between(1, 2);
  for (int64_t a = first; a < first + 2; ++a) {
    d.spec.sizes[a] = random.Between(1, 4);
    d.spec.strides[a] = random.Between(1, 3);
    d.spec.dilations[a] = random.Between(1, 2);
    d.spec.low[a] = random.Between(0, 3);
    d.spec.high[a] = random.Between(0, 3);
  }
  return d;
}

Drawn Draw(Random& random, bool dilated) {
  if (random.OneIn(30)) return DrawImages(random);
  Drawn d;
  const int64_t rank = random.Between(0, 3);
  for (int64_t a = 0; a < rank; ++a) {
    d.dims.push_back(random.OneIn(20) ? 0 : random.Between(1, 7));
    d.spec.sizes.push_back(random.Between(1, 4));
    d.spec.strides.push_back(random.Between(1, 3));
    d.spec.base_dilations.push_back(dilated ? random.Between(1, 3) : 1);
    d.spec.dilations.push_back(dilated ? random.Between(1, 3) : 1);
    d.spec.low.push_back(random.Between(0, 3));
    d.spec.high.push_back(random.Between(0, 3));
    // A negative padding cuts, but never more than there is.
    if (dilated && random.OneIn(4)) {
      d.spec.low.back() = -random.Between(0, 2);
      d.spec.high.back() = 2;
    }
  }
  return d;
}

Literal NumbersOf(const Dims& dims, const Numbers& values) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kS32, dims));
  std::copy(values.begin(), values.end(), out.mutable_data<int32_t>().begin());
  return out;
}

Numbers DrawNumbers(Random& random, const Dims& dims) {
  Numbers values(Shape::Of(DType::kS32, dims).num_elements());
  for (int32_t& value : values) {
    value = static_cast<int32_t>(random.Between(-3, 3));  // many are equal
  }
  return values;
}

class WindowsTest : public ::testing::Test {
 protected:
  // Evaluates it op by op and planned, and compares.
  void Expect(const Module& module, const std::vector<Literal>& arguments,
              const Numbers& want, const std::string& which) {
    const int entry = static_cast<int>(module.computations().size()) - 1;
    const auto plain = CpuEvaluator({.numerics = runtime::Numerics::kStrict})
                           .Evaluate(module, entry, arguments, CancelToken());
    ASSERT_OK(plain) << which;
    const auto own = (*plain)[0].data<int32_t>();
    ASSERT_EQ(Numbers(own.begin(), own.end()), want) << which;
    const auto optimized = Optimize(module, {});
    ASSERT_OK(optimized) << which;
    const auto program =
        PlannedProgram::Make(*optimized, runtime::Numerics::kFast);
    ASSERT_OK(program) << which;
    const auto planned = program->Run(
        arguments, {.pool = &pool_, .allocator = allocator_.get()});
    ASSERT_OK(planned) << which;
    const auto by_plan = (*planned)[0].data<int32_t>();
    ASSERT_EQ(Numbers(by_plan.begin(), by_plan.end()), want)
        << which << "\n"
        << program->Explain();
  }

  ThreadPool pool_{2};
  const std::shared_ptr<HostAllocator> allocator_ = HostAllocator::Make(0);
};

struct Fold {
  const OpDef* op;
  Combine combine;
};
const std::vector<Fold>& Folds() {
  static const auto& folds = *new std::vector<Fold>{
      {&kAdd, [](int32_t a, int32_t b) { return a + b; }},
      {&kMultiply, [](int32_t a, int32_t b) { return a * b; }},
      {&kMaximum, [](int32_t a, int32_t b) { return std::max(a, b); }},
      {&kMinimum, [](int32_t a, int32_t b) { return std::min(a, b); }}};
  return folds;
}

const Shape kNumber = Shape::Scalar(DType::kS32);

// A monoid begins with any number, and padding counts as that.
TEST_F(WindowsTest, ReducedAsDefined) {
  for (uint64_t seed = 0; seed < 1500 && !HasFailure(); ++seed) {
    Random random(seed);
    const Drawn d = Draw(random, /*dilated=*/true);
    const Fold& fold = Folds()[random.Below(4)];
    const auto initial = static_cast<int32_t>(random.Between(-2, 2));
    const Numbers x = DrawNumbers(random, d.dims);
    Numbers want;
    ForEachIndex(d.Windows(), [&](const Dims& window) {
      int32_t all = initial;
      ForEachIndex(d.spec.sizes, [&](const Dims& place) {
        const auto at = d.At(window, place);
        all = fold.combine(all, at ? x[*at] : initial);
      });
      want.push_back(all);
    });
    const Module module = testing::ExpressionModule(
        {Shape::Of(DType::kS32, d.dims), kNumber},
        [&](const std::vector<Expression>& v) {
          ExpressionScope* scope = v[0].scope();
          const int called = scope->monoids.Find(*fold.op, DType::kS32,
                                                 scope->builder.module());
          return ReducedWindows({&v[0], 1}, {&v[1], 1}, d.spec, called);
        });
    Expect(module, {NumbersOf(d.dims, x), Literal::Scalar(initial)}, want,
           absl::StrCat("seed ", seed, ": ", d.ToString()));
  }
}

// The first of equals is chosen by GE and LE, the last by GT and LT.
TEST_F(WindowsTest, SelectedAndScatteredAsDefined) {
  for (uint64_t seed = 0; seed < 1500 && !HasFailure(); ++seed) {
    Random random(seed);
    const Drawn d = Draw(random, /*dilated=*/false);
    const char* const names[] = {"GE", "GT", "LE", "LT"};
    const std::string direction = names[random.Below(4)];
    const auto keeps = [&](int32_t a, int32_t b) {
      if (direction == "GE") return a >= b;
      if (direction == "GT") return a > b;
      return direction == "LE" ? a <= b : a < b;
    };
    const Fold& fold = Folds()[random.Below(4)];
    const auto initial = static_cast<int32_t>(random.Between(-2, 2));
    const Numbers x = DrawNumbers(random, d.dims);
    const Numbers source = DrawNumbers(random, d.Windows());
    Numbers want(x.size(), initial);
    size_t next = 0;
    ForEachIndex(d.Windows(), [&](const Dims& window) {
      std::optional<int64_t> chosen;
      ForEachIndex(d.spec.sizes, [&](const Dims& place) {
        const auto at = d.At(window, place);
        if (!at) return;
        if (!chosen || !keeps(x[*chosen], x[*at])) chosen = at;
      });
      if (chosen) {
        want[*chosen] = fold.combine(want[*chosen], source[next]);
      }
      ++next;
    });
    const Module module = testing::ExpressionModule(
        {Shape::Of(DType::kS32, d.dims), Shape::Of(DType::kS32, d.Windows()),
         kNumber},
        [&](const std::vector<Expression>& v) -> std::vector<Expression> {
          ExpressionScope* scope = v[0].scope();
          Module* const module = scope->builder.module();
          ComputationBuilder builder(module, "select");
          const ValueId a = builder.Parameter(kNumber);
          const ValueId b = builder.Parameter(kNumber);
          const ValueId kept =
              builder.Add(kCompare, {a, b}, {{"direction", direction}});
          const int select = *builder.Finish({&kept, 1});
          const int scatter =
              scope->monoids.Find(*fold.op, DType::kS32, module);
          const auto result =
              SelectAndScatter(v[0], v[1], v[2], d.spec, select, scatter);
          EXPECT_OK(result);
          return {*result};
        });
    Expect(module,
           {NumbersOf(d.dims, x), NumbersOf(d.Windows(), source),
            Literal::Scalar(initial)},
           want,
           absl::StrCat("seed ", seed, " ", direction, ": ", d.ToString()));
  }
}

}  // namespace
}  // namespace hawser::cpu
