#include "client/sharded/places/probe.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/base/threads/cancel.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/expression.h"
#include "core/sharding/choice/work.h"

namespace hawser {
namespace {

using ModulePtr = std::shared_ptr<const Module>;
using Formula = std::function<Expression(const Expression&)>;

// Sides of factors and numbers of elements that are read, f32. Larger ones are
// tried until they take long compared with nothing at all, which also takes a
// while.
constexpr int64_t kSides[] = {192, 384, 768, 1536};
constexpr int64_t kElements[] = {1 << 17, 1 << 20, 1 << 23};
constexpr double kLong = 3;
constexpr int kTimes = 3;  // of which the fastest counts
// A place that takes longer is of no use.
constexpr absl::Duration kPatience = absl::Seconds(5);
constexpr double kLeastSeconds = 1e-7;  // of what is here

// x: f32[dims] -> the sum of what the formula makes of it.
ModulePtr SumOf(const Dims& dims, const Formula& formula) {
  auto module = std::make_shared<Module>("probe");
  ComputationBuilder b(module.get(), "main");
  Monoids monoids;
  ExpressionScope scope{b, monoids};
  const Expression x(
      &scope, b.Parameter(Shape::Of(DType::kF32, dims), SourceLocation{}));
  HAWSER_CHECK(b.Finish({SummedAll(formula(x)).value()}).ok());
  return module;
}

ModulePtr SumOfProduct(int64_t side) {
  return SumOf({side, side}, [](const Expression& x) {
    const Dims none = {}, first = {0}, second = {1};
    return Apply(kDotGeneral, {x, x},
                 {{"lhs_batching_dimensions", none},
                  {"lhs_contracting_dimensions", second},
                  {"rhs_batching_dimensions", none},
                  {"rhs_contracting_dimensions", first}});
  });
}
ModulePtr SumOfElements(int64_t count) {
  return SumOf({count}, [](const Expression& x) { return x; });
}

double PowerOfTwo(double x) { return std::exp2(std::round(std::log2(x))); }

// Returns the time of `took` above that of doing nothing; either may have been
// held up.
double Beyond(double took, double nothing) {
  return std::max({took - nothing, took / kLong, kLeastSeconds});
}

}  // namespace

absl::StatusOr<PlaceFigures> MeasurePlace(runtime::Client& client) {
  const runtime::CallOptions call{.cancel =
                                      CancelToken(SteadyNow() + kPatience)};
  const auto send = [&](const ModulePtr& module) {
    return client.Upload(Literal::Zeros(module->entry().shape(0)), call);
  };
  // Times the fastest run with a value that is there or sent each time.
  const auto seconds = [&](const ModulePtr& module,
                           bool sent) -> absl::StatusOr<double> {
    HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr argument, send(module));
    double best = 0;
    for (int i = 0; i <= kTimes; ++i) {
      const absl::Time start = SteadyNow();
      if (sent) {
        HAWSER_ASSIGN_OR_RETURN(argument, send(module));
      }
      HAWSER_ASSIGN_OR_RETURN(const auto run, client.Compile(module, {}, call));
      HAWSER_ASSIGN_OR_RETURN(const auto results,
                              run->Execute({argument}, {.call = call}));
      HAWSER_RETURN_IF_ERROR(
          results[0]->Fetch(call).Await(call.cancel.deadline()).status());
      const double took = absl::ToDoubleSeconds(SteadyNow() - start);
      best = i < 2 ? took : std::min(best, took);  // the first one compiles
    }
    return best;
  };
  PlaceFigures figures;
  HAWSER_ASSIGN_OR_RETURN(const double nothing,
                          seconds(SumOfElements(1), false));
  for (const int64_t side : kSides) {
    const ModulePtr module = SumOfProduct(side);
    HAWSER_ASSIGN_OR_RETURN(const double took, seconds(module, false));
    figures.steps = PowerOfTwo(WorkOf(*module).steps / Beyond(took, nothing));
    if (took > kLong * nothing) break;
  }
  for (const int64_t count : kElements) {
    const ModulePtr module = SumOfElements(count);
    HAWSER_ASSIGN_OR_RETURN(const double took, seconds(module, false));
    figures.bytes = PowerOfTwo(WorkOf(*module).bytes / Beyond(took, nothing));
    if (took > kLong * nothing) break;
  }
  HAWSER_ASSIGN_OR_RETURN(const double sending,
                          seconds(SumOfElements(kElements[0]), true));
  figures.link = PowerOfTwo(4.0 * kElements[0] / Beyond(sending, nothing));
  figures.round_trip = PowerOfTwo(std::max(nothing, kLeastSeconds));
  return figures;
}

}  // namespace hawser
