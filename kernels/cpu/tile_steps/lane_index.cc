#include "kernels/cpu/tile_steps/lane_index.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace hawser::cpu {
namespace {

using plan::IndexAtom;
using plan::IndexExpr;

// Lanes that are computed together.
constexpr int64_t kRun = 64;

int64_t FloorDivided(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return quotient - (value % divisor < 0 ? 1 : 0);
}

// A symbol has its value for lane (j, i) at j * y + i * x.
struct SymbolSteps {
  int64_t y = 0, x = 0;
};

SymbolSteps StepsOf(const TileSymbol& symbol, const Tile& tile) {
  switch (symbol.shape) {
    case LaneShape::kOne:
      return {0, 0};
    case LaneShape::kRows:
      return {1, 0};
    case LaneShape::kColumns:
      return {0, 1};
    case LaneShape::kFull:
      break;
  }
  return {tile.nx, 1};
}

}  // namespace

LaneIndex::LaneIndex(IndexExpr index, LaneLoops loops,
                     absl::Span<const LaneShape> symbols)
    : index_(std::move(index)),
      along_x_(loops.x < 0 || !index_.DividesDim(loops.x)),
      along_y_(loops.y < 0 || !index_.DividesDim(loops.y)),
      step_x_(loops.x < 0 ? 0 : index_.CoefficientOf(loops.x)),
      step_y_(loops.y < 0 ? 0 : index_.CoefficientOf(loops.y)) {
  std::vector<int> used;
  index_.CollectSymbols(&used);
  fixed_ = used.empty();
  for (const int s : used) {
    const LaneShape shape = symbols[s];
    if (shape == LaneShape::kRows || shape == LaneShape::kFull) {
      along_y_ = false;
    }
    if (shape == LaneShape::kColumns || shape == LaneShape::kFull) {
      along_x_ = false;
    }
  }
}

int64_t LaneIndex::Value(const IndexExpr& e, const Tile& tile, int64_t j,
                         int64_t i) {
  int64_t value = e.constant();
  for (const IndexExpr::Term& term : e.terms()) {
    const IndexAtom& atom = term.atom;
    int64_t part = 0;
    if (atom.kind == IndexAtom::kDim) {
      part = tile.loops[atom.index];
      if (atom.index == tile.lane_loops.y) part += j;
      if (atom.index == tile.lane_loops.x) part += i;
    } else if (atom.kind == IndexAtom::kSymbol) {
      const TileSymbol& symbol = tile.symbols[atom.index];
      const SymbolSteps steps = StepsOf(symbol, tile);
      part = symbol.values[j * steps.y + i * steps.x];
    } else {
      const int64_t inner = Value(*atom.inner, tile, j, i);
      const int64_t whole = FloorDivided(inner, atom.divisor);
      part =
          atom.kind == IndexAtom::kDiv ? whole : inner - whole * atom.divisor;
    }
    value += term.coefficient * part;
  }
  return value;
}

void LaneIndex::Run(const IndexExpr& e, const Tile& tile, const Lanes& lanes,
                    int64_t* out) {
  const auto [j, i, down, along, n] = lanes;
  std::fill_n(out, n, e.constant());
  for (const IndexExpr::Term& term : e.terms()) {
    const IndexAtom& atom = term.atom;
    const int64_t coefficient = term.coefficient;
    if (atom.kind == IndexAtom::kDim) {
      int64_t first = tile.loops[atom.index], step = 0;
      if (atom.index == tile.lane_loops.y) {
        first += j;
        step += down;
      }
      if (atom.index == tile.lane_loops.x) {
        first += i;
        step += along;
      }
      for (int64_t k = 0; k < n; ++k)
        out[k] += coefficient * (first + k * step);
    } else if (atom.kind == IndexAtom::kSymbol) {
      const TileSymbol& symbol = tile.symbols[atom.index];
      const SymbolSteps steps = StepsOf(symbol, tile);
      const int64_t* const values = symbol.values + j * steps.y + i * steps.x;
      const int64_t step = down * steps.y + along * steps.x;
      for (int64_t k = 0; k < n; ++k) out[k] += coefficient * values[k * step];
    } else {
      int64_t inner[kRun];
      Run(*atom.inner, tile, lanes, inner);
      const int64_t divisor = atom.divisor;
      const int64_t remainder = atom.kind == IndexAtom::kDiv ? 0 : 1;
      for (int64_t k = 0; k < n; ++k) {
        const int64_t whole = FloorDivided(inner[k], divisor);
        out[k] +=
            coefficient * (remainder != 0 ? inner[k] - whole * divisor : whole);
      }
    }
  }
}

void LaneIndex::Rows(const Tile& tile, int64_t* out) const {
  for (int64_t j = 0; j < tile.ny; j += kRun) {
    Run(index_, tile, {j, 0, 1, 0, std::min(kRun, tile.ny - j)}, out + j);
  }
}

void LaneIndex::All(const Tile& tile, LaneShape shape, int64_t* out) const {
  if (shape == LaneShape::kRows) return Rows(tile, out);
  const int64_t ny = shape == LaneShape::kFull ? tile.ny : 1;
  const int64_t nx = shape == LaneShape::kOne ? 1 : tile.nx;
  for (int64_t j = 0; j < ny; ++j) {
    for (int64_t i = 0; i < nx; i += kRun) {
      Run(index_, tile, {j, i, 0, 1, std::min(kRun, nx - i)}, out + j * nx + i);
    }
  }
}

plan::Bounds LaneIndex::Range(const Tile& tile) const {
  const int64_t first = At(tile, 0, 0);
  const int64_t down = step_y_ * (tile.ny - 1);
  const int64_t along = step_x_ * (tile.nx - 1);
  return {first + std::min<int64_t>(down, 0) + std::min<int64_t>(along, 0),
          first + std::max<int64_t>(down, 0) + std::max<int64_t>(along, 0)};
}

}  // namespace hawser::cpu
