#include "tests/schedules/programs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "kernels/cpu/client/cpu_client.h"

namespace hawser {
namespace {

using runtime::Argument;
using runtime::BufferPtr;

// Answers ride along up to 4 KiB, are fetched up to 64 KiB, and stream beyond.
const Shape& Small() {
  static const Shape& shape = *new Shape(Shape::Of(DType::kF32, {4}));
  return shape;
}
const Shape& Medium() {
  static const Shape& shape = *new Shape(Shape::Of(DType::kF32, {4, 300}));
  return shape;
}
const Shape& Large() {
  static const Shape& shape = *new Shape(Shape::Of(DType::kF32, {4, 4200}));
  return shape;
}

using Body =
    std::function<std::vector<ValueId>(ComputationBuilder& builder)>;

std::shared_ptr<const Module> Make(const std::string& name, const Body& body) {
  auto module = std::make_shared<Module>(name);
  ComputationBuilder builder(module.get(), "main");
  const std::vector<ValueId> results = body(builder);
  HAWSER_CHECK(builder.Finish(results).ok());
  return module;
}

// (w, a, b) -> w * a + b.
std::shared_ptr<const Module> Step(const std::string& name,
                                   const Shape& shape) {
  return Make(name, [&](ComputationBuilder& b) {
    const ValueId w = b.Parameter(shape);
    const ValueId scaled = b.Add(kMultiply, {w, b.Parameter(shape)});
    return std::vector{b.Add(kAdd, {scaled, b.Parameter(shape)})};
  });
}

// (x, y) -> x + y, x - y.
std::shared_ptr<const Module> SumAndDifference() {
  return Make("sum_and_difference", [](ComputationBuilder& b) {
    const ValueId x = b.Parameter(Small()), y = b.Parameter(Small());
    return std::vector{b.Add(kAdd, {x, y}), b.Add(kSubtract, {x, y})};
  });
}

// Small -> large.
std::shared_ptr<const Module> Widen() {
  return Make("widen", [](ComputationBuilder& b) {
    return std::vector{b.Add(kBroadcastInDim, {b.Parameter(Small())},
                             {{"broadcast_dimensions", Dims{0}},
                              {"dims", Large().dims()}})};
  });
}

// Large -> large, small: its first column.
std::shared_ptr<const Module> Narrow() {
  return Make("narrow", [](ComputationBuilder& b) {
    const ValueId x = b.Parameter(Large());
    const ValueId twice = b.Add(kAdd, {x, x});
    const ValueId column = b.Add(kSlice, {twice},
                                 {{"start_indices", Dims{0, 0}},
                                  {"limit_indices", Dims{4, 1}},
                                  {"strides", Dims{1, 1}}});
    return std::vector{
        twice, b.Add(kReshape, {column}, {{"dims", Small().dims()}})};
  });
}

constexpr int kSmallStep = 0;  // the module that chains are made of
constexpr size_t kMostValues = 24;

}  // namespace

runtime::CallOptions Patiently() {
  runtime::CallOptions call;
  call.cancel = CancelToken(absl::Now() + absl::Minutes(2));
  return call;
}

const Reference& Reference::Shared() {
  static const Reference& reference = *new Reference();
  return reference;
}

Reference::Reference()
    : client_(cpu::MakeCpuClient({.threads = 1})),
      modules_{Step("small", Small()), Step("medium", Medium()),
               SumAndDifference(), Widen(), Narrow()} {
  for (const auto& module : modules_) {
    auto executable = client_->Compile(module, {}, {});
    HAWSER_CHECK(executable.ok());
    executables_.push_back(*std::move(executable));
  }
}

std::vector<Literal> Reference::Run(
    int i, const std::vector<Literal>& arguments) const {
  const std::vector<Argument> values(arguments.begin(), arguments.end());
  auto results = executables_[i]->Call(values, {}).Await();
  HAWSER_CHECK(results.ok());
  return results->values;
}

RandomProgram::RandomProgram(runtime::Client* client, uint64_t seed,
                             Explained explained)
    : client_(client),
      explained_(std::move(explained)),
      random_(seed),
      executables_(Reference::Shared().num_modules()) {}

RandomProgram::~RandomProgram() = default;

absl::Status RandomProgram::Judge(absl::string_view step,
                                  const absl::Status& error) const {
  if (error.ok() || explained_(step, error)) return absl::OkStatus();
  return Annotate(error, step);
}

absl::Status RandomProgram::Check(absl::string_view step,
                                  const absl::StatusOr<Literal>& got,
                                  const Literal& want) const {
  if (!got.ok()) return Judge(step, got.status());
  if (got->shape() == want.shape() && got->bytes() == want.bytes()) {
    return absl::OkStatus();
  }
  return Internal(step, " gave ", got->ToString(), ", not ", want.ToString());
}

absl::Status RandomProgram::Run(int steps) {
  for (int i = 0; i < steps; ++i) HAWSER_RETURN_IF_ERROR(Step());
  for (const Value& value : values_) {
    HAWSER_RETURN_IF_ERROR(
        Check("fetch at the end", value.buffer->Fetch(Patiently()).Await(),
              value.want));
  }
  for (const Pending& pending : pending_) {
    HAWSER_RETURN_IF_ERROR(
        Check("fetch in between", pending.fetched.Await(), pending.want));
  }
  return absl::OkStatus();
}

absl::Status RandomProgram::Step() {
  const int64_t choice = random_.Below(100);
  if (values_.size() >= kMostValues || choice < 12) return Release();
  if (choice < 50) {
    return Execute(
        static_cast<int>(random_.Below(Reference::Shared().num_modules())));
  }
  if (choice < 60) return Chain();
  if (choice < 66) return Call();
  if (choice < 76) return Upload();
  return Fetch(/*wait=*/choice < 88);
}

absl::StatusOr<RandomProgram::ExecutablePtr> RandomProgram::Compile(
    int module) {
  if (executables_[module] == nullptr || random_.OneIn(16)) {
    HAWSER_ASSIGN_OR_RETURN(
        executables_[module],
        client_->Compile(Reference::Shared().module(module), {}, Patiently()));
  }
  return executables_[module];
}

Argument RandomProgram::PickArgument(const Shape& shape, Literal* want,
                                     int* held) {
  std::vector<int> fit;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].want.shape() == shape) fit.push_back(static_cast<int>(i));
  }
  *held = -1;
  if (!fit.empty() && !random_.OneIn(4)) {
    *held = random_.Pick(fit);
    *want = values_[*held].want;
    return values_[*held].buffer;
  }
  *want = RandomLiteral(shape, random_);
  return *want;
}

