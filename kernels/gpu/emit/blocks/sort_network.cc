// A sorting network whose exchanges all put the lesser element first: of 2 d
// neighbours, whose halves are in order, the first step compares each with its
// mirror image, the others what is d / 2, d / 4, ... apart. So elements past
// the end need not exist: they would never move. Places settle what the
// comparator leaves open; then the order is the stable one.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/blocks/sort_values.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

// Writes: elements a and b, of which b stands after a, are in the wrong order.
std::string WrongOrder(const SortValues& values) {
  return absl::StrCat("const bool swap = ", values.Less("b", "a"), " || (!",
                      values.Less("a", "b"), " && bp < ap);");
}

// A kernel whose blocks have a tile each in shared memory: several runs or a
// part of one.
class TileKernel {
 public:
  TileKernel(const Sort& sort, const char* kind)
      : layout_(sort.layout),
        kernel_(kind),
        body_(kernel_.body()),
        values_(sort, &kernel_),
        in_tile_(std::min(layout_.padded, layout_.tile)),
        tiles_(CeilDivide(layout_.runs.size, in_tile_)),
        threads_(std::clamp<int64_t>(layout_.tile / 2, 32, kThreads)) {}

  SortValues& values() { return values_; }

  absl::Status Begin() {
    HAWSER_RETURN_IF_ERROR(values_.DeclareLess());
    values_.DeclareShared(layout_.tile, /*places=*/true);
    return absl::OkStatus();
  }
  // For each element of the tile, that is there, with its run and its index.
  void OpenElements() {
    const char* type = values_.names().type();
    body_.Open("for (u32 i = HK_TID; i < ", layout_.tile, "u; i += ", threads_,
               "u)");
    if (layout_.one_tile()) {
      body_.Line("const ", type, " run = (", type, ")HK_BID * ",
                 layout_.tile / in_tile_, "u + i / ", in_tile_, "u;");
      body_.Line("const ", type, " at = i % ", in_tile_, "u;");
    } else {
      body_.Line("const ", type, " run = HK_BID / ", tiles_, "u;");
      body_.Line("const ", type, " at = HK_BID % ", tiles_, "u * ", in_tile_,
                 "u + i;");
    }
    body_.Open("if (run < ", values_.Number(layout_.runs.runs()), " && at < ",
               values_.Number(layout_.runs.size), ")");
  }
  void CloseElements() {
    body_.Close();
    body_.Close();
  }
  // Steps of distance j, down to 1; `doubles`: of every k up to the tile, else
  // what is left of a doubling whose larger distances are done.
  void WriteSteps(bool doubles) {
    if (doubles) {
      body_.Open("for (u32 k = 2; k <= ", in_tile_, "u; k *= 2u)");
      body_.Open("for (u32 j = k / 2u; j > 0; j /= 2u)");
    } else {
      body_.Open("for (u32 j = ", in_tile_ / 2, "u; j > 0; j /= 2u)");
    }
    body_.Line("HK_SYNC();");
    body_.Open("for (u32 i = HK_TID; i < ", layout_.tile / 2,
               "u; i += ", threads_, "u)");
    // j is a power of two.
    body_.Line("const u32 in = i & (j - 1u), low = (i - in) * 2u + in;");
    body_.Line("const u32 high = ",
               doubles ? "j * 2u == k ? low - in + k - 1u - in : " : "",
               "low + j;");
    WriteIsThere();
    body_.Open("if (there)");
    values_.ReadShared("a", "low", true);
    values_.ReadShared("b", "high", true);
    body_.Line(WrongOrder(values_));
    body_.Open("if (swap)");
    values_.WriteShared("b", "low", true);
    values_.WriteShared("a", "high", true);
    body_.Close();
    body_.Close();
    body_.Close();
    body_.Close();
    if (doubles) body_.Close();
    body_.Line("HK_SYNC();");
  }
  absl::StatusOr<EmittedKernel> Finish() {
    const int64_t blocks =
        layout_.one_tile()
            ? CeilDivide(layout_.runs.runs(), layout_.tile / in_tile_)
            : layout_.runs.runs() * tiles_;
    HAWSER_ASSIGN_OR_RETURN(const Extent3 grid, GridOf(blocks));
    return kernel_.Finish(
        {.grid = grid, .threads = static_cast<uint32_t>(threads_)});
  }

