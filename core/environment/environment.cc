#include "core/environment/environment.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/environment/spelling.h"
#include "core/base/log.h"

namespace hawser {
namespace {

struct Setting {
  absl::string_view name;
  // Separated by "|"; empty: any.
  absl::string_view values = "";
};

// Also settings of hawserd and of tests, which a program may inherit.
constexpr Setting kSettings[] = {
    {"HAWSER_SERVERS"},
    {"HAWSER_SPREAD", "0|1"},
    {"HAWSER_FALLBACK", "on|off"},
    {"HAWSER_CLIENT"},
    {"HAWSER_TLS_CA"},
    {"HAWSER_TLS_CERT"},
    {"HAWSER_TLS_KEY"},
    {"HAWSER_TOKEN_FILE"},
    {"HAWSER_CACHE"},
    {"HAWSER_CHECK_JIT", "0|1"},
    {"HAWSER_CHECK_NAN", "0|1"},
    {"HAWSER_CHECK_INDICES", "0|1"},
    {"HAWSER_TRACE"},
    {"HAWSER_BLAS"},
    {"HAWSER_DNNL"},
    {"HAWSER_LOG_LEVEL", "0|1|2"},
    {"HAWSER_CPU_ISA", "base|sse4|avx2|avx512"},
    {"HAWSER_CPU_MAKER", "amd|intel"},
    {"HAWSER_CPU_THREADS"},
    {"HAWSER_CUDA_LIBS"},
    {"HAWSER_EMU_FAULT_AT_STEP"},
    {"HAWSER_PJRT_LIBRARY"},
    {"HAWSER_BUILD_CACHE_GIB"},
};

std::string Unknown(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const Setting& setting : kSettings) names.push_back(setting.name);
  const absl::string_view nearest = Nearest(name, names);
  return absl::StrCat(name, " is no setting of hawser",
                      nearest.empty()
                          ? ""
                          : absl::StrCat(": did you mean ", nearest, "?"));
}

}  // namespace

std::vector<std::string> CheckEnvironment(
    absl::Span<const std::string> variables) {
  std::vector<std::string> lines;
  for (const std::string& variable : variables) {
    if (!absl::StartsWith(variable, "HAWSER_")) continue;
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(variable, absl::MaxSplits('=', 1));
    const Setting* found = nullptr;
    for (const Setting& setting : kSettings) {
      if (setting.name == parts.first) found = &setting;
    }
    if (found == nullptr) {
      lines.push_back(Unknown(parts.first));
      continue;
    }
    if (found->values.empty() || parts.second.empty()) continue;
    const std::vector<absl::string_view> may =
        absl::StrSplit(found->values, '|');
    bool is_one = false;
    for (const absl::string_view value : may) is_one |= value == parts.second;
    if (is_one) continue;
    lines.push_back(absl::StrCat(variable, " is left out: it must be ",
                                 absl::StrJoin(may, " or ")));
  }
  return lines;
}

void WarnOfEnvironment() {
  static const bool warned = [] {
    std::vector<std::string> variables;
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
      variables.emplace_back(*at);
    }
    for (const std::string& line : CheckEnvironment(variables)) {
      HAWSER_LOG(kWarning) << line;
    }
    return true;
  }();
  (void)warned;
}

bool IsSwitchedOn(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

}  // namespace hawser
