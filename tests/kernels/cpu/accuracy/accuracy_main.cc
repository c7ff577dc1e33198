// Prints the table of README.md. --all: of every f32.
#include <cstdio>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/kernels/cpu/accuracy/accuracy.h"

namespace hawser::cpu {
namespace {

int PrintTable(int64_t one_of) {
  const std::vector<Isa> isas = IsasHere();
  std::string head = "| function | promised |", rule = "|---|---|";
  for (const DType dtype : AccurateDTypes()) {
    for (const Isa isa : isas) {
      absl::StrAppend(&head, " ", DTypeName(dtype), " ", IsaName(isa), " |");
      absl::StrAppend(&rule, "---|");
    }
  }
  std::printf("%s\n%s\n", head.c_str(), rule.c_str());
  for (const AccurateFunction& f : AccurateFunctions()) {
    std::string line = absl::StrCat("| `", f.op->name, "` | ", f.op->ulp, " |");
    for (const DType dtype : AccurateDTypes()) {
      const auto all = Measure(f, dtype, isas, one_of);
      if (!all.ok()) {
        std::fprintf(stderr, "%s\n", all.status().ToString().c_str());
        return 1;
      }
      for (const Accuracy& a : *all)
        absl::StrAppendFormat(&line, " %.2f |", a.ulp);
    }
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace hawser::cpu

int main(int argc, char** argv) {
  const bool all = argc > 1 && std::strcmp(argv[1], "--all") == 0;
  return hawser::cpu::PrintTable(all ? 1 : 997);
}
