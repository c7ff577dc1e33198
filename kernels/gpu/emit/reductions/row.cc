// kRow: a row by a warp's part, a warp or a block; one pass per stage. Values
// that a pass leaves for later ones stay in registers, if there are enough.
#include <map>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/points/point_writer.h"
#include "kernels/gpu/emit/points/turn.h"
#include "kernels/gpu/emit/reductions/partials.h"
#include "kernels/gpu/emit/reductions/reductions.h"
#include "kernels/gpu/emit/reductions/row_passes.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

using plan::Point;
using plan::PointId;

// Writes the turns of passes over a row by its lanes. Invariant: `arrays_`
// names the registers of the leaves of every pass that is written.
class PassWriter {
 public:
  PassWriter(const RowShape& shape, bool stays, PointWriter* writer)
      : shape_(shape),
        stays_(stays),
        extents_(writer->source().region.loops.extents),
        num_kept_(writer->source().region.num_kept_loops),
        kernel_(writer->kernel()),
        writer_(*writer) {}

  void Write(const RowPass& pass) {
    if (shape_.elements == 0) return;
    writer_.WriteWhere(pass.roots, [](const Point& p) { return p.per_result; });
    if (stays_) {
      WriteResidentPass(pass);
    } else {
      WriteLoop(pass, shape_.width, 0, shape_.units);
      WriteLoop(pass, 1, shape_.units * shape_.width, shape_.elements);
    }
  }

  // The condition that a lane's row is its own, "" where every lane's is.
  std::string IsOwn() const {
    return shape_.rows % shape_.rows_at_once != 0 ? "own == row" : "";
  }

 private:
  // Turns [from, to) of `width` elements, by all lanes.
  void WriteLoop(const RowPass& pass, int64_t width, int64_t from, int64_t to) {
    if (from >= to) return;
    const IndexNames& names = writer_.names();
    const std::string begin =
        from > 0 ? absl::StrCat("lane + ", names.Number(from)) : "lane";
    kernel_.body().Open("for (", names.type(), " i = ", begin, "; i < ",
                        names.Number(to), "; i += ", shape_.lanes, "u)");
    WriteElements(pass, "i", width, "");
    kernel_.body().Close();
  }

  void WriteResidentPass(const RowPass& pass) {
    TextWriter& body = kernel_.body();
    for (const PointId id : pass.leaves) {
      arrays_[id] = kernel_.Unique("k");
      body.Line(ComputeTypeName(writer_.source().shape(id).dtype()), " ",
                arrays_[id], "[", shape_.turns * shape_.width, "];");
    }
    body.Line("HK_UNROLL");
    body.Open("for (u32 t = 0; t < ", shape_.turns, "u; ++t)");
    const char* type = writer_.names().type();
    const std::string i = kernel_.Unique("i");
    body.Line("const ", type, " ", i, " = t * ", shape_.lanes, "u + lane;");
    const bool ragged = shape_.units % shape_.lanes != 0;
    if (ragged) {
      body.Open("if (", i, " < ", writer_.names().Number(shape_.units), ")");
    }
    WriteElements(pass, i, shape_.width,
                  shape_.width > 1
                      ? absl::StrCat("[t * ", shape_.width, "u + j]")
                      : "[t]");
    if (ragged) body.Close();
    body.Close();
  }

  void WriteElements(const RowPass& pass, const std::string& flat,
                     int64_t width, const std::string& slot) {
    const int loops = static_cast<int>(extents_.size());
    // Spare lanes touch nothing: what they would read may be written over.
    const std::string own = IsOwn();
    writer_.Enter();
    if (!own.empty()) kernel_.body().Open("if (", own, ")");
    writer_.NameLoops(extents_, num_kept_, loops, flat, width);
    for (const auto& [id, array] : arrays_) {
      if (absl::c_linear_search(pass.leaves, id))
        continue;  // computed by this pass
      writer_.Define(id,
                     {array + slot, writer_.source().shape(id).dtype(), false});
    }
    Turn turn{.width = static_cast<int>(width),
              .inner = loops - 1,
              .results = pass.results,
              .also_needed = pass.roots};
    if (width > 1) turn.base = writer_.names().loops[loops - 1];
    turn.in_lane = [&] {
      for (const PointId id : pass.leaves) {
        kernel_.body().Line(arrays_[id], slot, " = ",
                            writer_.Value(id).Computed(), ";");
      }
      for (const Fold* fold : pass.folds) {
        WriteCombine(writer_.source(), *fold, fold->name(), &writer_, &kernel_);
      }
    };
    WriteTurn(turn, &writer_);
    if (!own.empty()) kernel_.body().Close();
    writer_.Leave();
  }

