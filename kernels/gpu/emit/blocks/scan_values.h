// ScanValues: the loads, folds and stores of a scan, as text of one kernel. The
// kernels of a scan differ only in how they go along runs.
#ifndef HAWSER_KERNELS_GPU_EMIT_BLOCKS_SCAN_VALUES_H_
#define HAWSER_KERNELS_GPU_EMIT_BLOCKS_SCAN_VALUES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernels/gpu/emit/reductions/folds.h"
#include "kernels/gpu/emit/text/index_text.h"
#include "kernels/gpu/emit/text/kernel_builder.h"
#include "kernels/plan/region/block_layout.h"

namespace hawser::gpu {

// The purpose of a kernel of a scan. If a run has one part, only kAll; else
// kTotals, kCarries and kParts, in order.
enum class ScanPhase {
  kAll,      // runs, from their beginning
  kTotals,   // what each part comes to
  kCarries,  // from these, what stands before each part
  kParts,    // parts, from what stands before them
};

// A scan as an operation on runs.
struct Scan {
  explicit Scan(const RegionSource& source);

  const RegionSource& source;
  const Instruction& instruction;
  const Shape& shape;
  const bool reverse;
  const plan::ScanLayout layout;
  Fold fold;
  bool sums_floats = false;  // -0 before the first element, which may be -0
};

// Invariant: `kernel` outlives this object, and is of one phase. Variables of
// parts are of type fold.part().
class ScanValues {
 public:
  ScanValues(const Scan& scan, ScanPhase phase, KernelBuilder* kernel);

  // Errors: kUnimplemented, what no kernel computes.
  absl::Status Declare();
  const IndexNames& names() const { return names_; }
  // Elements along a run that one vector holds; 1: none is used.
  int width() const { return width_; }
  bool writes() const { return phase_ != ScanPhase::kTotals; }
  std::string Identity() const { return scan_.fold.type() + "::Identity()"; }
  std::string Combined(const std::string& a, const std::string& b) const;

  // Loads the elements at steps [step, step + width) of `run` into new
  // variables x0, x1, ...
  void Load(const std::string& run, const std::string& step);
  // Stores parts y0, y1, ... there.
  void Store(const std::string& run, const std::string& step);
  // Declares `name` as the fold of what stands before part `part` of `run`.
  void DeclareCarry(const std::string& name, const std::string& part,
                    const std::string& run);
  // Stores `name` as the fold of that part.
  void StoreTotal(const std::string& name, const std::string& part,
                  const std::string& run);

 private:
  std::string Place(const std::string& run, const std::string& step) const;
  std::string Source(size_t k);
  std::string Result(size_t k);
  // Array `k` of the folds of parts, or (`before`) of what stands before them.
  std::string Scratch(size_t k, bool before, Access access);

  const Scan& scan_;
  const ScanPhase phase_;
  KernelBuilder* const kernel_;
  IndexNames names_;
  int width_ = 1;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_BLOCKS_SCAN_VALUES_H_
