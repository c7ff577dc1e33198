#include "tests/kernels/gpu/emit/region_batch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/values/compare.h"
#include "core/ir/builder.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/scatter.h"
#include "kernels/cpu/evaluator.h"
#include "tests/kernels/one_instruction.h"
#include "tests/testing/matchers.h"

namespace hawser::gpu {
namespace {

using plan::Region;
using plan::RegionKind;

bool IsFloating(DType dtype) { return IsFloat(dtype) || IsComplex(dtype); }

// The instruction of a kBlock region; nullptr for other regions.
const Instruction* BlockOf(const Module& module, const Region& region) {
  if (region.kind != RegionKind::kBlock) return nullptr;
  return &module.computation(region.computation)
              .instructions()[region.instruction];
}

// Whether every engine has to give the same bits: no sum or product of floats
// in another order, and nothing complex but + and -.
bool IsExact(const Module& module, const Region& region) {
  const Computation& body = module.computation(region.body);
  if (const Instruction* block = BlockOf(module, region)) {
    if (block->op != &kScan) return true;
    for (const Instruction& i :
         module.computation(block->called[0]).instructions()) {
      const bool rounds = i.op == &kAdd || i.op == &kMultiply;
      if (rounds &&
          IsFloating(module.computation(block->called[0])
                         .shape(i.first_result)
                         .dtype())) {
        return false;
      }
    }
  }
  for (const plan::Point& p : region.points) {
    const Instruction& i = body.instructions()[p.instruction];
    const DType dtype = body.shape(p.value).dtype();
    if (i.op == &kDotGeneral && IsFloating(dtype)) return false;
    if (i.op == &kReduce && IsFloating(dtype)) {
      for (const Instruction& r :
           module.computation(i.called[0]).instructions()) {
        if (r.op == &kAdd || r.op == &kMultiply) return false;
      }
    }
    if (p.kind != plan::Point::kOp) continue;
    for (const ValueId v : i.operands) {
      if (IsComplex(body.shape(v).dtype()) && i.op->ulp != 0) return false;
      if (IsComplex(body.shape(v).dtype()) && i.op != &kAdd &&
          i.op != &kSubtract && i.op->Is(kElementwise)) {
        return false;
      }
    }
  }
  return true;
}

// Complex functions one behind another: what the first is off by may carry the
// second across a branch cut.
bool ChainsComplex(const Module& module, const Region& region) {
  const Computation& body = module.computation(region.body);
  return std::count_if(
             region.points.begin(), region.points.end(),
             [&](const plan::Point& p) {
               const Instruction& i = body.instructions()[p.instruction];
               return p.kind == plan::Point::kOp && i.op->Is(kElementwise) &&
                      IsComplex(body.shape(i.operands[0]).dtype());
             }) > 1;
}

// Bits of what is computed: any of them may tell what it is off by, or which
// NaN it is.
bool ShowsBits(const Module& module, const Region& region) {
  const Computation& body = module.computation(region.body);
  return std::any_of(
      region.points.begin(), region.points.end(), [&](const plan::Point& p) {
        const Instruction& i = body.instructions()[p.instruction];
        return p.kind == plan::Point::kOp && i.op == &kBitcastConvert &&
               IsFloating(body.shape(i.operands[0]).dtype()) &&
               region.points[p.operands[0]].kind != plan::Point::kLoad;
      });
}

// Every NaN made the same one: bits of others are compared.
Literal SameNans(const Literal& from) {
  Literal to = Literal::Zeros(from.shape());
  std::memcpy(to.mutable_bytes().data(), from.bytes().data(),
              from.bytes().size());
  VisitDType(RealPart(from.shape().dtype()), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsFloat<T>) {
      T* x = reinterpret_cast<T*>(to.mutable_bytes().data());
      const int64_t n =
          from.shape().byte_size() / static_cast<int64_t>(sizeof(T));
      for (int64_t k = 0; k < n; ++k) {
        const ComputeType<T> number = static_cast<ComputeType<T>>(x[k]);
        if (std::isnan(number)) x[k] = static_cast<T>(std::nanf(""));
      }
    }
  });
  return to;
}

