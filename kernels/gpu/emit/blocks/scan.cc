// scan: what its parts come to, what stands before each, and then the running
// values; a run that is one part takes the last kernel alone. So memory is read
// twice and written once at most, blocks of a launch never talk, and the order
// of a sum is decided by sizes and the number of parts.
#include "core/ops/contraction/scan.h"
#include "core/ops/movement/sort.h"

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/gpu/emit/blocks/blocks.h"
#include "kernels/gpu/emit/blocks/scan_values.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

// One kernel of a scan.
class ScanKernel {
 public:
  ScanKernel(const Scan& scan, ScanPhase phase)
      : scan_(scan),
        layout_(scan.layout),
        phase_(phase),
        of_parts_(phase == ScanPhase::kTotals || phase == ScanPhase::kParts),
        kernel_("scan"),
        body_(kernel_.body()),
        values_(scan, phase, &kernel_) {
    // Steps that a group of lanes goes along.
    const int64_t steps = phase == ScanPhase::kCarries ? layout_.parts
                          : of_parts_                  ? layout_.part_size
                                                       : layout_.runs.size;
    constexpr int64_t kWarpSteps = 1024;
    lanes_ = steps <= kWarpSteps ? 32 : kThreads;
    groups_ = layout_.runs.runs() * (of_parts_ ? layout_.parts : 1);
  }

  absl::StatusOr<EmittedKernel> Emit() {
    HAWSER_RETURN_IF_ERROR(values_.Declare());
    const bool by_thread = layout_.by_thread() && phase_ != ScanPhase::kCarries;
    if (by_thread) {
      lanes_ = 1;
      WriteByThread();
    } else {
      WriteByLanes();
    }
    HAWSER_ASSIGN_OR_RETURN(const Extent3 grid,
                            GridOf(CeilDivide(groups_, kThreads / lanes_)));
    return kernel_.Finish({.grid = grid, .threads = kThreads});
  }

 private:
  const char* type() const { return values_.names().type(); }
  std::string Number(int64_t n) const { return values_.names().Number(n); }
  const std::string part() const { return scan_.fold.part(); }

  // The run, and its part if it has several, that group `own` is, and its steps
  // [begin, end).
  // Parts of neighbouring runs are neighbours where threads go alone.
  void WriteSteps(bool by_thread) {
    const int64_t size =
        phase_ == ScanPhase::kCarries ? layout_.parts : layout_.runs.size;
    if (!of_parts_) {
      body_.Line("const ", type(), " run = own;");
      body_.Line("const ", type(), " begin = ", Number(0),
                 ", end = ", Number(size), ";");
      return;
    }
    const std::string by =
        Number(by_thread ? layout_.runs.runs() : layout_.parts);
    body_.Line("const ", type(), " run = own ", by_thread ? "% " : "/ ", by,
               ";");
    body_.Line("const ", type(), " part = own ", by_thread ? "/ " : "% ", by,
               ";");
    body_.Line("const ", type(), " begin = part * ", Number(layout_.part_size),
               ";");
    body_.Line("const ", type(), " end = begin + ", Number(layout_.part_size),
               " < ", Number(size), " ? begin + ", Number(layout_.part_size),
               " : ", Number(size), ";");
  }

  void WriteByThread() {
    body_.Line("const ", type(), " own = (", type(), ")HK_BID * ", kThreads,
               "u + HK_TID;");
    body_.Open("if (own < ", Number(groups_), ")");
    WriteSteps(/*by_thread=*/true);
    values_.DeclareCarry("y0", "part", "run");
    body_.Open("for (", type(), " s = begin; s < end; ++s)");
    body_.Line(part(), " x0;");
    values_.Load("run", "s");
    body_.Line("y0 = ", values_.Combined("y0", "x0"), ";");
    if (values_.writes()) values_.Store("run", "s");
    body_.Close();
    if (!values_.writes()) values_.StoreTotal("y0", "part", "run");
    body_.Close();
  }

  void WriteByLanes() {
    const bool block = lanes_ == kThreads;
    if (block) DeclareShared(scan_.fold, kThreads / 32, &kernel_);
    body_.Line("const ", type(), " own = ",
               block ? "HK_BID"
                     : absl::StrCat("(", type(), ")HK_BID * ", kThreads / 32,
                                    "u + HK_TID / 32u"),
               ";");
    body_.Line("const u32 lane = HK_TID % ", lanes_, "u;");
    WriteSteps(/*by_thread=*/false);
    values_.DeclareCarry("carry", "part", "run");
    // Spare warps, after the last group, take no turn.
    const bool spare = groups_ % (kThreads / lanes_) != 0;
    if (spare) {
      body_.Line("const ", type(), " stop = own < ", Number(groups_),
                 " ? end : begin;");
    }
    const int width = values_.width();
    body_.Open("for (", type(), " at = begin; at < ", spare ? "stop" : "end",
               "; at += ", lanes_ * width, "u)");
    body_.Line("const ", type(), " s = at + lane * ", width, "u;");
    WriteTurn(block, width);
    body_.Close();
    if (values_.writes()) return;
    body_.Open("if (lane == 0u)");
    values_.StoreTotal("carry", "part", "run");
    body_.Close();
  }

  void WriteTurn(bool block, int width) {
    for (int e = 0; e < width; ++e) {
      body_.Line(part(), " x", e, " = ", values_.Identity(), ";");
    }
    body_.Open("if (s < end)");
    values_.Load("run", "s");
    body_.Close();
    const std::string call =
        block ? absl::StrCat("BlockScanOn<", scan_.fold.type(), ", ", kThreads,
                             "u>(x", width - 1, ", carry, shared0)")
              : absl::StrCat("WarpScanOn<", scan_.fold.type(), ">(x", width - 1,
                             ", carry)");
    if (!values_.writes()) {
      body_.Line(call, ";");
      return;
    }
    body_.Line("const ", part(), " before = ", call, ";");
    body_.Open("if (s < end)");
    for (int e = 0; e < width; ++e) {
      const std::string x = absl::StrCat("x", e);
      body_.Line("const ", part(), " y", e, " = ",
                 phase_ == ScanPhase::kCarries ? "before"
                                               : values_.Combined("before", x),
                 ";");
    }
    values_.Store("run", "s");
    body_.Close();
  }

  const Scan& scan_;
  const plan::ScanLayout& layout_;
  const ScanPhase phase_;
  const bool of_parts_;
  KernelBuilder kernel_;
  TextWriter& body_;
  ScanValues values_;
  int64_t lanes_, groups_;
};

}  // namespace

Kernels EmitScan(const RegionSource& source) {
  const Scan scan(source);
  std::vector<ScanPhase> phases = {ScanPhase::kAll};
  if (scan.layout.parts > 1) {
    phases = {ScanPhase::kTotals, ScanPhase::kCarries, ScanPhase::kParts};
  }
  std::vector<EmittedKernel> kernels;
  for (const ScanPhase phase : phases) {
    HAWSER_ASSIGN_OR_RETURN(EmittedKernel kernel,
                            ScanKernel(scan, phase).Emit());
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

Kernels EmitBlocks(const RegionSource& source) {
  const Instruction& i =
      source.body().instructions()[source.region.instruction];
  if (i.op == &kScan) return EmitScan(source);
  return i.op == &kSort ? EmitSort(source) : EmitSelect(source);
}

}  // namespace hawser::gpu
