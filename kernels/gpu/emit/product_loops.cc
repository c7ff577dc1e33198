#include "kernels/gpu/emit/product_loops.h"

#include "core/base/status.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/rules.h"
#include "kernels/gpu/emit/text/index_text.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

using plan::IndexExpr;
using plan::IndexMap;

// The axes of one factor, by the loop that runs over them.
struct FactorAxes {
  Dims axes[kNumLoops];
};

FactorAxes AxesOf(const Instruction& dot, int side, int rank) {
  const absl::string_view names[2][2] = {
      {"lhs_batching_dimensions", "lhs_contracting_dimensions"},
      {"rhs_batching_dimensions", "rhs_contracting_dimensions"}};
  const auto batch = dot.attributes.GetInts(names[side][0]);
  const auto summed = dot.attributes.GetInts(names[side][1]);
  FactorAxes f;
  f.axes[kBatch].assign(batch.begin(), batch.end());
  f.axes[kSummed].assign(summed.begin(), summed.end());
  for (int axis = 0; axis < rank; ++axis) {
    if (Contains(batch, axis) || Contains(summed, axis)) continue;
    f.axes[side == 0 ? kRow : kColumn].push_back(axis);
  }
  return f;
}

// The index of each axis of `loop`, for each turn of it.
IndexMap PartsOf(int loop, const Dims& axes, const Shape& shape) {
  Dims sizes;
  for (const int64_t axis : axes) {
    sizes.push_back(shape.dim(static_cast<int>(axis)));
  }
  return plan::Delinearize(IndexExpr::Dim(loop, ProductOf(sizes)), sizes);
}

IndexExpr OffsetOf(const FactorAxes& f, const Shape& shape) {
  IndexMap map;
  map.axes.resize(shape.rank());
  for (const int loop : {kBatch, kRow, kColumn, kSummed}) {
    const IndexMap parts = PartsOf(loop, f.axes[loop], shape);
    for (size_t k = 0; k < parts.axes.size(); ++k) {
      map.axes[f.axes[loop][k]] = parts.axes[k];
    }
  }
  return map.Linear(shape.dims());
}

absl::StatusOr<plan::PointId> FindProduct(const RegionSource& source) {
  plan::PointId found = -1;
  for (size_t n = 0; n < source.region.points.size(); ++n) {
    const plan::Point& p = source.region.points[n];
    if (source.instruction(p).op != &kDotGeneral ||
        p.kind != plan::Point::kOp) {
      continue;
    }
    if (found >= 0 ||
        source.region.maps[p.map] != IndexMap::Identity(source.region.domain)) {
      return Unimplemented("no kernel computes a product at two places");
    }
    found = static_cast<plan::PointId>(n);
  }
  if (found < 0) return Internal("a product's region without one");
  return found;
}

// The region's operand that is factor `side` of `dot`. Alone, the product's
// operands are the region's; in a fusion they are parameters.
absl::StatusOr<int> OperandOf(const RegionSource& source,
                              const Instruction& dot, int side) {
  const plan::Region& r = source.region;
  if (r.body == r.computation) return side;
  const Instruction& whole =
      source.module.computation(r.computation).instructions()[r.instruction];
  const int operand = dot.operands[side];
  if (operand >= static_cast<int>(whole.operands.size())) {
    return Unimplemented("no kernel computes the factors of a product");
  }
  return operand;
}

}  // namespace

absl::StatusOr<ProductLoops> FindProductLoops(const RegionSource& source) {
  ProductLoops p;
  HAWSER_ASSIGN_OR_RETURN(p.point, FindProduct(source));
  const Instruction& dot = source.instruction(source.point(p.point));
  FactorAxes axes[2];
  for (const int side : {0, 1}) {
    ProductLoops::Factor& f = p.factors[side];
    f.shape = &source.body().shape(dot.operands[side]);
    HAWSER_ASSIGN_OR_RETURN(f.operand, OperandOf(source, dot, side));
    axes[side] = AxesOf(dot, side, f.shape->rank());
    f.offset = OffsetOf(axes[side], *f.shape);
    p.fits_u32 &= FitsU32(f.offset);
  }
  for (const int loop : {kBatch, kRow, kColumn, kSummed}) {
    const int side = loop == kColumn ? 1 : 0;
    const Shape& shape = *p.factors[side].shape;
    p.sizes[loop] = 1;
    for (const int64_t axis : axes[side].axes[loop]) {
      p.sizes[loop] *= shape.dim(static_cast<int>(axis));
    }
    if (loop == kSummed) continue;
    // The region's loops are the product's axes: batch, rows, columns.
    const IndexMap parts = PartsOf(loop, axes[side].axes[loop], shape);
    p.back.insert(p.back.end(), parts.axes.begin(), parts.axes.end());
  }
  return p;
}

// ---- tiles ------------------------------------------------------------------

int64_t ProductTiles::Tiles(int loop) const {
  return CeilDivide(product_.sizes[loop], tile_);
}

void ProductTiles::NameLoops() {
  if (!product_.fits_u32) writer_.CountWide();
  for (int loop = 0; loop < kNumLoops; ++loop) {
    writer_.NameLoop(loop, kProductLoopNames[loop]);
  }
}

void ProductTiles::WriteCorner() {
  TextWriter& body = writer_.kernel().body();
  const char* type = writer_.names().type();
  const int64_t rows = Tiles(kRow), columns = Tiles(kColumn);
  body.Line("const ", type, " n0 = HK_BID % ", columns, "u * ", tile_, "u;");
  body.Line("const ", type, " m0 = HK_BID / ", columns, "u % ", rows, "u * ",
            tile_, "u;");
  body.Line("const ", type, " b = HK_BID / ", columns * rows, "u;");
}

Kernels ProductTiles::Finish() {
  HAWSER_RETURN_IF_ERROR(writer_.status());
  HAWSER_ASSIGN_OR_RETURN(
      const Extent3 grid,
      GridOf(product_.sizes[kBatch] * Tiles(kRow) * Tiles(kColumn)));
  return std::vector<EmittedKernel>{
      writer_.kernel().Finish({.grid = grid, .threads = kThreads})};
}

}  // namespace hawser::gpu
