// A sort by digits of the image, the lowest first, each time in the order that
// was (kernels/dialect/radix.cuh). If a run has several tiles, each tile counts
// the values of its digit, and once it knows what stands before it in the run,
// it puts its elements in order in shared memory, and from there elements with
// the same digit go to neighbours. Blocks of a launch never talk.
#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/blocks/sort_values.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

constexpr int kDigitBits = plan::SortLayout::kDigitBits;
static_assert(kDigits == kThreads, "a thread for each digit");

// Writes the text that is the same in all kernels, whose blocks have a tile
// each.
class DigitKernel {
 public:
  DigitKernel(const Sort& sort, const char* kind)
      : layout_(sort.layout),
        kernel_(kind),
        body_(kernel_.body()),
        values_(sort, &kernel_),
        type_(values_.names().type()),
        // A run of one tile may be shorter.
        items_(CeilDivide(layout_.one_tile() ? layout_.runs.size : layout_.tile,
                          kDigits)) {}

  TextWriter& body() { return body_; }
  SortValues& values() { return values_; }
  const std::string& type() const { return type_; }
  int64_t items() const { return items_; }
  int64_t elements() const { return items_ * kDigits; }
  bool has_places() const { return layout_.has_payload(); }

  // Shared memory for counts and, with `orders`, for all else.
  absl::Status Begin(bool orders) {
    HAWSER_RETURN_IF_ERROR(values_.DeclareBits());
    if (orders) {
      values_.DeclareShared(elements(), has_places());
      body_.Line("HK_SHARED(u32, sums, ", kWarps, ");");
    }
    body_.Line("HK_SHARED(u32, counts, ", kWarps * kDigits, ");");
    return absl::OkStatus();
  }
  // The tile, its run, where it begins there, and how many elements it has.
  void WriteTile() {
    const std::string tiles = absl::StrCat(layout_.tiles(), "u");
    body_.Line("const u32 run = HK_BID / ", tiles, ", tile = HK_BID % ", tiles,
               ";");
    body_.Line("const ", type_, " begin = (", type_, ")tile * ", layout_.tile,
               "u;");
    const std::string rest =
        absl::StrCat(values_.Number(layout_.runs.size), " - begin");
    body_.Line("const u32 all = ", rest, " < ", layout_.tile, "u ? (u32)(",
               rest, ") : ", layout_.tile, "u;");
  }
  // The element of the tile that is the thread's item 0 while digits are
  // counted, and how far the tile goes from there.
  void WriteOwn() {
    body_.Line("const u32 own = ElementOf<", items_, ">(0u);");
    body_.Line("const u32 left = own < all ? all - own : 0u;");
    body_.Line("u32 digits[", items_, "];");
  }
  // For item i of the thread, element own + i * kWarp, if it is there: to say
  // its digit. Items that are not there will stand after all others.
  void OpenDigits() {
    OpenTurns();
    body_.Line("digits[i] = kDigits - 1u;");
    body_.Open("if (i * kWarp < left)");
  }
  // The same when places are known, from digits[i] on to what it has become.
  void OpenItems() {
    OpenTurns();
    body_.Open("if (digits[i] < all)");
  }
  // The digit of element `name`, `shift` bits up.
  void WriteDigit(const std::string& name, const std::string& shift) {
    body_.Line("digits[i] = DigitAt(", values_.Bits(name), ", ", shift, ");");
  }
  // For element "in" of the tile, if it is there: neighbours are threads'.
  void OpenElements() {
    body_.Open("for (u32 in = HK_TID; in < all; in += kDigits)");
  }
  void CloseElements() { body_.Close(); }
  void CloseItems() {
    body_.Close();
    body_.Close();
  }
  std::string ItemArguments() const {
    return absl::StrCat("<", items_, ">(digits, counts");
  }
  // Row "run, HK_TID" of an array in scratch memory.
  std::string Counts(Access access) {
    return Scratch(layout_.counts_begin, layout_.tiles(), access);
  }
  std::string Totals(Access access) {
    return Scratch(layout_.totals_begin, 1, access);
  }
  std::string Row() const {
    return absl::StrCat("((", type_, ")run * kDigits + HK_TID)");
  }
  absl::StatusOr<EmittedKernel> Finish(int64_t blocks) {
    HAWSER_ASSIGN_OR_RETURN(const Extent3 grid, GridOf(blocks));
    return kernel_.Finish({.grid = grid, .threads = kDigits});
  }

 private:
  void OpenTurns() {
    body_.Line("HK_UNROLL");
    body_.Open("for (u32 i = 0; i < ", items_, "u; ++i)");
  }
  std::string Scratch(int64_t begin, int64_t columns, Access access) {
    const int64_t words = layout_.runs.runs() * kDigits * columns;
    return kernel_.Parameter(
        {KernelParameter::kScratch, 0, begin,
         words * static_cast<int64_t>(sizeof(uint32_t)), access},
        "u32", false);
  }

