#include "core/ir/text/printer.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/ir/leaves.h"

namespace hawser {
namespace {

void PrintInstruction(const Computation& c, const Instruction& i,
                      std::string* out) {
  absl::StrAppend(out, "  ");
  for (int k = 0; k < i.num_results; ++k) {
    absl::StrAppend(out, k == 0 ? "" : ", ", "%", i.first_result + k, ": ",
                    c.shape(i.first_result + k).ToString());
  }
  absl::StrAppend(out, i.num_results > 0 ? " = " : "", i.op->name, "(",
                  absl::StrJoin(i.operands, ", ",
                                [](std::string* o, ValueId v) {
                                  absl::StrAppend(o, "%", v);
                                }),
                  ")");
  for (const auto& [name, value] : i.attributes) {
    absl::StrAppend(out, " ", name, "=", AttributeToString(value));
  }
  for (int callee : i.called) {
    absl::StrAppend(out, " @", callee);
  }
  absl::StrAppend(out, "\n");
}

void PrintComputation(const Module& module, int index, std::string* out) {
  const Computation& c = module.computation(index);
  absl::StrAppend(out, "computation @", index, " \"",
                  absl::CEscape(c.name()), "\" (");
  for (int p = 0; p < c.num_parameters(); ++p) {
    absl::StrAppend(out, p == 0 ? "" : ", ", "%", p, ": ",
                    c.shape(p).ToString());
  }
  absl::StrAppend(out, ") {\n");
  for (const Instruction& i : c.instructions()) {
    if (i.op != &kParameter) PrintInstruction(c, i, out);
  }
  absl::StrAppend(out, "  return ",
                  absl::StrJoin(c.results(), ", ",
                                [](std::string* o, ValueId v) {
                                  absl::StrAppend(o, "%", v);
                                }),
                  "\n}\n");
}

}  // namespace

std::string Print(const Module& module) {
  std::string out =
      absl::StrCat("module \"", absl::CEscape(module.name()), "\"\n");
  for (size_t i = 0; i < module.computations().size(); ++i) {
    PrintComputation(module, static_cast<int>(i), &out);
  }
  return out;
}

}  // namespace hawser
