#include "kernels/cpu/tiles/tile_runner.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
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
// A repeated run keeps at most so much memory, and takes about so many steps
// at most: of longer ones what is made ready is little.
constexpr int64_t kRepeatedBytes = 16 << 10;
constexpr double kRepeatedSteps = 8192;

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

// A list names steps of a program.
using StepList = std::vector<const TileStep*>;

template <typename Steps>
void Do(const Steps& steps, Tile& tile) {
  for (const auto& step : steps) step->Do(tile);
}

// It names the steps that are to be done again, by TileProgram's names.
struct StepsAgain {
  struct Pass {
    StepList tile, after;
  };
  StepList once, before;
  std::vector<Pass> passes;
};

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
    if (BytesOf(program) <= kThreadBytes) return TileMemory();
    return MakeOwn(program, environment);
  }
  // Makes memory that is the run's in any case.
  static absl::StatusOr<TileMemory> MakeOwn(const TileProgram& program,
                                            const Environment& environment) {
    TileMemory memory;
    HAWSER_ASSIGN_OR_RETURN(
        memory.own_,
        environment.allocator->Allocate(
            Shape::Of(DType::kU8, {BytesOf(program)}), environment.memory));
    return memory;
  }
  static int64_t BytesOf(const TileProgram& program) {
    const int64_t lanes = program.ny * program.nx;
    return program.slot_bytes + kLine +
           lanes * static_cast<int64_t>(sizeof(int64_t));
  }
  // The memory of the thread that made it.
  char* data() {
    return own_.valid() ? own_.mutable_bytes().data() : ThreadMemory();
  }

 private:
  Literal own_;  // not valid: the thread's
};

// It binds a program to its memory. Workers share it, each with a tile of its
// own.
class BoundTiles {
 public:
  BoundTiles(const TileProgram& program, absl::Span<char* const> operands,
             absl::Span<char* const> results, absl::Span<const LoopRange> box)
      : program_(program),
        operands_(operands),
        results_(results),
        outer_(LoopsWithin(box, program.outer)),
        iterations_(IterationsOf(outer_)),
        segments_(program.inner, program.way, program.lane_loops),
        parts_(program.reductions, program.way, segments_) {}

  // Returns about how many steps an iteration of the outer loops takes.
  double Steps() const {
    const auto lanes = static_cast<double>(program_.ny * program_.nx);
    const auto inner = static_cast<double>(segments_.iterations());
    return lanes * program_.lane_steps * std::max(inner, 1.0);
  }
  const TileProgram& program() const { return program_; }
  int64_t iterations() const { return iterations_; }
  const FoldSegments& segments() const { return segments_; }
  const FoldParts& parts() const { return parts_; }
  // Moves the tile to an iteration of the outer loops.
  void MoveTo(int64_t iteration, Tile& tile) const {
    SetLoops(outer_, iteration, tile);
  }

  // Puts the tile where its loops begin. Those of one iteration stay there.
  void BeginLoops(Tile& tile) const {
    tile.loops.assign(program_.num_loops, 0);
    tile.ny = program_.ny;
    tile.nx = program_.nx;
    if (iterations_ == 1) MoveTo(0, tile);
    if (segments_.iterations() == 1) SetLoops(program_.inner, 0, tile);
  }

  // Makes a tile ready, in `memory`.
  void Begin(char* memory, Tile& tile) const {
    tile.operands = operands_;
    tile.results = results_;
    tile.lane_loops = program_.lane_loops;
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
    BeginLoops(tile);
  }

  // Returns the steps that a tile is to do again after all iterations.
  StepsAgain StepsFor(const Tile& tile) const {
    const auto again = [&](const TileSteps& steps) {
      StepList list;
      for (const auto& step : steps) {
        if (!Stays() || !step->IsSettled(tile)) list.push_back(step.get());
      }
      return list;
    };
    StepsAgain all{again(program_.once), again(program_.before), {}};
    for (const TileProgram::Pass& pass : program_.passes) {
      all.passes.push_back({again(pass.tile), again(pass.after)});
    }
    return all;
  }