  const RowShape& shape_;
  const bool stays_;
  const Dims& extents_;
  const int num_kept_;  // loops
  KernelBuilder& kernel_;
  PointWriter& writer_;
  std::map<PointId, std::string> arrays_;  // of what stays
};

// Writes rows as one kernel: a pass for each stage, what its folds came to,
// then what there is once for each row.
class RowEmitter {
 public:
  RowEmitter(const RegionSource& source, std::vector<Fold> folds)
      : source_(source),
        folds_(std::move(folds)),
        shape_(ShapeOfRows(source.region, source.options)),
        kernel_("row"),
        writer_(WriterOverLoops(source, &kernel_)),
        plan_(PlanRowPasses(source, writer_.maps(), shape_, folds_)),
        turns_(shape_, plan_.stays, &writer_) {}

  Kernels Emit() {
    for (const Fold& fold : folds_) {
      HAWSER_RETURN_IF_ERROR(DeclareFold(source_, fold, &kernel_));
      if (shape_.is_block) DeclareShared(fold, shape_.lanes / 32, &kernel_);
    }
    WriteRowIndex();
    for (const RowPass& pass : plan_.passes) {
      for (const Fold* fold : pass.folds) DeclareRunning(*fold, &kernel_);
      turns_.Write(pass);
      for (const Fold* fold : pass.folds) WriteResult(*fold);
    }
    WriteRowResults();
    if (!writer_.status().ok()) return writer_.status();
    HAWSER_ASSIGN_OR_RETURN(
        const Extent3 grid,
        GridOf(CeilDivide(shape_.rows, shape_.rows_at_once)));
    return std::vector<EmittedKernel>{kernel_.Finish(
        {.grid = grid, .threads = static_cast<uint32_t>(shape_.threads)})};
  }

 private:
  void WriteRowIndex() {
    TextWriter& body = kernel_.body();
    const IndexNames& names = writer_.names();
    const char* type = names.type();
    const std::string bound = names.Number(shape_.rows - 1);
    std::string lane = "HK_TID";
    if (shape_.is_block) {
      body.Line("const ", type, " row = HK_BID;");
    } else {
      body.Line("const ", type, " own = (", type, ")HK_BID * ",
                shape_.rows_at_once, "u + HK_TID / ", shape_.lanes, "u;");
      // Rows that are not there are others again: whole warps work together.
      body.Line("const ", type, " row = own <= ", bound, " ? own : ", bound,
                ";");
      lane = absl::StrCat("HK_TID % ", shape_.lanes, "u");
    }
    body.Line("const u32 lane = ", lane, ";");
    writer_.NameLoops(source_.region.loops.extents, 0,
                      source_.region.num_kept_loops, "row", 1);
  }

  void WriteResult(const Fold& fold) {
    if (shape_.is_block) {
      ReduceOverBlock(fold, shape_.lanes, &kernel_);
    } else {
      ReduceOverLanes(fold, shape_.lanes, &kernel_);
    }
    DefineResults(source_, fold, fold.name(), &writer_, &kernel_);
  }

  // Writes the results that each row has one of.
  void WriteRowResults() {
    const std::vector<int> results =
        ResultsOf(source_.region, /*per_result=*/true);
    if (results.empty()) return;
    const std::string own = turns_.IsOwn();
    kernel_.body().Open("if (lane == 0u", own.empty() ? "" : " && ", own, ")");
    WriteTurn({.results = results}, &writer_);
    kernel_.body().Close();
  }

  const RegionSource& source_;
  const std::vector<Fold> folds_;
  const RowShape shape_;
  KernelBuilder kernel_;
  PointWriter writer_;
  const RowPasses plan_;
  PassWriter turns_;
};

}  // namespace

Kernels EmitRow(const RegionSource& source) {
  HAWSER_ASSIGN_OR_RETURN(std::vector<Fold> folds, FindFolds(source));
  if (SplitsInto(source, folds)) return EmitSplitRow(source, std::move(folds));
  return RowEmitter(source, std::move(folds)).Emit();
}

}  // namespace hawser::gpu
