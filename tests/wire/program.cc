#include "tests/wire/program.h"

#include <memory>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ops/movement/shape.h"
#include "core/runtime/datasets.h"
#include "tests/testing/programs.h"

namespace hawser {
namespace {

using runtime::Argument;
using runtime::BufferPtr;

// Those there were when the program was written: a recording has no others.
constexpr DType kDTypes[] = {
    DType::kBool, DType::kS8,  DType::kS16, DType::kS32, DType::kS64,
    DType::kU8,   DType::kU16, DType::kU32, DType::kU64, DType::kF16,
    DType::kBF16, DType::kF32, DType::kF64, DType::kC64, DType::kC128};

// Its parameters, one of every dtype.
std::shared_ptr<const Module> EveryDType() {
  auto module = std::make_shared<Module>("every_dtype");
  ComputationBuilder builder(module.get(), "main");
  std::vector<ValueId> results;
  for (const DType dtype : kDTypes) {
    results.push_back(builder.Parameter(Shape::Of(dtype, {2})));
  }
  HAWSER_CHECK(builder.Finish(results).ok());
  return module;
}

// x: f32 -> f32[2000], which is too large to come with the answer to Execute.
std::shared_ptr<const Module> Spread() {
  auto module = std::make_shared<Module>("spread");
  ComputationBuilder builder(module.get(), "main");
  const ValueId x = builder.Parameter(Shape::Of(DType::kF32, {}));
  HAWSER_CHECK(builder
                   .Finish({builder.Add(kBroadcastInDim, {x},
                                        {{"dims", Dims{2000}},
                                         {"broadcast_dimensions", Dims{}}})})
                   .ok());
  return module;
}

// Bytes 0, 1, 2 ... but for bool, which knows two.
Literal Counting(DType dtype) {
  const Shape shape = Shape::Of(dtype, {2});
  Literal value = Literal::Zeros(shape);
  const absl::Span<char> bytes = value.mutable_bytes();
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(dtype == DType::kBool ? i % 2 : i);
  }
  return value;
}

}  // namespace

absl::StatusOr<std::vector<Literal>> RunWireProgram(runtime::Client& client) {
  const Literal a = Literal::Vector<float>({1, 2, 3, 4});
  const Literal b = Literal::Vector<float>({0.5f, -1, 0, 8});
  std::vector<Literal> values;
  std::vector<BufferPtr> kept;  // nothing is given back before the end
  const auto fetch = [&](const BufferPtr& buffer) -> absl::Status {
    kept.push_back(buffer);
    HAWSER_ASSIGN_OR_RETURN(values.emplace_back(), buffer->Fetch({}).Await());
    return absl::OkStatus();
  };

  HAWSER_ASSIGN_OR_RETURN(const auto step,
                          client.Compile(StepModule(), {}, {}));
  HAWSER_ASSIGN_OR_RETURN(
      const auto both,
      client.Compile(SumAndProductModule(),
                     {.numerics = runtime::Numerics::kStrict}, {}));
  HAWSER_ASSIGN_OR_RETURN(const BufferPtr w, client.Upload(a, {}));
  HAWSER_RETURN_IF_ERROR(fetch(w));
  HAWSER_ASSIGN_OR_RETURN(const auto one, step->Execute({{w, a, b}}, {}));
  HAWSER_RETURN_IF_ERROR(fetch(one[0]));
  HAWSER_ASSIGN_OR_RETURN(const auto two, step->Execute({{one[0], a, b}}, {}));
  HAWSER_RETURN_IF_ERROR(fetch(two[0]));
  HAWSER_ASSIGN_OR_RETURN(const auto pair, both->Execute({{two[0], a}}, {}));
  HAWSER_RETURN_IF_ERROR(fetch(pair[0]));
  HAWSER_RETURN_IF_ERROR(fetch(pair[1]));
  HAWSER_ASSIGN_OR_RETURN(
      const auto given,
      step->Execute({{two[0], a, b}}, {.call = {}, .donated = {0}}));
  HAWSER_RETURN_IF_ERROR(fetch(given[0]));

  HAWSER_ASSIGN_OR_RETURN(const auto types,
                          client.Compile(EveryDType(), {}, {}));
  std::vector<Argument> every;
  for (const DType dtype : kDTypes) every.emplace_back(Counting(dtype));
  HAWSER_ASSIGN_OR_RETURN(const auto same, types->Execute(every, {}));
  for (const BufferPtr& buffer : same) HAWSER_RETURN_IF_ERROR(fetch(buffer));

  HAWSER_ASSIGN_OR_RETURN(const auto spread, client.Compile(Spread(), {}, {}));
  HAWSER_ASSIGN_OR_RETURN(const auto wide,
                          spread->Execute({{Literal::Scalar(2.5f)}}, {}));
  HAWSER_RETURN_IF_ERROR(fetch(wide[0]));

  runtime::Datasets& datasets = client.datasets();
  HAWSER_ASSIGN_OR_RETURN(
      const DatasetInfo frozen,
      datasets.Freeze({{{"product", pair[1]}, {"sum", pair[0]}}}, {}));
  const std::string token = frozen.token;
  HAWSER_RETURN_IF_ERROR(
      datasets.Ask(DatasetTag{.name = "@wire", .token = token}, {}).status());
  HAWSER_RETURN_IF_ERROR(datasets.Ask(StatDataset{"@wire"}, {}).status());
  HAWSER_RETURN_IF_ERROR(
      datasets.Ask(PinDataset{token, absl::InfiniteDuration()}, {}).status());
  HAWSER_RETURN_IF_ERROR(datasets.Ask(DatasetQuery{}, {}).status());
  HAWSER_RETURN_IF_ERROR(datasets.Ask(QueryUsage{}, {}).status());
  HAWSER_ASSIGN_OR_RETURN(const BufferPtr sum,
                          datasets.Open({token, "sum"}, {}));
  HAWSER_ASSIGN_OR_RETURN(const auto of_data, step->Execute({{sum, a, b}}, {}));
  HAWSER_RETURN_IF_ERROR(fetch(of_data[0]));
  HAWSER_RETURN_IF_ERROR(datasets.Ask(DeleteDataset{token}, {}).status());

  HAWSER_ASSIGN_OR_RETURN(const auto called,
                          step->Call({{a, a, b}}, {}).Await());
  values.push_back(called.values[0]);
  HAWSER_RETURN_IF_ERROR(client.Ping({}));
  return values;
}

}  // namespace hawser