  const plan::SortLayout& layout_;
  KernelBuilder kernel_;
  TextWriter& body_;
  SortValues values_;
  const std::string type_;
  const int64_t items_;
};

// Writes "before" and "all_of": what there is of digit HK_TID in the run before
// this tile, and in all of it.
void WriteCountsOfRun(const plan::SortLayout& layout, DigitKernel* kernel) {
  TextWriter& body = kernel->body();
  const std::string counts = kernel->Counts(Access::kRead);
  const std::string tiles = absl::StrCat(layout.tiles(), "u");
  if (layout.sums_apart()) {
    body.Line("const u32 before = Load(", counts, " + ", kernel->Row(), " * ",
              tiles, " + tile);");
    body.Line("const u32 all_of = Load(", kernel->Totals(Access::kRead), " + ",
              kernel->Row(), ");");
    return;
  }
  body.Line("u32 before = 0u, all_of = 0u;");
  body.Open("for (u32 t = 0; t < ", tiles, "; ++t)");
  body.Line("const u32 count = Load(", counts, " + ", kernel->Row(), " * ",
            tiles, " + t);");
  body.Line("before += t < tile ? count : 0u;");
  body.Line("all_of += count;");
  body.Close();
}

}  // namespace

absl::StatusOr<EmittedKernel> EmitDigitCounts(const Sort& sort, int number,
                                              SortSide from) {
  const plan::SortLayout& layout = sort.layout;
  DigitKernel kernel(sort, "digits");
  TextWriter& body = kernel.body();
  HAWSER_RETURN_IF_ERROR(kernel.Begin(/*orders=*/false));
  kernel.WriteTile();
  kernel.WriteOwn();
  kernel.values().DeclareFrom(from, "run", "(begin + own)", true, false);
  kernel.OpenDigits();
  kernel.values().ReadFrom("a", "i * kWarp", true, false);
  kernel.WriteDigit("a", absl::StrCat(number * kDigitBits, "u"));
  kernel.CloseItems();
  body.Line("WarpCounts", kernel.ItemArguments(), ");");
  body.Line("HK_SYNC();");
  body.Line("const u32 spare = HK_TID == kDigits - 1u ? ", layout.tile,
            "u - all : 0u;");
  body.Line("Store(", kernel.Counts(Access::kWrite), " + ", kernel.Row(), " * ",
            layout.tiles(), "u + tile, CountOfDigit(counts) - spare);");
  return kernel.Finish(layout.runs.runs() * layout.tiles());
}

absl::StatusOr<EmittedKernel> EmitDigitSums(const Sort& sort) {
  const plan::SortLayout& layout = sort.layout;
  // A row of counts is a warp's, or a block's.
  constexpr int64_t kWarpSteps = 1024, kEach = 4;
  const int64_t tiles = layout.tiles();
  const bool block = tiles > kWarpSteps;
  const int64_t lanes = block ? kThreads : 32;
  const int64_t rows = layout.runs.runs() * kDigits;
  KernelBuilder kernel("sums");
  TextWriter& body = kernel.body();
  const IndexNames names{.wide = rows * tiles >= int64_t{1} << 31};
  const auto scratch = [&](int64_t begin, int64_t words, Access access) {
    return kernel.Parameter(
        {KernelParameter::kScratch, 0, begin,
         words * static_cast<int64_t>(sizeof(uint32_t)), access},
        "u32", false);
  };
  const std::string counts =
      scratch(layout.counts_begin, rows * tiles, Access::kUpdate);
  const std::string totals = scratch(layout.totals_begin, rows, Access::kWrite);
  if (block) body.Line("HK_SHARED(u32, sums, ", kWarps, ");");
  body.Line("const u32 row = ",
            block ? "HK_BID"
                  : absl::StrCat("HK_BID * ", kWarps, "u + HK_TID / kWarp"),
            ", lane = HK_TID % ", lanes, "u;");
  body.Line("u32 carry = 0u;");
  body.Open("for (u32 at = lane * ", kEach, "u; at - lane * ", kEach, "u < ",
            tiles, "u; at += ", lanes * kEach, "u)");
  body.Line("u32* const own = ", counts, " + (", names.type(), ")row * ", tiles,
            "u + at;");
  body.Line("u32 counts[", kEach, "], all = 0u;");
  body.Line("HK_UNROLL");
  body.Open("for (u32 i = 0; i < ", kEach, "u; ++i)");
  body.Line("counts[i] = at + i < ", tiles, "u ? Load(own + i) : 0u;");
  body.Line("all += counts[i];");
  body.Close();
  body.Line("u32 before = ",
            block ? absl::StrCat("BlockScanOn<Sum<u32>, ", kThreads,
                                 "u>(all, carry, sums);")
                  : "WarpScanOn<Sum<u32>>(all, carry);");
  body.Line("HK_UNROLL");
  body.Open("for (u32 i = 0; i < ", kEach, "u; ++i)");
  body.Line("if (at + i < ", tiles, "u) Store(own + i, before);");
  body.Line("before += counts[i];");
  body.Close();
  body.Close();
  body.Line("if (lane == 0u) Store(", totals, " + row, carry);");
  HAWSER_ASSIGN_OR_RETURN(const Extent3 grid,
                          GridOf(rows / (kThreads / lanes)));
  return kernel.Finish({.grid = grid, .threads = kThreads});
}

