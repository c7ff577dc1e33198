// A plan in words: what runs, over which loops, moving how many bytes.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "kernels/plan/plan.h"
#include "kernels/plan/verdict.h"

namespace hawser::plan {
namespace {

constexpr absl::string_view kKindNames[] = {"none",
                                            "constant",
                                            "view",
                                            "loop",
                                            "tiled transpose",
                                            "row",
                                            "column reduction",
                                            "full reduction",
                                            "library dot",
                                            "update",
                                            "block",
                                            "library call",
                                            "host",
                                            "control"};

// The ops of a region, in order, each name once with its count.
std::string OpsOf(const Module& module, const Region& region) {
  const Computation& c = module.computation(region.computation);
  const Instruction& i = c.instructions()[region.instruction];
  if (i.op != &kFusion) return std::string(i.op->name);
  std::vector<std::pair<absl::string_view, int>> names;
  for (const Instruction& inner :
       module.computation(region.body).instructions()) {
    if (inner.op == &kParameter) continue;
    const auto at = std::find_if(
        names.begin(), names.end(),
        [&](const auto& entry) { return entry.first == inner.op->name; });
    if (at == names.end()) {
      names.emplace_back(inner.op->name, 1);
    } else {
      ++at->second;
    }
  }
  return absl::StrJoin(names, " ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first);
    if (entry.second > 1) absl::StrAppend(out, "*", entry.second);
  });
}

std::string PlaceName(const Place& place) {
  switch (place.kind) {
    case Place::kArgument:
      return absl::StrCat("argument ", place.index);
    case Place::kConstant:
      return absl::StrCat("constant ", place.index);
    case Place::kArena:
      return absl::StrCat("arena+", place.offset);
    case Place::kResult:
      return absl::StrCat("result ", place.index);
    case Place::kUnused:
      break;
  }
  return "unused";
}

}  // namespace

absl::string_view RegionKindName(RegionKind kind) {
  return kKindNames[static_cast<int>(kind)];
}

std::string Region::ToString() const {
  std::string text(RegionKindName(kind));
  if (!points.empty()) {
    absl::StrAppend(&text, " ", DimsToString(loops.extents));
    if (num_kept_loops < static_cast<int>(loops.extents.size())) {
      absl::StrAppend(&text, " keeps ", num_kept_loops);
    }
    absl::StrAppend(&text, " width ", vector_width);
  }
  if (stages > 1) absl::StrAppend(&text, ", ", stages, " passes");
  if (splits > 1) absl::StrAppend(&text, ", split in ", splits);
  if (epilogue.present) {
    constexpr absl::string_view kNames[] = {"identity", "relu", "gelu_tanh",
                                            "other"};
    absl::StrAppend(&text, ", epilogue",
                    epilogue.bias_operand >= 0 ? " bias" : "",
                    epilogue.residual_operand >= 0 ? " residual" : "", " ",
                    kNames[static_cast<int>(epilogue.activation)]);
  }
  return text;
}

std::string Explain(const Plan& plan, const Target& target) {
  std::string text;
  for (const ComputationPlan& c : plan.computations) {
    if (c.computation < 0) continue;
    const Computation& computation = plan.module.computation(c.computation);
    const PlanCost cost = CostOf(c, target);
    absl::StrAppend(&text, "computation @", c.computation, " \"",
                    computation.name(), "\": ", cost.launches, " launches, ",
                    cost.bytes, " bytes, arena ", c.buffers.arena_bytes,
                    " bytes for ", c.buffers.temporary_bytes, "\n");
    for (size_t n = 0; n < c.regions.size(); ++n) {
      const Region& r = c.regions[n];
      if (r.kind == RegionKind::kNone || r.kind == RegionKind::kConstant) {
        continue;
      }
      const Instruction& i = computation.instructions()[n];
      absl::StrAppend(&text, "  %", i.first_result, ": ", r.ToString(), "; ",
                      r.launches, r.launches == 1 ? " launch" : " launches",
                      ", reads ", r.bytes_read, ", writes ", r.bytes_written,
                      "; ", OpsOf(plan.module, r), " ->");
      for (int k = 0; k < i.num_results; ++k) {
        absl::StrAppend(&text, k > 0 ? ", " : " ",
                        PlaceName(c.buffers.values[i.first_result + k]));
      }
      if (const std::string slow = VerdictOf(plan.module, r, target);
          !slow.empty()) {
        absl::StrAppend(&text, "; slow: ", slow);
      }
      absl::StrAppend(&text, "\n");
    }
    for (const Donation& d : c.buffers.donations) {
      absl::StrAppend(&text, "  argument ", d.argument, " may become result ",
                      d.result, d.in_place ? " in place" : "", "\n");
    }
  }
  return text;
}

}  // namespace hawser::plan
