#include "tests/conformance/programs.h"

#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "core/ir/builder.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {
namespace {

ModulePtr Finished(Module module) {
  return std::make_shared<const Module>(std::move(module));
}

// A mistake in what `builder` has made is the test's own.
int FinishOrDie(ComputationBuilder& builder,
                const std::vector<ValueId>& results) {
  const auto index = builder.Finish(results);
  HAWSER_CHECK(index.ok());
  return *index;
}

}  // namespace

ModulePtr AddModule(const Shape& shape) {
  Module module("add");
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(shape), y = b.Parameter(shape);
  FinishOrDie(b, {b.Add(kAdd, {x, y})});
  return Finished(std::move(module));
}

ModulePtr NegateModule(const Shape& shape) {
  Module module("negate");
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(shape);
  FinishOrDie(b, {x, b.Add(kNegate, {x})});
  return Finished(std::move(module));
}

ModulePtr CountModule() {
  const Shape s64 = Shape::Scalar(DType::kS64);
  Module module("count");
  ComputationBuilder condition(&module, "condition");
  const ValueId at = condition.Parameter(s64), end = condition.Parameter(s64);
  const int more = FinishOrDie(
      condition, {condition.Add(kCompare, {at, end},
                                {{"direction", std::string("LT")}})});
  ComputationBuilder body(&module, "body");
  const ValueId i = body.Parameter(s64);
  body.Parameter(s64);
  const ValueId one = body.Constant(Literal::Scalar<int64_t>(1));
  const int next = FinishOrDie(body, {body.Add(kAdd, {i, one})});
  ComputationBuilder b(&module, "main");
  const ValueId first = b.Parameter(s64), limit = b.Parameter(s64);
  FinishOrDie(b, {b.Add(kWhile, {first, limit},
                        {{"num_invariant", int64_t{1}}}, {more, next})});
  return Finished(std::move(module));
}

ModulePtr IotaModule(int64_t elements) {
  Module module("iota");
  ComputationBuilder b(&module, "main");
  FinishOrDie(b, {b.Add(kIota, {},
                        {{"dims", Dims{elements}},
                         {"dtype", DType::kS64},
                         {"iota_dimension", int64_t{0}}})});
  return Finished(std::move(module));
}

runtime::CallOptions Patient() {
  return {.cancel = CancelToken(absl::Now() + absl::Seconds(60))};
}

ExecutablePtr Compile(runtime::Client& client, const ModulePtr& module) {
  auto executable = client.Compile(module, {}, Patient());
  EXPECT_OK(executable);
  return executable.ok() ? *std::move(executable) : nullptr;
}

std::vector<runtime::BufferPtr> Execute(
    const ExecutablePtr& executable,
    const std::vector<runtime::Argument>& arguments,
    const runtime::ExecuteOptions& options) {
  auto results = executable->Execute(arguments, options);
  EXPECT_OK(results);
  if (results.ok()) return *std::move(results);
  const size_t n = executable->signature().results.size();
  return std::vector<runtime::BufferPtr>(n);
}

absl::StatusOr<Literal> Get(const runtime::BufferPtr& buffer,
                            const runtime::CallOptions& call) {
  if (buffer == nullptr) return Internal("there is no buffer to fetch");
  const Future<Literal> value = buffer->Fetch(call);
  auto result = value.Await(absl::Now() + absl::Seconds(60));
  if (!value.ready()) return Aborted("nothing came within a minute");
  return result;
}

Literal Full(int64_t value, int64_t n) {
  return Literal::Of<int64_t>(std::vector<int64_t>(n, value), {n});
}

Literal RandomBits(const Shape& shape, uint64_t seed) {
  Literal out = Literal::Uninitialized(shape);
  Random random(seed);
  const bool is_bool = shape.dtype() == DType::kBool;
  for (char& byte : out.mutable_bytes()) {
    byte = static_cast<char>(random.Bits() & (is_bool ? 1 : 0xff));
  }
  return out;
}

}  // namespace hawser
