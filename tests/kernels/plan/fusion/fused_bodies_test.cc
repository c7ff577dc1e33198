// Equal groups call one computation; groups that differ in anything do not.
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/ir/text/parser.h"
#include "core/ops/contraction/control.h"
#include "core/ops/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/plan/plan.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

// What the fusions of the entry call.
std::vector<int> CalledBy(const Plan& plan) {
  std::vector<int> called;
  for (const Instruction& i : plan.module.entry().instructions()) {
    if (i.op == &kFusion) called.push_back(i.called[0]);
  }
  return called;
}

// Two lines of work on arguments of their own. `first` and `second` are the
// instructions from %2 and from %6 on that give %5 and %9.
absl::StatusOr<Plan> PlanOf(const std::string& parameters,
                            const std::string& first,
                            const std::string& second) {
  const auto module = ParseModule(
      absl::StrCat("module \"two\"\ncomputation @0 \"main\" (", parameters,
                   ") {\n", first, second, "  return %5, %9\n}\n"),
      FindOp);
  EXPECT_OK(module);
  if (!module.ok()) return module.status();
  Target target = CpuTarget();
  target.joined_elements = 0;
  return MakePlan(*module, target);
}

constexpr char kParameters[] = "%0: f32[64,64], %1: f32[64,64]";
constexpr char kFirst[] =
    "  %2: f32[] = constant() value=f32[] {0}\n"
    "  %3: f32[64,64] = tanh(%0)\n"
    "  %4: f32[64,64] = broadcast_in_dim(%2) broadcast_dimensions=[] "
    "dims=[64,64]\n"
    "  %5: f32[64,64] = subtract(%3, %4)\n";
constexpr char kSecond[] =
    "  %6: f32[] = constant() value=f32[] {0}\n"
    "  %7: f32[64,64] = tanh(%1)\n"
    "  %8: f32[64,64] = broadcast_in_dim(%6) broadcast_dimensions=[] "
    "dims=[64,64]\n"
    "  %9: f32[64,64] = subtract(%7, %8)\n";

std::string Replaced(std::string text, const std::string& what,
                     const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos;
       at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

TEST(FusedBodies, EqualGroupsCallOneComputation) {
  ASSERT_OK_AND_ASSIGN(const Plan plan, PlanOf(kParameters, kFirst, kSecond));
  const std::vector<int> called = CalledBy(plan);
  ASSERT_EQ(called.size(), 2u);
  EXPECT_EQ(called[0], called[1]);
  EXPECT_EQ(plan.module.computations().size(), 2u);
}

// What is made once is what each of its instructions has.
TEST(FusedBodies, FusionsOfOneComputationHaveOneRegion) {
  ASSERT_OK_AND_ASSIGN(const Plan plan, PlanOf(kParameters, kFirst, kSecond));
  const auto& regions = plan.entry().regions;
  const auto instructions = plan.module.entry().instructions();
  ASSERT_EQ(regions.size(), instructions.size());
  absl::flat_hash_set<const Region*> of_fusions;
  for (size_t k = 0; k < regions.size(); ++k) {
    EXPECT_EQ(regions[k].computation, plan.entry().computation);
    if (instructions[k].op != &kFusion) {
      EXPECT_EQ(regions[k].instruction, static_cast<int>(k));
      continue;
    }
    of_fusions.insert(&regions[k]);
    ASSERT_OK_AND_ASSIGN(const Region anew,
                         LowerRegion(plan.module, plan.entry().computation,
                                     static_cast<int>(k), CpuTarget()));
    EXPECT_EQ(regions[k].body, anew.body);
    EXPECT_EQ(regions[k].ToString(), anew.ToString());
    EXPECT_EQ(regions[k].points.size(), anew.points.size());
    EXPECT_EQ(regions[k].bytes_read, anew.bytes_read);
    EXPECT_EQ(regions[k].lane_operations, anew.lane_operations);
  }
  EXPECT_EQ(of_fusions.size(), 1u);
}

TEST(FusedBodies, GroupsThatDifferCallTheirOwn) {
  struct Case {
    std::string what, parameters, second;
  };
  const std::string parameters = kParameters, second = kSecond;
  const std::vector<Case> cases = {
      {"a constant", parameters, Replaced(second, "{0}", "{1}")},
      // Equal numbers of other bits.
      {"a constant's sign", parameters, Replaced(second, "{0}", "{-0}")},
      {"an op", parameters, Replaced(second, "tanh", "sine")},
      {"wiring", parameters,
       Replaced(second, "subtract(%7, %8)", "subtract(%8, %7)")},
      {"wiring of one value", parameters,
       Replaced(second, "subtract(%7, %8)", "subtract(%7, %7)")},
      {"a shape", Replaced(parameters, "%1: f32[64,64]", "%1: f32[64,32]"),
       Replaced(Replaced(second, "f32[64,64]", "f32[64,32]"), "dims=[64,64]",
                "dims=[64,32]")},
      {"a dtype", Replaced(parameters, "%1: f32", "%1: f64"),
       Replaced(second, "f32", "f64")},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    ASSERT_OK_AND_ASSIGN(const Plan plan,
                         PlanOf(c.parameters, kFirst, c.second));
    const std::vector<int> called = CalledBy(plan);
    ASSERT_EQ(called.size(), 2u);
    EXPECT_NE(called[0], called[1]);
  }
}

// Of transposes that differ in their permutation alone.
TEST(FusedBodies, AttributesAreCompared) {
  const std::string parameters = "%0: f32[8,8,8], %1: f32[8,8,8]";
  const std::string first =
      "  %2: f32[8,8,8] = transpose(%0) permutation=[1,0,2]\n"
      "  %3: f32[8,8,8] = tanh(%2)\n"
      "  %4: f32[8,8,8] = negate(%3)\n"
      "  %5: f32[8,8,8] = add(%4, %0)\n";
  const std::string equal =
      "  %6: f32[8,8,8] = transpose(%1) permutation=[1,0,2]\n"
      "  %7: f32[8,8,8] = tanh(%6)\n"
      "  %8: f32[8,8,8] = negate(%7)\n"
      "  %9: f32[8,8,8] = add(%8, %1)\n";
  for (const std::string permutation : {"[1,0,2]", "[0,2,1]"}) {
    ASSERT_OK_AND_ASSIGN(
        const Plan plan,
        PlanOf(parameters, first, Replaced(equal, "[1,0,2]", permutation)));
    const std::vector<int> called = CalledBy(plan);
    const absl::flat_hash_set<int> different(called.begin(), called.end());
    EXPECT_EQ(different.size() < called.size(), permutation == "[1,0,2]");
  }
}

}  // namespace
}  // namespace hawser::plan