double LargestOf(const Literal& values) {
  double largest = 0;
  VisitDType(values.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Wide = std::conditional_t<kIsComplex<T>, T, ComputeType<T>>;
    for (const T& x : values.data<T>()) {
      if constexpr (kIsFloat<T> || kIsComplex<T>) {
        const double size = std::abs(static_cast<Wide>(x));
        if (std::isfinite(size)) largest = std::max(largest, size);
      }
    }
  });
  return largest;
}

// Finite numbers whose sums and products in any order are so too.
bool AllModest(const std::vector<Literal>& values) {
  return std::all_of(values.begin(), values.end(), [](const Literal& l) {
    return VisitDType(l.shape().dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using Wide = std::conditional_t<kIsComplex<T>, T, ComputeType<T>>;
      if constexpr (kIsFloat<T> || kIsComplex<T>) {
        for (const T& x : l.data<T>()) {
          if (!(std::abs(static_cast<Wide>(x)) < 1e4)) return false;
        }
      }
      return true;
    });
  });
}

// What is fused in a region.
std::vector<std::string> EdgesOf(const Region& region) {
  using plan::Point;
  bool folds = false, feeds = false, behind = false, masked = false;
  for (const Point& p : region.points) {
    const bool computes = p.kind != Point::kLoad && p.kind != Point::kMove;
    for (const plan::PointId o : p.operands) {
      const bool of_fold = region.points[o].kind == Point::kReduce;
      behind |= of_fold && computes;
      feeds |= p.kind == Point::kReduce && !of_fold &&
               region.points[o].kind != Point::kLoad;
    }
    folds |= p.kind == Point::kReduce;
    masked |= p.kind == Point::kLoad && p.scope != 0;
  }
  std::vector<std::string> edges;
  const auto add = [&](bool has, const char* name) {
    if (has) edges.push_back(name);
  };
  add(!folds && region.points.size() > 4, "edge: loop into loop");
  add(feeds, "edge: loop into reduction");
  add(behind, "edge: reduction into loop");
  add(masked, "edge: masked load");
  add(!region.symbols.empty(), "edge: run-time index");
  add(region.results.size() > 1, "edge: several results");
  add(region.launches > 1, "edge: two launches");
  add(region.vector_width > 1, "edge: vectors");
  return edges;
}

double UnitOf(DType dtype) {
  return dtype == DType::kF16              ? 0x1p-11
         : dtype == DType::kBF16           ? 0x1p-8
         : ByteWidth(RealPart(dtype)) == 4 ? 0x1p-24
                                           : 0x1p-53;
}

// How far what is not exact may be off: 64 units of the coarsest format that a
// region computes in, against the largest value, since what is small may be
// what two large ones have left over.
// Halves that are not rounded after each op are off by less.
double AllowedOf(const Module& module, const Region& region, bool strict) {
  const Computation& body = module.computation(region.body);
  double unit = 0;
  if (const Instruction* block = BlockOf(module, region)) {
    for (const ValueId v : block->operands) {
      const DType dtype = body.shape(v).dtype();
      if (IsFloating(dtype)) unit = std::max(unit, UnitOf(dtype));
    }
  }
  for (const plan::Point& p : region.points) {
    const DType dtype = body.shape(p.value).dtype();
    if (IsFloating(dtype)) unit = std::max(unit, UnitOf(dtype));
  }
  if (!IsExact(module, region)) return 64 * unit;
  return strict || unit < UnitOf(DType::kF16) ? 0 : 8 * unit;
}

absl::Status Compare(const Literal& got, const Literal& want, double allowed) {
  if (allowed == 0 || !IsFloating(want.shape().dtype())) {
    return CompareLiterals(SameNans(got), SameNans(want),
                           Tolerance{.bits = true});
  }
  return CompareLiterals(got, want,
                         {.atol = allowed * LargestOf(want), .rtol = allowed});
}

}  // namespace

