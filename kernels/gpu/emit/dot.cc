// A product that no library takes: tiles of 32 x 32 results by 256 threads,
// the factors' tiles in shared memory, with whatever follows the product.
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ops/dot.h"
#include "core/ops/rules.h"
#include "kernels/gpu/emit/emitters.h"
#include "kernels/gpu/emit/launch.h"

namespace hawser::gpu {
namespace {

using plan::IndexExpr;
using plan::IndexMap;

constexpr int64_t kTile = 32, kLines = kThreads / kTile;
// The kernel's loops.
enum Loop { kBatch, kRow, kColumn, kSummed, kNumLoops };
constexpr const char* kLoopNames[] = {"b", "m", "n", "k"};

// One factor: its axes by the loop that runs over them.
struct Factor {
  Dims axes[kNumLoops];
  IndexExpr offset;
  int operand = -1;
  ValueId value = kNoValue;
};

class DotEmitter {
 public:
  explicit DotEmitter(const RegionSource& source)
      : source_(source), kernel_("dot") {}

  Kernels Emit() {
    HAWSER_RETURN_IF_ERROR(FindProduct());
    DescribeFactors();
    PointWriter writer(source_, &kernel_, Back(), kNumLoops);
    writer_ = &writer;
    for (int loop = 0; loop < kNumLoops; ++loop) {
      writer.NameLoop(loop, kLoopNames[loop]);
    }
    WriteProduct();
    WriteResults();
    HAWSER_RETURN_IF_ERROR(writer.status());
    HAWSER_ASSIGN_OR_RETURN(
        const Extent3 grid,
        GridOf(sizes_[kBatch] * tiles(kRow) * tiles(kColumn)));
    return std::vector<EmittedKernel>{
        kernel_.Finish({.grid = grid, .threads = kThreads})};
  }

 private:
  int64_t tiles(int loop) const { return CeilDivide(sizes_[loop], kTile); }

  absl::Status FindProduct() {
    for (size_t n = 0; n < source_.region.points.size(); ++n) {
      const plan::Point& p = source_.region.points[n];
      if (source_.instruction(p).op != &kDotGeneral ||
          p.kind != plan::Point::kOp) {
        continue;
      }
      if (dot_ != nullptr || source_.region.maps[p.map] !=
                                 IndexMap::Identity(source_.region.domain)) {
        return Unimplemented("no kernel computes a product at two places");
      }
      dot_ = &source_.instruction(p);
      point_ = static_cast<plan::PointId>(n);
    }
    if (dot_ == nullptr) return Internal("a product's region without one");
    const Computation& c =
        source_.module.computation(source_.region.computation);
    const Instruction& whole = c.instructions()[source_.region.instruction];
    for (int side : {0, 1}) {
      factors_[side].value = dot_->operands[side];
      // Alone, its operands are the region's; in a fusion they are parameters.
      const bool alone = source_.region.body == source_.region.computation;
      factors_[side].operand = alone ? side : dot_->operands[side];
      if (!alone && factors_[side].operand >=
                        static_cast<int>(whole.operands.size())) {
        return Unimplemented("no kernel computes the factors of a product");
      }
    }
    return absl::OkStatus();
  }

  const Shape& ShapeOf(const Factor& f) const {
    return source_.body().shape(f.value);
  }

  void DescribeFactors() {
    const Attributes& a = dot_->attributes;
    const absl::string_view names[2][2] = {
        {"lhs_batching_dimensions", "lhs_contracting_dimensions"},
        {"rhs_batching_dimensions", "rhs_contracting_dimensions"}};
    for (int side : {0, 1}) {
      Factor& f = factors_[side];
      const auto batch = a.GetInts(names[side][0]);
      const auto summed = a.GetInts(names[side][1]);
      f.axes[kBatch].assign(batch.begin(), batch.end());
      f.axes[kSummed].assign(summed.begin(), summed.end());
      for (int axis = 0; axis < ShapeOf(f).rank(); ++axis) {
        if (Contains(batch, axis) || Contains(summed, axis)) continue;
        f.axes[side == 0 ? kRow : kColumn].push_back(axis);
      }
      IndexMap map;
      map.axes.resize(ShapeOf(f).rank());
      for (const int loop : {kBatch, kRow, kColumn, kSummed}) {
        Place(loop, f, &map);
      }
      f.offset = map.Linear(ShapeOf(f).dims());
    }
  }

  Dims SizesOf(int loop, const Factor& f) const {
    Dims sizes;
    for (const int64_t axis : f.axes[loop]) {
      sizes.push_back(ShapeOf(f).dim(static_cast<int>(axis)));
    }
    return sizes;
  }

  // Where the axes of `loop` are for each turn of it.
  void Place(int loop, const Factor& f, IndexMap* map) {
    const Dims sizes = SizesOf(loop, f);
    if (&f == &factors_[loop == kColumn ? 1 : 0]) {
      sizes_[loop] = ProductOf(sizes);
    }
    const IndexMap parts =
        plan::Delinearize(IndexExpr::Dim(loop, ProductOf(sizes)), sizes);
    for (size_t k = 0; k < sizes.size(); ++k) {
      map->axes[f.axes[loop][k]] = parts.axes[k];
    }
  }

