// What is done with a graph before it runs, and the gradient of a loop.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/sdk/functions/control_flow.h"
#include "client/sdk/functions/grad.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/ops.h"
#include "core/autodiff/gradient_transform.h"
#include "core/ir/verifier.h"
#include "core/passes/optimize.h"
#include "core/wire/codec.h"
#include "tests/bench/cpu/work.h"

namespace hawser::bench {
namespace {

// ---- of an instruction ------------------------------------------------------

constexpr ModuleLimits kModuleLimits = {.bytes = int64_t{1} << 30,
                                        .instructions = int64_t{1} << 20,
                                        .operands = int64_t{1} << 24};
constexpr int kFewInstructions = 1000;

// A function of about so many instructions: steps of a vector and a residual,
// as layers are written.
absl::StatusOr<Module> TraceSteps(int64_t instructions) {
  constexpr int kStep = 8;  // instructions of one step, about
  sdk::Trace trace("steps", sdk::Captures::kSmallValues);
  {
    const sdk::Trace::Scope scope(&trace);
    const Shape shape = Shape::Of(DType::kF32, {64});
    const Tensor scale = trace.Parameter(shape, SourceLocation::Current());
    Tensor x = trace.Parameter(shape, SourceLocation::Current());
    for (int64_t i = 0; i < instructions; i += kStep) {
      const Tensor inner = Tanh(x * scale + 0.5f);
      x = x + inner * Exp(-x) - scale;
    }
    trace.Return({Sum(x)}, SourceLocation::Current());
  }
  return trace.Finish();
}

using Task = std::function<absl::Status(const Module&)>;

struct TaskRow {
  const char* name;
  Task task;
};

std::vector<TaskRow> Tasks() {
  return {
      {"trace",
       [](const Module& module) {
         return TraceSteps(module.num_instructions()).status();
       }},
      {"optimize",
       [](const Module& module) { return Optimize(module).status(); }},
      {"encode",
       [](const Module& module) {
         return EncodeModule(module).empty() ? Internal("nothing")
                                             : absl::OkStatus();
       }},
      {"verify",
       [](const Module& module) { return Verify(module, kModuleLimits); }},
      {"gradient",
       [](const Module& module) {
         return ValueAndGradient(module, {.parameters = {0, 1}}).status();
       }},
  };
}

absl::StatusOr<Race> RaceTask(const Setting& s, const Task& task,
                              int instructions) {
  const auto sample = [&](int64_t n) -> absl::StatusOr<Sample> {
    HAWSER_ASSIGN_OR_RETURN(Module made, TraceSteps(n));
    const auto module = std::make_shared<const Module>(std::move(made));
    return Timed([=] { return task(*module); },
                 static_cast<double>(module->num_instructions()));
  };
  HAWSER_ASSIGN_OR_RETURN(Sample ours,
                          sample(s.Size(instructions, kFewInstructions)));
  HAWSER_ASSIGN_OR_RETURN(Sample floor, sample(s.Size(kFewInstructions, 100)));
  return Race{ours, floor, [ours] { return ours().status(); }};
}

Work FlatTask(const TaskRow& row, int instructions) {
  return {
      .name = absl::StrCat(row.name, "_flat_", instructions),
      .floor = "an instruction of 1000",
      .targets = {.floor = 2},
      .prepare =
          [=](const Setting& s) { return RaceTask(s, row.task, instructions); },
      .one_thread = true,
      .has_peers = false,
      .unit = "us"};
}

// ---- the gradient of a loop -------------------------------------------------

// (w, h, xs) -> a recurrent layer over all entries of xs.
Tensor RunLayer(const Tensors& p) {
  auto [h, sums] = Scan(p[1], p[2], [&](Tensor h, Tensor x) {
    const Tensor next = Tanh(Dot(h, p[0]) + x);
    return std::pair<Tensor, Tensor>(next, Sum(next));
  });
  return Sum(sums) + Sum(h);
}

// Beside the forward pass of the same layer.
absl::StatusOr<Race> RaceScanGradient(const Setting& s) {
  const int64_t turns = s.Size(400, 5), batch = 32, width = s.Size(128, 4);
  const std::vector<Literal> arguments = {
      RandomFloats({width, width}, -0.1f, 0.1f),
      RandomFloats({batch, width}, -1, 1),
      RandomFloats({turns, batch, width}, -1, 1)};
  const auto forward = [](const Tensors& p) -> Tensors {
    return {RunLayer(p)};
  };
  const auto both = [](const Tensors& p) -> Tensors {
    const auto [value, gradient] = ValueAndGrad([&](Tensor w) {
      return RunLayer({w, p[1], p[2]});
    })(p[0]);
    return {value, gradient};
  };
  HAWSER_ASSIGN_OR_RETURN(const Resident ours,
                          Resident::Make(s, both, arguments));
  HAWSER_ASSIGN_OR_RETURN(const Resident floor,
                          Resident::Make(s, forward, arguments));
  return Race{.ours = Timed([ours] { return ours.Run(); }),
              .floor = Timed([floor] { return floor.Run(); }),
              .check = [=]() -> absl::Status {
                HAWSER_ASSIGN_OR_RETURN(const auto value, floor.Values());
                HAWSER_ASSIGN_OR_RETURN(const auto got, ours.Values());
                return Near<float>(got[0], {value[0].data<float>().data(), 1},
                                   {.absolute = 1e-2, .relative = 1e-4});
              }};
}

}  // namespace

std::vector<Work> GraphWorks() {
  std::vector<Work> works = {
      {.name = "scan_gradient",
       .floor = "the forward pass of its 400 turns",
       .targets = {.floor = 4},
       .prepare = RaceScanGradient,
       .has_peers = false},
  };
  for (const TaskRow& row : Tasks()) {
    for (const int n : {10000, 100000}) works.push_back(FlatTask(row, n));
  }
  return works;
}

}  // namespace hawser::bench
