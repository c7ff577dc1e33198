// kRow: a row by a warp's part, a warp or a block; one pass per stage. What a
// pass leaves for later ones stays in registers, where there are enough.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "kernels/gpu/emit/emitters.h"
#include "kernels/gpu/emit/launch.h"
#include "kernels/gpu/emit/partials.h"

namespace hawser::gpu {
namespace {

using plan::Point;
using plan::PointId;

// What each pass has to do.
struct Pass {
  std::vector<const Fold*> folds;
  std::vector<int> results;     // per turn, in the last one
  std::vector<PointId> roots;   // what it needs
  std::vector<PointId> leaves;  // what later passes take from it
};

class RowEmitter {
 public:
  RowEmitter(const RegionSource& source, std::vector<Fold> folds)
      : source_(source),
        r_(source.region),
        extents_(r_.loops.extents),
        folds_(std::move(folds)),
        kernel_("row"),
        writer_(WriterOverLoops(source, &kernel_)) {
    const auto all = absl::MakeConstSpan(extents_);
    rows_ = ProductOf(all.subspan(0, r_.num_kept_loops));
    elements_ = ProductOf(all.subspan(r_.num_kept_loops));
    const bool vectors = extents_.size() > static_cast<size_t>(
                                               r_.num_kept_loops);
    width_ = vectors ? r_.vector_width : 1;
    units_ = elements_ / width_;
    ChooseLanes();
    PlanPasses();
    DecideWhatStays();
  }

  Kernels Emit() {
    TextWriter& body = kernel_.body();
    for (const Fold& fold : folds_) {
      HAWSER_RETURN_IF_ERROR(DeclareFold(source_, fold, &kernel_));
      if (!is_block_) continue;
      body.Line("HK_SHARED(", fold.part(), ", shared", fold.number, ", ",
                lanes_ / 32, ");");
    }
    WriteRowIndex();
    for (size_t s = 0; s < passes_.size(); ++s) {
      WritePass(passes_[s]);
      for (const Fold* fold : passes_[s].folds) WriteResult(*fold);
    }
    WriteRowResults();
    if (!writer_.status().ok()) return writer_.status();
    HAWSER_ASSIGN_OR_RETURN(const Extent3 grid,
                            GridOf(CeilDivide(rows_, rows_at_once_)));
    return std::vector<EmittedKernel>{kernel_.Finish(
        {.grid = grid, .threads = static_cast<uint32_t>(threads_)})};
  }

 private:
  // A block for rows that keep its threads busy for a few turns each, or that
  // are too few for the device by the warp.
  void ChooseLanes() {
    const int64_t busy = int64_t{source_.options.multiprocessors} * 8;
    is_block_ = units_ > 256 || (units_ > 64 && rows_ < busy);
    if (is_block_) {
      lanes_ = std::clamp<int64_t>(PowerOfTwo(CeilDivide(units_, 4)), 64, 1024);
      threads_ = lanes_;
    } else {
      lanes_ = std::min<int64_t>(PowerOfTwo(units_), 32);
      threads_ = kThreads;
    }
    rows_at_once_ = threads_ / lanes_;
    turns_ = CeilDivide(units_, lanes_);
  }

  bool IsPerTurn(PointId id) const { return !source_.point(id).per_result; }

  // Cheaper made again than kept.
  bool IsFree(const Point& p) const {
    return p.kind == Point::kIota || p.kind == Point::kMove ||
           (p.kind == Point::kOp &&
            source_.instruction(p).op == &kConstant);
  }

  void PlanPasses() {
    passes_.resize(r_.stages);
    for (const Fold& fold : folds_) {
      Pass& pass = passes_[fold.stage];
      pass.folds.push_back(&fold);
      pass.roots.insert(pass.roots.end(), fold.inputs.begin(),
                        fold.inputs.end());
    }
    for (size_t k = 0; k < r_.results.size(); ++k) {
      if (!IsPerTurn(r_.results[k])) continue;
      passes_.back().results.push_back(static_cast<int>(k));
      passes_.back().roots.push_back(r_.results[k]);
    }
    std::vector<int> made_in(r_.points.size(), -1);
    for (size_t s = 0; s < passes_.size(); ++s) {
      FindLeaves(static_cast<int>(s), &made_in);
    }
  }

