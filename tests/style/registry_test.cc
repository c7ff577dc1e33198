// An op is a row of the registry, and a row has company: a CPU row, decisions
// on axes and gradient, case files, an SDK function, words. Each complaint
// names the file to edit.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/sdk/function_table.h"
#include "core/base/dtype.h"
#include "core/ops/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/kernel.h"

namespace hawser {
namespace {

using Complaints = std::vector<std::string>;

// What an op need not have, and why.
struct Exemption {
  absl::string_view op;
  absl::string_view why;
};
// Ops no SDK function stands for.
constexpr Exemption kWithoutFunction[] = {
    {"parameter", "an argument of the function given to Jit"},
    {"fusion", "planners make it of what the client sent"},
};

// Ops on floats that are not differentiable, and why; for others that is what a
// row without a decision says.
constexpr Exemption kWithoutGradient[] = {
    {"bitcast_convert", "the bits of a number do not depend smoothly on it"},
    {"fusion", "modules are planned after they are differentiated"},
};

bool IsExempt(const OpDef& op, absl::Span<const Exemption> exemptions) {
  return std::any_of(exemptions.begin(), exemptions.end(),
                     [&](const Exemption& e) { return e.op == op.name; });
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

bool HasFunction(const OpDef& op) {
  const auto functions = AllFunctions();
  return std::any_of(functions.begin(), functions.end(),
                     [&](const FunctionEntry& f) { return f.op == op.name; });
}

// Whether a value of the op's own could have a derivative at all.
bool MayBeDifferentiable(const OpDef& op) {
  return op.dtypes.Has(DType::kF32) && op.arity.max > 0 &&
         !(op.result.kind == DTypeRule::kFixed && !IsFloat(op.result.fixed) &&
           !IsComplex(op.result.fixed));
}

Complaints ComplaintsAbout(const OpDef& op) {
  Complaints found;
  const auto complain = [&](absl::string_view file, absl::string_view what) {
    found.push_back(absl::StrCat(file, ": ", op.name, ": ", what));
  };
  const std::string row = "core/ops (the op's family header)";
  if (op.infer == nullptr) complain(row, "the row has no shape rule (.infer)");
  if (op.axes == nullptr) {
    complain(row, "the row has no .axes; opaque is a choice to be stated");
  }
  if (op.gradient.kind == GradientDef::kNotDifferentiable &&
      MayBeDifferentiable(op) && !IsExempt(op, kWithoutGradient)) {
    complain(row, "works on floats but has no .gradient: give it a rule, "
                  "kZeroGradient, or kGradientNotYet");
  }
  if (op.summary.empty()) complain(row, "the row has no .summary");
  if (op.source.empty()) complain(row, "the row has no .source");
  if (cpu::FindCpuKernel(op) == nullptr) {
    complain("kernels/cpu (the family's .cc)", "there is no CPU row");
  }
  const std::string vectors = absl::StrCat("tests/vectors/", op.name, ".txtpb");
  if (!absl::StrContains(ReadFile(vectors),
                         absl::StrCat("op: \"", op.name, "\""))) {
    complain(vectors, "there is no case of it");
  }
  if (!HasFunction(op) && !IsExempt(op, kWithoutFunction)) {
    complain("client/sdk/function_table.cc", "no SDK function stands for it");
  }
  return found;
}

// What is still to come, for whoever reads the log.
void PrintOpenEnds() {
  std::vector<absl::string_view> gradient;
  for (const OpDef* op : AllOps()) {
    if (op->gradient.kind == GradientDef::kNotYet) gradient.push_back(op->name);
  }
  std::cout << gradient.size() << " ops whose gradient is not written yet: "
            << absl::StrJoin(gradient, " ") << "\n";
}

TEST(RegistryStyle, EveryOpHasItsCompany) {
  PrintOpenEnds();
  Complaints found;
  for (const OpDef* op : AllOps()) {
    const Complaints about = ComplaintsAbout(*op);
    found.insert(found.end(), about.begin(), about.end());
  }
  EXPECT_THAT(found, ::testing::IsEmpty()) << absl::StrJoin(found, "\n");
}

TEST(RegistryStyle, ARowWithoutCompanyIsNamedWithTheFilesToEdit) {
  constexpr OpDef kLonely{
      .name = "lonely", .arity = {1, 1}, .dtypes = kAnyDType};
  const std::string found = absl::StrJoin(ComplaintsAbout(kLonely), "\n");
  for (const char* part :
       {"lonely: the row has no shape rule", "has no .axes",
        "has no .gradient", "has no .summary", "has no .source",
        "kernels/cpu (the family's .cc): lonely",
        "tests/vectors/lonely.txtpb: lonely",
        "client/sdk/function_table.cc: lonely"}) {
    EXPECT_THAT(found, ::testing::HasSubstr(part));
  }
}

TEST(RegistryStyle, ExemptionsAndFunctionsNameOpsThatExist) {
  for (const Exemption& e : kWithoutFunction) {
    EXPECT_NE(FindOp(e.op), nullptr) << e.op << ": " << e.why;
  }
  for (const Exemption& e : kWithoutGradient) {
    EXPECT_NE(FindOp(e.op), nullptr) << e.op << ": " << e.why;
  }
  for (const FunctionEntry& f : AllFunctions()) {
    if (f.op.empty()) continue;
    EXPECT_NE(FindOp(f.op), nullptr) << f.name << " stands for " << f.op;
  }
}

}  // namespace
}  // namespace hawser
