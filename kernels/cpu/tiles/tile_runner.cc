#include "kernels/cpu/tiles/tile_runner.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/base/status.h"
#include "core/base/threads/thread_pool.h"
#include "kernels/cpu/folds/tiles/fold_parts.h"

namespace hawser::cpu {
namespace {

// Fewer iterations of the kept loops than these leave threads idle where the
// reduced ones are long.
constexpr int64_t kFewIterations = 16;
// Blocks that iterations are dealt out in, as a worker makes its tile ready for
// each.
constexpr int64_t kMostBlocks = 64;
constexpr int64_t kLine = 64;
// Memory that a thread keeps for tiles, as it keeps its stack; larger memory
// belongs to the run.
constexpr int64_t kThreadBytes = 64 << 10;

using TileLoops = absl::InlinedVector<TileLoop, 4>;
using TileFolds = absl::InlinedVector<TileFold, 4>;

// Memory of the calling thread.
char* ThreadMemory() {
  struct Line {
    alignas(kLine) char bytes[kLine];
  };
  thread_local const auto lines =
      std::make_unique<Line[]>(kThreadBytes / kLine);
  return lines[0].bytes;
}

void Do(const TileSteps& steps, Tile& tile) {
  for (const auto& step : steps) step->Do(tile);
}

// The loops, cut to the box.
TileLoops LoopsWithin(absl::Span<const LoopRange> box,
                      const std::vector<TileLoop>& loops) {
  TileLoops within(loops.begin(), loops.end());
  if (box.empty()) return within;
  for (TileLoop& loop : within) {
    loop.begin = box[loop.loop].begin;
    loop.extent = box[loop.loop].size;
    loop.inner = {};
  }
  return within;
}

// Moves the tile to an iteration of `loops`.
void SetLoops(absl::Span<const TileLoop> loops, int64_t iteration, Tile& tile) {
  for (size_t k = loops.size(); k-- > 0;) {
    const TileLoop& loop = loops[k];
    const int64_t chunks = loop.chunks();
    const auto [begin, end] = loop.Chunk(iteration % chunks);
    iteration /= chunks;
    tile.loops[loop.loop] = begin;
    if (loop.loop == tile.lane_loops.y) tile.ny = end - begin;
    if (loop.loop == tile.lane_loops.x) tile.nx = end - begin;
  }
}

// Memory for a tile's slots and indices: the thread's, or the run's.
class TileMemory {
 public:
  // Errors: kResourceExhausted.
  static absl::StatusOr<TileMemory> Make(const TileProgram& program,
                                         const Environment& environment) {
    const int64_t lanes = program.ny * program.nx;
    const int64_t bytes = program.slot_bytes + kLine +
                          lanes * static_cast<int64_t>(sizeof(int64_t));
    TileMemory memory;
    if (bytes > kThreadBytes) {
      HAWSER_ASSIGN_OR_RETURN(
          memory.own_, environment.allocator->Allocate(
                           Shape::Of(DType::kU8, {bytes}), environment.memory));
    }
    return memory;
  }
  // The memory of the thread that made it.
  char* data() {
    return own_.valid() ? own_.mutable_bytes().data() : ThreadMemory();
  }

 private:
  Literal own_;  // not valid: the thread's
};

// One run of a program. Const: workers share it.
class TileRun {
 public:
  TileRun(const TileProgram& program, absl::Span<char* const> operands,
          absl::Span<char* const> results, const Environment& environment,
          absl::Span<const LoopRange> box)
      : program_(program),
        operands_(operands),
        results_(results),
        environment_(environment),
        outer_(LoopsWithin(box, program.outer)),
        iterations_(IterationsOf(outer_)),
        segments_(program.inner, program.way, program.lane_loops),
        parts_(program.reductions, program.way, segments_) {}

  absl::Status Run() const {
    if (iterations_ == 0) return absl::OkStatus();
    const auto lanes = static_cast<double>(program_.ny * program_.nx);
    const auto inner = static_cast<double>(segments_.iterations());
    const double steps = lanes * program_.lane_steps * std::max(inner, 1.0);
    const bool long_folds =
        program_.passes.size() == 1 && iterations_ < kFewIterations &&
        segments_.count() > 1 && steps > 2 * kParallelElements;
    if (long_folds) return RunLongFolds();
    const auto group = std::max<int64_t>(
        {static_cast<int64_t>(kParallelElements / std::max(steps, 1.0)),
         iterations_ / kMostBlocks, 1});
    const auto run = [&](int64_t b) {
      return RunIterations(b * group, std::min((b + 1) * group, iterations_));
    };
    return ForEachBlock(environment_.pool, (iterations_ - 1) / group + 1,
                        environment_.cancel, run);
  }