absl::StatusOr<EmittedKernel> EmitDigitMoves(const Sort& sort, int number,
                                             SortSide from, SortSide to) {
  const plan::SortLayout& layout = sort.layout;
  DigitKernel kernel(sort, "moves");
  TextWriter& body = kernel.body();
  SortValues& values = kernel.values();
  const bool places = kernel.has_places();
  const bool last = number + 1 == layout.passes;
  const std::string shift = absl::StrCat(number * kDigitBits, "u");
  HAWSER_RETURN_IF_ERROR(kernel.Begin(/*orders=*/true));
  // `goes` holds where the tile's elements of a digit go, less where they stand
  // in the tile.
  body.Line("HK_SHARED(u32, goes, ", kDigits, ");");
  kernel.WriteTile();
  kernel.WriteOwn();
  values.DeclareFrom(from, "run", "(begin + own)", false, places);
  kernel.OpenDigits();
  values.ReadFrom("a", "i * kWarp", true, false);
  kernel.WriteDigit("a", shift);
  kernel.CloseItems();
  WriteCountsOfRun(layout, &kernel);
  body.Line("u32 carry = 0u;");
  body.Line("const u32 lower = BlockScanOn<Sum<u32>, kDigits>(all_of, carry, ",
            "sums);");
  body.Line("const u32 first = BlockPlaces", kernel.ItemArguments(),
            ", sums);");
  body.Line("goes[HK_TID] = lower + before - first;");
  // The elements are read once more, out of a cache: registers have no room for
  // all items.
  kernel.OpenItems();
  values.ReadFrom("a", "i * kWarp", false, places);
  values.WriteShared("a", "digits[i]", places);
  kernel.CloseItems();
  body.Line("HK_SYNC();");
  kernel.OpenElements();
  values.ReadShared("c", "in", places);
  body.Line("const u32 by = goes[DigitAt(", values.Bits("c"), ", ", shift,
            ")];");
  body.Line("const ", kernel.type(), " at = by + in;");
  values.Write("c", to, Access::kWrite, "run", "at", places && !last);
  if (last) values.WritePayload("c", "run", "at");
  kernel.CloseElements();
  return kernel.Finish(layout.runs.runs() * layout.tiles());
}

absl::StatusOr<EmittedKernel> EmitDigitTiles(const Sort& sort) {
  const plan::SortLayout& layout = sort.layout;
  DigitKernel kernel(sort, "sort");
  TextWriter& body = kernel.body();
  SortValues& values = kernel.values();
  const bool places = kernel.has_places();
  HAWSER_RETURN_IF_ERROR(kernel.Begin(/*orders=*/true));
  body.Line("const ", kernel.type(), " run = HK_BID;");
  body.Line("const u32 all = ", layout.runs.size, "u;");
  kernel.OpenElements();
  body.Line("const ", kernel.type(), " at = in;");
  values.Read("a", SortSide::kOperands, Access::kRead, "run", "at", places);
  values.WriteShared("a", "in", places);
  kernel.CloseElements();
  kernel.WriteOwn();
  body.Open("for (u32 shift = 0; shift < ", layout.passes * kDigitBits,
            "u; shift += kDigitBits)");
  body.Line("HK_SYNC();");
  kernel.OpenDigits();
  values.ReadSharedKeys("a", "own + i * kWarp");
  kernel.WriteDigit("a", "shift");
  kernel.CloseItems();
  body.Line("BlockPlaces", kernel.ItemArguments(), ", sums);");
  // Array by array: registers have no room for all.
  for (const SharedArray& array : values.SharedArrays(places)) {
    body.Line(array.type, " own_", array.name, "[", kernel.items(), "];");
    kernel.OpenItems();
    body.Line("own_", array.name, "[i] = ", array.name, "[own + i * kWarp];");
    kernel.CloseItems();
    body.Line("HK_SYNC();");
    kernel.OpenItems();
    body.Line(array.name, "[digits[i]] = own_", array.name, "[i];");
    kernel.CloseItems();
  }
  body.Close();
  body.Line("HK_SYNC();");
  kernel.OpenElements();
  body.Line("const ", kernel.type(), " at = in;");
  values.ReadShared("c", "in", places);
  values.Write("c", SortSide::kResults, Access::kWrite, "run", "at", false);
  values.WritePayload("c", "run", "at");
  kernel.CloseElements();
  return kernel.Finish(layout.runs.runs());
}

}  // namespace hawser::gpu
