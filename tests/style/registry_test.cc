// An op is a row of the registry, and a row has company: CPU, planner and GPU
// rows, decisions on axes and gradient, cases of both, an SDK function, words.
// Each complaint names the file to edit.
#include "core/ops/registry.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/sdk/functions/table/function_table.h"
#include "core/base/values/dtype.h"
#include "core/ops/rules.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/kernel.h"
#include "kernels/dialect/dialect.h"
#include "kernels/gpu/emit/text/op_text.h"
#include "kernels/plan/region/node_table.h"

namespace hawser {
namespace {

using Complaints = std::vector<std::string>;

// What an op need not have, and why.
struct Exemption {
  absl::string_view op;
  absl::string_view why;
};
constexpr absl::string_view kExportedAlone =
    "exported texts have it; functions, and gradients, are of qr";
// Ops no SDK function stands for.
constexpr Exemption kWithoutFunction[] = {
    {"parameter", "an argument of the function given to Jit"},
    {"call", "functions of functions make it: Checkpoint and CustomGrad"},
    {"fusion", "planners make it of what the client sent"},
    {"geqrf", kExportedAlone},
    {"householder_product", kExportedAlone},
};

constexpr absl::string_view kWholeMatrices =
    "matrices are factored whole, by the host or a library";
// Ops that planners do not put into kernels.
constexpr Exemption kWithoutPlan[] = {
    {"parameter", "an argument is there already"},
    {"call", "passes put its computation in its place"},
    {"fusion", "planned modules are not planned again"},
    {"convolution", "it becomes a product before planning, but on the CPU"},
    {"cholesky", kWholeMatrices},
    {"eig", kWholeMatrices},
    {"eigh", kWholeMatrices},
    {"geqrf", kWholeMatrices},
    {"householder_product", kWholeMatrices},
    {"lu", kWholeMatrices},
    {"qr", kWholeMatrices},
    {"svd", kWholeMatrices},
    {"triangular_solve", kWholeMatrices},
    {"fft", "transforms are computed whole, by the host or a library"},
};

// Ops on floats that are not differentiable, and why; for others that is what a
// row without a decision says.
constexpr Exemption kWithoutGradient[] = {
    {"bitcast_convert", "the bits of a number do not depend smoothly on it"},
    {"fusion", "modules are planned after they are differentiated"},
    {"geqrf", kExportedAlone},
    {"householder_product", kExportedAlone},
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

// The name of the op's constant, where it is made of the op's by the rule.
std::string ConstantOf(const OpDef& op) {
  std::string name = "k";
  for (absl::string_view word : absl::StrSplit(op.name, '_')) {
    name += absl::ascii_toupper(word[0]);
    absl::StrAppend(&name, word.substr(1));
  }
  return name;
}

// Whether op's gradient is compared with differences: a row of its constant in
// a file of cases.
bool HasGradientCases(const OpDef& op) {
  const std::string row = absl::StrCat("    {&", ConstantOf(op), ", ");
  for (const auto& file :
       std::filesystem::recursive_directory_iterator("tests/core/autodiff")) {
    if (absl::EndsWith(file.path().string(), "_cases.cc") &&
        absl::StrContains(ReadFile(file.path()), row)) {
      return true;
    }
  }
  return false;
}

using Complain =
    absl::FunctionRef<void(absl::string_view file, absl::string_view what)>;

void ComplainOfEngines(const OpDef& op, Complain complain) {
  const cpu::CpuKernel* kernel = cpu::FindCpuKernel(op);
  if (kernel == nullptr) {
    complain("kernels/cpu (the family's .cc)", "there is no CPU row");
  }
  if (plan::NodeOf(op).node == plan::NodeClass::kHost &&
      !IsExempt(op, kWithoutPlan)) {
    complain("kernels/plan/region/node_table.cc",
             "there is no planner row: it would never be in a GPU kernel");
  }
  if (op.Is(kElementwise) && !gpu::HasOpText(op)) {
    complain("kernels/gpu/emit/text/op_text.cc",
             "there is no text for the GPU");
  }
  if (!op.monoid) return;
  if (kernel != nullptr && kernel->reduction == nullptr) {
    complain("kernels/cpu/elements/elementwise.cc",
             "a monoid, but its row folds none");
  }
  if (!absl::StrContains(dialect::Prelude(),
                         absl::StrCat("struct ", op.monoid.name, " {"))) {
    complain("kernels/dialect/reduce.cuh",
             absl::StrCat("there is no operation ", op.monoid.name));
  }
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
  if (op.part.kind == PartDef::kUndecided) {
    complain(row, "the row has no .part; kWholePart is a choice to be stated");
  }
  if (op.gradient.kind == GradientDef::kNotDifferentiable &&
      MayBeDifferentiable(op) && !IsExempt(op, kWithoutGradient)) {
    complain(row,
             "works on floats but has no .gradient: give it a rule, "
             "kZeroGradient, or kGradientNotYet");
  }
  if (op.summary.empty()) complain(row, "the row has no .summary");
  if (op.source.empty()) complain(row, "the row has no .source");
  if (op.gradient.kind == GradientDef::kRule && !HasGradientCases(op)) {
    complain("tests/core/autodiff (the family's _cases.cc)",
             absl::StrCat("there is no row {&", ConstantOf(op), ", ...}"));
  }
  ComplainOfEngines(op, complain);
  const std::string vectors = absl::StrCat("tests/vectors/", op.name, ".txtpb");
  const std::string cases = ReadFile(vectors);
  if (!absl::StrContains(cases, absl::StrCat("op: \"", op.name, "\"")) &&
      !absl::StrContains(cases, absl::StrCat(" = ", op.name, "("))) {
    complain(vectors, "there is no case of it");
  }
  if (!HasFunction(op) && !IsExempt(op, kWithoutFunction)) {
    complain("client/sdk/functions/table/function_table.cc",
             "no SDK function stands for it");
  }
  return found;
}

// What is still to come, for a reader of the log.
void PrintOpenEnds() {
  std::vector<absl::string_view> gradient, whole;
  for (const OpDef* op : AllOps()) {
    if (op->gradient.kind == GradientDef::kNotYet) gradient.push_back(op->name);
    if (op->part.kind == PartDef::kWhole) whole.push_back(op->name);
  }
  std::cout << gradient.size() << " ops whose gradient is not written yet: "
            << absl::StrJoin(gradient, " ") << "\n"
            << whole.size() << " of " << AllOps().size()
            << " ops are never cut: " << absl::StrJoin(whole, " ") << "\n";
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
  constexpr OpDef kLonelySum = Binary(
      {.name = "lonely_sum",
       .dtypes = kNumbers,
       .gradient = ByRule([](GradientContext&) { return absl::OkStatus(); }),
       .monoid = {"LonelySum", MonoidDef::kZero}});
  std::string sum = absl::StrJoin(ComplaintsAbout(kLonelySum), "\n");
  for (const char* part :
       {"kernels/gpu/emit/text/op_text.cc: lonely_sum", "row {&kLonelySum, ",
        "kernels/dialect/reduce.cuh: lonely_sum"}) {
    EXPECT_THAT(sum, ::testing::HasSubstr(part));
  }
  const std::string found = absl::StrJoin(ComplaintsAbout(kLonely), "\n");
  for (const char* part :
       {"lonely: the row has no shape rule", "has no .axes", "has no .gradient",
        "has no .part", "has no .summary", "has no .source",
        "kernels/cpu (the family's .cc): lonely",
        "kernels/plan/region/node_table.cc: lonely",
        "tests/vectors/lonely.txtpb: lonely",
        "client/sdk/functions/table/function_table.cc: lonely"}) {
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
  for (const Exemption& e : kWithoutPlan) {
    EXPECT_NE(FindOp(e.op), nullptr) << e.op << ": " << e.why;
  }
  for (const FunctionEntry& f : AllFunctions()) {
    if (f.op.empty()) continue;
    EXPECT_NE(FindOp(f.op), nullptr) << f.name << " stands for " << f.op;
  }
}

}  // namespace
}  // namespace hawser
