#include "tests/bench/cpu/work.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "client/bench/timing.h"
#include "client/sdk/graph/trace.h"
#include "core/passes/optimize.h"

namespace hawser::bench {
namespace {

using runtime::BufferPtr;

constexpr double kSampleMicros = 5000;
constexpr double kMostRuns = 1e5;

// The mixing steps of a 64-bit hash over the element's number.
uint64_t Hash(uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <typename T, typename Fn>
Literal Made(const Dims& dims, uint64_t seed, Fn element) {
  Literal literal = Literal::Uninitialized(Shape::Of(kDTypeOf<T>, dims));
  uint64_t i = seed << 40;
  for (T& value : literal.mutable_data<T>()) value = element(Hash(i++));
  return literal;
}

float Between(uint64_t bits, float low, float high) {
  return low + (high - low) * (static_cast<float>(bits >> 40) * 0x1p-24f);
}

}  // namespace

Sample Timed(Once once, double units) {
  return [once = std::move(once), units]() -> absl::StatusOr<double> {
    double start = NowMicros();
    HAWSER_RETURN_IF_ERROR(once());
    const double first = std::max(NowMicros() - start, 1e-3);
    const int runs =
        static_cast<int>(std::clamp(kSampleMicros / first, 1.0, kMostRuns));
    start = NowMicros();
    for (int r = 0; r < runs; ++r) HAWSER_RETURN_IF_ERROR(once());
    return (NowMicros() - start) / runs / units;
  };
}

std::vector<Work> AllWorks() {
  std::vector<Work> all;
  for (const auto& works :
       {ElementwiseWorks(), RowWorks(), MovementWorks(), JoiningWorks(),
        ProductWorks(), DTypeProductWorks(), LinalgWorks(), AttentionWorks(),
        OrderWorks(), WindowWorks(), LoopWorks(), ClientWorks(),
        GraphWorks()}) {
    all.insert(all.end(), works.begin(), works.end());
  }
  return all;
}

absl::StatusOr<Module> Traced(const std::vector<Shape>& parameters,
                              const Body& body) {
  sdk::Trace trace("work", sdk::Captures::kSmallValues);
  {
    const sdk::Trace::Scope scope(&trace);
    Tensors arguments;
    for (const Shape& shape : parameters) {
      arguments.push_back(trace.Parameter(shape, SourceLocation::Current()));
    }
    trace.Return(body(arguments), SourceLocation::Current());
  }
  HAWSER_ASSIGN_OR_RETURN(Module module, trace.Finish());
  return Optimize(std::move(module));
}

absl::StatusOr<Resident> Resident::Make(const Setting& setting,
                                        const Body& body,
                                        const std::vector<Literal>& arguments,
                                        runtime::Numerics numerics) {
  Resident resident;
  std::vector<Shape> shapes;
  for (const Literal& value : arguments) {
    shapes.push_back(value.shape());
    HAWSER_ASSIGN_OR_RETURN(BufferPtr there, setting.client->Upload(value, {}));
    resident.arguments_.emplace_back(std::move(there));
  }
  HAWSER_ASSIGN_OR_RETURN(Module module, Traced(shapes, body));
  HAWSER_ASSIGN_OR_RETURN(
      resident.executable_,
      setting.client->Compile(std::make_shared<const Module>(std::move(module)),
                              {.numerics = numerics}, {}));
  return resident;
}

absl::Status Resident::Run() const {
  HAWSER_ASSIGN_OR_RETURN(const auto results,
                          executable_->Execute(arguments_, {}));
  for (const BufferPtr& result : results) {
    HAWSER_RETURN_IF_ERROR(result->Ready({}).Await().status());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Literal>> Resident::Values() const {
  HAWSER_ASSIGN_OR_RETURN(const auto results,
                          executable_->Execute(arguments_, {}));
  std::vector<Literal> values;
  for (const BufferPtr& result : results) {
    HAWSER_ASSIGN_OR_RETURN(values.emplace_back(), result->Fetch({}).Await());
  }
  return values;
}

absl::StatusOr<Race> RaceOf(const Setting& setting, Execution execution) {
  HAWSER_ASSIGN_OR_RETURN(
      Resident made, Resident::Make(setting, execution.body,
                                    execution.arguments, execution.numerics));
  const auto resident = std::make_shared<const Resident>(std::move(made));
  const auto floor = execution.floor;
  return Race{.ours = Timed([resident] { return resident->Run(); }),
              .floor = Timed([floor] {
                floor();
                return absl::OkStatus();
              }),
              .check =
                  [resident, floor, check = execution.check] {
                    floor();
                    const auto values = resident->Values();
                    return values.ok() ? check(*values) : values.status();
                  },
              .thought = resident->seconds() * 1e6};
}

void Split(
    int threads, int64_t n, int64_t grain,
    const std::function<void(int64_t begin, int64_t end, int part)>& fn) {
  const int64_t grains = (n + grain - 1) / grain;
  const auto border = [&](int t) {
    return std::min(grains * t / threads * grain, n);
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) {
    others.emplace_back([&, t] { fn(border(t), border(t + 1), t); });
  }
  fn(0, border(1), 0);
  for (std::thread& other : others) other.join();
}

Literal RandomFloats(const Dims& dims, float low, float high, uint64_t seed) {
  return Made<float>(dims, seed,
                     [=](uint64_t bits) { return Between(bits, low, high); });
}

Literal RandomBf16(const Dims& dims, float low, float high, uint64_t seed) {
  return Made<BFloat16>(dims, seed, [=](uint64_t bits) {
    return BFloat16(Between(bits, low, high));
  });
}

Literal RandomInts(const Dims& dims, int32_t bound) {
  return Made<int32_t>(dims, 0, [=](uint64_t bits) {
    return static_cast<int32_t>((bits >> 32) * bound >> 32);
  });
}

Literal RandomBytes(const Dims& dims) {
  return Made<uint8_t>(
      dims, 0, [](uint64_t bits) { return static_cast<uint8_t>(bits >> 56); });
}

}  // namespace hawser::bench
