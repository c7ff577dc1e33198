#include "kernels/cpu/tile_steps/tile_step.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/cpu/elements/conversion.h"
#include "kernels/cpu/tile_steps/lane_moves.h"

namespace hawser::cpu {
namespace {

// Results of more bytes are put past the caches, as what is read of them next
// would not be in these: pieces that lie apart, and what a chain leaves.
// (Measured: transposes of 16 MiB of u8 take a third of the time, of f32 two
// thirds.)
constexpr int64_t kStreamedApart = int64_t{4} << 20;
constexpr int64_t kStreamed = int64_t{16} << 20;

// How lanes of `shape` that step so lie in rows and columns of memory.
struct LaneGrid {
  int64_t ny, nx;
  LaneSteps steps;

  bool lies_as_lanes() const {
    return (nx == 1 || steps.x == 1) && (ny == 1 || steps.y == nx);
  }
};

LaneGrid GridOf(const Tile& tile, LaneShape shape, const LaneIndex& index) {
  return {
      tile.rows(shape), tile.columns(shape), {index.step_y(), index.step_x()}};
}

// Rows of fewer lanes are moved lane by lane.
constexpr int64_t kShortSpans = 8;

// The lanes of a scope that holds somewhere, one by one.
const bool* LanesOf(const Tile& tile, LaneShape shape, TileScope* scope) {
  if (scope->lanes != nullptr) return scope->lanes;
  const int64_t nx = tile.columns(shape);
  for (int64_t j = 0; j < tile.rows(shape); ++j) {
    const auto [begin, end] = scope->spans[j];
    for (int64_t i = 0; i < nx; ++i) {
      scope->room[j * nx + i] = i >= begin && i < end;
    }
  }
  return scope->lanes = scope->room;
}

// The lanes of a row of `n` that steps by `step` from `first` in which it is
// within the bounds.
LaneSpan SpanWithin(plan::Bounds bounds, int64_t first, int64_t step,
                    int64_t n) {
  if (step == 0) {
    const bool holds = first >= bounds.min && first <= bounds.max;
    return {0, holds ? n : 0};
  }
  // In steps upwards: lanes whose distance from the nearer bound is in range.
  const int64_t least = step > 0 ? bounds.min - first : first - bounds.max;
  const int64_t most = step > 0 ? bounds.max - first : first - bounds.min;
  const int64_t stride = std::abs(step);
  if (most < 0) return {0, 0};
  const int64_t begin = least <= 0 ? 0 : (least + stride - 1) / stride;
  const int64_t end = std::min(most / stride + 1, n);
  return begin < end ? LaneSpan{begin, end} : LaneSpan{0, 0};
}

}  // namespace

// ---- loads and stores -------------------------------------------------------

void LoadStep::Run(Tile& tile) const {
  const char* from = tile.operands[operand_];
  char* const to = Target(tile);
  TileScope* const scope =
      this->scope() < 0 ? nullptr : &tile.scopes[this->scope()];
  const LaneGrid grid = GridOf(tile, own_slot().shape, index_);
  const bool along_x = grid.nx == 1 || index_.steps_along_x();
  if (scope != nullptr && scope->holds == TileScope::kSomewhere) {
    if (along_x && scope->spans != nullptr && grid.nx >= kShortSpans) {
      return LoadSpans(tile, from, scope->spans, to);
    }
    return Gather(tile, from, LanesOf(tile, own_slot().shape, scope), to);
  }
  if (!along_x) return Gather(tile, from, nullptr, to);
  if (grid.ny > 1 && !index_.steps_along_y()) {
    index_.Rows(tile, tile.indices);
    return moves_.GatherRows(from, tile.indices, grid.steps.x, grid.ny, grid.nx,
                             to);
  }
  from += index_.At(tile, 0, 0) * own_slot().width;
  if (!copies_ && grid.lies_as_lanes()) {
    tile.values[own_slot().slot] = from;
  } else {
    moves_.Load(from, grid.steps, grid.ny, grid.nx, to);
  }
}

// Lanes that are read where the operand has them stay there, if no number moves
// them.
bool LoadStep::IsSettled(const Tile& tile) const {
  return scope() < 0 && index_.is_fixed() &&
         tile.values[own_slot().slot] ==
             tile.operands[operand_] + index_.At(tile, 0, 0) * own_slot().width;
}

void LoadStep::LoadSpans(Tile& tile, const char* from, const LaneSpan* spans,
                         char* to) const {
  const LaneGrid grid = GridOf(tile, own_slot().shape, index_);
  const int64_t width = own_slot().width;
  if (grid.ny > 1) {
    index_.Rows(tile, tile.indices);
  } else {
    tile.indices[0] = index_.At(tile, 0, 0);
  }
  for (int64_t j = 0; j < grid.ny; ++j, to += grid.nx * width) {
    const auto [begin, end] = spans[j];
    std::memset(to, 0, begin * width);
    std::memset(to + end * width, 0, (grid.nx - end) * width);
    if (begin == end) continue;
    moves_.Load(from + (tile.indices[j] + begin * grid.steps.x) * width,
                {0, grid.steps.x}, 1, end - begin, to + begin * width);
  }
}

void LoadStep::Gather(Tile& tile, const char* from, const bool* holds,
                      char* to) const {
  index_.All(tile, own_slot().shape, tile.indices);
  moves_.Gather(from, tile.indices, holds, tile.lanes(own_slot().shape), to);
}

char* StoreStep::Destination(const Tile& tile) const {
  const LaneGrid grid = GridOf(tile, from_.shape, index_);
  const bool steps = (grid.nx == 1 || index_.steps_along_x()) &&
                     (grid.ny == 1 || index_.steps_along_y());
  if (!steps || !grid.lies_as_lanes()) return nullptr;
  return tile.results[result_] + index_.At(tile, 0, 0) * from_.width;
}

bool StoreStep::IsStreamed() const { return bytes_ > kStreamed; }

void StoreStep::Run(Tile& tile) const {
  const char* from = tile.values[from_.slot];
  if (char* to = Destination(tile)) {
    if (to != from) {
      std::memcpy(to, from, tile.lanes(from_.shape) * from_.width);
    }
    return;
  }
  const LaneGrid grid = GridOf(tile, from_.shape, index_);
  char* const result = tile.results[result_];
  if (!index_.steps_along_x() || !index_.steps_along_y()) {
    index_.All(tile, from_.shape, tile.indices);
    moves_.Scatter(from, tile.indices, tile.lanes(from_.shape), result);
    return;
  }
  char* const to = result + index_.At(tile, 0, 0) * from_.width;
  if (bytes_ > kStreamedApart && (grid.nx == 1 || grid.steps.x == 1)) {
    moves_.Stream(from, grid.steps, grid.ny, grid.nx, to);
  } else {
    moves_.Store(from, grid.steps, grid.ny, grid.nx, to);
  }
}

// ---- values -----------------------------------------------------------------

void OpStep::Run(Tile& tile) const {
  absl::InlinedVector<const char*, 3> in;
  for (const int operand : operands_) in.push_back(tile.values[operand]);
  fn_(in.data(), Target(tile), tile.lanes(own_slot().shape));
}

void ConstantStep::Run(Tile& tile) const {
  std::memcpy(Target(tile), value_.bytes().data(), own_slot().width);
}

void IotaStep::Run(Tile& tile) const {
  index_.All(tile, own_slot().shape, tile.indices);
  convert_(tile.indices, tile.lanes(own_slot().shape), Target(tile));
}

IotaStep::Convert IotaStep::ConvertTo(DType dtype) {
  return VisitDType(dtype, [](auto tag) -> Convert {
    using T = typename decltype(tag)::type;
    return [](const int64_t* from, int64_t n, char* to) {
      T* lanes = reinterpret_cast<T*>(to);
      for (int64_t k = 0; k < n; ++k) lanes[k] = ConvertElement<T>(from[k]);
    };
  });
}

void ExpandStep::Run(Tile& tile) const {
  const char* const from = tile.values[from_.slot];
  char* const to = Target(tile);
  const LaneSteps steps{from_.shape == LaneShape::kRows ? 1 : 0,
                        from_.shape == LaneShape::kColumns ? 1 : 0};
  if (own_slot().shape == LaneShape::kFull) {
    moves_.Load(from, steps, tile.ny, tile.nx, to);
  } else {
    moves_.Load(from, {0, 0}, 1, tile.lanes(own_slot().shape), to);
  }
}

void SymbolStep::Run(Tile& tile) const {
  auto* const to = reinterpret_cast<int64_t*>(tile.memory[own_slot().slot]);
  clamp_(tile.values[from_.slot], bounds_, tile.lanes(own_slot().shape), to);
  tile.symbols[symbol_] = {own_slot().shape, to};
}

void SymbolStep::Skip(Tile& tile) const {
  auto* const to = reinterpret_cast<int64_t*>(tile.memory[own_slot().slot]);
  std::fill_n(to, tile.lanes(own_slot().shape), bounds_.min);
  tile.symbols[symbol_] = {own_slot().shape, to};
}

SymbolStep::Clamp SymbolStep::ClampOf(DType dtype) {
  return VisitDType(dtype, [](auto tag) -> Clamp {
    using T = typename decltype(tag)::type;
    if constexpr (kIsInteger<T>) {
      return [](const char* from, plan::Bounds bounds, int64_t n, int64_t* to) {
        const T* lanes = reinterpret_cast<const T*>(from);
        for (int64_t k = 0; k < n; ++k) {
          // Numbers beyond s64 are beyond all bounds.
          const bool large =
              lanes[k] > T{0} && static_cast<uint64_t>(lanes[k]) >
                                     static_cast<uint64_t>(bounds.max);
          to[k] = large ? bounds.max
                        : std::clamp(static_cast<int64_t>(lanes[k]), bounds.min,
                                     bounds.max);
        }
      };
    } else {
      return nullptr;
    }
  });
}

// ---- choices ----------------------------------------------------------------

TileScope::Holds ScopeStep::Roughly(const Tile& tile) const {
  TileScope::Holds all = TileScope::kEverywhere;
  for (const Part& part : parts_) {
    if (!part.value.steps_along_x() || !part.value.steps_along_y()) {
      all = TileScope::kSomewhere;
      continue;
    }
    const plan::Bounds range = part.value.Range(tile);
    if (range.max < part.bounds.min || range.min > part.bounds.max) {
      return TileScope::kNowhere;
    }
    if (range.min < part.bounds.min || range.max > part.bounds.max) {
      all = TileScope::kSomewhere;
    }
  }
  return all;
}

ScopeStep::ScopeStep(int number, int parent, std::vector<Part> parts,
                     LaneSlot to)
    : TileStep(-1),
      number_(number),
      parent_(parent),
      parts_(std::move(parts)),
      to_(to) {
  for (const Part& part : parts_) {
    is_of_spans_ = is_of_spans_ && part.value.steps_along_x();
  }
}

void ScopeStep::Run(Tile& tile) const {
  TileScope& scope = tile.scopes[number_];
  TileScope* const parent = parent_ < 0 ? nullptr : &tile.scopes[parent_];
  scope.holds = parent != nullptr && parent->holds == TileScope::kNowhere
                    ? TileScope::kNowhere
                    : Roughly(tile);
  if (scope.holds == TileScope::kNowhere) return;
  TileScope* const part =
      parent != nullptr && parent->holds == TileScope::kSomewhere ? parent
                                                                  : nullptr;
  if (scope.holds == TileScope::kEverywhere) {
    if (part == nullptr) return;
    scope.holds = part->holds;
    scope.lanes = part->lanes;
    scope.spans = part->spans;
    scope.room = part->room;
    return;
  }
  scope.room = reinterpret_cast<bool*>(tile.memory[to_.slot]);
  scope.lanes = nullptr;
  scope.spans = nullptr;
  if (is_of_spans_ && (part == nullptr || part->spans != nullptr)) {
    FillSpans(tile, part, &scope);
  } else {
    FillLanes(tile, part, &scope);
  }
}

void ScopeStep::FillSpans(Tile& tile, const TileScope* parent,
                          TileScope* scope) const {
  const int64_t ny = tile.rows(to_.shape), nx = tile.columns(to_.shape);
  scope->spans_memory.assign(ny, {0, nx});
  LaneSpan* const spans = scope->spans_memory.data();
  if (parent != nullptr) std::copy_n(parent->spans, ny, spans);
  for (const Part& one : parts_) {
    if (ny > 1) {
      one.value.Rows(tile, tile.indices);
    } else {
      tile.indices[0] = one.value.At(tile, 0, 0);
    }
    const int64_t step = nx > 1 ? one.value.step_x() : 0;
    for (int64_t j = 0; j < ny; ++j) {
      const LaneSpan own = SpanWithin(one.bounds, tile.indices[j], step, nx);
      spans[j].begin = std::max(spans[j].begin, own.begin);
      spans[j].end = std::min(spans[j].end, own.end);
      if (spans[j].begin >= spans[j].end) spans[j] = {0, 0};
    }
  }
  scope->spans = spans;
}

void ScopeStep::FillLanes(Tile& tile, TileScope* parent,
                          TileScope* scope) const {
  const int64_t n = tile.lanes(to_.shape);
  bool* const lanes = scope->room;
  scope->lanes = lanes;
  if (parent != nullptr) {
    std::copy_n(LanesOf(tile, to_.shape, parent), n, lanes);
  } else {
    std::fill_n(lanes, n, true);
  }
  for (const Part& one : parts_) {
    one.value.All(tile, to_.shape, tile.indices);
    const auto [min, max] = one.bounds;
    for (int64_t k = 0; k < n; ++k) {
      lanes[k] &= tile.indices[k] >= min && tile.indices[k] <= max;
    }
  }
}

void ChooseStep::Run(Tile& tile) const {
  // The first case that holds everywhere hides those behind it.
  size_t last = from_.size() - 1;
  bool mixed = false;
  for (size_t k = 0; k < cases_.size(); ++k) {
    const TileScope::Holds holds = tile.scopes[cases_[k]].holds;
    if (holds == TileScope::kEverywhere) {
      last = k;
      break;
    }
    mixed = mixed || holds == TileScope::kSomewhere;
  }
  if (!mixed) {
    tile.values[own_slot().slot] = tile.values[from_[last]];
    return;
  }
  // Not where a result belongs, which may be the memory of another case.
  char* const to = tile.memory[own_slot().slot];
  tile.values[own_slot().slot] = to;
  const int64_t n = tile.lanes(own_slot().shape);
  std::memcpy(to, tile.values[from_[last]], n * own_slot().width);
  for (size_t k = last; k-- > 0;) {
    TileScope& scope = tile.scopes[cases_[k]];
    if (scope.holds != TileScope::kSomewhere) continue;
    const char* const from = tile.values[from_[k]];
    const int64_t nx = tile.columns(own_slot().shape);
    if (scope.spans == nullptr || nx < kShortSpans) {
      moves_.Blend(from, LanesOf(tile, own_slot().shape, &scope), n, to);
      continue;
    }
    for (int64_t j = 0; j < tile.rows(own_slot().shape); ++j) {
      const auto [begin, end] = scope.spans[j];
      const int64_t at = (j * nx + begin) * own_slot().width;
      std::memcpy(to + at, from + at, (end - begin) * own_slot().width);
    }
  }
}

}  // namespace hawser::cpu
