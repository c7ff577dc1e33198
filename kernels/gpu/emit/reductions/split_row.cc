// Rows too few for the device: each is cut into parts, a block folds one, and
// a second kernel folds what they came to. The places of the cuts depend on
// sizes alone.
#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/points/point_writer.h"
#include "kernels/gpu/emit/points/turn.h"
#include "kernels/gpu/emit/reductions/partials.h"
#include "kernels/gpu/emit/reductions/reductions.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

class SplitRowEmitter {
 public:
  SplitRowEmitter(const RegionSource& source, std::vector<Fold> folds)
      : source_(source),
        r_(source.region),
        extents_(r_.loops.extents),
        folds_(std::move(folds)),
        kernel_("parts"),
        writer_(WriterOverLoops(source, &kernel_)),
        full_size_(ResultsOf(r_, /*per_result=*/false)) {
    const auto all = absl::MakeConstSpan(extents_);
    rows_ = ProductOf(all.subspan(0, r_.num_kept_loops));
    elements_ = ProductOf(all.subspan(r_.num_kept_loops));
    // No part may be empty.
    width_ = elements_ / r_.vector_width < r_.splits ? 1 : r_.vector_width;
    for (const Fold& fold : folds_) {
      inputs_.insert(inputs_.end(), fold.inputs.begin(), fold.inputs.end());
    }
  }

  Kernels Emit() {
    TextWriter& body = kernel_.body();
    const IndexNames& names = writer_.names();
    const char* type = names.type();
    for (const Fold& fold : folds_) {
      HAWSER_RETURN_IF_ERROR(DeclareFold(source_, fold, &kernel_));
      DeclareShared(fold, kThreads / 32, &kernel_);
    }
    body.Line("const ", type, " row = HK_BID;");
    body.Line("const ", type, " split = HK_BID_Y;");
    writer_.NameLoops(extents_, 0, r_.num_kept_loops, "row", 1);
    std::vector<plan::PointId> roots = inputs_;
    for (const int k : full_size_) roots.push_back(r_.results[k]);
    writer_.WriteWhere(roots,
                       [](const plan::Point& p) { return p.per_result; });
    for (const Fold& fold : folds_) DeclareRunning(fold, &kernel_);
    WriteParts();
    for (const Fold& fold : folds_) ReduceOverBlock(fold, kThreads, &kernel_);
    body.Open("if (HK_TID == 0u)");
    for (const Fold& fold : folds_) {
      StorePartial(source_, folds_, fold, fold.name(),
                   absl::StrCat("split * ", names.Number(rows_), " + row"),
                   &kernel_);
    }
    body.Close();
    HAWSER_RETURN_IF_ERROR(writer_.status());
    HAWSER_ASSIGN_OR_RETURN(EmittedKernel second,
                            EmitCombination(source_, folds_, 32));
    HAWSER_ASSIGN_OR_RETURN(const Extent3 grid, GridOf(rows_, r_.splits));
    return std::vector<EmittedKernel>{
        kernel_.Finish({.grid = grid, .threads = kThreads}), std::move(second)};
  }

 private:
  // Whole vectors are dealt out evenly; the last part takes what is left over.
  void WriteParts() {
    TextWriter& body = kernel_.body();
    const char* type = writer_.names().type();
    const int64_t units = elements_ / width_;
    const IndexNames& names = writer_.names();
    body.Line("const ", type,
              " begin = ", PartBegin(units, r_.splits, "split", names), ";");
    body.Line("const ", type,
              " end = ", PartBegin(units, r_.splits, "(split + 1u)", names),
              ";");
    body.Open("for (", type, " i = begin + HK_TID; i < end; i += ", kThreads,
              "u)");
    WriteElements(width_);
    body.Close();
    const int64_t done = units * width_;
    if (done == elements_) return;
    body.Open("if (split == ", r_.splits - 1, "u && HK_TID < ",
              elements_ - done, "u)");
    body.Line("const ", type, " i = ", names.Number(done), " + HK_TID;");
    WriteElements(1);
    body.Close();
  }

  void WriteElements(int64_t width) {
    const int loops = static_cast<int>(extents_.size());
    writer_.NameLoops(extents_, r_.num_kept_loops, loops, "i", width);
    WriteTurn({.width = static_cast<int>(width),
               .inner = loops - 1,
               .base = writer_.names().loops[loops - 1],
               .results = full_size_,
               .also_needed = inputs_,
               .in_lane =
                   [&] {
                     for (const Fold& fold : folds_) {
                       WriteCombine(source_, fold, fold.name(), &writer_,
                                    &kernel_);
                     }
                   }},
              &writer_);
  }

  const RegionSource& source_;
  const plan::Region& r_;
  const Dims& extents_;
  const std::vector<Fold> folds_;
  KernelBuilder kernel_;
  PointWriter writer_;
  int64_t rows_, elements_, width_;
  std::vector<plan::PointId> inputs_;
  const std::vector<int> full_size_;  // results
};

}  // namespace

Kernels EmitSplitRow(const RegionSource& source, std::vector<Fold> folds) {
  return SplitRowEmitter(source, std::move(folds)).Emit();
}

}  // namespace hawser::gpu
