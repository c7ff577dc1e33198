// RegionBatch: regions of planned modules, emitted, compiled together, run on
// the emulator and compared with the reference.
#ifndef HAWSER_TESTS_KERNELS_GPU_EMIT_REGION_BATCH_H_
#define HAWSER_TESTS_KERNELS_GPU_EMIT_REGION_BATCH_H_

#include <map>
#include <string>
#include <vector>

#include "core/base/values/literal.h"
#include "kernels/emu/emu_device.h"
#include "kernels/gpu/emit/emit.h"
#include "kernels/plan/plan.h"

namespace hawser::gpu {

class RegionBatch {
 public:
  struct Options {
    EmitOptions emit = {.strict = true, .multiprocessors = 2};
    emu::EmuOptions emu;
    // Kernels that are compiled in one go.
    size_t kernels_at_once = 400;
  };

  RegionBatch() : RegionBatch(Options()) {}
  explicit RegionBatch(Options options) : options_(std::move(options)) {}
  ~RegionBatch();

  // Every region of the entry of `plan` that launches something, with the
  // operands it has for these arguments. `what` stands in messages.
  void Add(const plan::Plan& plan, const std::vector<Literal>& arguments,
           const std::string& what);
  // From now on also where infinities take part in sums.
  void CompareAll() { compare_all_ = true; }
  // Compiles and runs what was added; expects the reference's results.
  void Run();

  // Regions that were emitted, by kind and by what is fused in them, and how
  // many could not be.
  const std::map<std::string, int>& counts() const { return counts_; }
  const std::map<std::string, int>& refused() const { return refused_; }
  // Every text so far, by name.
  const std::map<std::string, std::string>& texts() const { return texts_; }

 private:
  struct Case {
    std::string what;
    std::vector<EmittedKernel> kernels;
    std::vector<Literal> operands, want;
    int64_t scratch_bytes = 0;
    bool in_place = false;  // result 0 begins as operand 0
    double allowed = 0;  // 0: the same bits
    bool modest = true;  // no infinities, nor what is near them
  };
  class Runner;

  void AddRegion(const plan::Plan& plan, const plan::Region& region,
                 const std::vector<Literal>& operands,
                 const std::vector<Literal>& want, const std::string& what);

  const Options options_;
  bool compare_all_ = false;
  std::vector<Case> cases_;
  std::map<std::string, int> counts_, refused_;
  std::map<std::string, std::string> texts_, pending_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_TESTS_KERNELS_GPU_EMIT_REGION_BATCH_H_
