// kColumnReduction: 32 vectors of neighbouring columns side by side, up to 8
// lines of threads over the rows, what the lines came to folded in shared
// memory.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/emitters.h"
#include "kernels/gpu/emit/launch.h"
#include "kernels/gpu/emit/partials.h"

namespace hawser::gpu {
namespace {

using plan::PointId;

constexpr int64_t kLanes = 32;
// Of static shared memory, which ends at 48 KiB.
constexpr int64_t kSharedBytes = 32 << 10;

class ColumnEmitter {
 public:
  ColumnEmitter(const RegionSource& source, std::vector<Fold> folds)
      : source_(source),
        r_(source.region),
        extents_(r_.loops.extents),
        folds_(std::move(folds)),
        splits_(SplitsInto(source, folds_)),
        kernel_(splits_ ? "parts" : "columns"),
        writer_(WriterOverLoops(source, &kernel_)) {
    const auto all = absl::MakeConstSpan(extents_);
    columns_ = ProductOf(all.subspan(0, r_.num_kept_loops));
    rows_ = ProductOf(all.subspan(r_.num_kept_loops));
    inner_ = r_.num_kept_loops - 1;
    ChooseSizes();
  }

  Kernels Emit() {
    TextWriter& body = kernel_.body();
    const char* type = writer_.names().type();
    for (const Fold& fold : folds_) {
      HAWSER_RETURN_IF_ERROR(DeclareFold(source_, fold, &kernel_));
      body.Line("HK_SHARED(", fold.part(), ", shared", fold.number, ", ",
                threads() * width_, ");");
    }
    body.Line("const u32 lane = HK_TID % ", kLanes, "u;");
    body.Line("const u32 line = HK_TID / ", kLanes, "u;");
    body.Line("const ", type, " k = (", type, ")HK_BID * ", kLanes,
              "u + lane;");
    // Threads beyond the last column wait at barriers with the others.
    body.Line("const bool inside = k < ",
              writer_.names().Number(columns_ / width_), ";");
    writer_.NameLoops(extents_, 0, r_.num_kept_loops, "k", width_);
    base_ = writer_.names().loops[inner_];
    WriteRange();
    for (int s = 0; s < r_.stages; ++s) WriteStage(s);
    return splits_ ? FinishParts() : FinishWhole();
  }

 private:
  // Columns of a thread: a vector, unless shared memory is too small. Where it
  // is for so many lines too, there are fewer; no region folds 1 KiB at once.
  void ChooseSizes() {
    int64_t bytes = 0;
    for (const Fold& fold : folds_) bytes += fold.part_bytes();
    width_ = r_.vector_width;
    while (width_ > 1 && (extents_[inner_] % width_ != 0 ||
                          threads() * width_ * bytes > kSharedBytes)) {
      width_ /= 2;
    }
    while (threads() * bytes > kSharedBytes) lines_ /= 2;
  }

  int64_t threads() const { return kLanes * lines_; }

  std::string Slot() const { return width_ > 1 ? "[j]" : ""; }

  void WriteRange() {
    const char* type = writer_.names().type();
    const IndexNames& names = writer_.names();
    std::string begin = "0u", end = names.Number(rows_);
    if (splits_) {
      kernel_.body().Line("const ", type, " split = HK_BID_Y;");
      begin = PartBegin(rows_, r_.splits, "split", names);
      end = PartBegin(rows_, r_.splits, "(split + 1u)", names);
    }
    kernel_.body().Line("const ", type, " begin = ", begin, ";");
    kernel_.body().Line("const ", type, " end = ", end, ";");
  }

  // `text` once for each column of the thread.
  template <typename Text>
  void ForColumns(Text text) {
    TextWriter& body = kernel_.body();
    if (width_ > 1) {
      body.Line("HK_UNROLL");
      body.Open("for (u32 j = 0; j < ", width_, "u; ++j)");
    }
    text();
    if (width_ > 1) body.Close();
  }

  // The reductions that are there, as values of the column at hand.
  void DefineReduced(int before_stage) {
    for (const Fold& fold : folds_) {
      if (fold.stage >= before_stage) continue;
      DefineResults(source_, fold, fold.name() + Slot(), &writer_, &kernel_);
    }
  }

