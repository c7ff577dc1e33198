// A product by the warps' matrix instructions (WarpMma of the dialect): tiles
// of the factors in shared memory, a tile of results in the registers of 8
// warps, two rows of four, with whatever follows the product.
#include "kernels/gpu/emit/matrix_dot.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/points/point_writer.h"
#include "kernels/gpu/emit/points/turn.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

// A unit is one of the dialect's instructions, with the tiles that it makes.
struct MatrixUnit {
  const char* name;     // T of the dialect's Mma<T>
  int64_t rows, words;  // of the instruction, which has 8 columns
  int64_t per_word;     // elements in a word
  int64_t sums;         // of a lane
  int64_t largest;      // rows and columns of the largest tile
  const char* word_of;  // makes a word of one element
  // Words that a line across the sum is longer than the tile. It keeps lanes
  // off each other's banks.
  int64_t pad;
};
constexpr MatrixUnit kBrainUnit = {"bf16", 16, 8, 2, 4, 128, "", 8};
constexpr MatrixUnit kHalfUnit = {"f16", 16, 8, 2, 4, 128, "", 8};
constexpr MatrixUnit kTf32Unit = {"tf32", 16, 8, 1, 4, 128, "RoundToTf32", 8};
constexpr MatrixUnit kDoubleUnit = {"double",          8, 4, 1, 2, 64,
                                    "Convert<double>", 4};
// A tile of a factor has so many words along the sum, a line of it more.
constexpr int64_t kTileWords = 16, kLineWords = kTileWords + 4;

struct UnitRow {
  DType factor, result;
  const MatrixUnit* unit;
};
constexpr UnitRow kUnits[] = {
    {DType::kBF16, DType::kBF16, &kBrainUnit},
    {DType::kBF16, DType::kF32, &kBrainUnit},
    {DType::kF16, DType::kF16, &kHalfUnit},
    {DType::kF16, DType::kF32, &kHalfUnit},
    {DType::kF32, DType::kF32, &kTf32Unit},
    {DType::kBF16, DType::kF64, &kDoubleUnit},
    {DType::kF16, DType::kF64, &kDoubleUnit},
    {DType::kF32, DType::kF64, &kDoubleUnit},
    {DType::kF64, DType::kF64, &kDoubleUnit},
};

constexpr int64_t kWarps = 8, kWarpRows = 2, kWarpColumns = 4, kColumns = 8;
static_assert(kWarps == kWarpRows * kWarpColumns && kWarps * 32 == kThreads);
constexpr int64_t kLeastTile = 32;
// A tile is as large as leaves so many blocks.
constexpr int64_t kEnoughBlocks = 128;
// More points than these are written out for the fewest sums.
constexpr size_t kLongTail = 32;

// nullptr: no instruction has these dtypes.
const MatrixUnit* FindUnit(const RegionSource& source,
                           const ProductLoops& product) {
  const DType factor = product.factors[0].shape->dtype();
  const DType result = source.shape(product.point).dtype();
  if (product.factors[1].shape->dtype() != factor) return nullptr;
  for (const UnitRow& row : kUnits) {
    if (row.factor == factor && row.result == result) return row.unit;
  }
  return nullptr;
}

// Returns how many rows, and columns, a block's tile has.
int64_t TileOf(const RegionSource& source, const ProductLoops& product,
               const MatrixUnit& unit) {
  if (source.region.points.size() > kLongTail) return kLeastTile;
  const int64_t rows = product.sizes[kRow], columns = product.sizes[kColumn];
  for (int64_t tile = unit.largest; tile > kLeastTile; tile /= 2) {
    const bool is_full = rows > tile / 2 && columns > tile / 2;
    if (is_full && product.sizes[kBatch] * CeilDivide(rows, tile) *
                           CeilDivide(columns, tile) >=
                       kEnoughBlocks) {
      return tile;
    }
  }
  return kLeastTile;
}

