// first_places: a block for each row. It finds the image of the last element
// that is wanted, digit by digit from the highest: it counts the digits of all
// elements that are like it so far. The elements before it, and as many as are
// left of those that equal it, in their order, go to shared memory and are
// sorted there by the image and the place.
#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/blocks/blocks.h"
#include "kernels/gpu/emit/blocks/sort_values.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

// Elements that a thread reads before it looks at the first.
constexpr int kAtOnce = 4;

// A network of exchanges, by the image and then by the place.
void WriteOrder(const std::string& type, int64_t padded, TextWriter* body) {
  if (padded == 1) return;
  body->Open("for (u32 length = 2u; length <= ", padded, "u; length *= 2u)");
  body->Open("for (u32 step = length / 2u; step > 0u; step /= 2u)");
  body->Open("for (u32 i = HK_TID; i < ", padded / 2, "u; i += kDigits)");
  body->Line("const u32 low = 2u * i - (i & (step - 1u)), high = low + step;");
  body->Line("const ", type, " a = bits[low], b = bits[high];");
  body->Line("const u32 p = places[low], q = places[high];");
  body->Open("if ((a > b || (a == b && p > q)) == ((low & length) == 0u))");
  body->Line("bits[low] = b; bits[high] = a;");
  body->Line("places[low] = q; places[high] = p;");
  body->Close();
  body->Close();
  body->Line("HK_SYNC();");
  body->Close();
  body->Close();
}

class SelectKernel {
 public:
  explicit SelectKernel(const Sort& sort)
      : sort_(sort),
        kernel_("select"),
        body_(kernel_.body()),
        values_(sort, &kernel_),
        size_(sort.layout.runs.size),
        count_(sort.instruction.attributes.GetInt("count")),
        padded_(PowerOfTwo(count_)) {}

  absl::StatusOr<EmittedKernel> Emit() {
    HAWSER_RETURN_IF_ERROR(values_.DeclareBits());
    const std::string type = absl::StrCat("u", 8 * sort_.layout.passes);
    body_.Line("HK_SHARED(u32, counts, ", kDigits, ");");
    body_.Line("HK_SHARED(u32, sums, ", kWarps, ");");
    body_.Line("HK_SHARED(u32, chosen, 2);");
    body_.Line("HK_SHARED(u32, befores, ", 2 * kWarps, ");");
    body_.Line("HK_SHARED(", type, ", bits, ", padded_, ");");
    body_.Line("HK_SHARED(u32, places, ", padded_, ");");
    body_.Line("const ", values_.names().type(), " run = HK_BID;");
    values_.DeclareFrom(SortSide::kOperands, "run", values_.Number(0),
                        /*keys=*/true, /*places=*/false);
    body_.Line(type, " last = 0; u32 need = ", count_, "u;");
    WriteDigits(type);
    WriteCollection(type);
    WriteOrder(type, padded_, &body_);
    WriteResult();
    HAWSER_ASSIGN_OR_RETURN(const Extent3 grid,
                            GridOf(sort_.layout.runs.runs()));
    return kernel_.Finish({.grid = grid, .threads = kDigits});
  }

 private:
  void WriteDigits(const std::string& type) {
    body_.Open("for (u32 digit = ", sort_.layout.passes, "u; digit-- > 0u;)");
    body_.Line("const u32 shift = digit * kDigitBits;");
    body_.Line("counts[HK_TID] = 0u; HK_SYNC();");
    // Whole warps, though the row may end before.
    body_.Open("for (u32 base = 0u; base < ", size_,
               "u; base += ", kAtOnce * kDigits, "u)");
    body_.Line(type, " image[", kAtOnce, "];");
    body_.Line("HK_UNROLL");
    body_.Open("for (u32 k = 0u; k < ", kAtOnce, "u; ++k)");
    body_.Line("const u32 i = base + k * kDigits + HK_TID;");
    body_.Line("image[k] = 0;");
    body_.Open("if (i < ", size_, "u)");
    values_.ReadFrom("x", "i", /*keys=*/true, /*places=*/false);
    body_.Line("image[k] = ", values_.Bits("x"), ";");
    body_.Close();
    body_.Close();
    body_.Line("HK_UNROLL");
    body_.Open("for (u32 k = 0u; k < ", kAtOnce, "u; ++k)");
    body_.Line("const bool is_like = base + k * kDigits + HK_TID < ", size_,
               "u && (digit == ", sort_.layout.passes - 1,
               "u || (u64)image[k] >> (shift + kDigitBits) == (u64)last >> "
               "(shift + kDigitBits));");
    body_.Line(
        "if (Ballot(is_like) != 0u) AddDigits(DigitAt(image[k], shift), "
        "is_like, counts);");
    body_.Close();
    body_.Close();
    body_.Line("HK_SYNC();");
    body_.Line("const u32 mine = counts[HK_TID]; u32 carry = 0u;");
    body_.Line(
        "const u32 before = BlockScanOn<Sum<u32>, kDigits>(mine, carry, "
        "sums);");
    body_.Line("const bool is_mine = before < need && need <= before + mine;");
    body_.Line("if (is_mine) chosen[0] = HK_TID;");
    body_.Line("if (is_mine) chosen[1] = before;");
    body_.Line("HK_SYNC();");
    body_.Line("const u32 value = chosen[0], passed = chosen[1];");
    body_.Line("last |= (", type, ")((", type, ")value << shift);");
    body_.Line("need -= passed; HK_SYNC();");
    body_.Close();
  }