  // Goes from what pass `s` needs back to loads, or to what an earlier pass
  // has made already.
  void FindLeaves(int s, std::vector<int>* made_in) {
    std::vector<bool> needed(r_.points.size(), false);
    for (const PointId root : passes_[s].roots) needed[root] = true;
    for (size_t n = needed.size(); n-- > 0;) {
      const PointId id = static_cast<PointId>(n);
      if (!needed[n] || !IsPerTurn(id)) continue;
      const int maker = (*made_in)[n];
      if (maker >= 0 && !IsFree(source_.point(id))) {
        auto& leaves = passes_[maker].leaves;
        if (std::find(leaves.begin(), leaves.end(), id) == leaves.end()) {
          leaves.push_back(id);
        }
        continue;
      }
      (*made_in)[n] = s;
      writer_.AddNeeds(id, &needed);
    }
  }

  void DecideWhatStays() {
    int64_t bytes = 0;
    for (const Pass& pass : passes_) {
      for (const PointId id : pass.leaves) {
        bytes += std::max<int64_t>(
            4, ByteWidth(source_.shape(id).dtype()));
      }
    }
    // Half of a thread's registers.
    const int64_t room = std::min<int64_t>(64, 32768 / threads_) * 4;
    stays_ = bytes > 0 && bytes * turns_ * width_ <= room &&
             elements_ % width_ == 0;
    if (!stays_) {
      for (Pass& pass : passes_) pass.leaves.clear();
    }
  }

  void WriteRowIndex() {
    TextWriter& body = kernel_.body();
    const IndexNames& names = writer_.names();
    const char* type = names.type();
    const std::string bound = names.Number(rows_ - 1);
    std::string lane = "HK_TID";
    if (is_block_) {
      body.Line("const ", type, " row = HK_BID;");
    } else {
      body.Line("const ", type, " own = (", type, ")HK_BID * ", rows_at_once_,
                "u + HK_TID / ", lanes_, "u;");
      // Rows that are not there are others again: whole warps work together.
      body.Line("const ", type, " row = own <= ", bound, " ? own : ", bound,
                ";");
      lane = absl::StrCat("HK_TID % ", lanes_, "u");
    }
    body.Line("const u32 lane = ", lane, ";");
    writer_.NameLoops(extents_, 0, r_.num_kept_loops, "row", 1);
  }

  bool HasSpareRows() const { return rows_ % rows_at_once_ != 0; }
  std::string IsOwn() const {
    return HasSpareRows() ? "own == row" : "";
  }

  void WritePass(const Pass& pass) {
    for (const Fold* fold : pass.folds) DeclareRunning(*fold, &kernel_);
    if (elements_ == 0) return;
    writer_.WriteWhere(pass.roots,
                       [](const Point& p) { return p.per_result; });
    if (stays_) {
      WriteResidentPass(pass);
    } else {
      WriteLoop(pass, width_, 0, units_);
      WriteLoop(pass, 1, units_ * width_, elements_);
    }
  }

  // Turns [from, to) of `width` elements, by all lanes.
  void WriteLoop(const Pass& pass, int64_t width, int64_t from, int64_t to) {
    if (from >= to) return;
    const IndexNames& names = writer_.names();
    const std::string begin =
        from > 0 ? absl::StrCat("lane + ", names.Number(from)) : "lane";
    kernel_.body().Open("for (", names.type(), " i = ", begin, "; i < ",
                        names.Number(to), "; i += ", lanes_, "u)");
    WriteTurn(pass, "i", width, "");
    kernel_.body().Close();
  }

