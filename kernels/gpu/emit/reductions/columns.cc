// kColumnReduction: 32 vectors of neighbouring columns side by side, up to 8
// lines of threads over the rows, what the lines came to folded in shared
// memory.
#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/points/point_writer.h"
#include "kernels/gpu/emit/points/turn.h"
#include "kernels/gpu/emit/reductions/column_folds.h"
#include "kernels/gpu/emit/reductions/partials.h"
#include "kernels/gpu/emit/reductions/reductions.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

constexpr int64_t kLanes = ColumnShape::kLanes;

// One pass over the rows for each stage. Invariant: threads beyond the last
// column wait at barriers with the others and touch no memory.
class ColumnEmitter {
 public:
  ColumnEmitter(const RegionSource& source, std::vector<Fold> folds)
      : source_(source),
        r_(source.region),
        folds_(std::move(folds)),
        splits_(SplitsInto(source, folds_)),
        shape_(ShapeOfColumns(r_, folds_)),
        kernel_(splits_ ? "parts" : "columns"),
        writer_(WriterOverLoops(source, &kernel_)),
        running_(shape_, folds_, &writer_) {}

  Kernels Emit() {
    TextWriter& body = kernel_.body();
    const char* type = writer_.names().type();
    for (const Fold& fold : folds_) {
      HAWSER_RETURN_IF_ERROR(DeclareFold(source_, fold, &kernel_));
      DeclareShared(fold, shape_.threads() * shape_.width, &kernel_);
    }
    body.Line("const u32 lane = HK_TID % ", kLanes, "u;");
    body.Line("const u32 line = HK_TID / ", kLanes, "u;");
    body.Line("const ", type, " k = (", type, ")HK_BID * ", kLanes,
              "u + lane;");
    // Threads beyond the last column wait at barriers with the others.
    body.Line("const bool inside = k < ",
              writer_.names().Number(shape_.columns / shape_.width), ";");
    writer_.NameLoops(r_.loops.extents, 0, r_.num_kept_loops, "k",
                      shape_.width);
    base_ = writer_.names().loops[shape_.inner];
    WriteRange();
    for (int s = 0; s < r_.stages; ++s) WriteStage(s);
    return splits_ ? FinishParts() : FinishWhole();
  }

 private:
  void WriteRange() {
    const char* type = writer_.names().type();
    const IndexNames& names = writer_.names();
    std::string begin = "0u", end = names.Number(shape_.rows);
    if (splits_) {
      kernel_.body().Line("const ", type, " split = HK_BID_Y;");
      begin = PartBegin(shape_.rows, r_.splits, "split", names);
      end = PartBegin(shape_.rows, r_.splits, "(split + 1u)", names);
    }
    kernel_.body().Line("const ", type, " begin = ", begin, ";");
    kernel_.body().Line("const ", type, " end = ", end, ";");
  }

  void WriteStage(int stage) {
    Turn turn{.width = static_cast<int>(shape_.width),
              .inner = shape_.inner,
              .base = base_};
    std::vector<const Fold*> folds;
    for (const Fold& fold : folds_) {
      if (fold.stage != stage) continue;
      folds.push_back(&fold);
      turn.also_needed.insert(turn.also_needed.end(), fold.inputs.begin(),
                              fold.inputs.end());
      running_.Declare(fold);
    }
    if (stage + 1 == r_.stages) {
      turn.results = ResultsOf(r_, /*per_result=*/false);
    }
    if (shape_.rows > 0) {
      turn.before_points = [&] { running_.DefineResultsBefore(stage); };
      turn.in_lane = [&] {
        for (const Fold* fold : folds) running_.Combine(*fold);
      };
      WriteRows(turn);
    }
    for (const Fold* fold : folds) running_.Finish(*fold);
  }

  void WriteRows(const Turn& turn) {
    TextWriter& body = kernel_.body();
    const int loops = static_cast<int>(r_.loops.extents.size());
    body.Open("if (inside)");
    body.Open("for (", writer_.names().type(), " i = begin + line; i < end; ",
              "i += ", shape_.lines, "u)");
    writer_.NameLoops(r_.loops.extents, r_.num_kept_loops, loops, "i", 1);
    WriteTurn(turn, &writer_);
    body.Close();
    body.Close();
  }

  Kernels FinishWhole() {
    Turn turn{.width = static_cast<int>(shape_.width),
              .inner = shape_.inner,
              .base = base_,
              .results = ResultsOf(r_, /*per_result=*/true)};
    turn.before_points = [&] { running_.DefineResultsBefore(r_.stages); };
    if (!turn.results.empty()) {
      kernel_.body().Open("if (line == 0u && inside)");
      WriteTurn(turn, &writer_);
      kernel_.body().Close();
    }
    HAWSER_RETURN_IF_ERROR(writer_.status());
    HAWSER_ASSIGN_OR_RETURN(const LaunchShape shape, Shape(1));
    return std::vector<EmittedKernel>{kernel_.Finish(shape)};
  }

  Kernels FinishParts() {
    kernel_.body().Open("if (line == 0u && inside)");
    running_.StorePartials();
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
        GridOf(CeilDivide(shape_.columns / shape_.width, kLanes), splits));
    return LaunchShape{.grid = grid,
                       .threads = static_cast<uint32_t>(shape_.threads())};
  }

  const RegionSource& source_;
  const plan::Region& r_;
  const std::vector<Fold> folds_;
  const bool splits_;
  const ColumnShape shape_;
  KernelBuilder kernel_;
  PointWriter writer_;
  ColumnFolds running_;
  std::string base_;  // the index of the thread's first column
};

}  // namespace

Kernels EmitColumns(const RegionSource& source) {
  HAWSER_ASSIGN_OR_RETURN(std::vector<Fold> folds, FindFolds(source));
  return ColumnEmitter(source, std::move(folds)).Emit();
}

}  // namespace hawser::gpu