// A factor's tile in shared memory: word w of line l, a row or a column, is
// element l * line_ + w * word_.
class FactorTile {
 public:
  FactorTile(const ProductLoops& product, int side, const MatrixUnit& unit,
             int64_t tile, PointWriter* writer)
      : product_(product),
        side_(side),
        unit_(unit),
        tile_(tile),
        writer_(*writer),
        body_(writer->kernel().body()),
        free_(side == 0 ? kRow : kColumn),
        along_sum_(factor().offset.CoefficientOf(kSummed) == 1),
        line_(along_sum_ ? kLineWords : 1),
        word_(along_sum_ ? 1 : tile + unit.pad),
        lines_(!along_sum_ && unit.per_word == 2 && InPairs(free_) ? 2 : 1) {}

  void Declare() {
    body_.Line("HK_SHARED(Mma<", unit_.name, ">::Word, ", shared(), ", ",
               along_sum_ ? tile_ * line_ : kTileWords * word_, ");");
    body_.Line(MemoryType(), " ", next(), "[", turns(), "];");
  }

  // Loads from row m0 or column n0 and from `first` on into registers.
  // Neighbouring threads load neighbours in memory where they can.
  void WriteLoads(const std::string& first) {
    const char* type = writer_.names().type();
    const char* free = kProductLoopNames[free_];
    OpenTurns();
    body_.Line("const ", type, " ", free, " = ", free, "0 + line;");
    if (lines_ == 2) {
      body_.Line("HK_UNROLL");
      body_.Open("for (u32 h = 0; h < 2u; ++h)");
      body_.Line("const ", type, " k = ", first, " + word * 2u + h;");
      body_.Line(next(), "[2u * r + h] = ", Inside(), " ? LoadVector<2>",
                 Address(), " : ", MemoryType(), "{};");
      body_.Close();
    } else if (unit_.per_word == 1) {
      body_.Line("const ", type, " k = ", first, " + word;");
      body_.Line(next(), "[r] = ", Inside(), " ? Load", Address(), " : ",
                 ZeroText(dtype()), ";");
    } else if (along_sum_ && InPairs(kSummed)) {
      body_.Line("const ", type, " k = ", first, " + word * 2u;");
      body_.Line(next(), "[r] = ", Inside(), " ? LoadVector<2>", Address(),
                 " : ", MemoryType(), "{};");
    } else {
      body_.Line("HK_UNROLL");
      body_.Open("for (u32 h = 0; h < 2u; ++h)");
      body_.Line("const ", type, " k = ", first, " + word * 2u + h;");
      body_.Line(next(), "[r].v[h] = ", Inside(), " ? Load", Address(), " : ",
                 ZeroText(dtype()), ";");
      body_.Close();
    }
    body_.Close();
  }

  // Stores what was loaded to shared memory.
  void WriteStores() {
    const auto store = [&](const char* line, const std::string& word) {
      body_.Line(shared(), "[", line, " * ", line_, "u + word * ", word_,
                 "u] = ", word, ";");
    };
    const std::string x = absl::StrCat(next(), "[r]");
    OpenTurns();
    if (lines_ == 2) {
      body_.Line("HK_UNROLL");
      body_.Open("for (u32 q = 0; q < 2u; ++q)");
      store("(line + q)", absl::StrCat("PackHalves(", next(), "[2u * r].v[q], ",
                                       next(), "[2u * r + 1u].v[q])"));
      body_.Close();
    } else if (unit_.per_word == 1) {
      store("line", absl::StrCat(unit_.word_of, "(", x, ")"));
    } else {
      store("line", absl::StrCat("PackHalves(", x, ".v[0], ", x, ".v[1])"));
    }
    body_.Close();
  }

  // Loads fragments `name`[0, count), from line `first` on, at word `w`.
  void WriteFragments(const char* name, int64_t count, const char* first) {
    const int64_t step = side_ == 0 ? unit_.rows : kColumns;
    body_.Line("HK_UNROLL");
    body_.Open("for (u32 i = 0; i < ", count, "u; ++i)");
    body_.Line(side_ == 0 ? "LoadLeft<" : "LoadRight<", unit_.name, ", ", line_,
               ", ", word_, ">(", name, "[i], ", shared(), ", (", first, " + ",
               step, "u * i) * ", line_, "u + w * ", word_, "u);");
    body_.Close();
  }

