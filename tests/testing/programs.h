// Small programs for tests of clients.
#ifndef HAWSER_TESTS_TESTING_PROGRAMS_H_
#define HAWSER_TESTS_TESTING_PROGRAMS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/ir/builder.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser {

inline constexpr int64_t kSize = 4;

// (w, a, b: f32[4]) -> w * a + b.
inline std::shared_ptr<const Module> StepModule(
    const std::string& name = "step") {
  auto module = std::make_shared<Module>(name);
  ComputationBuilder builder(module.get(), "main");
  const Shape shape = Shape::Of(DType::kF32, {kSize});
  const ValueId w = builder.Parameter(shape);
  const ValueId a = builder.Parameter(shape);
  const ValueId b = builder.Parameter(shape);
  const ValueId scaled = builder.Add(kMultiply, {w, a});
  HAWSER_CHECK(builder.Finish({builder.Add(kAdd, {scaled, b})}).ok());
  return module;
}

// (x, y: f32[4]) -> x + y, x * y.
inline std::shared_ptr<const Module> SumAndProductModule() {
  auto module = std::make_shared<Module>("sum_and_product");
  ComputationBuilder builder(module.get(), "main");
  const Shape shape = Shape::Of(DType::kF32, {kSize});
  const ValueId x = builder.Parameter(shape);
  const ValueId y = builder.Parameter(shape);
  const ValueId sum = builder.Add(kAdd, {x, y});
  const ValueId product = builder.Add(kMultiply, {x, y});
  HAWSER_CHECK(builder.Finish({sum, product}).ok());
  return module;
}

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_PROGRAMS_H_