// One device and what its kernels are found by.
class RegionBatch::Runner {
 public:
  Runner(const Options& options,
         const std::map<std::string, std::string>& texts)
      : device_(emu::MakeEmuDevice(options.emu)),
        stream_(*device_->CreateStream(0)) {
    std::string text;
    for (const auto& [name, kernel] : texts) text += kernel;
    auto binary = device_->Compile("emitted.cu", text, {.strict = true});
    EXPECT_OK(binary);
    if (!binary.ok()) return;
    auto module = device_->LoadModule(binary->bytes);
    EXPECT_OK(module);
    if (module.ok()) module_ = *module;
  }
  bool ok() const { return static_cast<bool>(module_); }

  absl::Status Run(const Case& c, std::vector<Literal>* results) {
    std::vector<DeviceAddress> operands, outputs;
    for (const Literal& l : c.operands) {
      HAWSER_ASSIGN_OR_RETURN(DeviceAddress to, Put(l));
      operands.push_back(to);
    }
    for (size_t k = 0; k < c.want.size(); ++k) {
      const int64_t bytes = c.want[k].shape().byte_size();
      HAWSER_ASSIGN_OR_RETURN(DeviceAddress to,
                              device_->Allocate(stream_, bytes));
      outputs.push_back(to);
      if (c.in_place && bytes > 0) {
        HAWSER_RETURN_IF_ERROR(
            device_->CopyOnDevice(stream_, to, operands[k], bytes));
      }
    }
    HAWSER_ASSIGN_OR_RETURN(DeviceAddress scratch,
                            device_->Allocate(stream_, c.scratch_bytes));
    for (const EmittedKernel& k : c.kernels) {
      HAWSER_ASSIGN_OR_RETURN(Kernel kernel,
                              device_->FindKernel(module_, k.name));
      std::vector<KernelArgument> arguments;
      for (const KernelParameter& p : k.parameters) {
        const DeviceAddress at =
            p.kind == KernelParameter::kOperand  ? operands[p.index]
            : p.kind == KernelParameter::kResult ? outputs[p.index]
                                                 : scratch;
        arguments.push_back(
            KernelArgument::Range(at + p.offset, p.bytes, p.access));
      }
      HAWSER_RETURN_IF_ERROR(
          device_->Launch(stream_, kernel, k.shape, arguments));
    }
    for (size_t k = 0; k < c.want.size(); ++k) {
      Literal out = Literal::Zeros(c.want[k].shape());
      HAWSER_RETURN_IF_ERROR(
          device_->CopyToHost(stream_, out.mutable_bytes().data(), outputs[k],
                              out.shape().byte_size()));
      HAWSER_RETURN_IF_ERROR(device_->AwaitStream(stream_));
      results->push_back(std::move(out));
    }
    operands.insert(operands.end(), outputs.begin(), outputs.end());
    operands.push_back(scratch);
    for (const DeviceAddress a : operands) {
      HAWSER_RETURN_IF_ERROR(device_->Free(stream_, a));
    }
    return device_->AwaitStream(stream_);
  }

 private:
  absl::StatusOr<DeviceAddress> Put(const Literal& l) {
    const int64_t bytes = l.shape().byte_size();
    HAWSER_ASSIGN_OR_RETURN(DeviceAddress to,
                            device_->Allocate(stream_, bytes));
    HAWSER_RETURN_IF_ERROR(
        device_->CopyToDevice(stream_, to, l.bytes().data(), bytes));
    HAWSER_RETURN_IF_ERROR(device_->AwaitStream(stream_));
    return to;
  }

  std::unique_ptr<Device> device_;
  Stream stream_;
  KernelModule module_;
};

RegionBatch::~RegionBatch() {
  EXPECT_TRUE(cases_.empty()) << "cases that were not run";
}