  // `steps`: the program, or StepsFor the tile, which is ready; `parts` is kept
  // for the next.
  template <typename Steps>
  absl::Status RunIterations(const Steps& steps, int64_t begin, int64_t end,
                             Tile& tile, std::vector<double>& parts,
                             WorkMeter& meter) const {
    if (!Stays()) BeginLoops(tile);
    Do(steps.once, tile);
    for (int64_t iteration = begin; iteration < end; ++iteration) {
      if (iterations_ > 1) MoveTo(iteration, tile);
      Do(steps.before, tile);
      parts_.Place(tile, parts);
      for (size_t p = 0; p < steps.passes.size(); ++p) {
        HAWSER_RETURN_IF_ERROR(
            RunPass(steps.passes[p].tile, 0, segments_.count(), tile, meter));
        parts_.Finish(program_.passes[p].reductions, tile);
        Do(steps.passes[p].after, tile);
      }
    }
    return absl::OkStatus();
  }

  // Runs segments of one pass, of the iteration that the tile is at.
  template <typename Steps>
  absl::Status RunPass(const Steps& steps, int64_t begin, int64_t end,
                       Tile& tile, WorkMeter& meter) const {
    const TileFolds folds(tile.folds.begin(), tile.folds.end());
    const bool moves = segments_.iterations() > 1;
    for (int64_t segment = begin; segment < end; ++segment) {
      parts_.SetSegment(folds, segment, tile);
      const int64_t last = segments_.Begin(segment + 1);
      for (int64_t i = segments_.Begin(segment); i < last; ++i) {
        if (moves) SetLoops(program_.inner, i, tile);
        HAWSER_RETURN_IF_ERROR(meter.Begin(
            program_.lane_steps * static_cast<double>(tile.ny * tile.nx)));
        Do(steps, tile);
        const int64_t rows = program_.way == FoldWay::kTiles ? 1 : tile.ny;
        for (TileFold& fold : tile.folds) fold.before += rows;
      }
    }
    tile.folds.assign(folds.begin(), folds.end());
    return absl::OkStatus();
  }

 private:
  // True if there is one tile.
  bool Stays() const { return iterations_ == 1 && segments_.iterations() == 1; }

  const TileProgram& program_;
  const absl::Span<char*const> operands_, results_;
  const TileLoops outer_;
  const int64_t iterations_;
  const FoldSegments segments_;
  const FoldParts parts_;
};

// It runs a program once, on several threads where that is long.
class TileRun {
 public:
  TileRun(const BoundTiles& tiles, const Environment& environment)
      : tiles_(tiles), program_(tiles.program()), environment_(environment) {}

  absl::Status Run() const {
    const int64_t iterations = tiles_.iterations();
    if (iterations == 0) return absl::OkStatus();
    const double steps = tiles_.Steps();
    const bool long_folds =
        program_.passes.size() == 1 && iterations < kFewIterations &&
        tiles_.segments().count() > 1 && steps > 2 * kParallelElements;
    if (long_folds) return RunLongFolds();
    const auto group = std::max<int64_t>(
        {static_cast<int64_t>(kParallelElements / std::max(steps, 1.0)),
         iterations / kMostBlocks, 1});
    const auto run = [&](int64_t b) -> absl::Status {
      HAWSER_ASSIGN_OR_RETURN(TileMemory memory,
                              TileMemory::Make(program_, environment_));
      thread_local Tile tile;
      thread_local std::vector<double> parts;  // as aligned as any accumulator
      tiles_.Begin(memory.data(), tile);
      WorkMeter meter(environment_);
      HAWSER_RETURN_IF_ERROR(tiles_.RunIterations(
          program_, b * group, std::min((b + 1) * group, iterations), tile,
          parts, meter));
      return meter.End();
    };
    return ForEachBlock(environment_.pool, (iterations - 1) / group + 1,
                        environment_.cancel, run);
  }