 private:
  const char* shared() const { return side_ == 0 ? "left" : "right"; }
  const char* next() const { return side_ == 0 ? "next_left" : "next_right"; }
  // Returns how many words a thread loads.
  int64_t turns() const { return tile_ * kTileWords / kThreads; }
  // Names the type of a word in memory.
  std::string MemoryType() const {
    return unit_.per_word == 1 ? TypeName(dtype())
                               : absl::StrCat("Vector<", unit_.name, ", 2>");
  }
  // Opens a loop over the thread's words, at `line` and `word` of the tile.
  void OpenTurns() {
    const int64_t inner = along_sum_ ? kTileWords : tile_ / lines_;
    body_.Line("HK_UNROLL");
    body_.Open("for (u32 r = 0; r < ", turns() / lines_, "u; ++r)");
    body_.Line("const u32 i = HK_TID + ", kThreads, "u * r;");
    body_.Line("const u32 line = i ", along_sum_ ? "/ " : "% ", inner,
               lines_ == 2 ? "u * 2u;" : "u;");
    body_.Line("const u32 word = i ", along_sum_ ? "% " : "/ ", inner, "u;");
  }
  const ProductLoops::Factor& factor() const { return product_.factors[side_]; }
  DType dtype() const { return factor().shape->dtype(); }

  std::string Inside() const {
    const IndexNames& names = writer_.names();
    return absl::StrCat(kProductLoopNames[free_], " < ",
                        names.Number(product_.sizes[free_]), " && k < ",
                        names.Number(product_.sizes[kSummed]));
  }
  std::string Address() {
    const ProductLoops::Factor& f = factor();
    const std::string parameter =
        writer_.kernel().Parameter({KernelParameter::kOperand, f.operand, 0,
                                    f.shape->byte_size(), Access::kRead},
                                   TypeName(dtype()), true);
    return absl::StrCat("(", parameter, " + (", writer_.Text(f.offset), "))");
  }

  // True if neighbours along `loop` are pairs in memory that one load takes.
  bool InPairs(int loop) const {
    const plan::IndexExpr& offset = factor().offset;
    return offset.CoefficientOf(loop) == 1 && !offset.DividesDim(loop) &&
           product_.sizes[loop] % 2 == 0 &&
           plan::AlignmentOf(offset, loop) % 2 == 0;
  }

  const ProductLoops& product_;
  const int side_;
  const MatrixUnit& unit_;
  const int64_t tile_;
  PointWriter& writer_;
  TextWriter& body_;
  const int free_;  // the loop that lines are of
  const bool along_sum_;
  const int64_t line_, word_;
  const int64_t lines_;  // that a thread loads at a time
};

class MatrixDotEmitter {
 public:
  MatrixDotEmitter(const RegionSource& source, ProductLoops product)
      : source_(source),
        product_(std::move(product)),
        unit_(*FindUnit(source, product_)),
        tile_(TileOf(source, product_, unit_)),
        kernel_("mma"),
        writer_(source, &kernel_, product_.back, kNumLoops),
        tiles_(product_, tile_, &writer_),
        left_(product_, 0, unit_, tile_, &writer_),
        right_(product_, 1, unit_, tile_, &writer_) {}

  Kernels Emit() {
    tiles_.NameLoops();
    WriteCorner();
    WriteProduct();
    WriteResults();
    return tiles_.Finish();
  }

 private:
  std::string Bound(int loop) const {
    return writer_.names().Number(product_.sizes[loop]);
  }
  // Return how many instructions a warp's part of the tile has along each side.
  int64_t rows() const { return tile_ / kWarpRows / unit_.rows; }
  int64_t columns() const { return tile_ / kWarpColumns / kColumns; }

