#include "kernels/cpu/planned/boxed_loops.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "kernels/cpu/planned/planned_run.h"

namespace hawser::cpu {
namespace {

using plan::Slot;

// A box and its constants may take so much of the second cache.
constexpr int64_t kBoxBytes = 192 << 10;
// Iterations a box takes before the next one does: others are made way for
// between them, and the numbers of each iteration are kept meanwhile.
constexpr double kBoxSteps = 3e7;
constexpr int64_t kFewestIterations = 16, kMostIterations = 1024;

bool OverlapsAny(const Slot& a, absl::Span<const Slot> others) {
  return absl::c_any_of(others, [&](const Slot& b) { return Overlap(a, b); });
}

// An iteration: the region that may be boxed, and what is done besides.
struct Iteration {
  int boxed = -1;  // a number of `works`
  plan::Steps before, after;
  std::vector<Slot> read, written;  // besides
};

const plan::Region& RegionOf(const plan::Plan& plan, const RegionWork& work) {
  return plan.computations[work.computation].regions[work.instruction];
}

// nullopt unless one region makes all arrays, without folds.
std::optional<Iteration> IterationOf(const plan::Steps& body,
                                     const std::vector<Work>& works) {
  Iteration iteration;
  const auto is_small = [](absl::Span<const Slot> slots) {
    return absl::c_all_of(
        slots, [](const Slot& s) { return s.bytes <= kNumberBytes; });
  };
  for (const plan::Step& step : body) {
    std::vector<Slot> read, written;
    if (const auto* work = std::get_if<plan::WorkStep>(&step.action)) {
      const RegionWork& region =
          std::visit([](const auto& w) -> const RegionWork& { return w; },
                     works[work->work]);
      if (!is_small(region.results)) {
        const auto* tiles = std::get_if<TileWork>(&works[work->work]);
        if (tiles == nullptr || iteration.boxed >= 0 ||
            !tiles->program->reductions.empty()) {
          return std::nullopt;
        }
        iteration.boxed = work->work;
        continue;
      }
      read.assign(region.operands.begin(), region.operands.end());
      written.assign(region.results.begin(), region.results.end());
    } else if (const auto* copy = std::get_if<plan::CopyStep>(&step.action)) {
      read = {copy->from};
      written = {copy->to};
    }
    if (written.empty() || !is_small(written)) return std::nullopt;
    absl::c_copy(read, std::back_inserter(iteration.read));
    absl::c_copy(written, std::back_inserter(iteration.written));
    (iteration.boxed < 0 ? iteration.before : iteration.after).push_back(step);
  }
  if (iteration.boxed < 0) return std::nullopt;
  return iteration;
}

// True if each element that the region reads of its own results is the one that
// the same iteration writes.
bool ReadsItsOwn(const plan::Region& region, const RegionWork& work) {
  const auto stored = [&](int result) {
    return absl::c_find_if(region.accesses, [&](const plan::MemoryAccess& a) {
      return a.result == result;
    });
  };
  for (const plan::MemoryAccess& load : region.accesses) {
    if (load.operand < 0) continue;
    const Slot& from = work.operands[load.operand];
    for (size_t r = 0; r < work.results.size(); ++r) {
      if (!Overlap(from, work.results[r])) continue;
      const auto store = stored(static_cast<int>(r));
      if (from != work.results[r] || store == region.accesses.end() ||
          load.offset != store->offset) {
        return false;
      }
    }
  }
  return true;
}

double IterationsOf(const TileProgram& program) {
  double iterations = 1;
  for (const TileLoop& loop : program.outer) {
    iterations *= static_cast<double>(loop.extent);
  }
  return iterations;
}

// Bytes of distinct memory that an iteration reads and writes.
int64_t BytesOf(const RegionWork& work) {
  int64_t bytes = 0;
  for (const Slot& slot : work.results) bytes += slot.bytes;
  for (const Slot& slot : work.operands) {
    if (!absl::c_linear_search(work.results, slot)) bytes += slot.bytes;
  }
  return bytes;
}

// nullopt for a loop that is no such loop, or so small that caches hold it.
std::optional<LoopWork> BoxedLoop(const plan::Plan& plan,
                                  const plan::LoopStep& loop,
                                  const Iteration& iteration,
                                  const TileWork& boxed,
                                  const TileOptions& options) {
  const plan::Region& region = RegionOf(plan, boxed);
  const bool apart = absl::c_none_of(boxed.results, [&](const Slot& slot) {
    return OverlapsAny(slot, iteration.read) ||
           OverlapsAny(slot, iteration.written);
  });
  if (!apart || *loop.trips < 2 || BytesOf(boxed) <= 2 * kBoxBytes ||
      !ReadsItsOwn(region, boxed)) {
    return std::nullopt;
  }
  LoopWork work;
  static_cast<RegionWork&>(work) = boxed;
  for (size_t k = 0; k < boxed.operands.size(); ++k) {
    if (!OverlapsAny(boxed.operands[k], iteration.written)) continue;
    if (boxed.operands[k].bytes > kNumberBytes) return std::nullopt;
    work.changing.push_back(static_cast<int>(k));
  }
  TileOptions of_boxes = options;
  of_boxes.boxes = true;
  of_boxes.is_read_again = true;
  auto program = MakeTileProgram(plan.module, region, of_boxes);
  if (!program.ok()) return std::nullopt;
  work.program = std::make_shared<const TileProgram>(*std::move(program));
  work.trips = *loop.trips;
  work.iterations = std::clamp(static_cast<int64_t>(kBoxSteps / boxed.steps),
                               kFewestIterations, kMostIterations);
  const auto trips = static_cast<double>(work.trips);
  const auto besides =
      static_cast<double>(iteration.before.size() + iteration.after.size());
  work.steps = trips * (boxed.steps + (1 + besides) * kIterationSteps);
  work.lanes *= work.trips;
  work.bytes *= (work.trips - 1) / work.iterations + 1;
  work.before = iteration.before;
  work.after = iteration.after;
  work.box_iterations = std::max<int64_t>(
      boxed.program->ny * boxed.program->nx,
      static_cast<int64_t>(static_cast<double>(kBoxBytes) /
                           static_cast<double>(BytesOf(boxed)) *
                           IterationsOf(*boxed.program)));
  return work;
}

}  // namespace

void BoxLoops(const plan::Plan& plan, const TileOptions& options,
              plan::Steps* steps, std::vector<Work>* works) {
  for (plan::Step& step : *steps) {
    if (auto* choice = std::get_if<plan::CaseStep>(&step.action)) {
      for (plan::Steps& branch : choice->branches) {
        BoxLoops(plan, options, &branch, works);
      }
    }
    auto* loop = std::get_if<plan::LoopStep>(&step.action);
    if (loop == nullptr) continue;
    BoxLoops(plan, options, &loop->condition, works);
    BoxLoops(plan, options, &loop->body, works);
    if (!loop->trips) continue;
    const std::optional<Iteration> iteration = IterationOf(loop->body, *works);
    if (!iteration) continue;
    std::optional<LoopWork> work =
        BoxedLoop(plan, *loop, *iteration,
                  std::get<TileWork>((*works)[iteration->boxed]), options);
    if (!work) continue;
    (*works)[iteration->boxed] = *std::move(work);
    step.action = plan::WorkStep{iteration->boxed};
  }
}

LoopBoxes::LoopBoxes(const LoopWork& work)
    : loops_(work.program->outer.begin(), work.program->outer.end()) {
  int64_t iterations = 1;
  for (size_t d = loops_.size(); d-- > 0;) {
    TileLoop& loop = loops_[d];
    int64_t size =
        std::clamp<int64_t>(work.box_iterations / iterations, 1, loop.extent);
    if (size < loop.extent && size > loop.chunk) size -= size % loop.chunk;
    loop.chunk = size;
    iterations *= size;
    count_ *= loop.chunks();
  }
}

absl::InlinedVector<LoopRange, 4> LoopBoxes::At(int64_t box) const {
  absl::InlinedVector<LoopRange, 4> ranges(loops_.size());
  for (size_t d = loops_.size(); d-- > 0;) {
    const TileLoop& loop = loops_[d];
    const int64_t begin = box % loop.chunks() * loop.chunk;
    box /= loop.chunks();
    ranges[d] = {begin, std::min(loop.chunk, loop.extent - begin)};
  }
  return ranges;
}

}  // namespace hawser::cpu
