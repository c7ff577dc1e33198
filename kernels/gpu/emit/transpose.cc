// kTiledTranspose: loads that run along another loop than the stores go
// through tiles of 32 x 32 elements in shared memory, so that neighbouring
// threads touch neighbours in memory both times.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/emitters.h"
#include "kernels/gpu/emit/points/point_writer.h"
#include "kernels/gpu/emit/points/turn.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

using plan::IndexExpr;
using plan::PointId;

// The bytes of static shared memory that are used; it ends at 48 KiB.
constexpr int64_t kSharedBytes = 40 << 10;

class TransposeEmitter {
 public:
  TransposeEmitter(const RegionSource& source, int across)
      : source_(source),
        extents_(source.region.loops.extents),
        inner_(static_cast<int>(extents_.size()) - 1),
        across_(across),
        kernel_("transpose"),
        writer_(WriterOverLoops(source, &kernel_)) {}

  Kernels Emit() {
    for (size_t k = 0; k < source_.region.results.size(); ++k) {
      results_.push_back(static_cast<int>(k));
    }
    WritePlace();
    const std::vector<Tile> tiles = WriteLoads();
    kernel_.body().Line("HK_SYNC();");
    WriteStores(tiles);
    HAWSER_RETURN_IF_ERROR(writer_.status());
    int64_t blocks = 1;
    for (int d = 0; d <= inner_; ++d) {
      blocks *= d == inner_ || d == across_ ? CeilDivide(extents_[d], kTile)
                                            : extents_[d];
    }
    HAWSER_ASSIGN_OR_RETURN(const Extent3 grid, GridOf(blocks));
    return std::vector<EmittedKernel>{
        kernel_.Finish({.grid = grid, .threads = kThreads})};
  }

 private:
  struct Tile {
    PointId load;
    std::string shared;
  };

  // The tile's corner and the other loops, from the block's number.
  void WritePlace() {
    TextWriter& body = kernel_.body();
    const IndexNames& names = writer_.names();
    body.Line("const u32 lane = HK_TID % ", kTile, "u;");
    body.Line("const u32 line = HK_TID / ", kTile, "u;");
    body.Line("const ", names.type(), " block = HK_BID;");
    Dims grid(extents_.begin(), extents_.end());
    grid[inner_] = CeilDivide(grid[inner_], kTile);
    grid[across_] = CeilDivide(grid[across_], kTile);
    writer_.NameLoops(grid, 0, inner_ + 1, "block", 1);
    corner_inner_ = names.loops[inner_];
    corner_across_ = names.loops[across_];
  }

  // Names the two loops for an element of the tile.
  void NameTurn(const std::string& inner, const std::string& across) {
    TextWriter& body = kernel_.body();
    for (const auto& [loop, corner, at] :
         {std::tuple(inner_, corner_inner_, inner),
          std::tuple(across_, corner_across_, across)}) {
      writer_.NameLoop(loop, kernel_.Unique("d"));
      body.Line("const ", writer_.names().type(), " ",
                writer_.names().loops[loop], " = ", corner, " * ", kTile,
                "u + ", at, ";");
    }
  }

  std::string IsInside() const {
    const IndexNames& names = writer_.names();
    return absl::StrCat(
        names.loops[inner_], " < ", names.Number(extents_[inner_]), " && ",
        names.loops[across_], " < ", names.Number(extents_[across_]));
  }

  std::vector<Tile> WriteLoads() {
    TextWriter& body = kernel_.body();
    std::vector<Tile> tiles;
    int64_t bytes = 0;
    for (const plan::MemoryAccess& a : source_.region.accesses) {
      const int64_t size =
          kTile * (kTile + 1) * ByteWidth(source_.shape(a.point).dtype());
      if (!CrossesAlong(a, across_, inner_) || bytes + size > kSharedBytes) {
        continue;
      }
      bytes += size;
      tiles.push_back({a.point, kernel_.Unique("tile")});
      body.Line("HK_SHARED(", TypeName(source_.shape(a.point).dtype()), ", ",
                tiles.back().shared, ", ", kTile * (kTile + 1), ");");
    }
    body.Open("for (u32 r = line; r < ", kTile, "u; r += ", kTileLines, "u)");
    writer_.Enter();
    NameTurn("r", "lane");
    body.Open("if (", IsInside(), ")");
    for (const Tile& tile : tiles) {
      writer_.Write({tile.load});
      body.Line(tile.shared, "[r * ", kTile + 1,
                "u + lane] = ", writer_.Value(tile.load).Stored(), ";");
    }
    body.Close();
    writer_.Leave();
    body.Close();
    return tiles;
  }

  void WriteStores(const std::vector<Tile>& tiles) {
    TextWriter& body = kernel_.body();
    body.Open("for (u32 r = line; r < ", kTile, "u; r += ", kTileLines, "u)");
    NameTurn("lane", "r");
    body.Open("if (", IsInside(), ")");
    for (const Tile& tile : tiles) {
      writer_.DefineVariable(tile.load, {absl::StrCat(tile.shared, "[lane * ",
                                                      kTile + 1, "u + r]"),
                                         source_.shape(tile.load).dtype()});
    }
    WriteTurn({.results = results_}, &writer_);
    body.Close();
    body.Close();
  }

 public:
  // True if neighbours of `across` are neighbours in memory, and those of
  // `inner` are not.
  static bool CrossesAlong(const plan::MemoryAccess& a, int across, int inner) {
    return !a.masked && a.kind == plan::AccessKind::kStrided &&
           a.offset.CoefficientOf(across) == 1 && !a.offset.DividesDim(inner);
  }

 private:
  const RegionSource& source_;
  const Dims& extents_;
  const int inner_, across_;
  KernelBuilder kernel_;
  PointWriter writer_;
  std::vector<int> results_;
  std::string corner_inner_, corner_across_;
};

}  // namespace

Kernels EmitTiledTranspose(const RegionSource& source) {
  const int inner = static_cast<int>(source.region.loops.extents.size()) - 1;
  int64_t most = 0;
  int across = -1;
  for (int d = 0; d < inner; ++d) {
    int64_t bytes = 0;
    for (const plan::MemoryAccess& a : source.region.accesses) {
      if (TransposeEmitter::CrossesAlong(a, d, inner)) bytes += a.bytes;
    }
    if (bytes > most) across = d;
    most = std::max(most, bytes);
  }
  if (across < 0) return EmitLoop(source);
  return TransposeEmitter(source, across).Emit();
}

}  // namespace hawser::gpu