  // Says where the block's tile begins, and the warp's part of it.
  void WriteCorner() {
    TextWriter& body = kernel_.body();
    left_.Declare();
    right_.Declare();
    tiles_.WriteCorner();
    body.Line("const u32 row = HK_TID / ", 32 * kWarpColumns, "u * ",
              tile_ / kWarpRows, "u;");
    body.Line("const u32 column = HK_TID / 32u % ", kWarpColumns, "u * ",
              tile_ / kWarpColumns, "u;");
    body.Line("Mma<", unit_.name, ">::Sum sum[", rows(), "][", columns(), "][",
              unit_.sums, "] = {};");
  }

  // Tiles are loaded while those before them are multiplied.
  void WriteProduct() {
    TextWriter& body = kernel_.body();
    const int64_t depth = kTileWords * unit_.per_word;
    const std::string next = absl::StrCat("k0 + ", depth, "u");
    left_.WriteLoads("0u");
    right_.WriteLoads("0u");
    body.Open("for (", writer_.names().type(), " k0 = 0; k0 < ", Bound(kSummed),
              "; k0 += ", depth, "u)");
    body.Line("HK_SYNC();");
    left_.WriteStores();
    right_.WriteStores();
    body.Line("HK_SYNC();");
    left_.WriteLoads(next);
    right_.WriteLoads(next);
    WriteSums();
    body.Close();
  }

  // Opens loops over what is in registers.
  void OpenUnrolled(const char* loop, int64_t count) {
    kernel_.body().Line("HK_UNROLL");
    kernel_.body().Open("for (u32 ", loop, " = 0; ", loop, " < ", count,
                        "u; ++", loop, ")");
  }

  void WriteSums() {
    TextWriter& body = kernel_.body();
    body.Line("HK_UNROLL");
    body.Open("for (u32 w = 0; w < ", kTileWords, "u; w += ", unit_.words,
              "u)");
    const std::string mma = absl::StrCat("Mma<", unit_.name, ">::");
    body.Line(mma, "Word x[", rows(), "][", mma, "kLeft];");
    body.Line(mma, "Word y[", columns(), "][", mma, "kRight];");
    left_.WriteFragments("x", rows(), "row");
    right_.WriteFragments("y", columns(), "column");
    OpenUnrolled("i", rows());
    OpenUnrolled("j", columns());
    body.Line("WarpMma<", unit_.name, ">(sum[i][j], x[i], y[j]);");
    for (int braces = 0; braces < 3; ++braces) body.Close();
  }

  void WriteResults() {
    TextWriter& body = kernel_.body();
    const char* type = writer_.names().type();
    std::vector<int> results;
    for (size_t k = 0; k < source_.region.results.size(); ++k) {
      results.push_back(static_cast<int>(k));
    }
    OpenUnrolled("i", rows());
    OpenUnrolled("j", columns());
    OpenUnrolled("e", unit_.sums);
    body.Line("const ", type, " m = m0 + row + ", unit_.rows,
              "u * i + SumRow(e);");
    body.Line("const ", type, " n = n0 + column + ", kColumns,
              "u * j + SumColumn(e);");
    body.Open("if (m < ", Bound(kRow), " && n < ", Bound(kColumn), ")");
    writer_.DefineVariable(
        product_.point,
        {"sum[i][j][e]", source_.shape(product_.point).dtype(), false});
    WriteTurn({.results = results}, &writer_);
    for (int braces = 0; braces < 4; ++braces) body.Close();
  }

  const RegionSource& source_;
  const ProductLoops product_;
  const MatrixUnit& unit_;
  const int64_t tile_;
  KernelBuilder kernel_;
  PointWriter writer_;
  ProductTiles tiles_;
  FactorTile left_, right_;
};

}  // namespace

bool HasMatrixDot(const RegionSource& source, const ProductLoops& product) {
  const EmitOptions& options = source.options;
  if (options.strict || !options.matrix_units) return false;
  const MatrixUnit* unit = FindUnit(source, product);
  return unit != nullptr && (unit != &kTf32Unit || options.tf32);
}

Kernels EmitMatrixDot(const RegionSource& source, ProductLoops product) {
  return MatrixDotEmitter(source, std::move(product)).Emit();
}

}  // namespace hawser::gpu
