#include "kernels/cuda/compile/compile_log.h"

#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace hawser::cuda {
namespace {

constexpr absl::string_view kInfo = "ptxas info";
constexpr absl::string_view kEntry = "Compiling entry function '";

// The number in front of `words` in a line like "48 registers"; -1 without one.
int64_t NumberOf(absl::string_view words, absl::string_view line) {
  const size_t at = line.find(absl::StrCat(" ", words));
  if (at == absl::string_view::npos) return -1;
  const absl::string_view front = line.substr(0, at);
  int64_t number = -1;
  const absl::string_view last = front.substr(front.rfind(' ') + 1);
  return absl::SimpleAtoi(last, &number) ? number : -1;
}

void ReadLine(absl::string_view line, gpu::KernelResources* kernel) {
  if (absl::StrContains(line, "bytes stack frame")) {
    kernel->stack_bytes = NumberOf("bytes stack frame", line);
    kernel->spill_bytes = NumberOf("bytes spill stores", line) +
                          NumberOf("bytes spill loads", line);
  }
  if (absl::StrContains(line, " registers")) {
    kernel->registers = static_cast<int>(NumberOf("registers", line));
    kernel->shared_bytes = 0;  // where the line names none
    const int64_t shared = NumberOf("bytes smem", line);
    if (shared > 0) kernel->shared_bytes = shared;
  }
}

}  // namespace

CompileLog ReadCompileLog(absl::string_view log) {
  CompileLog read;
  log = log.substr(0, log.find('\0'));  // the library ends it with a NUL
  for (const absl::string_view line :
       absl::StrSplit(log, '\n', absl::SkipWhitespace())) {
    const size_t at = line.find(kEntry);
    if (at != absl::string_view::npos) {
      const absl::string_view name = line.substr(at + kEntry.size());
      gpu::KernelResources kernel;
      kernel.name = std::string(name.substr(0, name.find('\'')));
      read.kernels.push_back(std::move(kernel));
      continue;
    }
    const bool is_report = absl::StartsWith(line, kInfo) ||
                           absl::StrContains(line, "bytes stack frame");
    if (!is_report) {
      absl::StrAppend(&read.rest, line, "\n");
    } else if (!read.kernels.empty()) {
      ReadLine(line, &read.kernels.back());
    }
  }
  return read;
}

}  // namespace hawser::cuda
