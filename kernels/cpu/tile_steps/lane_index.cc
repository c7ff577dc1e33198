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

int64_t SymbolAt(const TileSymbol& symbol, const Tile& tile, int64_t j,
                 int64_t i) {
  switch (symbol.shape) {
    case LaneShape::kOne:
      return symbol.values[0];
    case LaneShape::kRows:
      return symbol.values[j];
    case LaneShape::kColumns:
      return symbol.values[i];
    case LaneShape::kFull:
      break;
  }
  return symbol.values[j * tile.nx + i];
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
      part = SymbolAt(tile.symbols[atom.index], tile, j, i);
    } else {
      const int64_t inner = Value(*atom.inner, tile, j, i);
      const int64_t whole = FloorDivided(inner, atom.divisor);
      part = atom.kind == IndexAtom::kDiv ? whole
                                          : inner - whole * atom.divisor;
    }
    value += term.coefficient * part;
  }
  return value;
}

void LaneIndex::Run(const IndexExpr& e, const Tile& tile, int64_t j, int64_t i,
                    int64_t n, int64_t* out) {
  std::fill_n(out, n, e.constant());
  for (const IndexExpr::Term& term : e.terms()) {
    const IndexAtom& atom = term.atom;
    const int64_t coefficient = term.coefficient;
    if (atom.kind == IndexAtom::kDim) {
      const bool is_x = atom.index == tile.lane_loops.x;
      int64_t first = tile.loops[atom.index] + (is_x ? i : 0);
      if (atom.index == tile.lane_loops.y) first += j;
      const int64_t step = is_x ? coefficient : 0;
      for (int64_t k = 0; k < n; ++k) out[k] += first * coefficient + k * step;
    } else if (atom.kind == IndexAtom::kSymbol) {
      const TileSymbol& symbol = tile.symbols[atom.index];
      for (int64_t k = 0; k < n; ++k) {
        out[k] += coefficient * SymbolAt(symbol, tile, j, i + k);
      }
    } else {
      int64_t inner[kRun];
      Run(*atom.inner, tile, j, i, n, inner);
      const int64_t divisor = atom.divisor;
      const int64_t remainder = atom.kind == IndexAtom::kDiv ? 0 : 1;
      for (int64_t k = 0; k < n; ++k) {
        const int64_t whole = FloorDivided(inner[k], divisor);
        out[k] += coefficient *
                  (remainder != 0 ? inner[k] - whole * divisor : whole);
      }
    }
  }
}

void LaneIndex::All(const Tile& tile, LaneShape shape, int64_t* out) const {
  const bool rows = shape == LaneShape::kRows || shape == LaneShape::kFull;
  const bool columns =
      shape == LaneShape::kColumns || shape == LaneShape::kFull;
  const int64_t ny = rows ? tile.ny : 1, nx = columns ? tile.nx : 1;
  for (int64_t j = 0; j < ny; ++j) {
    for (int64_t i = 0; i < nx; i += kRun) {
      Run(index_, tile, j, i, std::min(kRun, nx - i), out + j * nx + i);
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