absl::Status RandomProgram::Execute(int module) {
  const auto executable = Compile(module);
  if (!executable.ok()) return Judge("compile", executable.status());
  std::vector<Argument> arguments;
  std::vector<Literal> wants;
  std::vector<int> held;
  runtime::ExecuteOptions options{.call = Patiently()};
  for (const Shape& shape : Reference::Shared().signature(module).parameters) {
    arguments.push_back(
        PickArgument(shape, &wants.emplace_back(), &held.emplace_back()));
  }
  int donated = -1;
  if (std::count(held.begin(), held.end(), held[0]) == 1 && held[0] >= 0 &&
      random_.OneIn(5)) {
    donated = held[0];
    options.donated = {0};
  }
  const auto results = (*executable)->Execute(arguments, options);
  if (donated >= 0) values_.erase(values_.begin() + donated);
  if (!results.ok()) return Judge("execute", results.status());
  const std::vector<Literal> expected = Reference::Shared().Run(module, wants);
  for (size_t i = 0; i < results->size(); ++i) {
    if (random_.OneIn(6)) continue;  // it is not wanted
    values_.push_back({(*results)[i], expected[i]});
  }
  return absl::OkStatus();
}

absl::Status RandomProgram::Chain() {
  for (int64_t left = random_.Between(4, 12); left > 0; --left) {
    HAWSER_RETURN_IF_ERROR(Execute(kSmallStep));
    while (values_.size() > kMostValues) HAWSER_RETURN_IF_ERROR(Release());
  }
  return Fetch(/*wait=*/true);
}

absl::Status RandomProgram::Call() {
  const int module =
      static_cast<int>(random_.Below(Reference::Shared().num_modules()));
  const auto executable = Compile(module);
  if (!executable.ok()) return Judge("compile", executable.status());
  const std::vector<Literal> values =
      RandomArguments(Reference::Shared().signature(module), random_);
  const auto results =
      (*executable)
          ->Call(std::vector<Argument>(values.begin(), values.end()),
                 Patiently())
          .Await();
  if (!results.ok()) return Judge("call", results.status());
  const std::vector<Literal> expected = Reference::Shared().Run(module, values);
  for (size_t i = 0; i < expected.size(); ++i) {
    HAWSER_RETURN_IF_ERROR(Check("call", results->values[i], expected[i]));
  }
  return absl::OkStatus();
}

absl::Status RandomProgram::Upload() {
  const Shape& shape = random_.OneIn(3)   ? Large()
                       : random_.OneIn(2) ? Medium()
                                          : Small();
  const Literal value = RandomLiteral(shape, random_);
  const auto buffer = client_->Upload(value, Patiently());
  if (!buffer.ok()) return Judge("upload", buffer.status());
  values_.push_back({*buffer, value});
  return absl::OkStatus();
}

absl::Status RandomProgram::Fetch(bool wait) {
  if (values_.empty()) return absl::OkStatus();
  const Value& value = random_.Pick(values_);
  const Future<Literal> fetched = value.buffer->Fetch(Patiently());
  if (wait) return Check("fetch", fetched.Await(), value.want);
  pending_.push_back({fetched, value.want});
  return absl::OkStatus();
}

absl::Status RandomProgram::Release() {
  if (values_.empty()) return absl::OkStatus();
  values_.erase(values_.begin() +
                random_.Below(static_cast<int64_t>(values_.size())));
  return absl::OkStatus();
}

}  // namespace hawser