void RegionBatch::Add(const plan::Plan& plan,
                      const std::vector<Literal>& arguments,
                      const std::string& what) {
  const plan::ComputationPlan& entry = plan.entry();
  const Computation& c = plan.module.computation(entry.computation);
  std::vector<Literal> values(c.num_values());
  std::copy(arguments.begin(), arguments.end(), values.begin());
  for (size_t k = 0; k < c.instructions().size(); ++k) {
    const Instruction& i = c.instructions()[k];
    const Region& region = entry.regions[k];
    if (region.kind == RegionKind::kNone) continue;
    std::vector<Literal> operands;
    for (const ValueId v : i.operands) operands.push_back(values[v]);
    const std::vector<Literal> want =
        EvaluateInstruction(plan.module, i, operands);
    if (want.size() != static_cast<size_t>(i.num_results)) return;
    for (int r = 0; r < i.num_results; ++r) {
      values[i.first_result + r] = want[r];
    }
    if (region.kind == RegionKind::kConstant ||
        region.kind == RegionKind::kView ||
        region.kind == RegionKind::kControl ||
        region.kind == RegionKind::kHost) {
      continue;
    }
    AddRegion(plan, region, operands, want,
              absl::StrCat(what, ", step ", k, ", ", region.ToString()));
  }
}

void RegionBatch::AddRegion(const plan::Plan& plan, const Region& region,
                            const std::vector<Literal>& operands,
                            const std::vector<Literal>& want,
                            const std::string& what) {
  const auto kernels = EmitRegion(plan.module, region, options_.emit);
  EXPECT_EQ(CanEmit(plan.module, region),
            !absl::IsUnimplemented(kernels.status()));
  if (absl::IsUnimplemented(kernels.status())) {
    ++refused_[std::string(kernels.status().message())];
    return;
  }
  EXPECT_OK(kernels) << what;
  if (!kernels.ok()) return;
  ++counts_[std::string(plan::RegionKindName(region.kind))];
  for (const std::string& edge : EdgesOf(region)) ++counts_[edge];
  if (ShowsBits(plan.module, region)) return;
  for (const EmittedKernel& k : *kernels) {
    const auto [at, is_new] = texts_.emplace(k.name, k.text);
    EXPECT_EQ(at->second, k.text);
    if (is_new) pending_.emplace(k.name, k.text);
  }
  std::vector<Literal> all = operands;
  all.insert(all.end(), want.begin(), want.end());
  const Computation& body = plan.module.computation(region.body);
  for (const plan::Point& p : region.points) {
    const Instruction& i = body.instructions()[p.instruction];
    if (i.op == &kConstant) all.push_back(i.attributes.GetLiteral("value"));
  }
  Case c{.what = what,
         .kernels = *kernels,
         .operands = operands,
         .want = want,
         .scratch_bytes = region.scratch_bytes,
         .in_place = region.kind == RegionKind::kUpdate,
         .allowed = AllowedOf(plan.module, region, options_.emit.strict),
         .modest = AllModest(all) && !ChainsComplex(plan.module, region)};
  cases_.push_back(std::move(c));
  if (pending_.size() >= options_.kernels_at_once) Run();
}

void RegionBatch::Run() {
  std::map<std::string, std::string> needed;
  for (const Case& c : cases_) {
    for (const EmittedKernel& k : c.kernels) needed.emplace(k.name, k.text);
  }
  const std::vector<Case> cases = std::exchange(cases_, {});
  pending_.clear();
  if (cases.empty()) return;
  Runner runner(options_, needed);
  if (!runner.ok()) return;
  for (const Case& c : cases) {
    std::string text = c.what + "\n";
    for (const EmittedKernel& k : c.kernels) text += k.text;
    std::vector<Literal> got;
    const absl::Status status = runner.Run(c, &got);
    ASSERT_OK(status) << text;
    // Infinities and what is near them depend on the order.
    if (c.allowed != 0 && !c.modest && !compare_all_) continue;
    for (size_t k = 0; k < got.size(); ++k) {
      ASSERT_OK(Compare(got[k], c.want[k], c.allowed))
          << "result " << k << " of " << text;
    }
  }
}

}  // namespace hawser::gpu
