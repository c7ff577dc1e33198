#include "kernels/gpu/emit/reductions/partials.h"

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/points/turn.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

int64_t KeptOf(const plan::Region& r) {
  return ProductOf(
      absl::MakeConstSpan(r.loops.extents).subspan(0, r.num_kept_loops));
}

// Values of a part are arrays of their own, one after another.
int64_t ValueBytes(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 ? 4 : ByteWidth(dtype);
}

struct Range {
  int64_t offset, bytes;
};

// Returns where value `k` of `fold` begins; with the last fold's end: the
// whole.
Range RangeOf(const plan::Region& r, absl::Span<const Fold> folds,
              const Fold* fold, size_t k) {
  constexpr int64_t kAlignment = 16;
  const int64_t parts = r.splits * KeptOf(r);
  int64_t offset = 0;
  for (const Fold& f : folds) {
    for (size_t v = 0; v < f.dtypes.size(); ++v) {
      const int64_t bytes = parts * ValueBytes(f.dtypes[v]);
      if (&f == fold && v == k) return {offset, bytes};
      offset += CeilDivide(bytes, kAlignment) * kAlignment;
    }
  }
  return {0, offset};
}

std::string ScratchParameter(const RegionSource& source,
                             absl::Span<const Fold> folds, const Fold& fold,
                             size_t k, Access access, KernelBuilder* kernel) {
  const Range range = RangeOf(source.region, folds, &fold, k);
  return kernel->Parameter(
      {KernelParameter::kScratch, 0, range.offset, range.bytes, access},
      ComputeTypeName(fold.dtypes[k]), false);
}

}  // namespace

bool SplitsInto(const RegionSource& source, absl::Span<const Fold> folds) {
  const plan::Region& r = source.region;
  return r.splits > 1 && RangeOf(r, folds, nullptr, 0).bytes <= r.scratch_bytes;
}

std::vector<int> ResultsOf(const plan::Region& region, bool per_result) {
  std::vector<int> results;
  for (size_t k = 0; k < region.results.size(); ++k) {
    if (region.points[region.results[k]].per_result == per_result) {
      results.push_back(static_cast<int>(k));
    }
  }
  return results;
}

std::string PartBegin(int64_t size, int64_t splits, const std::string& split,
                      const IndexNames& names) {
  const std::string even =
      absl::StrCat(names.Number(size / splits), " * ", split);
  const std::string more = names.Number(size % splits);
  if (size % splits == 0) return even;
  return absl::StrCat(even, " + (", split, " < ", more, " ? ", split, " : ",
                      more, ")");
}

void StorePartial(const RegionSource& source, absl::Span<const Fold> folds,
                  const Fold& fold, const std::string& part,
                  const std::string& index, KernelBuilder* kernel) {
  for (size_t k = 0; k < fold.dtypes.size(); ++k) {
    const std::string to =
        ScratchParameter(source, folds, fold, k, Access::kWrite, kernel);
    kernel->body().Line("Store(", to, " + (", index, "), ",
                        fold.Component(part, k), ");");
  }
}

absl::StatusOr<EmittedKernel> EmitCombination(const RegionSource& source,
                                              absl::Span<const Fold> folds,
                                              int64_t lanes) {
  const plan::Region& r = source.region;
  const int64_t kept = KeptOf(r);
  KernelBuilder kernel("combine");
  PointWriter writer = WriterOverLoops(source, &kernel);
  TextWriter& body = kernel.body();
  const IndexNames& names = writer.names();
  const char* type = names.type();
  for (const Fold& fold : folds) {
    HAWSER_RETURN_IF_ERROR(DeclareFold(source, fold, &kernel));
  }
  body.Line("const ", type, " own = (", type, ")HK_BID * ", kThreads / lanes,
            "u + HK_TID / ", lanes, "u;");
  const std::string last = names.Number(kept - 1);
  body.Line("const ", type, " k = own <= ", last, " ? own : ", last, ";");
  body.Line("const u32 lane = HK_TID % ", lanes, "u;");
  writer.NameLoops(r.loops.extents, 0, r.num_kept_loops, "k", 1);
  for (const Fold& fold : folds) {
    DeclareRunning(fold, &kernel);
    body.Open("for (u32 s = lane; s < ", r.splits, "u; s += ", lanes, "u)");
    std::vector<std::string> values;
    for (size_t v = 0; v < fold.dtypes.size(); ++v) {
      values.push_back(kernel.Unique("v"));
      const std::string from =
          ScratchParameter(source, folds, fold, v, Access::kRead, &kernel);
      body.Line("const ", ComputeTypeName(fold.dtypes[v]), " ", values[v],
                " = Load(", from, " + (s * ", names.Number(kept), " + k));");
    }
    body.Line(fold.name(), " = ", fold.type(), "::Combine(", fold.name(), ", ",
              fold.PartOf(values), ");");
    body.Close();
    ReduceOverLanes(fold, lanes, &kernel);
    DefineResults(source, fold, fold.name(), &writer, &kernel);
  }
  body.Open("if (lane == 0u && own == k)");
  WriteTurn({.results = ResultsOf(r, /*per_result=*/true)}, &writer);
  body.Close();
  HAWSER_RETURN_IF_ERROR(writer.status());
  HAWSER_ASSIGN_OR_RETURN(const Extent3 grid,
                          GridOf(CeilDivide(kept * lanes, kThreads)));
  return kernel.Finish({.grid = grid, .threads = kThreads});
}

}  // namespace hawser::gpu