  // Opens the loop over the warp's part, whose element i, of an "image", "goes"
  // or "ties".
  void OpenPart(const std::string& type) {
    body_.Open("for (u32 base = begin; base < end; base += kWarp)");
    body_.Line("const u32 i = base + Lane();");
    body_.Line(type, " image = 0; bool goes = false, ties = false;");
    body_.Open("if (i < end)");
    values_.ReadFrom("x", "i", /*keys=*/true, /*places=*/false);
    body_.Line("image = ", values_.Bits("x"), ";");
    body_.Line("goes = image < last; ties = image == last;");
    body_.Close();
    body_.Line("const u32 going = Ballot(goes), tying = Ballot(ties);");
  }

  void WriteCollection(const std::string& type) {
    const int64_t part = CeilDivide(CeilDivide(size_, kWarps), 32) * 32;
    body_.Line("const u32 warp = HK_TID / kWarp;");
    body_.Line("const u32 begin = warp * ", part, "u;");
    body_.Line("const u32 end = begin + ", part, "u < ", size_, "u ? begin + ",
               part, "u : ", size_, "u;");
    body_.Line("u32 first = 0u, tied = 0u;");
    OpenPart(type);
    body_.Line(
        "first += (u32)CountBits(going); tied += (u32)CountBits(tying);");
    body_.Close();
    body_.Line("if (Lane() == 0u) befores[warp] = first;");
    body_.Line("if (Lane() == 0u) befores[", kWarps, "u + warp] = tied;");
    // Beyond what is wanted nothing goes before anything.
    body_.Open("for (u32 i = HK_TID + ", count_, "u; i < ", padded_,
               "u; i += kDigits)");
    body_.Line("bits[i] = (", type, ")~0ull;");
    body_.Line("places[i] = ~0u;");
    body_.Close();
    body_.Line("HK_SYNC();");
    body_.Line("first = 0u; tied = 0u;");
    body_.Open("for (u32 w = 0u; w < warp; ++w)");
    body_.Line("const u32 a = befores[w], b = befores[", kWarps, "u + w];");
    body_.Line("first += a; tied += b;");
    body_.Close();
    OpenPart(type);
    body_.Line("const u32 below = (1u << Lane()) - 1u;");
    body_.Line("const u32 rank = (u32)CountBits(tying & below) + tied;");
    body_.Line(
        "const u32 slot = goes ? first + (u32)CountBits(going & below) "
        ": ties && rank < need ? ",
        count_, "u - need + rank : ~0u;");
    body_.Open("if (slot != ~0u)");
    body_.Line("bits[slot] = image;");
    body_.Line("places[slot] = i;");
    body_.Close();
    body_.Line(
        "first += (u32)CountBits(going); tied += (u32)CountBits(tying);");
    body_.Close();
    body_.Line("HK_SYNC();");
  }

  void WriteResult() {
    const int64_t results = sort_.layout.runs.runs() * count_;
    const std::string to = kernel_.Parameter(
        {KernelParameter::kResult, 0, 0, results * 4, Access::kWrite}, "s32",
        false);
    body_.Open("for (u32 i = HK_TID; i < ", count_, "u; i += kDigits)");
    body_.Line("const u32 place = places[i];");
    body_.Line("Store(", to, " + (run * ", count_, "u + i), (s32)place);");
    body_.Close();
  }

  const Sort& sort_;
  KernelBuilder kernel_;
  TextWriter& body_;
  SortValues values_;
  const int64_t size_, count_, padded_;
};

}  // namespace

Kernels EmitSelect(const RegionSource& source) {
  const Sort sort(source);
  if (!sort.layout.by_digits()) {
    return Unimplemented("no kernel selects by such an order");
  }
  HAWSER_ASSIGN_OR_RETURN(EmittedKernel kernel, SelectKernel(sort).Emit());
  std::vector<EmittedKernel> kernels;
  kernels.push_back(std::move(kernel));
  return kernels;
}

}  // namespace hawser::gpu
