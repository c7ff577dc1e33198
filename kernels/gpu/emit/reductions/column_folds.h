// ColumnFolds: the running values of a kColumnReduction's kernel, in which each
// thread folds one column or a vector of neighbouring ones.
#ifndef HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_COLUMN_FOLDS_H_
#define HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_COLUMN_FOLDS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "kernels/gpu/emit/points/point_writer.h"
#include "kernels/gpu/emit/reductions/folds.h"

namespace hawser::gpu {

// A block is `lines` lines of kLanes threads. A thread has `width` columns; the
// lines share the rows.
struct ColumnShape {
  static constexpr int64_t kLanes = 32;

  int64_t columns, rows;
  int64_t width, lines;
  int inner;  // the loop over columns: of one column there are rows

  int64_t threads() const { return kLanes * lines; }
};
ColumnShape ShapeOfColumns(const plan::Region& region,
                           absl::Span<const Fold> folds);

// Invariant: fold n's running values are the variable `a<n>` of the thread, an
// array where it has several columns. In the text that Declare, Finish and
// StorePartials write, `lane` and `line` are the thread's, `k` its vector of
// columns.
class ColumnFolds {
 public:
  // All arguments outlive this object.
  ColumnFolds(const ColumnShape& shape, absl::Span<const Fold> folds,
              PointWriter* writer)
      : shape_(shape),
        folds_(folds),
        writer_(*writer),
        body_(writer->kernel().body()) {}

  // Declares the running values of `fold`, of nothing yet.
  void Declare(const Fold& fold);
  // Folds the inputs at the loops' indices into the column at hand.
  void Combine(const Fold& fold);
  // Gives every line the fold of all lines, from the first to the last.
  void Finish(const Fold& fold);
  // Defines the results of the folds before `stage`, of the column at hand.
  void DefineResultsBefore(int stage);
  // Stores the fold of part `split`.
  void StorePartials();

 private:
  std::string Running(const Fold& fold) const {
    return fold.name() + (shape_.width > 1 ? "[j]" : "");
  }
  void ForColumns(const std::function<void()>& text);

  const ColumnShape& shape_;
  const absl::Span<const Fold> folds_;
  PointWriter& writer_;
  TextWriter& body_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_COLUMN_FOLDS_H_