 private:
  // One iteration of the kept loops after the other, each by several threads.
  absl::Status RunLongFolds() const {
    const TileProgram::Pass& pass = program_.passes[0];
    const int64_t count = tiles_.segments().count();
    std::vector<double> parts;
    for (int64_t iteration = 0; iteration < tiles_.iterations(); ++iteration) {
      Tile sizes;
      sizes.loops.assign(program_.num_loops, 0);
      sizes.lane_loops = program_.lane_loops;
      tiles_.MoveTo(iteration, sizes);
      sizes.folds.assign(program_.reductions.size(), {});
      tiles_.parts().Place(sizes, parts);
      const double segment = tiles_.Steps() / static_cast<double>(count);
      const auto group = std::max<int64_t>(
          static_cast<int64_t>(kParallelElements / segment), 1);
      const auto begin = [&](char* memory) -> Tile& {
        thread_local Tile tile;
        tiles_.Begin(memory, tile);
        Do(program_.once, tile);
        tiles_.MoveTo(iteration, tile);
        tile.folds = sizes.folds;
        Do(program_.before, tile);
        return tile;
      };
      HAWSER_RETURN_IF_ERROR(ForEachBlock(
          environment_.pool, (count - 1) / group + 1, environment_.cancel,
          [&](int64_t block) -> absl::Status {
            HAWSER_ASSIGN_OR_RETURN(TileMemory memory,
                                    TileMemory::Make(program_, environment_));
            WorkMeter meter(environment_);
            HAWSER_RETURN_IF_ERROR(tiles_.RunPass(
                pass.tile, block * group, std::min((block + 1) * group, count),
                begin(memory.data()), meter));
            return meter.End();
          }));
      HAWSER_ASSIGN_OR_RETURN(TileMemory memory,
                              TileMemory::Make(program_, environment_));
      Tile& tile = begin(memory.data());
      tiles_.parts().Finish(pass.reductions, tile);
      Do(pass.after, tile);
    }
    return absl::OkStatus();
  }

  const BoundTiles& tiles_;
  const TileProgram& program_;
  const Environment& environment_;
};

}  // namespace

absl::Status RunTiles(const TileProgram& program,
                      absl::Span<char* const> operands,
                      absl::Span<char* const> results,
                      const Environment& environment,
                      absl::Span<const LoopRange> box) {
  const BoundTiles tiles(program, operands, results, box);
  return TileRun(tiles, environment).Run();
}

// ---- repeated runs ----------------------------------------------------------

struct RepeatedTiles::State {
  State(const TileProgram& program, absl::Span<char* const> operand_memory,
        absl::Span<char* const> result_memory, TileMemory tile_memory)
      : operands(operand_memory.begin(), operand_memory.end()),
        results(result_memory.begin(), result_memory.end()),
        memory(std::move(tile_memory)),
        tiles(program, operands, results, {}) {
    tiles.Begin(memory.data(), tile);
  }

  const absl::InlinedVector<char*, 8> operands, results;
  TileMemory memory;
  const BoundTiles tiles;
  Tile tile;
  std::vector<double> parts;
  std::optional<StepsAgain> again;  // after the first run
};

RepeatedTiles::RepeatedTiles() = default;
RepeatedTiles::RepeatedTiles(RepeatedTiles&&) = default;
RepeatedTiles& RepeatedTiles::operator=(RepeatedTiles&&) = default;
RepeatedTiles::~RepeatedTiles() = default;

absl::StatusOr<RepeatedTiles> RepeatedTiles::Make(
    const TileProgram& program, absl::Span<char* const> operands,
    absl::Span<char* const> results, const Environment& environment) {
  const BoundTiles once(program, operands, results, {});
  RepeatedTiles repeated;
  if (TileMemory::BytesOf(program) > kRepeatedBytes || once.iterations() == 0 ||
      once.Steps() * static_cast<double>(once.iterations()) > kRepeatedSteps) {
    return repeated;
  }
  HAWSER_ASSIGN_OR_RETURN(TileMemory memory,
                          TileMemory::MakeOwn(program, environment));
  repeated.state_ =
      std::make_unique<State>(program, operands, results, std::move(memory));
  return repeated;
}

absl::Status RepeatedTiles::Run(WorkMeter& meter) {
  State& state = *state_;
  const BoundTiles& tiles = state.tiles;
  const int64_t end = tiles.iterations();
  if (state.again.has_value()) {
    return tiles.RunIterations(*state.again, 0, end, state.tile, state.parts,
                               meter);
  }
  HAWSER_RETURN_IF_ERROR(tiles.RunIterations(tiles.program(), 0, end,
                                             state.tile, state.parts, meter));
  state.again = tiles.StepsFor(state.tile);
  return absl::OkStatus();
}

}  // namespace hawser::cpu
