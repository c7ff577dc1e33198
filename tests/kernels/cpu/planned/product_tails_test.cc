// What is made of a product box by box has the bits that the same ops give one
// by one.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/threads/thread_pool.h"
#include "core/base/values/compare.h"
#include "core/ir/text/parser.h"
#include "core/ops/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/cpu/planned/planned_program.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

struct TailRow {
  const char* parameters;  // from %0, as [m, k], and %1, as [k, n], on
  const char* before;      // an instruction in front of the product, or none
  const char* product;     // its type
  const char* batches;     // of both factors
  int contracting[2];
  const char* tail;
  int result;
  const char* how;  // the explanation says so
};

constexpr char kByBoxes[] = "each box of it at once";

constexpr TailRow kTails[] = {
    // Bias and relu, beyond a box both ways.
    {"%0: f32[700,50], %1: f32[50,1100], %2: f32[1100]",
     "",
     "f32[700,1100]",
     "",
     {1, 0},
     "%4: f32[700,1100] = broadcast_in_dim(%2) broadcast_dimensions=[1] "
     "dims=[700,1100]\n"
     "  %5: f32[700,1100] = add(%3, %4)\n"
     "  %6: f32[] = constant() value=f32[] {0}\n"
     "  %7: f32[700,1100] = broadcast_in_dim(%6) broadcast_dimensions=[] "
     "dims=[700,1100]\n"
     "  %8: f32[700,1100] = maximum(%5, %7)",
     8,
     kByBoxes},
    // Weights less a part of their gradient.
    {"%0: f32[60,300], %1: f32[60,500], %2: f32[300,500]",
     "",
     "f32[300,500]",
     "",
     {0, 0},
     "%4: f32[] = constant() value=f32[] {0.1}\n"
     "  %5: f32[300,500] = broadcast_in_dim(%4) broadcast_dimensions=[] "
     "dims=[300,500]\n"
     "  %6: f32[300,500] = multiply(%5, %3)\n"
     "  %7: f32[300,500] = subtract(%2, %6)",
     7,
     kByBoxes},
    // Batches, with what differs by batch and column.
    {"%0: f32[3,40,20], %1: f32[3,20,30], %2: f32[3,30]",
     "%3: f32[3,40,30] = broadcast_in_dim(%2) broadcast_dimensions=[0,2] "
     "dims=[3,40,30]",
     "f32[3,40,30]",
     "0",
     {2, 1},
     "%5: f32[3,40,30] = multiply(%3, %4)",
     5,
     kByBoxes},
    // Rows of two axes that the tail tells apart.
    {"%0: f32[7,40,20], %1: f32[20,30], %2: f32[40,30]",
     "%3: f32[7,40,30] = broadcast_in_dim(%2) broadcast_dimensions=[1,2] "
     "dims=[7,40,30]",
     "f32[7,40,30]",
     "",
     {2, 0},
     "%5: f32[7,40,30] = add(%3, %4)",
     5,
     "then all of it"},
    // One row, one column, one element.
    {"%0: f32[1,90], %1: f32[90,2100]",
     "",
     "f32[1,2100]",
     "",
     {1, 0},
     "%3: f32[1,2100] = negate(%2)",
     3,
     kByBoxes},
    {"%0: f32[2100,90], %1: f32[90,1]",
     "",
     "f32[2100,1]",
     "",
     {1, 0},
     "%3: f32[2100,1] = abs(%2)",
     3,
     kByBoxes},
    {"%0: f32[1,9], %1: f32[9,1]",
     "",
     "f32[1,1]",
     "",
     {1, 0},
     "%3: f32[1,1] = abs(%2)",
     3,
     kByBoxes},
    // Nothing to sum, nothing at all.
    {"%0: f32[5,0], %1: f32[0,7]",
     "",
     "f32[5,7]",
     "",
     {1, 0},
     "%3: f32[5,7] = cosine(%2)",
     3,
     kByBoxes},
    {"%0: f32[5,3], %1: f32[3,0]",
     "",
     "f32[5,0]",
     "",
     {1, 0},
     "%3: f32[5,0] = cosine(%2)",
     3,
     ""},
    // Results of another width, and products of own loops.
    {"%0: f32[300,30], %1: f32[30,300]",
     "",
     "f32[300,300]",
     "",
     {1, 0},
     "%3: bf16[300,300] = convert(%2) dtype=bf16",
     3,
     kByBoxes},
    {"%0: bf16[300,30], %1: bf16[30,300]",
     "",
     "bf16[300,300]",
     "",
     {1, 0},
     "%3: bf16[300,300] = multiply(%2, %2)",
     3,
     kByBoxes},
    {"%0: s8[90,30], %1: s8[30,300]",
     "",
     "s8[90,300]",
     "",
     {1, 0},
     "%3: s8[90,300] = multiply(%2, %2)",
     3,
     kByBoxes},
    {"%0: f64[300,30], %1: f64[30,300]",
     "",
     "f64[300,300]",
     "",
     {1, 0},
     "%3: f64[300,300] = sine(%2)",
     3,
     kByBoxes},
    // Products in a wider dtype.
    {"%0: bf16[300,30], %1: bf16[30,300], %2: f32[300]",
     "",
     "f32[300,300]",
     "",
     {1, 0},
     "%4: f32[300,300] = broadcast_in_dim(%2) broadcast_dimensions=[1] "
     "dims=[300,300]\n"
     "  %5: f32[300,300] = add(%3, %4)",
     5,
     kByBoxes},
    {"%0: s8[90,30], %1: s8[30,300]",
     "",
     "s32[90,300]",
     "",
     {1, 0},
     "%3: s8[90,300] = convert(%2) dtype=s8",
     3,
     kByBoxes},
};