  // The region's loops are the product's axes: batch, rows, columns.
  std::vector<IndexExpr> Back() const {
    std::vector<IndexExpr> back;
    for (const int loop : {kBatch, kRow, kColumn}) {
      const Dims sizes = SizesOf(loop, factors_[loop == kColumn ? 1 : 0]);
      const IndexMap parts =
          plan::Delinearize(IndexExpr::Dim(loop, ProductOf(sizes)), sizes);
      back.insert(back.end(), parts.axes.begin(), parts.axes.end());
    }
    return back;
  }

  DType dtype() const { return ShapeOf(factors_[0]).dtype(); }
  std::string sum_type() const { return ComputeTypeName(dtype()); }

  void WriteProduct() {
    TextWriter& body = kernel_.body();
    const char* type = writer_->names().type();
    for (const char* name : {"left", "right"}) {
      body.Line("HK_SHARED(", sum_type(), ", ", name, ", ",
                kTile * (kTile + 1), ");");
    }
    body.Line("const u32 lane = HK_TID % ", kTile, "u;");
    body.Line("const u32 line = HK_TID / ", kTile, "u;");
    body.Line("const ", type, " n0 = HK_BID % ", tiles(kColumn), "u * ", kTile,
              "u;");
    body.Line("const ", type, " m0 = HK_BID / ", tiles(kColumn), "u % ",
              tiles(kRow), "u * ", kTile, "u;");
    body.Line("const ", type, " b = HK_BID / ", tiles(kColumn) * tiles(kRow),
              "u;");
    body.Line(sum_type(), " sum[", kTile / kLines, "] = {};");
    body.Open("for (", type, " k0 = 0; k0 < ",
              writer_->names().Number(sizes_[kSummed]), "; k0 += ", kTile,
              "u)");
    body.Line("HK_SYNC();");
    body.Open("for (u32 r = line; r < ", kTile, "u; r += ", kLines, "u)");
    WriteTile(0, "left", kRow);
    WriteTile(1, "right", kColumn);
    body.Close();
    body.Line("HK_SYNC();");
    WriteSums();
    body.Close();
  }

  // Neighbouring threads load neighbours in memory where they can.
  void WriteTile(int side, const char* shared, int free) {
    TextWriter& body = kernel_.body();
    const Factor& f = factors_[side];
    const bool along_sum = f.offset.CoefficientOf(kSummed) == 1;
    const char* type = writer_->names().type();
    const std::string parameter = kernel_.Parameter(
        {KernelParameter::kOperand, f.operand, 0, ShapeOf(f).byte_size(),
         Access::kRead},
        TypeName(dtype()), true);
    const ValueText load{
        absl::StrCat("Load(", parameter, " + (", writer_->Text(f.offset),
                     "))"),
        dtype()};
    body.Open("");
    body.Line("const ", type, " ", kLoopNames[free], " = ", kLoopNames[free],
              "0 + ", along_sum ? "r" : "lane", ";");
    body.Line("const ", type, " k = k0 + ", along_sum ? "lane" : "r", ";");
    body.Line("const bool inside = ", kLoopNames[free], " < ",
              writer_->names().Number(sizes_[free]), " && k < ",
              writer_->names().Number(sizes_[kSummed]), ";");
    body.Line(shared, "[", along_sum ? "r" : "lane", " * ", kTile + 1, "u + ",
              along_sum ? "lane" : "r", "] = inside ? ", load.Computed(),
              " : ", sum_type(), "{};");
    body.Close();
  }

  // Both tiles are [row or column][summed].
  void WriteSums() {
    TextWriter& body = kernel_.body();
    body.Open("for (u32 k = 0; k < ", kTile, "u; ++k)");
    body.Line("const ", sum_type(), " y = right[lane * ", kTile + 1,
              "u + k];");
    body.Line("HK_UNROLL");
    body.Open("for (u32 q = 0; q < ", kTile / kLines, "u; ++q)");
    body.Line("const ", sum_type(), " x = left[(line + ", kLines, "u * q) * ",
              kTile + 1, "u + k];");
    body.Line("sum[q] = Add(sum[q], Multiply(x, y));");
    body.Close();
    body.Close();
  }

  void WriteResults() {
    TextWriter& body = kernel_.body();
    const IndexNames& names = writer_->names();
    std::vector<int> results;
    for (size_t k = 0; k < source_.region.results.size(); ++k) {
      results.push_back(static_cast<int>(k));
    }
    body.Line("const ", names.type(), " n = n0 + lane;");
    body.Line("HK_UNROLL");
    body.Open("for (u32 q = 0; q < ", kTile / kLines, "u; ++q)");
    body.Line("const ", names.type(), " m = m0 + line + ", kLines, "u * q;");
    body.Open("if (m < ", names.Number(sizes_[kRow]), " && n < ",
              names.Number(sizes_[kColumn]), ")");
    ValueText value{"sum[q]", dtype(), false};
    if (source_.options.strict) value = {value.Stored(), dtype()};
    writer_->DefineVariable(point_, value);
    writer_->WriteTurn({.results = results});
    body.Close();
    body.Close();
  }

  const RegionSource& source_;
  KernelBuilder kernel_;
  PointWriter* writer_ = nullptr;
  const Instruction* dot_ = nullptr;
  plan::PointId point_ = -1;
  Factor factors_[2];
  int64_t sizes_[kNumLoops] = {};
};

}  // namespace

Kernels EmitDot(const RegionSource& source) {
  return DotEmitter(source).Emit();
}

}  // namespace hawser::gpu
