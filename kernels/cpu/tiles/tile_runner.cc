#include "kernels/cpu/tiles/tile_runner.h"

#include <algorithm>
#include <vector>

#include "core/base/status.h"
#include "core/base/threads/thread_pool.h"

namespace hawser::cpu {
namespace {

// Rows whose columns are folded one after the other.
constexpr int64_t kRowsOfASegment = 4096;
// Fewer turns of the kept loops than these leave threads idle where the reduced
// ones are long.
constexpr int64_t kFewTurns = 16;
constexpr int64_t kLine = 64;

int64_t TurnsOf(const std::vector<TileLoop>& loops) {
  int64_t turns = 1;
  for (const TileLoop& loop : loops) turns *= loop.chunks();
  return turns;
}

// Memory of a thread, which grows and stays.
char* ThreadMemory(int64_t bytes) {
  struct Line {
    alignas(kLine) char bytes[kLine];
  };
  thread_local std::vector<Line> memory;
  const auto lines = static_cast<size_t>((bytes + kLine - 1) / kLine);
  if (memory.size() < lines) memory = std::vector<Line>(lines);
  return reinterpret_cast<char*>(memory.data());
}

// The turns of the reduced loops, cut where partial results are set aside:
// rows: at each tile; columns: every few thousand rows. By sizes alone.
class Segments {
 public:
  explicit Segments(const TileProgram& program)
      : turns_(TurnsOf(program.inner)) {
    if (!program.columns || program.lane_loops.y < 0 || turns_ == 0) {
      count_ = turns_;
      return;
    }
    const TileLoop& rows = program.inner.back();
    around_ = rows.chunks();
    if (rows.extent >= kRowsOfASegment) {
      a_turn_ = (rows.extent + kRowsOfASegment - 1) / kRowsOfASegment;
      length_ = kRowsOfASegment / rows.chunk;
      count_ = turns_ / around_ * a_turn_;
    } else {
      a_turn_ = 0;
      length_ = kRowsOfASegment / rows.extent * around_;
      count_ = (turns_ + length_ - 1) / length_;
    }
  }

  int64_t count() const { return count_; }
  // The first turn of a segment; of number count(), how many there are.
  int64_t Begin(int64_t segment) const {
    if (segment == count_) return turns_;
    if (a_turn_ == 0) return segment * length_;
    return segment / a_turn_ * around_ + segment % a_turn_ * length_;
  }

 private:
  const int64_t turns_;
  int64_t count_ = 0;
  int64_t around_ = 1;  // turns of the rows' loop
  int64_t a_turn_ = 0;  // segments of all of these; 0: they are one of several
  int64_t length_ = 1;  // turns of a segment
};

class TileRun {
 public:
  TileRun(const TileProgram& program, absl::Span<char* const> operands,
          absl::Span<char* const> results, const Environment& environment)
      : program_(program),
        operands_(operands),
        results_(results),
        environment_(environment),
        turns_(TurnsOf(program.outer)),
        segments_(program),
        lane_steps_(std::max(program.lane_steps, 1.0)) {}

  absl::Status Run() const {
    if (turns_ == 0) return absl::OkStatus();
    const auto lanes = static_cast<double>(program_.ny * program_.nx);
    const double inner = static_cast<double>(segments_.Begin(segments_.count()));
    const double steps = lanes * lane_steps_ * std::max(inner, 1.0);
    const bool long_folds = program_.passes.size() == 1 &&
                            turns_ < kFewTurns && segments_.count() > 1 &&
                            steps > 2 * kParallelElements;
    if (long_folds) return RunLongFolds();
    const auto group = std::max<int64_t>(
        static_cast<int64_t>(kParallelElements / std::max(steps, 1.0)), 1);
    return ForEachBlock(environment_.pool, (turns_ - 1) / group + 1,
                        environment_.cancel, [&](int64_t block) {
                          return RunTurns(block * group,
                                          std::min((block + 1) * group, turns_));
                        });
  }

 private:
  int64_t PartsOf(const Tile& tile) const {
    return segments_.count() * (program_.columns ? tile.nx : tile.ny);
  }
  static int64_t PartBytes(const TileReduction& reduction) {
    return ByteWidth(reduction.reduction->elements.accumulator);
  }