// That of the first type in `text`.
std::string DTypeIn(const std::string& text) {
  const size_t end = text.find('[');
  const size_t space = text.rfind(' ', end);
  const size_t begin = space == std::string::npos ? 0 : space + 1;
  return text.substr(begin, end - begin);
}

std::string TextOf(const TailRow& row) {
  const std::string parameters = row.parameters, before = row.before;
  const auto product = std::count(parameters.begin(), parameters.end(), '%') +
                       (before.empty() ? 0 : 1);
  const std::string to = DTypeIn(row.product);
  const std::string wide =
      to == DTypeIn(parameters) ? "" : absl::StrCat(" result_dtype=", to);
  return absl::StrCat("module \"tail\"\ncomputation @0 \"main\" (", parameters,
                      ") {\n", before.empty() ? "" : "  ", before,
                      before.empty() ? "" : "\n", "  %", product, ": ",
                      row.product, " = dot_general(%0, %1) ",
                      "lhs_batching_dimensions=[", row.batches,
                      "] lhs_contracting_dimensions=[", row.contracting[0], "]",
                      wide, " rhs_batching_dimensions=[", row.batches,
                      "] rhs_contracting_dimensions=[", row.contracting[1],
                      "]\n  ", row.tail, "\n  return %", row.result, "\n}\n");
}

class ProductTailTest : public ::testing::Test {
 protected:
  void Expect(const PlannedProgram& program,
              const std::vector<Literal>& arguments, const Literal& want,
              const Tolerance& tolerance, const std::string& which) {
    for (ThreadPool* pool : {static_cast<ThreadPool*>(nullptr), &pool_}) {
      const auto got =
          program.Run(arguments, {.pool = pool, .allocator = allocator_.get()});
      ASSERT_OK(got) << which;
      EXPECT_OK(CompareLiterals((*got)[0], want, tolerance)) << which;
    }
  }

  ThreadPool pool_{3};
  const std::shared_ptr<HostAllocator> allocator_ = HostAllocator::Make(0);
};

TEST_F(ProductTailTest, GiveTheBitsOfTheirOpsOneByOne) {
  for (const TailRow& row : kTails) {
    const std::string text = TextOf(row);
    const auto module = ParseModule(text, FindOp);
    ASSERT_OK(module) << text;
    Random random(3);
    const auto arguments = RandomArguments(module->signature(), random, false);
    const auto want = CpuEvaluator({.numerics = runtime::Numerics::kStrict})
                          .Evaluate(*module, 0, arguments, CancelToken());
    ASSERT_OK(want) << text;
    const auto strict =
        PlannedProgram::Make(*module, runtime::Numerics::kStrict);
    ASSERT_OK(strict) << text;
    EXPECT_THAT(strict->Explain(), ::testing::HasSubstr(row.how)) << text;
    Expect(*strict, arguments, (*want)[0], {.bits = true}, text);
    const auto fast = PlannedProgram::Make(*module, runtime::Numerics::kFast);
    ASSERT_OK(fast) << text;
    Expect(*fast, arguments, (*want)[0], {.atol = 0.05, .rtol = 0.02, .ulp = 4},
           text);
  }
  EXPECT_EQ(allocator_->live_bytes(), 0);
}

TEST_F(ProductTailTest, ACancelEndsThem) {
  const auto module = ParseModule(TextOf(kTails[0]), FindOp);
  ASSERT_OK(module);
  const auto program = PlannedProgram::Make(*module, runtime::Numerics::kFast);
  ASSERT_OK(program);
  const CancelToken token = CancelToken::WithFlag();
  token.Cancel();
  std::vector<Literal> arguments;
  for (const Shape& shape : module->signature().parameters) {
    arguments.push_back(Literal::Zeros(shape));
  }
  EXPECT_THAT(
      program->Run(arguments, {.allocator = allocator_.get(), .cancel = token}),
      StatusIs(absl::StatusCode::kCancelled, ""));
}

}  // namespace
}  // namespace hawser::cpu
