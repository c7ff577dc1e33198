#include "kernels/emu/step.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/emu/gemm.h"
#include "kernels/emu/library_calls/convolution.h"
#include "kernels/emu/library_calls/fft.h"
#include "kernels/emu/library_calls/linalg.h"
#include "kernels/gpu/device/call_check.h"
#include "kernels/gpu/device/gemm_check.h"

namespace hawser::emu {
namespace {

using gpu::DeviceAddress;
using gpu::GemmSpec;

absl::Status CheckAddresses(const GemmSpec& spec,
                            const gpu::CallOperands& operands) {
  const bool is_empty = spec.batch == 0 || spec.m == 0 || spec.n == 0;
  return is_empty ? absl::OkStatus()
                  : gpu::GemmOperandsOf(spec, operands).status();
}
template <typename Spec>
absl::Status CheckAddresses(const Spec& spec,
                            const gpu::CallOperands& operands) {
  return gpu::CheckOperands(gpu::BytesOf(spec), operands);
}

bool Overlap(uint64_t a, int64_t a_bytes, uint64_t b, int64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

absl::Status Run(const LaunchStep& s, const StepContext& c) {
  for (size_t i = 0; i < s.arguments.size(); ++i) {
    const gpu::KernelArgument& a = s.arguments[i];
    if (!a.is_range()) continue;
    HAWSER_RETURN_IF_ERROR(c.memory->Check(
        absl::StrCat("kernel ", s.kernel->name, ", argument ", i), a.address(),
        a.bytes()));
  }
  return RunLaunch(*s.kernel, s.shape, s.arguments, c.schedules, c.seed,
                   *c.facts);
}

// A range of a call, by its name.
struct Part {
  std::string name;
  DeviceAddress address;
  int64_t bytes;
};

absl::Status CheckPart(const Part& part, const StepContext& c) {
  return c.memory->Check(part.name, part.address, part.bytes);
}

// Errors: kInternal for a result that overlaps another part.
absl::Status CheckApart(const Part& part, const Part& result) {
  if (!Overlap(part.address.value, part.bytes, result.address.value,
               result.bytes)) {
    return absl::OkStatus();
  }
  return Internal(part.name, ": overlaps ", result.name);
}

absl::Status Do(const GemmSpec& g, const gpu::CallOperands& operands,
                const StepContext& c) {
  if (g.batch == 0 || g.m == 0 || g.n == 0) return absl::OkStatus();
  HAWSER_ASSIGN_OR_RETURN(const gpu::GemmOperands o,
                          gpu::GemmOperandsOf(g, operands));
  const Part d{"gemm, d", o.d, SpanBytes(g.d, g.batch, g.m, g.n)};
  HAWSER_RETURN_IF_ERROR(CheckPart(d, c));
  const Part parts[] = {
      {"gemm, a", o.a, SpanBytes(g.a, g.batch, g.m, g.k)},
      {"gemm, b", o.b, SpanBytes(g.b, g.batch, g.k, g.n)},
      {"gemm, bias", o.bias, g.has_bias ? g.n * ByteWidth(g.d.dtype) : 0},
      {"gemm, c", o.c, g.has_c ? SpanBytes(g.c, g.batch, g.m, g.n) : 0},
  };
  for (const Part& p : parts) {
    HAWSER_RETURN_IF_ERROR(CheckPart(p, c));
    if (p.name == "gemm, c" && p.address == o.d) continue;
    HAWSER_RETURN_IF_ERROR(CheckApart(p, d));
  }
  RunGemm(g, o);
  return absl::OkStatus();
}

template <typename Spec>
absl::Status Do(const Spec& spec, const gpu::CallOperands& operands,
                const StepContext& c) {
  const gpu::CallBytes bytes = gpu::BytesOf(spec);
  std::vector<Part> parts;
  for (size_t k = 0; k < bytes.operands.size(); ++k) {
    parts.push_back({absl::StrCat("library call, operand ", k),
                     operands.operands[k], bytes.operands[k]});
  }
  for (size_t k = 0; k < bytes.results.size(); ++k) {
    parts.push_back({absl::StrCat("library call, result ", k),
                     operands.results[k], bytes.results[k]});
  }
  for (size_t k = 0; k < parts.size(); ++k) {
    HAWSER_RETURN_IF_ERROR(CheckPart(parts[k], c));
    for (size_t r = bytes.operands.size(); r < parts.size(); ++r) {
      if (r != k) HAWSER_RETURN_IF_ERROR(CheckApart(parts[k], parts[r]));
    }
  }
  return RunCall(spec, operands);
}

absl::Status Run(const CallStep& s, const StepContext& c) {
  return std::visit([&](const auto& spec) { return Do(spec, s.operands, c); },
                    *s.call);
}

absl::Status Run(const CopyStep& s, const StepContext& c) {
  if (s.bytes == 0) return absl::OkStatus();
  if (s.kind != CopyKind::kToHost) {
    HAWSER_RETURN_IF_ERROR(c.memory->Check("copy, to", {s.to}, s.bytes));
  }
  if (s.kind != CopyKind::kToDevice) {
    HAWSER_RETURN_IF_ERROR(c.memory->Check("copy, from", {s.from}, s.bytes));
  }
  if (Overlap(s.to, s.bytes, s.from, s.bytes)) {
    return Internal("copy: ", s.bytes, " bytes onto themselves");
  }
  std::memcpy(reinterpret_cast<void*>(s.to),
              reinterpret_cast<const void*>(s.from), s.bytes);
  return absl::OkStatus();
}

absl::Status Run(const FillStep& s, const StepContext& c) {
  HAWSER_RETURN_IF_ERROR(c.memory->Check("fill", s.to, s.bytes));
  std::memset(reinterpret_cast<void*>(s.to.value), s.value, s.bytes);
  return absl::OkStatus();
}

bool IsSame(const LaunchStep& a, const LaunchStep& b) {
  return a.kernel == b.kernel;
}
bool IsSame(const CallStep& a, const CallStep& b) { return a.call == b.call; }
bool IsSame(const CopyStep& a, const CopyStep& b) { return a.kind == b.kind; }
bool IsSame(const FillStep&, const FillStep&) { return true; }

}  // namespace

absl::Status CheckStep(const Step& step, const gpu::DeviceFacts& facts) {
  if (const auto* launch = std::get_if<LaunchStep>(&step)) {
    return CheckLaunch(*launch->kernel, launch->shape, launch->arguments,
                       facts);
  }
  if (const auto* call = std::get_if<CallStep>(&step)) {
    return std::visit(
        [&](const auto& spec) { return CheckAddresses(spec, call->operands); },
        *call->call);
  }
  int64_t bytes = 0;
  if (const auto* copy = std::get_if<CopyStep>(&step)) bytes = copy->bytes;
  if (const auto* fill = std::get_if<FillStep>(&step)) bytes = fill->bytes;
  if (bytes < 0) return InvalidArgument("a copy or fill of ", bytes, " bytes");
  return absl::OkStatus();
}

absl::Status RunStep(const Step& step, const StepContext& context) {
  return std::visit([&](const auto& s) { return Run(s, context); }, step);
}

bool IsSameWork(const Step& a, const Step& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& s) {
        return IsSame(s, std::get<std::decay_t<decltype(s)>>(b));
      },
      a);
}

}  // namespace hawser::emu
