#include "kernels/gpu/emit/reductions/column_folds.h"

#include "absl/strings/str_cat.h"
#include "kernels/gpu/emit/reductions/partials.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

// The bytes of static shared memory that are used; it ends at 48 KiB.
constexpr int64_t kSharedBytes = 32 << 10;

}  // namespace

// Columns of a thread: a vector, unless shared memory is too small for one.
// If it is too small for so many lines too, there are fewer; no region folds 1
// KiB at once.
ColumnShape ShapeOfColumns(const plan::Region& region,
                           absl::Span<const Fold> folds) {
  const auto extents = absl::MakeConstSpan(region.loops.extents);
  ColumnShape s;
  s.columns = ProductOf(extents.subspan(0, region.num_kept_loops));
  s.rows = ProductOf(extents.subspan(region.num_kept_loops));
  s.width = region.vector_width;
  s.lines = kThreads / ColumnShape::kLanes;
  s.inner = region.num_kept_loops - 1;
  int64_t bytes = 0;
  for (const Fold& fold : folds) bytes += fold.part_bytes();
  while (s.width > 1 && (extents[s.inner] % s.width != 0 ||
                         s.threads() * s.width * bytes > kSharedBytes)) {
    s.width /= 2;
  }
  while (s.threads() * bytes > kSharedBytes) s.lines /= 2;
  return s;
}

// `text` once for each column of the thread.
void ColumnFolds::ForColumns(const std::function<void()>& text) {
  if (shape_.width > 1) {
    body_.Line("HK_UNROLL");
    body_.Open("for (u32 j = 0; j < ", shape_.width, "u; ++j)");
  }
  text();
  if (shape_.width > 1) body_.Close();
}

void ColumnFolds::Declare(const Fold& fold) {
  const std::string size =
      shape_.width > 1 ? absl::StrCat("[", shape_.width, "]") : "";
  body_.Line(fold.part(), " ", fold.name(), size, ";");
  ForColumns(
      [&] { body_.Line(Running(fold), " = ", fold.type(), "::Identity();"); });
}

void ColumnFolds::Combine(const Fold& fold) {
  WriteCombine(writer_.source(), fold, Running(fold), &writer_,
               &writer_.kernel());
}

void ColumnFolds::Finish(const Fold& fold) {
  const std::string shared = absl::StrCat("shared", fold.number);
  const std::string a = Running(fold);
  const std::string at =
      shape_.width > 1 ? absl::StrCat(" * ", shape_.width, "u + j") : "";
  ForColumns([&] { body_.Line(shared, "[HK_TID", at, "] = ", a, ";"); });
  body_.Line("HK_SYNC();");
  ForColumns([&] {
    body_.Line(a, " = ", shared, "[lane", at, "];");
    body_.Line("HK_UNROLL");
    body_.Open("for (u32 l = 1; l < ", shape_.lines, "u; ++l)");
    body_.Line("const ", fold.part(), " next = ", shared, "[(l * ",
               ColumnShape::kLanes, "u + lane)", at, "];");
    body_.Line(a, " = ", fold.type(), "::Combine(", a, ", next);");
    body_.Close();
  });
}

void ColumnFolds::DefineResultsBefore(int stage) {
  for (const Fold& fold : folds_) {
    if (fold.stage >= stage) continue;
    DefineResults(writer_.source(), fold, Running(fold), &writer_,
                  &writer_.kernel());
  }
}

void ColumnFolds::StorePartials() {
  const std::string at = absl::StrCat(
      "split * ", writer_.names().Number(shape_.columns), " + k",
      shape_.width > 1 ? absl::StrCat(" * ", shape_.width, "u + j") : "");
  ForColumns([&] {
    for (const Fold& fold : folds_) {
      StorePartial(writer_.source(), folds_, fold, Running(fold), at,
                   &writer_.kernel());
    }
  });
}

}  // namespace hawser::gpu
