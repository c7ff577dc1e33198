#include "kernels/emu/step.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/emu/gemm.h"

namespace hawser::emu {
namespace {

using gpu::DeviceAddress;
using gpu::GemmSpec;

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

absl::Status Run(const GemmStep& s, const StepContext& c) {
  const GemmSpec& g = *s.spec;
  if (g.batch == 0 || g.m == 0 || g.n == 0) return absl::OkStatus();
  struct Part {
    const char* name;
    DeviceAddress address;
    int64_t bytes;
  };
  const int64_t d_bytes = SpanBytes(g.d, g.batch, g.m, g.n);
  const Part parts[] = {
      {"d", s.operands.d, d_bytes},
      {"a", s.operands.a, SpanBytes(g.a, g.batch, g.m, g.k)},
      {"b", s.operands.b, SpanBytes(g.b, g.batch, g.k, g.n)},
      {"bias", s.operands.bias, g.has_bias ? g.n * ByteWidth(g.d.dtype) : 0},
      {"c", s.operands.c, g.has_c ? SpanBytes(g.c, g.batch, g.m, g.n) : 0},
  };
  for (const Part& p : parts) {
    const std::string who = absl::StrCat("gemm, ", p.name);
    HAWSER_RETURN_IF_ERROR(c.memory->Check(who, p.address, p.bytes));
    const bool may_be_d = p.name[0] == 'd' ||
                          (p.name[0] == 'c' && p.address == s.operands.d);
    if (!may_be_d && Overlap(p.address.value, p.bytes, s.operands.d.value,
                             d_bytes)) {
      return Internal(who, ": overlaps d");
    }
  }
  RunGemm(g, s.operands);
  return absl::OkStatus();
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
bool IsSame(const GemmStep& a, const GemmStep& b) { return a.spec == b.spec; }
bool IsSame(const CopyStep& a, const CopyStep& b) { return a.kind == b.kind; }
bool IsSame(const FillStep&, const FillStep&) { return true; }

}  // namespace

absl::Status CheckStep(const Step& step, const gpu::DeviceFacts& facts) {
  if (const auto* launch = std::get_if<LaunchStep>(&step)) {
    return CheckLaunch(*launch->kernel, launch->shape, launch->arguments,
                       facts);
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
