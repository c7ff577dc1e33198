// A product that neither a library nor matrix_dot.h takes: tiles of 32 x 32
// results by 256 threads, the factors' tiles in shared memory, with whatever
// follows the product.
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/emitters.h"
#include "kernels/gpu/emit/matrix_dot.h"
#include "kernels/gpu/emit/points/point_writer.h"
#include "kernels/gpu/emit/points/turn.h"
#include "kernels/gpu/emit/product_loops.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

class DotEmitter {
 public:
  DotEmitter(const RegionSource& source, ProductLoops product)
      : source_(source),
        product_(std::move(product)),
        kernel_("dot"),
        writer_(source, &kernel_, product_.back, kNumLoops),
        tiles_(product_, kTile, &writer_) {}

  Kernels Emit() {
    tiles_.NameLoops();
    WriteProduct();
    WriteResults();
    return tiles_.Finish();
  }

 private:
  DType factor() const { return product_.factors[0].shape->dtype(); }
  DType dtype() const { return source_.shape(product_.point).dtype(); }
  std::string sum_type() const { return ComputeTypeName(dtype()); }

  void WriteProduct() {
    TextWriter& body = kernel_.body();
    const char* type = writer_.names().type();
    for (const char* name : {"left", "right"}) {
      body.Line("HK_SHARED(", sum_type(), ", ", name, ", ", kTile * (kTile + 1),
                ");");
    }
    body.Line("const u32 lane = HK_TID % ", kTile, "u;");
    body.Line("const u32 line = HK_TID / ", kTile, "u;");
    tiles_.WriteCorner();
    body.Line(sum_type(), " sum[", kTile / kTileLines, "] = {};");
    body.Open("for (", type, " k0 = 0; k0 < ",
              writer_.names().Number(product_.sizes[kSummed]),
              "; k0 += ", kTile, "u)");
    body.Line("HK_SYNC();");
    body.Open("for (u32 r = line; r < ", kTile, "u; r += ", kTileLines, "u)");
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
    const ProductLoops::Factor& f = product_.factors[side];
    const bool along_sum = f.offset.CoefficientOf(kSummed) == 1;
    const char* type = writer_.names().type();
    const std::string parameter =
        kernel_.Parameter({KernelParameter::kOperand, f.operand, 0,
                           f.shape->byte_size(), Access::kRead},
                          TypeName(factor()), true);
    const ValueText load{
        absl::StrCat("Load(", parameter, " + (", writer_.Text(f.offset), "))"),
        factor()};
    const std::string term =
        factor() == dtype()
            ? load.Computed()
            : ConvertedText(load.Computed(), factor(), dtype()).Computed();
    body.Open("");
    body.Line("const ", type, " ", kProductLoopNames[free], " = ",
              kProductLoopNames[free], "0 + ", along_sum ? "r" : "lane", ";");
    body.Line("const ", type, " k = k0 + ", along_sum ? "lane" : "r", ";");
    body.Line("const bool inside = ", kProductLoopNames[free], " < ",
              writer_.names().Number(product_.sizes[free]), " && k < ",
              writer_.names().Number(product_.sizes[kSummed]), ";");
    body.Line(shared, "[", along_sum ? "r" : "lane", " * ", kTile + 1, "u + ",
              along_sum ? "lane" : "r", "] = inside ? ", term, " : ",
              sum_type(), "{};");
    body.Close();
  }

  // Both tiles are [row or column][summed].
  void WriteSums() {
    TextWriter& body = kernel_.body();
    body.Open("for (u32 k = 0; k < ", kTile, "u; ++k)");
    body.Line("const ", sum_type(), " y = right[lane * ", kTile + 1, "u + k];");
    body.Line("HK_UNROLL");
    body.Open("for (u32 q = 0; q < ", kTile / kTileLines, "u; ++q)");
    body.Line("const ", sum_type(), " x = left[(line + ", kTileLines,
              "u * q) * ", kTile + 1, "u + k];");
    body.Line("sum[q] = Add(sum[q], Multiply(x, y));");
    body.Close();
    body.Close();
  }

  void WriteResults() {
    TextWriter& body = kernel_.body();
    const IndexNames& names = writer_.names();
    std::vector<int> results;
    for (size_t k = 0; k < source_.region.results.size(); ++k) {
      results.push_back(static_cast<int>(k));
    }
    body.Line("const ", names.type(), " n = n0 + lane;");
    body.Line("HK_UNROLL");
    body.Open("for (u32 q = 0; q < ", kTile / kTileLines, "u; ++q)");
    body.Line("const ", names.type(), " m = m0 + line + ", kTileLines,
              "u * q;");
    body.Open("if (m < ", names.Number(product_.sizes[kRow]), " && n < ",
              names.Number(product_.sizes[kColumn]), ")");
    ValueText value{"sum[q]", dtype(), false};
    if (source_.options.strict) value = {value.Stored(), dtype()};
    writer_.DefineVariable(product_.point, value);
    WriteTurn({.results = results}, &writer_);
    body.Close();
    body.Close();
  }

  const RegionSource& source_;
  const ProductLoops product_;
  KernelBuilder kernel_;
  PointWriter writer_;
  ProductTiles tiles_;
};

}  // namespace

Kernels EmitDot(const RegionSource& source) {
  HAWSER_ASSIGN_OR_RETURN(ProductLoops product, FindProductLoops(source));
  if (HasMatrixDot(source, product)) {
    return EmitMatrixDot(source, std::move(product));
  }
  return DotEmitter(source, std::move(product)).Emit();
}

}  // namespace hawser::gpu
