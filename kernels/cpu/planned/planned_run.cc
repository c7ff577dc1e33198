#include "kernels/cpu/planned/planned_run.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/trace/trace.h"
#include "core/ops/windows/convolution.h"
#include "kernels/cpu/planned/boxed_loops.h"
#include "kernels/cpu/products/convolution.h"
#include "kernels/cpu/products/dot.h"
#include "kernels/cpu/tiles/tile_runner.h"
#include "kernels/plan/steps/step_builder.h"

namespace hawser::cpu {
namespace {

using plan::Slot;

// A work that runs so often in loops is expected to run again: making its tiles
// ready takes about as long as three of their runs.
constexpr int kFewRuns = 3;
// At most so many works have tiles of their own, of a few KiB each.
constexpr int kMostRepeated = 256;

// Memory that a run holds.
std::shared_ptr<char> Borrowed(char* memory) {
  return {std::shared_ptr<char>(), memory};
}

std::string NameOf(const Module& module, const RegionWork& work) {
  return plan::NameOf(
      module,
      module.computation(work.computation).instructions()[work.instruction]);
}

// Names where an error arose. A caller's own cancel or deadline is not the
// instruction's fault and stays as it is.
absl::Status In(const Module& module, const RegionWork& work,
                const absl::Status& status) {
  if (status.ok() || absl::IsCancelled(status) ||
      absl::IsDeadlineExceeded(status)) {
    return status;
  }
  return Annotate(status, absl::StrCat("instruction ", NameOf(module, work)));
}

// Each of an iteration's numbers in a line of its own.
int64_t NumberBytes(const LoopWork& work) {
  return static_cast<int64_t>(work.changing.size()) * kNumberBytes;
}

}  // namespace

absl::Status PlannedRun::RunAll(const plan::Steps& steps) {
  HAWSER_RETURN_IF_ERROR(Run(steps));
  return meter_.End();
}

absl::Status PlannedRun::Run(const plan::Steps& steps) {
  for (const plan::Step& step : steps) {
    HAWSER_RETURN_IF_ERROR(std::visit(
        [this](const auto& action) { return Do(action); }, step.action));
  }
  return absl::OkStatus();
}

absl::Status PlannedRun::Do(const plan::WorkStep& step) {
  return std::visit(
      [this](const auto& work) {
        TraceSpan span("run", IsTraced() ? NameOf(module_, work) : "");
        span.Add("bytes", work.bytes);
        span.Add("lanes", work.lanes);
        return In(module_, work, Do(work));
      },
      works_[step.work]);
}

absl::Status PlannedRun::Do(const plan::CopyStep& step) {
  TraceSpan span("run", "copy");
  span.Add("bytes", 2 * step.to.bytes);
  if (At(step.to) != At(step.from)) {
    std::memmove(At(step.to), At(step.from), step.to.bytes);
  }
  return meter_.Begin(CopySteps(step));
}

absl::Status PlannedRun::BeginIteration() {
  HAWSER_RETURN_IF_ERROR(environment_.Look(kIterationSteps));
  environment_.BetweenIterations();
  return absl::OkStatus();
}

absl::Status PlannedRun::Do(const plan::LoopStep& step) {
  repeats_.resize(works_.size());
  for (int64_t iteration = 0; !step.trips || iteration < *step.trips;
       ++iteration) {
    HAWSER_RETURN_IF_ERROR(BeginIteration());
    if (!step.trips) {
      HAWSER_RETURN_IF_ERROR(Run(step.condition));
      if (*At(step.predicate) == 0) break;
    }
    HAWSER_RETURN_IF_ERROR(Run(step.body));
  }
  return absl::OkStatus();
}

absl::Status PlannedRun::Do(const plan::CaseStep& step) {
  int32_t which;
  std::memcpy(&which, At(step.index), sizeof(which));
  const auto last = static_cast<int32_t>(step.branches.size()) - 1;
  return Run(step.branches[which < 0 || which > last ? last : which]);
}

RepeatedTiles* PlannedRun::FindRepeated(const RegionWork& work) {
  if (repeats_.empty()) return nullptr;
  RepeatedTiles& tiles = repeats_[work.number].tiles;
  return tiles.valid() ? &tiles : nullptr;
}

absl::Status PlannedRun::CountRun(const RegionWork& work,
                                  const TileProgram& program,
                                  absl::Span<char* const> operands) {
  if (repeats_.empty() || ++repeats_[work.number].runs != kFewRuns ||
      num_repeated_ == kMostRepeated) {
    return absl::OkStatus();
  }
  auto tiles =
      RepeatedTiles::Make(program, operands, At(work.results), environment_);
  // The work runs without them, too.
  if (absl::IsResourceExhausted(tiles.status())) return absl::OkStatus();
  HAWSER_RETURN_IF_ERROR(tiles.status());
  num_repeated_ += tiles->valid() ? 1 : 0;
  repeats_[work.number].tiles = *std::move(tiles);
  return absl::OkStatus();
}

absl::Status PlannedRun::Do(const TileWork& work) {
  if (RepeatedTiles* repeated = FindRepeated(work)) {
    return repeated->Run(meter_);
  }
  const auto operands = At(work.operands);
  HAWSER_RETURN_IF_ERROR(CountRun(work, *work.program, operands));
  return RunTiles(*work.program, operands, At(work.results), environment_);
}

absl::Status PlannedRun::Do(const ProductWork& work) {
  const ProductTail& tail = *work.tail;
  const Computation& body = module_.computation(tail.body());
  const Instruction& dot = body.instructions()[tail.dot()];
  absl::InlinedVector<Literal, 2> factors;
  for (const int k : tail.factors()) {
    factors.push_back(
        Literal::Adopt(body.shape(k), Borrowed(At(work.operands[k]))));
  }
  char* product = At(work.results[0]);
  Literal apart;
  if (!tail.in_place()) {
    HAWSER_ASSIGN_OR_RETURN(
        apart, environment_.allocator->Allocate(body.shape(dot.first_result),
                                                environment_.memory));
    product = apart.mutable_bytes().data();
  }
  auto operands = At(work.operands);
  operands.push_back(product);
  char* const results[] = {At(work.results[0])};
  Environment alone = environment_;  // a box is one thread's
  alone.pool = nullptr;
  const GemmTail box_tail = [&](const GemmBox& box) {
    return RunTiles(tail.program(), operands, results, alone,
                    tail.LoopsOf(box));
  };
  const auto no_call = [](int, std::vector<Literal>) {
    return absl::StatusOr<std::vector<Literal>>(
        Internal("a product calls nothing"));
  };
  const auto run = dot.op == &kConvolution ? RunConvolution : RunProduct;
  // A short tail that is run again takes the whole product at once.
  RepeatedTiles* const repeated = FindRepeated(work);
  if (repeated == nullptr && tail.in_place()) {
    HAWSER_RETURN_IF_ERROR(CountRun(work, tail.program(), operands));
  }
  const bool by_boxes = tail.by_boxes() && repeated == nullptr;
  HAWSER_RETURN_IF_ERROR(run({*FindCpuKernel(*dot.op), module_, body, dot,
                              absl::MakeSpan(factors), environment_, no_call,
                              /*given=*/{}, /*use=*/{}, /*lanes=*/{},
                              rows_.FormOf(tail.body(), tail.dot())},
                             product, by_boxes ? &box_tail : nullptr));
  if (by_boxes) return absl::OkStatus();
  if (repeated != nullptr) return repeated->Run(meter_);
  return RunTiles(tail.program(), operands, results, environment_);
}

absl::Status PlannedRun::Do(const LoopWork& work) {
  repeats_.resize(works_.size());
  const int64_t most = std::min(work.trips, work.iterations);
  HAWSER_ASSIGN_OR_RETURN(Literal numbers,
                          environment_.allocator->Allocate(
                              Shape::Of(DType::kU8, {most * NumberBytes(work)}),
                              environment_.memory));
  for (int64_t done = 0; done < work.trips; done += most) {
    HAWSER_RETURN_IF_ERROR(BeginIteration());
    HAWSER_RETURN_IF_ERROR(TakeIterations(work,
                                          std::min(most, work.trips - done),
                                          numbers.mutable_bytes().data()));
  }
  return absl::OkStatus();
}

absl::Status PlannedRun::TakeIterations(const LoopWork& work,
                                        int64_t iterations, char* numbers) {
  const int64_t bytes = NumberBytes(work);
  for (int64_t iteration = 0; iteration < iterations; ++iteration) {
    HAWSER_RETURN_IF_ERROR(environment_.Look(kIterationSteps));
    HAWSER_RETURN_IF_ERROR(Run(work.before));
    char* to = numbers + iteration * bytes;
    for (const int k : work.changing) {
      const Slot& slot = work.operands[k];
      std::memcpy(to, At(slot), slot.bytes);
      to += kNumberBytes;
    }
    HAWSER_RETURN_IF_ERROR(Run(work.after));
  }
  const auto operands = At(work.operands), results = At(work.results);
  Environment alone = environment_;  // a box is one thread's
  alone.pool = nullptr;
  const LoopBoxes boxes(work);
  return ForEachBlock(
      environment_.pool, boxes.count(), environment_.cancel,
      [&](int64_t box) -> absl::Status {
        absl::InlinedVector<char*, 8> of_iteration = operands;
        const auto ranges = boxes.At(box);
        for (int64_t iteration = 0; iteration < iterations; ++iteration) {
          char* number = numbers + iteration * bytes;
          for (const int k : work.changing) {
            of_iteration[k] = number;
            number += kNumberBytes;
          }
          HAWSER_RETURN_IF_ERROR(
              RunTiles(*work.program, of_iteration, results, alone, ranges));
        }
        return absl::OkStatus();
      });
}

absl::Status PlannedRun::Do(const RowWork& work) {
  const Computation& c = module_.computation(work.row_computation);
  const Instruction& i = c.instructions()[work.row_instruction];
  const bool may_write = work.results.size() == 1;
  absl::InlinedVector<Literal, 4> operands, given;
  for (size_t k = 0; k < work.operands.size(); ++k) {
    if (k < work.constants.size() && work.constants[k].has_value()) {
      operands.push_back(*work.constants[k]);
      continue;
    }
    char* const memory = At(work.operands[k]);
    const Shape& shape = c.shape(i.operands[k]);
    // Its own reference, so that it is a sole holder's.
    operands.push_back(
        may_write && memory == At(work.results[0])
            ? Literal::AdoptWritable(
                  shape, std::shared_ptr<char>(memory, [](const char*) {}))
            : Literal::Adopt(shape, Borrowed(memory)));
  }
  for (size_t r = 0; r < work.results.size(); ++r) {
    given.push_back(Literal::AdoptWritable(
        c.shape(i.first_result + static_cast<int>(r)),
        std::shared_ptr<char>(At(work.results[r]), [](const char*) {})));
  }
  HAWSER_ASSIGN_OR_RETURN(
      const Literals results,
      rows_.RunInstruction(work.row_computation, work.row_instruction,
                           absl::MakeSpan(operands), absl::MakeSpan(given),
                           work.use, environment_));
  for (size_t r = 0; r < work.results.size(); ++r) {
    const auto bytes = results[r].bytes();
    if (bytes.empty() || bytes.data() == At(work.results[r])) continue;
    std::memcpy(At(work.results[r]), bytes.data(), bytes.size());
  }
  return absl::OkStatus();
}

}  // namespace hawser::cpu
