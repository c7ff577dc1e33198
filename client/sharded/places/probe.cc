#include "client/sharded/places/probe.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/base/threads/cancel.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/expression.h"
#include "core/sharding/choice/work.h"

namespace hawser {
namespace {

using runtime::Argument;

// Sides of factors and numbers of elements that are read, f32. Larger ones are
// tried until they take long beside nothing at all, which also takes a while.
constexpr int64_t kSides[] = {192, 384, 768, 1536};
constexpr int64_t kElements[] = {1 << 17, 1 << 20, 1 << 23};
constexpr double kLong = 3;
constexpr int kTimes = 3;  // of which the fastest counts
// A place that takes longer is of no use.
constexpr absl::Duration kPatience = absl::Seconds(5);
constexpr double kLeastSeconds = 1e-7;  // of what is here

using Formula = std::function<Expression(const Expression&)>;

// x: f32[dims] -> the sum of what the formula makes of it.
std::shared_ptr<const Module> SumOf(const Dims& dims, const Formula& formula) {
  auto module = std::make_shared<Module>("probe");
  ComputationBuilder b(module.get(), "main");
  Monoids monoids;
  ExpressionScope scope{b, monoids};
  const Expression x(
      &scope, b.Parameter(Shape::Of(DType::kF32, dims), SourceLocation{}));
  HAWSER_CHECK(b.Finish({SummedAll(formula(x)).value()}).ok());
  return module;
}

Expression Squared(const Expression& x) {
  const Dims none = {}, first = {0}, second = {1};
  return Apply(kDotGeneral, {x, x},
               {{"lhs_batching_dimensions", none},
                {"lhs_contracting_dimensions", second},
                {"rhs_batching_dimensions", none},
                {"rhs_contracting_dimensions", first}});
}

// Of the fastest.
absl::StatusOr<double> SecondsOf(const std::function<absl::Status()>& once) {
  HAWSER_RETURN_IF_ERROR(once());  // compiles, and warms up
  double best = 0;
  for (int i = 0; i < kTimes; ++i) {
    const absl::Time start = SteadyNow();
    HAWSER_RETURN_IF_ERROR(once());
    const double took = absl::ToDoubleSeconds(SteadyNow() - start);
    best = i == 0 ? took : std::min(best, took);
  }
  return best;
}

double PowerOfTwo(double x) { return std::exp2(std::round(std::log2(x))); }

// One place, and what it does with programs that take one argument.
class Probe {
 public:
  explicit Probe(runtime::Client& client) : client_(client) {}

  absl::StatusOr<double> Seconds(const std::shared_ptr<const Module>& module,
                                 const Argument& argument) const {
    return SecondsOf([&] { return Run(module, argument); });
  }
  // The same of a value that is sent each time.
  absl::StatusOr<double> SecondsSent(
      const std::shared_ptr<const Module>& module) const {
    return SecondsOf([&]() -> absl::Status {
      HAWSER_ASSIGN_OR_RETURN(const auto sent, Send(*module));
      return Run(module, sent);
    });
  }
  absl::StatusOr<runtime::BufferPtr> Send(const Module& module) const {
    return client_.Upload(Literal::Zeros(module.entry().shape(0)), call_);
  }
  // Work a second, of the first of the sizes that takes long.
  absl::StatusOr<double> Rate(
      absl::Span<const int64_t> sizes, double nothing,
      const std::function<std::shared_ptr<const Module>(int64_t)>& program,
      double Work::*of) const {
    double rate = 0;
    for (const int64_t size : sizes) {
      const auto module = program(size);
      HAWSER_ASSIGN_OR_RETURN(const auto argument, Send(*module));
      HAWSER_ASSIGN_OR_RETURN(const double took, Seconds(module, argument));
      rate = WorkOf(*module).*of / Beyond(took, nothing);
      if (took > kLong * nothing) break;
    }
    return PowerOfTwo(rate);
  }
  // What of `took` is not nothing; either may have been held up.
  static double Beyond(double took, double nothing) {
    return std::max({took - nothing, took / kLong, kLeastSeconds});
  }

 private:
  absl::Status Run(const std::shared_ptr<const Module>& module,
                   const Argument& argument) const {
    HAWSER_ASSIGN_OR_RETURN(const auto executable,
                            client_.Compile(module, {}, call_));
    HAWSER_ASSIGN_OR_RETURN(const auto results,
                            executable->Execute({argument}, {.call = call_}));
    return results[0]->Fetch(call_).Await(call_.cancel.deadline()).status();
  }

  runtime::Client& client_;
  const runtime::CallOptions call_{.cancel =
                                       CancelToken(SteadyNow() + kPatience)};
};

}  // namespace

absl::StatusOr<PlaceFigures> MeasurePlace(runtime::Client& client) {
  const Probe probe(client);
  const auto same = [](int64_t n) {
    return SumOf({n}, [](const Expression& x) { return x; });
  };
  HAWSER_ASSIGN_OR_RETURN(
      const double nothing,
      probe.Seconds(same(1), Literal::Zeros(Shape::Of(DType::kF32, {1}))));
  PlaceFigures figures;
  HAWSER_ASSIGN_OR_RETURN(
      figures.steps,
      probe.Rate(
          kSides, nothing, [](int64_t n) { return SumOf({n, n}, Squared); },
          &Work::steps));
  HAWSER_ASSIGN_OR_RETURN(
      figures.bytes, probe.Rate(kElements, nothing, same, &Work::bytes));
  HAWSER_ASSIGN_OR_RETURN(const double sending,
                          probe.SecondsSent(same(kElements[0])));
  figures.link =
      PowerOfTwo(4.0 * kElements[0] / Probe::Beyond(sending, nothing));
  figures.round_trip = PowerOfTwo(std::max(nothing, kLeastSeconds));
  return figures;
}

}  // namespace hawser
