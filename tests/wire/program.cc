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

// One run of it. Buffers are kept until its end, so that nothing is given back
// before.
class WireProgram {
 public:
  explicit WireProgram(runtime::Client& client) : client_(client) {}

  absl::Status Run() {
    HAWSER_ASSIGN_OR_RETURN(step_, client_.Compile(StepModule(), {}, {}));
    HAWSER_RETURN_IF_ERROR(Steps());
    HAWSER_RETURN_IF_ERROR(Types());
    HAWSER_RETURN_IF_ERROR(Datasets());
    HAWSER_ASSIGN_OR_RETURN(const auto called,
                            step_->Call({{a_, a_, b_}}, {}).Await());
    values_.push_back(called.values[0]);
    return client_.Ping({});
  }
  std::vector<Literal> values() { return std::move(values_); }

 private:
  absl::Status Fetch(const BufferPtr& buffer) {
    kept_.push_back(buffer);
    HAWSER_ASSIGN_OR_RETURN(values_.emplace_back(), buffer->Fetch({}).Await());
    return absl::OkStatus();
  }

  // Values that stay, that come back and that are given away.
  absl::Status Steps() {
    HAWSER_ASSIGN_OR_RETURN(
        const auto both,
        client_.Compile(SumAndProductModule(),
                        {.numerics = runtime::Numerics::kStrict}, {}));
    HAWSER_ASSIGN_OR_RETURN(const BufferPtr w, client_.Upload(a_, {}));
    HAWSER_RETURN_IF_ERROR(Fetch(w));
    HAWSER_ASSIGN_OR_RETURN(const auto one, step_->Execute({{w, a_, b_}}, {}));
    HAWSER_RETURN_IF_ERROR(Fetch(one[0]));
    HAWSER_ASSIGN_OR_RETURN(const auto two,
                            step_->Execute({{one[0], a_, b_}}, {}));
    HAWSER_RETURN_IF_ERROR(Fetch(two[0]));
    HAWSER_ASSIGN_OR_RETURN(pair_, both->Execute({{two[0], a_}}, {}));
    HAWSER_RETURN_IF_ERROR(Fetch(pair_[0]));
    HAWSER_RETURN_IF_ERROR(Fetch(pair_[1]));
    HAWSER_ASSIGN_OR_RETURN(
        const auto given,
        step_->Execute({{two[0], a_, b_}}, {.call = {}, .donated = {0}}));
    return Fetch(given[0]);
  }

  // Every dtype, and a value that is asked for by itself.
  absl::Status Types() {
    HAWSER_ASSIGN_OR_RETURN(const auto types,
                            client_.Compile(EveryDType(), {}, {}));
    std::vector<Argument> every;
    for (const DType dtype : kDTypes) every.emplace_back(Counting(dtype));
    HAWSER_ASSIGN_OR_RETURN(const auto same, types->Execute(every, {}));
    for (const BufferPtr& buffer : same) HAWSER_RETURN_IF_ERROR(Fetch(buffer));
    HAWSER_ASSIGN_OR_RETURN(const auto spread,
                            client_.Compile(Spread(), {}, {}));
    HAWSER_ASSIGN_OR_RETURN(const auto wide,
                            spread->Execute({{Literal::Scalar(2.5f)}}, {}));
    return Fetch(wide[0]);
  }

  // A dataset of values, each verb, and a step on one of its arrays.
  absl::Status Datasets() {
    runtime::Datasets& datasets = client_.datasets();
    HAWSER_ASSIGN_OR_RETURN(
        const DatasetInfo frozen,
        datasets.Freeze({{{"product", pair_[1]}, {"sum", pair_[0]}}}, {}));
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
    HAWSER_ASSIGN_OR_RETURN(const auto of_data,
                            step_->Execute({{sum, a_, b_}}, {}));
    HAWSER_RETURN_IF_ERROR(Fetch(of_data[0]));
    return datasets.Ask(DeleteDataset{token}, {}).status();
  }

  runtime::Client& client_;
  const Literal a_ = Literal::Vector<float>({1, 2, 3, 4});
  const Literal b_ = Literal::Vector<float>({0.5f, -1, 0, 8});
  std::shared_ptr<runtime::Executable> step_;
  std::vector<BufferPtr> pair_;
  std::vector<BufferPtr> kept_;
  std::vector<Literal> values_;
};

}  // namespace

absl::StatusOr<std::vector<Literal>> RunWireProgram(runtime::Client& client) {
  WireProgram program(client);
  HAWSER_RETURN_IF_ERROR(program.Run());
  return program.values();
}

}  // namespace hawser
