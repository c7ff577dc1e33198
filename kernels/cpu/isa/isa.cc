#include "kernels/cpu/isa/isa.h"

#include <cstdlib>

#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser::cpu {
namespace {

struct IsaRow {
  Isa isa;
  absl::string_view name;
  bool (*is_there)();
};

bool Always() { return true; }

#if defined(__x86_64__)
bool HasSse4() { return __builtin_cpu_supports("sse4.1") != 0; }
bool HasAvx2() {
  return __builtin_cpu_supports("avx2") != 0 &&
         __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi2") != 0;
}
bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512cd") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}
#else
bool Never() { return false; }
constexpr auto HasSse4 = Never, HasAvx2 = Never, HasAvx512 = Never;
#endif

constexpr IsaRow kRows[] = {
    {Isa::kBase, "base", Always},
    {Isa::kSse4, "sse4", HasSse4},
    {Isa::kAvx2, "avx2", HasAvx2},
    {Isa::kAvx512, "avx512", HasAvx512},
};

Maker MachineMaker() {
#if defined(__x86_64__)
  return __builtin_cpu_is("amd") != 0 ? Maker::kAmd : Maker::kIntel;
#else
  return Maker::kIntel;
#endif
}

absl::string_view MakerName(Maker maker) {
  return maker == Maker::kAmd ? "amd" : "intel";
}

const IsaRow& RowOf(Isa isa) { return kRows[static_cast<int>(isa)]; }

}  // namespace

absl::string_view IsaName(Isa isa) { return RowOf(isa).name; }

Isa MachineIsa() {
  static const Isa isa = [] {
    Isa largest = Isa::kBase;
    for (const IsaRow& row : kRows) {
      if (row.is_there()) largest = row.isa;
    }
    return largest;
  }();
  return isa;
}

Isa ProcessIsa() {
  static const Isa isa = [] {
    const char* wish = std::getenv("HAWSER_CPU_ISA");
    if (wish == nullptr || *wish == '\0') return MachineIsa();
    const absl::StatusOr<Isa> wanted = ParseIsa(wish);
    if (wanted.ok()) return *wanted;
    HAWSER_LOG(kWarning) << "HAWSER_CPU_ISA is left out: "
                         << wanted.status().message();
    return MachineIsa();
  }();
  return isa;
}

Maker ProcessMaker() {
  static const Maker maker = [] {
    const char* wish = std::getenv("HAWSER_CPU_MAKER");
    if (wish == nullptr || *wish == '\0') return MachineMaker();
    for (const Maker maker : {Maker::kAmd, Maker::kIntel}) {
      if (wish == MakerName(maker)) return maker;
    }
    HAWSER_LOG(kWarning) << "HAWSER_CPU_MAKER is left out: \"" << wish
                         << "\" must be amd or intel";
    return MachineMaker();
  }();
  return maker;
}

absl::StatusOr<Isa> ParseIsa(absl::string_view name) {
  for (const IsaRow& row : kRows) {
    if (row.name != name) continue;
    if (row.is_there()) return row.isa;
    return FailedPrecondition("this machine has no ", name);
  }
  return InvalidArgument("\"", name, "\" is no set of instructions: must be ",
                         "base, sse4, avx2 or avx512");
}

}  // namespace hawser::cpu
