#include "kernels/cpu/lane_program.h"

#include <algorithm>
#include <cstring>

#include "core/base/status.h"
#include "core/ir/leaves.h"

namespace hawser::cpu {
namespace {

// Lanes at most, and bytes of all columns at most: they should stay in cache.
constexpr int64_t kMostLanes = 256;
constexpr int64_t kMostBytes = int64_t{1} << 18;
constexpr int64_t kWidestElement = 16;
constexpr int64_t kLine = 64;

}  // namespace

ElementFn LaneProgram::LoopOfRow(const OpDef& op, const ElementTypes& types) {
  const CpuKernel* kernel = FindCpuKernel(op);
  return kernel == nullptr || kernel->element == nullptr
             ? nullptr
             : kernel->element(types);
}

std::optional<LaneProgram> LaneProgram::Make(const Computation& computation,
                                             FindLoop find) {
  LaneProgram program;
  program.num_columns_ = computation.num_values();
  for (const Instruction& i : computation.instructions()) {
    const Shape& shape = computation.shape(i.first_result);
    if (!shape.is_scalar() || i.num_results != 1) return std::nullopt;
    if (i.op == &kParameter) continue;
    if (i.op == &kConstant) {
      program.constants_.push_back(
          {i.first_result, i.attributes.GetLiteral("value")});
      continue;
    }
    absl::InlinedVector<DType, 3> dtypes;
    for (ValueId v : i.operands) dtypes.push_back(computation.shape(v).dtype());
    const ElementFn fn = find(*i.op, {dtypes, shape.dtype(), i.attributes});
    if (fn == nullptr) return std::nullopt;
    const ElementSteps& steps = FindCpuKernel(*i.op)->steps;
    int cost = steps.Of(shape.dtype());
    for (DType dtype : dtypes) cost = std::max(cost, steps.Of(dtype));
    program.steps_.push_back({fn,
                              {i.operands.begin(), i.operands.end()},
                              i.first_result,
                              static_cast<double>(cost)});
    program.cost_ += cost;
  }
  program.cost_ += computation.num_parameters();
  program.results_.assign(computation.results().begin(),
                          computation.results().end());
  const int64_t lane_bytes = program.num_columns_ * kWidestElement;
  program.lanes_ = std::clamp<int64_t>(
      kMostBytes / std::max<int64_t>(lane_bytes, 1), 1, kMostLanes);
  return program;
}

ElementFn LaneProgram::OnlyStep() const {
  if (steps_.size() != 1 || results_.size() != 1) return nullptr;
  const Step& step = steps_[0];
  const bool plain = step.operands.size() == 2 && step.operands[0] == 0 &&
                     step.operands[1] == 1 && step.result == results_[0];
  return plain ? step.fn : nullptr;
}

void LaneProgram::Prepare(LaneColumns& columns) const {
  columns.column_bytes_ = (lanes_ * kWidestElement + kLine - 1) / kLine * kLine;
  const auto lines = static_cast<size_t>(columns.column_bytes_ / kLine *
                                         std::max(num_columns_, 1));
  if (columns.memory_.size() < lines) columns.memory_.resize(lines);
  columns.at_.resize(num_columns_);
  for (int i = 0; i < num_columns_; ++i) columns.at_[i] = columns.own(i);
  for (const ConstantColumn& constant : constants_) {
    const auto bytes = constant.value.bytes();
    for (int64_t i = 0; i < lanes_; ++i) {
      std::memcpy(columns.own(constant.column) + i * bytes.size(), bytes.data(),
                  bytes.size());
    }
  }
}

absl::Status LaneProgram::Run(int64_t n, LaneColumns& columns,
                              WorkMeter* meter) const {
  const auto lanes = static_cast<double>(n);
  for (const Step& step : steps_) {
    if (meter != nullptr) {
      HAWSER_RETURN_IF_ERROR(meter->Begin(step.cost * lanes));
    }
    absl::InlinedVector<const char*, 3> in;
    for (int operand : step.operands) in.push_back(columns.at(operand));
    step.fn(in.data(), columns.own(step.result), n);
  }
  return absl::OkStatus();
}

}  // namespace hawser::cpu