  void WriteStage(int stage) {
    Turn turn{
        .width = static_cast<int>(width_), .inner = inner_, .base = base_};
    std::vector<const Fold*> folds;
    for (const Fold& fold : folds_) {
      if (fold.stage != stage) continue;
      folds.push_back(&fold);
      turn.also_needed.insert(turn.also_needed.end(), fold.inputs.begin(),
                              fold.inputs.end());
      const std::string size = width_ > 1 ? absl::StrCat("[", width_, "]") : "";
      kernel_.body().Line(fold.part(), " ", fold.name(), size, ";");
      ForColumns([&] {
        kernel_.body().Line(fold.name(), Slot(), " = ", fold.type(),
                            "::Identity();");
      });
    }
    if (stage + 1 == r_.stages) {
      turn.results = ResultsOf(r_, /*per_result=*/false);
    }
    if (rows_ > 0) {
      turn.before_points = [&] { DefineReduced(stage); };
      turn.in_lane = [&] {
        for (const Fold* fold : folds) {
          WriteCombine(source_, *fold, fold->name() + Slot(), &writer_,
                       &kernel_);
        }
      };
      WriteRows(turn);
    }
    for (const Fold* fold : folds) WriteLines(*fold);
  }

  void WriteRows(const Turn& turn) {
    TextWriter& body = kernel_.body();
    const int loops = static_cast<int>(extents_.size());
    body.Open("if (inside)");
    body.Open("for (", writer_.names().type(), " i = begin + line; i < end; ",
              "i += ", lines_, "u)");
    writer_.NameLoops(extents_, r_.num_kept_loops, loops, "i", 1);
    writer_.WriteTurn(turn);
    body.Close();
    body.Close();
  }

  // Every line gets what all of them came to, from the first to the last.
  void WriteLines(const Fold& fold) {
    TextWriter& body = kernel_.body();
    const std::string shared = absl::StrCat("shared", fold.number);
    const std::string a = fold.name() + Slot();
    const std::string at =
        width_ > 1 ? absl::StrCat(" * ", width_, "u + j") : "";
    ForColumns([&] { body.Line(shared, "[HK_TID", at, "] = ", a, ";"); });
    body.Line("HK_SYNC();");
    ForColumns([&] {
      body.Line(a, " = ", shared, "[lane", at, "];");
      body.Line("HK_UNROLL");
      body.Open("for (u32 l = 1; l < ", lines_, "u; ++l)");
      body.Line("const ", fold.part(), " next = ", shared, "[(l * ", kLanes,
                "u + lane)", at, "];");
      body.Line(a, " = ", fold.type(), "::Combine(", a, ", next);");
      body.Close();
    });
  }

  Kernels FinishWhole() {
    Turn turn{.width = static_cast<int>(width_),
              .inner = inner_,
              .base = base_,
              .results = ResultsOf(r_, /*per_result=*/true)};
    turn.before_points = [&] { DefineReduced(r_.stages); };
    if (!turn.results.empty()) {
      kernel_.body().Open("if (line == 0u && inside)");
      writer_.WriteTurn(turn);
      kernel_.body().Close();
    }
    HAWSER_RETURN_IF_ERROR(writer_.status());
    HAWSER_ASSIGN_OR_RETURN(const LaunchShape shape, Shape(1));
    return std::vector<EmittedKernel>{kernel_.Finish(shape)};
  }

  Kernels FinishParts() {
    const IndexNames& names = writer_.names();
    kernel_.body().Open("if (line == 0u && inside)");
    ForColumns([&] {
      for (const Fold& fold : folds_) {
        StorePartial(
            source_, folds_, fold, fold.name() + Slot(),
            absl::StrCat(
                "split * ", names.Number(columns_), " + k",
                width_ > 1 ? absl::StrCat(" * ", width_, "u + j") : ""),
            &kernel_);
      }
    });
    kernel_.body().Close();
    HAWSER_RETURN_IF_ERROR(writer_.status());
    HAWSER_ASSIGN_OR_RETURN(EmittedKernel second,
                            EmitCombination(source_, folds_, 1));
    HAWSER_ASSIGN_OR_RETURN(const LaunchShape shape, Shape(r_.splits));
    return std::vector<EmittedKernel>{kernel_.Finish(shape), std::move(second)};
  }

  absl::StatusOr<LaunchShape> Shape(int64_t splits) const {
    HAWSER_ASSIGN_OR_RETURN(
        const Extent3 grid,
        GridOf(CeilDivide(columns_ / width_, kLanes), splits));
    return LaunchShape{.grid = grid,
                       .threads = static_cast<uint32_t>(threads())};
  }

  const RegionSource& source_;
  const plan::Region& r_;
  const Dims& extents_;
  const std::vector<Fold> folds_;
  const bool splits_;
  KernelBuilder kernel_;
  PointWriter writer_;
  int64_t columns_, rows_, width_, lines_ = kThreads / kLanes;
  int inner_;  // the loop over columns: of one column there are rows
  std::string base_;
};

}  // namespace

Kernels EmitColumns(const RegionSource& source) {
  HAWSER_ASSIGN_OR_RETURN(std::vector<Fold> folds, FindFolds(source));
  return ColumnEmitter(source, std::move(folds)).Emit();
}

}  // namespace hawser::gpu