 private:
  // Makes the thread's tile ready, in `memory`.
  Tile& Begin(char* memory) const {
    thread_local Tile tile;
    tile.operands = operands_;
    tile.results = results_;
    tile.loops.assign(program_.num_loops, 0);
    tile.lane_loops = program_.lane_loops;
    tile.ny = program_.ny;
    tile.nx = program_.nx;
    tile.memory.clear();
    for (const int64_t offset : program_.slots) {
      tile.memory.push_back(memory + offset);
    }
    tile.values.assign(tile.memory.begin(), tile.memory.end());
    tile.indices = reinterpret_cast<int64_t*>(
        memory + (program_.slot_bytes + kLine - 1) / kLine * kLine);
    tile.symbols.assign(program_.num_symbols, {});
    tile.scopes.assign(program_.num_scopes, {});
    tile.folds.assign(program_.reductions.size(), {});
    Do(program_.once, tile);
    return tile;
  }

  absl::Status RunIterations(int64_t begin, int64_t end) const {
    HAWSER_ASSIGN_OR_RETURN(TileMemory memory,
                            TileMemory::Make(program_, environment_));
    Tile& tile = Begin(memory.data());
    WorkMeter meter(environment_);
    thread_local std::vector<double> parts;  // as aligned as any accumulator
    for (int64_t iteration = begin; iteration < end; ++iteration) {
      SetLoops(outer_, iteration, tile);
      Do(program_.before, tile);
      parts_.Place(tile, parts);
      for (const TileProgram::Pass& pass : program_.passes) {
        HAWSER_RETURN_IF_ERROR(
            RunPass(pass, 0, segments_.count(), tile, meter));
        parts_.Finish(pass.reductions, tile);
        Do(pass.after, tile);
      }
    }
    return meter.End();
  }

  // One iteration of the kept loops after the other, each by several threads.
  absl::Status RunLongFolds() const {
    const TileProgram::Pass& pass = program_.passes[0];
    std::vector<double> parts;
    for (int64_t iteration = 0; iteration < iterations_; ++iteration) {
      Tile sizes;
      sizes.loops.assign(program_.num_loops, 0);
      sizes.lane_loops = program_.lane_loops;
      SetLoops(outer_, iteration, sizes);
      sizes.folds.assign(program_.reductions.size(), {});
      parts_.Place(sizes, parts);
      const double segment = static_cast<double>(program_.ny * program_.nx) *
                             program_.lane_steps *
                             static_cast<double>(segments_.iterations()) /
                             static_cast<double>(segments_.count());
      const auto group = std::max<int64_t>(
          static_cast<int64_t>(kParallelElements / segment), 1);
      const auto begin = [&](char* memory) -> Tile& {
        Tile& tile = Begin(memory);
        SetLoops(outer_, iteration, tile);
        tile.folds = sizes.folds;
        Do(program_.before, tile);
        return tile;
      };
      HAWSER_RETURN_IF_ERROR(ForEachBlock(
          environment_.pool, (segments_.count() - 1) / group + 1,
          environment_.cancel, [&](int64_t block) -> absl::Status {
            HAWSER_ASSIGN_OR_RETURN(TileMemory memory,
                                    TileMemory::Make(program_, environment_));
            WorkMeter meter(environment_);
            HAWSER_RETURN_IF_ERROR(
                RunPass(pass, block * group,
                        std::min((block + 1) * group, segments_.count()),
                        begin(memory.data()), meter));
            return meter.End();
          }));
      HAWSER_ASSIGN_OR_RETURN(TileMemory memory,
                              TileMemory::Make(program_, environment_));
      Tile& tile = begin(memory.data());
      parts_.Finish(pass.reductions, tile);
      Do(pass.after, tile);
    }
    return absl::OkStatus();
  }

  absl::Status RunPass(const TileProgram::Pass& pass, int64_t begin,
                       int64_t end, Tile& tile, WorkMeter& meter) const {
    const TileFolds folds(tile.folds.begin(), tile.folds.end());
    for (int64_t segment = begin; segment < end; ++segment) {
      parts_.SetSegment(folds, segment, tile);
      const int64_t last = segments_.Begin(segment + 1);
      for (int64_t i = segments_.Begin(segment); i < last; ++i) {
        SetLoops(program_.inner, i, tile);
        HAWSER_RETURN_IF_ERROR(meter.Begin(
            program_.lane_steps * static_cast<double>(tile.ny * tile.nx)));
        Do(pass.tile, tile);
        const int64_t rows = program_.way == FoldWay::kTiles ? 1 : tile.ny;
        for (TileFold& fold : tile.folds) fold.before += rows;
      }
    }
    tile.folds.assign(folds.begin(), folds.end());
    return absl::OkStatus();
  }

  const TileProgram& program_;
  const absl::Span<char*const> operands_, results_;
  const Environment& environment_;
  const TileLoops outer_;
  const int64_t iterations_;
  const FoldSegments segments_;
  const FoldParts parts_;
};

}  // namespace

absl::Status RunTiles(const TileProgram& program,
                      absl::Span<char* const> operands,
                      absl::Span<char* const> results,
                      const Environment& environment,
                      absl::Span<const LoopRange> box) {
  return TileRun(program, operands, results, environment, box).Run();
}

}  // namespace hawser::cpu