 private:
  // Writes whether shared element `high` is one of a run.
  void WriteIsThere() {
    const std::string size = values_.Number(layout_.runs.size);
    const char* type = values_.names().type();
    if (!layout_.one_tile()) {
      body_.Line("const bool there = (", type, ")(HK_BID % ", tiles_, "u) * ",
                 in_tile_, "u + high < ", size, ";");
      return;
    }
    body_.Line("const bool there = high % ", in_tile_, "u < ", size, " && (",
               type, ")HK_BID * ", layout_.tile / in_tile_, "u + high / ",
               in_tile_, "u < ", values_.Number(layout_.runs.runs()), ";");
  }

  const plan::SortLayout& layout_;
  KernelBuilder kernel_;
  TextWriter& body_;
  SortValues values_;
  const int64_t in_tile_;  // elements of a run in a tile
  const int64_t tiles_;    // of a run
  const int64_t threads_;
};

}  // namespace

absl::StatusOr<EmittedKernel> EmitTiles(const Sort& sort) {
  TileKernel tile(sort, "sort");
  SortValues& values = tile.values();
  HAWSER_RETURN_IF_ERROR(tile.Begin());
  tile.OpenElements();
  values.Read("a", SortSide::kOperands, Access::kRead, "run", "at", true);
  values.WriteShared("a", "i", true);
  tile.CloseElements();
  tile.WriteSteps(/*doubles=*/true);
  tile.OpenElements();
  const bool last = sort.layout.one_tile();
  values.ReadShared("a", "i", !last || sort.layout.has_payload());
  values.Write("a", SortSide::kResults, Access::kWrite, "run", "at", !last);
  if (last) values.WritePayload("a", "run", "at");
  tile.CloseElements();
  return tile.Finish();
}

absl::StatusOr<EmittedKernel> EmitTileExchanges(const Sort& sort, bool last) {
  TileKernel tile(sort, "exchange");
  SortValues& values = tile.values();
  HAWSER_RETURN_IF_ERROR(tile.Begin());
  tile.OpenElements();
  values.Read("a", SortSide::kResults, Access::kUpdate, "run", "at", true);
  values.WriteShared("a", "i", true);
  tile.CloseElements();
  tile.WriteSteps(/*doubles=*/false);
  tile.OpenElements();
  values.ReadShared("a", "i", !last || sort.layout.has_payload());
  values.Write("a", SortSide::kResults, Access::kUpdate, "run", "at", !last);
  if (last) values.WritePayload("a", "run", "at");
  tile.CloseElements();
  return tile.Finish();
}

absl::StatusOr<EmittedKernel> EmitExchange(const Sort& sort, int64_t distance,
                                           bool first) {
  const plan::SortLayout& layout = sort.layout;
  KernelBuilder kernel("exchange");
  SortValues values(sort, &kernel);
  HAWSER_RETURN_IF_ERROR(values.DeclareLess());
  TextWriter& body = kernel.body();
  const char* type = values.names().type();
  const int64_t pairs = layout.padded / 2;
  const std::string d = values.Number(distance);
  body.Line("const ", type, " own = (", type, ")HK_BID * ", kThreads,
            "u + HK_TID;");
  body.Line("const ", type, " run = own / ", values.Number(pairs),
            ", i = own % ", values.Number(pairs), ";");
  body.Line("const ", type, " in = i % ", d, ", low = (i - in) * 2u + in;");
  body.Line("const ", type, " high = ",
            first ? absl::StrCat("low - in + ", values.Number(2 * distance - 1),
                                 " - in")
                  : absl::StrCat("low + ", d),
            ";");
  body.Open("if (run < ", values.Number(layout.runs.runs()), " && high < ",
            values.Number(layout.runs.size), ")");
  values.Read("a", SortSide::kResults, Access::kUpdate, "run", "low", true);
  values.Read("b", SortSide::kResults, Access::kUpdate, "run", "high", true);
  body.Line(WrongOrder(values));
  body.Open("if (swap)");
  values.Write("b", SortSide::kResults, Access::kUpdate, "run", "low", true);
  values.Write("a", SortSide::kResults, Access::kUpdate, "run", "high", true);
  body.Close();
  body.Close();
  HAWSER_ASSIGN_OR_RETURN(
      const Extent3 grid,
      GridOf(CeilDivide(layout.runs.runs() * pairs, kThreads)));
  return kernel.Finish({.grid = grid, .threads = kThreads});
}

}  // namespace hawser::gpu
