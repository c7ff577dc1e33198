#include "kernels/gpu/compile/compiled.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/base/trace/trace.h"
#include "core/ops/contraction/control.h"
#include "kernels/gpu/program/gemm_lowering.h"
#include "kernels/gpu/program/library_lowering.h"
#include "kernels/plan/plan.h"
#include "core/ops/contraction/trip_count.h"

namespace hawser::gpu {
namespace {

// True if the dialect has WarpMma where kernels are compiled for that: on the host
// and from sm_80 on.
bool HasMatrixUnits(absl::string_view target) {
  int architecture = 0;
  if (!absl::ConsumePrefix(&target, "sm_")) return true;
  return absl::SimpleAtoi(target, &architecture) && architecture >= 80;
}

// Returns the facts about this device that the planner is to know.
plan::Target TargetOf(const DeviceFacts& facts, runtime::Numerics numerics) {
  plan::Target target = plan::GpuTarget();
  target.name = facts.platform;
  target.parallel_units = facts.multiprocessors;
  if (numerics == runtime::Numerics::kTf32) {
    target.matrix_products =
        target.matrix_products | DTypeSet::Of(DType::kF32);
  }
  if (!HasMatrixUnits(facts.target)) target.matrix_products = {};
  if (numerics == runtime::Numerics::kStrict) {
    target.parallel_units = kStrictMultiprocessors;
    // A library's tail is not rounded op by op.
    target.epilogues = plan::EpilogueSupport::kNone;
    // Updates are added one after another, as everywhere.
    target.atomic_scatters = 0;
    target.sorted_scatters = 0;
    target.unrolled_folds = 0;
    target.matrix_products = {};
  }
  return target;
}

// Says once for each library that it is missing: the slower way is right as
// well.
void WarnOfMissing(const LibraryCall& call, const absl::Status& why) {
  static std::array<std::once_flag, std::variant_size_v<LibraryCall>> once;
  std::call_once(once[call.index()], [&] {
    HAWSER_LOG(kWarning)
        << "there is no " << NameOf(call) << "; "
        << (std::holds_alternative<GemmSpec>(call) ||
                    std::holds_alternative<ConvolutionSpec>(call)
                ? "kernels of our own, which are many times slower, do it: "
                : "the host does it, which is many times slower: ")
        << why;
  });
}

// A device's plans for library calls, each asked for once.
class CallPlans {
 public:
  explicit CallPlans(std::shared_ptr<Device> device)
      : device_(std::move(device)) {}

  // Errors: kUnimplemented where the engine has to do it itself.
  absl::StatusOr<std::shared_ptr<const OwnedCallPlan>> Get(
      const LibraryCall& call) {
    auto& alike = plans_[SizesOf(call)];
    for (const auto& [known, plan] : alike) {
      if (known == call) return plan;
    }
    alike.emplace_back(call, Plan(call));
    return alike.back().second;
  }

 private:
  using Answer = absl::StatusOr<std::shared_ptr<const OwnedCallPlan>>;

  // Calls of other kinds are few.
  static std::array<int64_t, 3> SizesOf(const LibraryCall& call) {
    const auto* spec = std::get_if<GemmSpec>(&call);
    if (spec == nullptr) return {};
    return {spec->m, spec->n, spec->k};
  }

  Answer Plan(const LibraryCall& call) {
    const absl::StatusOr<CallPlan> planned = device_->PlanCall(call);
    if (absl::IsFailedPrecondition(planned.status())) {
      WarnOfMissing(call, planned.status());
      return Unimplemented(planned.status().message());
    }
    HAWSER_RETURN_IF_ERROR(planned);
    return std::make_shared<const OwnedCallPlan>(device_, *planned);
  }

