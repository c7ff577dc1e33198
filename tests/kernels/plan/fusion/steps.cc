#include "tests/kernels/plan/fusion/steps.h"

#include "absl/strings/str_cat.h"
#include "core/ops/contraction/control.h"
#include "gtest/gtest.h"
#include "kernels/plan/plan.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {

std::string Steps(const Module& module, const Target& target) {
  const auto plan = MakePlan(module, target);
  EXPECT_OK(plan);
  if (!plan.ok()) return "";
  std::string text;
  for (const Region& r : plan->entry().regions) {
    if (r.launches == 0) continue;
    const Instruction& i = plan->module.entry().instructions()[r.instruction];
    int count = 1;
    if (i.op == &kFusion) {
      const Computation& body = plan->module.computation(i.called[0]);
      count =
          static_cast<int>(body.instructions().size()) - body.num_parameters();
    }
    absl::StrAppend(&text, text.empty() ? "" : ", ", RegionKindName(r.kind),
                    " of ", count);
    if (i.num_results > 1) absl::StrAppend(&text, " for ", i.num_results);
  }
  return text;
}

Target Free() {
  Target target = GpuTarget();
  target.lanes_per_second = 1e30;
  return target;
}

Target Counted(double launch_seconds) {
  Target target = GpuTarget();
  target.lanes_per_second = target.bytes_per_second = 1;
  target.launch_seconds = launch_seconds;
  return target;
}

}  // namespace hawser::plan