  void WriteResidentPass(const Pass& pass) {
    TextWriter& body = kernel_.body();
    for (const PointId id : pass.leaves) {
      arrays_[id] = kernel_.Unique("k");
      body.Line(ComputeTypeName(source_.shape(id).dtype()), " ", arrays_[id],
                "[", turns_ * width_, "];");
    }
    body.Line("HK_UNROLL");
    body.Open("for (u32 t = 0; t < ", turns_, "u; ++t)");
    const char* type = writer_.names().type();
    const std::string i = kernel_.Unique("i");
    body.Line("const ", type, " ", i, " = t * ", lanes_, "u + lane;");
    const bool ragged = units_ % lanes_ != 0;
    if (ragged) {
      body.Open("if (", i, " < ", writer_.names().Number(units_), ")");
    }
    WriteTurn(pass, i, width_,
              width_ > 1 ? absl::StrCat("[t * ", width_, "u + j]") : "[t]");
    if (ragged) body.Close();
    body.Close();
  }

  void WriteTurn(const Pass& pass, const std::string& flat, int64_t width,
                 const std::string& slot) {
    const int loops = static_cast<int>(extents_.size());
    // Spare lanes touch nothing: what they would read may be written over.
    const std::string own = IsOwn();
    writer_.Enter();
    if (!own.empty()) kernel_.body().Open("if (", own, ")");
    writer_.NameLoops(extents_, r_.num_kept_loops, loops, flat, width);
    for (const auto& [id, array] : arrays_) {
      const auto& own_leaves = pass.leaves;
      if (std::find(own_leaves.begin(), own_leaves.end(), id) ==
          own_leaves.end()) {
        writer_.Define(id, {array + slot, source_.shape(id).dtype(), false});
      }
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
        WriteCombine(source_, *fold, fold->name(), &writer_, &kernel_);
      }
    };
    writer_.WriteTurn(turn);
    if (!own.empty()) kernel_.body().Close();
    writer_.Leave();
  }

  void WriteResult(const Fold& fold) {
    const std::string a = fold.name();
    if (is_block_) {
      kernel_.body().Line(a, " = BlockReduce<", fold.type(), ", ", lanes_,
                          "u>(", a, ", shared", fold.number, ");");
    } else if (lanes_ > 1) {
      kernel_.body().Line(a, " = GroupReduce<", fold.type(), ", ", lanes_,
                          "u>(", a, ");");
    }
    DefineResults(source_, fold, a, &writer_, &kernel_);
  }

  // What there is one of for each row.
  void WriteRowResults() {
    std::vector<int> results;
    for (size_t k = 0; k < r_.results.size(); ++k) {
      if (!IsPerTurn(r_.results[k])) results.push_back(static_cast<int>(k));
    }
    if (results.empty()) return;
    const std::string own = IsOwn();
    kernel_.body().Open("if (lane == 0u", own.empty() ? "" : " && ", own, ")");
    writer_.WriteTurn({.results = results});
    kernel_.body().Close();
  }

  const RegionSource& source_;
  const plan::Region& r_;
  const Dims& extents_;
  const std::vector<Fold> folds_;
  KernelBuilder kernel_;
  PointWriter writer_;

  int64_t rows_, elements_;  // of a row
  int64_t width_, units_;    // whole vectors of a row
  int64_t lanes_, threads_, rows_at_once_, turns_;
  bool is_block_;
  bool stays_ = false;
  std::vector<Pass> passes_;
  std::map<PointId, std::string> arrays_;  // of what stays
};

}  // namespace

Kernels EmitRow(const RegionSource& source) {
  HAWSER_ASSIGN_OR_RETURN(std::vector<Fold> folds, FindFolds(source));
  if (SplitsInto(source, folds)) return EmitSplitRow(source, std::move(folds));
  return RowEmitter(source, std::move(folds)).Emit();
}

}  // namespace hawser::gpu