  const std::shared_ptr<Device> device_;
  // Keyed by sizes: those that differ in layout or tail alone are few.
  std::map<std::array<int64_t, 3>, std::vector<std::pair<LibraryCall, Answer>>>
      plans_;
};

// One run of the entry; called computations as often as they are known to run.
double SecondsOf(const plan::Plan& plan, const plan::Target& target) {
  std::vector<double> seconds(plan.computations.size(), 0);
  for (size_t c = 0; c < seconds.size(); ++c) {
    const plan::ComputationPlan& planned = plan.computations[c];
    if (planned.computation < 0) continue;
    seconds[c] = plan::CostOf(planned, target).seconds;
    for (const plan::Region& r : planned.regions) {
      if (r.kind != plan::RegionKind::kControl) continue;
      const Instruction& i = plan.module.computation(planned.computation)
                                 .instructions()[r.instruction];
      double turn = 0;
      for (const int callee : i.called) turn = std::max(turn, seconds[callee]);
      const auto turns =
          i.op == &kWhile
              ? TripCount(plan.module, planned.computation, r.instruction)
              : std::nullopt;
      seconds[c] += turn * static_cast<double>(turns.value_or(1));
    }
  }
  return seconds.empty() ? 0 : seconds.back();
}

// Errors: kResourceExhausted for a module that this device can never run.
absl::Status CheckSize(const Program& program, const DeviceFacts& facts) {
  const auto constants = static_cast<int64_t>(program.constants.size());
  const int64_t sum = constants + program.arena_bytes;
  if (sum <= facts.memory_bytes) return absl::OkStatus();
  return ResourceExhausted("the module needs ", program.arena_bytes,
                           " bytes for temporary values and ", constants,
                           " for constants; ", facts.name, " has ",
                           facts.memory_bytes);
}

absl::StatusOr<std::shared_ptr<DeviceMemory>> PutConstants(
    const std::string& bytes, Engine* engine) {
  if (bytes.empty()) return nullptr;
  HAWSER_ASSIGN_OR_RETURN(
      const Literal value,
      Literal::FromBytes(
          Shape::Of(DType::kU8, {static_cast<int64_t>(bytes.size())}),
          {bytes.data(), bytes.size()}));
  HAWSER_ASSIGN_OR_RETURN(const DeviceValue there,
                          engine->transfers().Upload(value).Await());
  HAWSER_RETURN_IF_ERROR(engine->device().AwaitEvent(there.ready->event()));
  return there.memory;
}

}  // namespace

absl::StatusOr<Program> LowerModule(const Module& module,
                                    runtime::Numerics numerics, bool has_host,
                                    const std::shared_ptr<Device>& device,
                                    DeviceCode* code) {
  plan::Target target = TargetOf(device->facts(), numerics);
  target.has_host = has_host;
  CallPlans plans(device);
  // Other errors are reported when the program is made.
  target.takes_product = [&](const plan::ProductCall& call) {
    return !absl::IsUnimplemented(plans.Get(SpecOf(call, numerics)).status());
  };
  if (numerics != runtime::Numerics::kStrict) {
    target.takes_call = [&](const OpDef& op, absl::Span<const Shape> operands,
                            const Attributes& attributes) {
      const auto call = LibraryCallOf(op, operands, attributes, numerics);
      return call && !absl::IsUnimplemented(plans.Get(*call).status());
    };
  }
  HAWSER_ASSIGN_OR_RETURN(const plan::Plan plan,
                          plan::MakePlan(module, target));
  const ProgramOptions options{
      .numerics = numerics,
      .multiprocessors = device->facts().multiprocessors,
      .matrix_units = HasMatrixUnits(device->facts().target),
      .has_host = has_host,
      .plan_call = [&](const LibraryCall& call) -> absl::Status {
        HAWSER_ASSIGN_OR_RETURN(auto planned, plans.Get(call));
        code->library_calls.push_back(std::move(planned));
        return absl::OkStatus();
      }};
  HAWSER_ASSIGN_OR_RETURN(Program program, MakeProgram(plan, options));
  int64_t workspace = 0;
  for (const auto& call : code->library_calls) {
    workspace = std::max(workspace, call->workspace_bytes());
  }
  program.arena_bytes += workspace;
  program.seconds = SecondsOf(plan, target);
  program.explanation += plan::Explain(plan, target);
  return program;
}

absl::StatusOr<Compiled> CompileModule(const Module& module,
                                       runtime::Numerics numerics,
                                       Engine* engine, KernelCache* cache,
                                       const CancelToken& cancel) {
  TraceSpan span("compile", "compile for gpu");
  span.Add("instructions", module.num_instructions());
  auto code = std::make_shared<DeviceCode>();
  Compiled compiled;
  HAWSER_ASSIGN_OR_RETURN(
      compiled.program,
      LowerModule(module, numerics, engine->host(numerics) != nullptr,
                  engine->shared_device(), code.get()));
  HAWSER_RETURN_IF_ERROR(CheckSize(compiled.program, engine->device().facts()));
  HAWSER_ASSIGN_OR_RETURN(
      code->kernels,
      cache->Get(compiled.program.kernels,
                 {.strict = numerics == runtime::Numerics::kStrict}, cancel));
  HAWSER_ASSIGN_OR_RETURN(compiled.constants,
                          PutConstants(compiled.program.constants, engine));
  compiled.code = std::move(code);
  return compiled;
}

}  // namespace hawser::gpu
