// Merges two parts of a run that are in order: blocks have tiles of what comes
// out, and find by bisection which elements go there; in shared memory its
// threads do the same again. What is equal comes from the first part first, so
// the order is the stable one. Only for comparators that are orders: bisections
// of others would not fit together.
#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/blocks/sort_values.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

class MergeKernel {
 public:
  MergeKernel(const Sort& sort, int64_t part, SortSide from, SortSide to,
              bool last)
      : layout_(sort.layout),
        part_(part),
        from_(from),
        to_(to),
        last_(last),
        kernel_("merge"),
        body_(kernel_.body()),
        values_(sort, &kernel_),
        type_(values_.names().type()),
        tiles_(CeilDivide(layout_.runs.size, layout_.tile)),
        threads_(std::min<int64_t>(layout_.tile / 2, kThreads)) {}

  absl::StatusOr<EmittedKernel> Emit() {
    HAWSER_RETURN_IF_ERROR(values_.Declare());
    values_.DeclareShared(layout_.has_payload());
    body_.Line("HK_SHARED(u32, cut, 2);");
    WriteTile();
    WriteCuts();
    WriteLoads();
    WriteMerge();
    HAWSER_ASSIGN_OR_RETURN(const Extent3 grid,
                            GridOf(layout_.runs.runs() * tiles_));
    return kernel_.Finish(
        {.grid = grid, .threads = static_cast<uint32_t>(threads_)});
  }

 private:
  // The tile's run; where its two parts begin in the run, how long they are,
  // and which of what comes out it has: [first, behind).
  void WriteTile() {
    const std::string size = Number(layout_.runs.size);
    const std::string part = Number(part_), both = Number(2 * part_);
    body_.Line("const ", type_, " run = HK_BID / ", tiles_, "u;");
    body_.Line("const ", type_, " begin = (", type_, ")(HK_BID % ", tiles_,
               "u) * ", layout_.tile, "u;");
    body_.Line("const ", type_, " left = begin - begin % ", both, ";");
    body_.Line("const ", type_, " rest = ", size, " - left;");
    body_.Line("const u32 num_left = (u32)(rest < ", part, " ? rest : ", part,
               ");");
    body_.Line("const u32 num_both = (u32)(rest < ", both, " ? rest : ", both,
               ");");
    body_.Line("const u32 num_right = num_both - num_left;");
    body_.Line("const ", type_, " right = left + num_left;");
    body_.Line("const u32 first = (u32)(begin - left);");
    body_.Line("const u32 behind = first + ", layout_.tile,
               "u < num_both ? first + ", layout_.tile, "u : num_both;");
  }

  // Writes a bisection: how many of the first `out` come from the left one of
  // two parts, into a new variable `cut_name`. `read` reads an element of the
  // left one as a, one of the right as b.
  template <typename Read>
  void WriteBisection(const std::string& out, const std::string& num_left,
                      const std::string& num_right, const Read& read) {
    body_.Line("u32 low = ", out, " > ", num_right, " ? ", out, " - ",
               num_right, " : 0u;");
    body_.Line("u32 high = ", out, " < ", num_left, " ? ", out, " : ", num_left,
               ";");
    body_.Open("while (low < high)");
    body_.Line("const u32 middle = low + (high - low) / 2u;");
    read("middle", absl::StrCat(out, " - 1u - middle"));
    body_.Line("if (", values_.Less("b", "a"), ") high = middle;");
    body_.Line("else low = middle + 1u;");
    body_.Close();
  }

  void WriteCuts() {
    body_.Open("if (HK_TID < 2u)");
    body_.Line("const u32 out = HK_TID == 0u ? first : behind;");
    WriteBisection("out", "num_left", "num_right",
                   [&](const std::string& l, const std::string& r) {
                     Read("a", absl::StrCat("(left + ", l, ")"), false);
                     Read("b", absl::StrCat("(right + ", r, ")"), false);
                   });
    body_.Line("cut[HK_TID] = low;");
    body_.Close();
    body_.Line("HK_SYNC();");
  }

  // The tile's elements of the left part, then those of the right one.
  void WriteLoads() {
    body_.Line("const u32 left_begin = cut[0], left_end = cut[1];");
    body_.Line("const u32 lefts = left_end - left_begin;");
    body_.Line("const u32 all = behind - first;");
    body_.Line("const u32 rights = all - lefts;");
    body_.Open("for (u32 i = HK_TID; i < all; i += ", threads_, "u)");
    body_.Line("const ", type_,
               " at = i < lefts ? left + left_begin + i "
               ": right + (first - left_begin) + (i - lefts);");
    Read("a", "at", layout_.has_payload());
    values_.WriteShared("a", "i", layout_.has_payload());
    body_.Close();
    body_.Line("HK_SYNC();");
  }

  void WriteMerge() {
    const int64_t items = layout_.tile / threads_;
    body_.Line("const u32 out = HK_TID * ", items, "u;");
    body_.Open("if (out < all)");
    WriteBisection("out", "lefts", "rights",
                   [&](const std::string& l, const std::string& r) {
                     values_.ReadShared("a", l, false);
                     values_.ReadShared("b", absl::StrCat("lefts + ", r),
                                        false);
                   });
    body_.Line("u32 other = out - low;");
    body_.Open("for (u32 n = out; n < out + ", items, "u && n < all; ++n)");
    body_.Line("bool takes = low < lefts;");
    body_.Open("if (takes && other < rights)");
    values_.ReadShared("a", "low", false);
    values_.ReadShared("b", "lefts + other", false);
    body_.Line("takes = !", values_.Less("b", "a"), ";");
    body_.Close();
    body_.Line("const u32 from = takes ? low++ : lefts + other++;");
    values_.ReadShared("c", "from", layout_.has_payload());
    body_.Line("const ", type_, " at = begin + n;");
    values_.Write("c", to_, Access::kWrite, "run", "at",
                  !last_ && layout_.has_payload());
    if (last_) values_.WritePayload("c", "run", "at");
    body_.Close();
    body_.Close();
  }

  void Read(const std::string& name, const std::string& at, bool places) {
    values_.Read(name, from_, Access::kRead, "run", at, places);
  }
  std::string Number(int64_t n) const { return values_.Number(n); }

  const plan::SortLayout& layout_;
  const int64_t part_;
  const SortSide from_, to_;
  const bool last_;
  KernelBuilder kernel_;
  TextWriter& body_;
  SortValues values_;
  const std::string type_;
  const int64_t tiles_, threads_;
};

}  // namespace

absl::StatusOr<EmittedKernel> EmitMerge(const Sort& sort, int64_t part,
                                        SortSide from, SortSide to, bool last) {
  return MergeKernel(sort, part, from, to, last).Emit();
}

}  // namespace hawser::gpu