  // Makes the thread's tile ready.
  Tile& Begin() const {
    thread_local Tile tile;
    const int64_t lanes = program_.ny * program_.nx;
    char* memory = ThreadMemory(program_.slot_bytes + kLine +
                                lanes * static_cast<int64_t>(sizeof(int64_t)));
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

  static void Do(const TileSteps& steps, Tile& tile) {
    for (const auto& step : steps) step->Do(tile);
  }

  static void SetLoops(const std::vector<TileLoop>& loops, int64_t turn,
                       Tile& tile) {
    for (size_t k = loops.size(); k-- > 0;) {
      const TileLoop& loop = loops[k];
      const int64_t chunks = loop.chunks();
      const int64_t begin = turn % chunks * loop.chunk;
      turn /= chunks;
      tile.loops[loop.loop] = begin;
      const int64_t size = std::min(loop.chunk, loop.extent - begin);
      if (loop.loop == tile.lane_loops.y) tile.ny = size;
      if (loop.loop == tile.lane_loops.x) tile.nx = size;
    }
  }

  absl::Status RunTurns(int64_t begin, int64_t end) const {
    Tile& tile = Begin();
    WorkMeter meter(environment_);
    thread_local std::vector<double> parts;  // as aligned as any accumulator
    for (int64_t turn = begin; turn < end; ++turn) {
      SetLoops(program_.outer, turn, tile);
      Do(program_.before, tile);
      for (const TileProgram::Pass& pass : program_.passes) {
        PlaceParts(tile, parts);
        HAWSER_RETURN_IF_ERROR(
            RunPass(pass, 0, segments_.count(), tile, meter));
        Finish(pass, tile);
      }
    }
    return meter.End();
  }

  // One turn of the kept loops after the other, each by several threads.
  absl::Status RunLongFolds() const {
    const TileProgram::Pass& pass = program_.passes[0];
    std::vector<double> parts;
    for (int64_t turn = 0; turn < turns_; ++turn) {
      Tile sizes;
      sizes.loops.assign(program_.num_loops, 0);
      sizes.lane_loops = program_.lane_loops;
      SetLoops(program_.outer, turn, sizes);
      sizes.folds.assign(program_.reductions.size(), {});
      PlaceParts(sizes, parts);
      const double segment =
          static_cast<double>(program_.ny * program_.nx) * lane_steps_ *
          static_cast<double>(segments_.Begin(segments_.count())) /
          static_cast<double>(segments_.count());
      const auto group = std::max<int64_t>(
          static_cast<int64_t>(kParallelElements / segment), 1);
      const auto begin = [&]() -> Tile& {
        Tile& tile = Begin();
        SetLoops(program_.outer, turn, tile);
        tile.folds = sizes.folds;
        Do(program_.before, tile);
        return tile;
      };
      HAWSER_RETURN_IF_ERROR(ForEachBlock(
          environment_.pool, (segments_.count() - 1) / group + 1,
          environment_.cancel, [&](int64_t block) -> absl::Status {
            WorkMeter meter(environment_);
            HAWSER_RETURN_IF_ERROR(
                RunPass(pass, block * group,
                        std::min((block + 1) * group, segments_.count()),
                        begin(), meter));
            return meter.End();
          }));
      Finish(pass, begin());
    }
    return absl::OkStatus();
  }

  // Room for partial results of each reduction at a turn of the kept loops.
  void PlaceParts(Tile& tile, std::vector<double>& parts) const {
    int64_t bytes = 0;
    for (const TileReduction& reduction : program_.reductions) {
      bytes += PartsOf(tile) * PartBytes(reduction);
    }
    const auto words = static_cast<size_t>(bytes) / sizeof(double) + 1;
    if (parts.size() < words) parts.resize(words);
    char* at = reinterpret_cast<char*>(parts.data());
    // The widest first, so that each begins where it may.
    for (int64_t width = 16; width > 0; width /= 2) {
      for (size_t r = 0; r < program_.reductions.size(); ++r) {
        if (PartBytes(program_.reductions[r]) != width) continue;
        tile.folds[r].parts = at;
        at += PartsOf(tile) * width;
      }
    }
  }

  absl::Status RunPass(const TileProgram::Pass& pass, int64_t begin,
                       int64_t end, Tile& tile, WorkMeter& meter) const {
    const std::vector<TileFold> folds = tile.folds;
    for (int64_t segment = begin; segment < end; ++segment) {
      for (size_t r = 0; r < folds.size(); ++r) {
        const int64_t width = PartBytes(program_.reductions[r]);
        const int64_t at = program_.columns ? segment * tile.nx : segment;
        tile.folds[r] = {folds[r].parts + at * width, segments_.count(), true};
      }
      const int64_t last = segments_.Begin(segment + 1);
      for (int64_t turn = segments_.Begin(segment); turn < last; ++turn) {
        SetLoops(program_.inner, turn, tile);
        HAWSER_RETURN_IF_ERROR(meter.Begin(
            lane_steps_ * static_cast<double>(tile.ny * tile.nx)));
        Do(pass.tile, tile);
        for (TileFold& fold : tile.folds) fold.begins = false;
      }
    }
    tile.folds = folds;
    return absl::OkStatus();
  }

  // What the parts of a turn of the kept loops come to, and what follows.
  void Finish(const TileProgram::Pass& pass, Tile& tile) const {
    for (const int r : pass.reductions) {
      const TileReduction& reduction = program_.reductions[r];
      const Reduction& monoid = *reduction.reduction;
      const char* const initial = tile.values[reduction.initial.slot];
      char* const result = tile.memory[reduction.result.slot];
      tile.values[reduction.result.slot] = result;
      const int64_t n = tile.lanes(reduction.result.shape);
      const int64_t segments = segments_.count();
      if (segments == 0) {
        LoadLanes(reduction.result.width, initial, {0, 0}, 1, n, result);
        continue;
      }
      char* const parts = tile.folds[r].parts;
      const int64_t width = PartBytes(reduction);
      if (segments > 1 && program_.columns) {
        monoid.parts.columns(parts, segments, n, n, parts);
      } else if (segments > 1) {
        for (int64_t j = 0; j < n; ++j) {
          monoid.parts.run(parts + j * segments * width, segments,
                           parts + j * width);
        }
      }
      monoid.finish(initial, parts, n, result);
    }
    Do(pass.after, tile);
  }

  const TileProgram& program_;
  const absl::Span<char* const> operands_, results_;
  const Environment& environment_;
  const int64_t turns_;
  const Segments segments_;
  const double lane_steps_;
};

}  // namespace

absl::Status RunTiles(const TileProgram& program,
                      absl::Span<char* const> operands,
                      absl::Span<char* const> results,
                      const Environment& environment) {
  return TileRun(program, operands, results, environment).Run();
}

}  // namespace hawser::cpu
