#include "client/sdk/functions/table/function_table.h"

#include <set>
#include <string>

#include "core/ops/registry.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

absl::StatusOr<Literal> RunFunction(absl::string_view name,
                            std::vector<FunctionArgument> arguments,
                            const Attributes& attributes = {}) {
  const FunctionEntry* f = FindFunction(name);
  if (f == nullptr) return NotFound(name);
  HAWSER_ASSIGN_OR_RETURN(const auto results,
                          CallFunction(*f, arguments, attributes));
  return results.at(0).Fetch();
}

TEST(FunctionTable, EveryOpHasAFunction) {
  // An argument of Jit; what only planners, or functions of functions, make.
  // What exported texts have: functions are of qr.
  std::set<std::string> covered = {"parameter", "fusion", "call", "geqrf",
                                   "householder_product"};
  for (const FunctionEntry& f : AllFunctions()) {
    EXPECT_EQ(FindFunction(f.name), &f);
    if (f.op.empty()) continue;
    EXPECT_NE(FindOp(f.op), nullptr) << f.name << " names " << f.op;
    covered.insert(std::string(f.op));
  }
  for (const OpDef* op : AllOps()) {
    EXPECT_TRUE(covered.count(std::string(op->name)))
        << "add a function over " << op->name
        << " to client/sdk/function_table.cc";
  }
  EXPECT_EQ(FindFunction("Sine"), nullptr);
  EXPECT_EQ(FindFunction("Zzz"), nullptr);
}

TEST(FunctionTable, NumbersStayWeak) {
  const Tensor u8 = T1<uint8_t>({1, 2});
  EXPECT_THAT(*RunFunction("Add", {u8, Number(1)}),
              LiteralEquals(Literal::Vector<uint8_t>({2, 3})));
  EXPECT_THAT(RunFunction("Add", {u8, Number(256)}),
              StatusIs(StatusCode::kInvalidArgument, "does not fit"));
  EXPECT_THAT(*RunFunction("Add", {u8, Scalar(1)}),
              LiteralEquals(Literal::Vector<int32_t>({2, 3})));
}

TEST(FunctionTable, AttributesAreReadAndChecked) {
  const Tensor x = TN<float>({1, 2, 3, 4}, {2, 2});
  EXPECT_THAT(*RunFunction("Sum", {x}, {{"axes", Dims{0}}, {"keep_axes", true}}),
              LiteralEquals(Literal::Of<float>({4, 6}, {1, 2})));
  EXPECT_THAT(*RunFunction("ArgMax", {x}, {{"axis", int64_t{1}}}),
              LiteralEquals(Literal::Vector<int32_t>({1, 1})));
  EXPECT_THAT(*RunFunction("While", {Scalar(5)}),
              LiteralEquals(Literal::Scalar<int32_t>(5)));
  EXPECT_THAT(*RunFunction("Cond", {Number(false), Scalar(1), Scalar(2)}),
              LiteralEquals(Literal::Scalar<int32_t>(2)));
  EXPECT_THAT(*RunFunction("PutSlice", {x, TN<float>({9}, {1, 1}), Number(1),
                                Number(0)}),
              LiteralEquals(Literal::Of<float>({1, 2, 9, 4}, {2, 2})));
  EXPECT_THAT(RunFunction("Sum", {x}, {{"axis", int64_t{0}}}),
              StatusIs(StatusCode::kInvalidArgument,
                       "Sum: there is no attribute axis"));
  EXPECT_THAT(RunFunction("Reshape", {x}),
              StatusIs(StatusCode::kInvalidArgument, "dims is missing"));
  EXPECT_THAT(RunFunction("Sum", {x}, {{"axes", int64_t{0}}}),
              StatusIs(StatusCode::kInvalidArgument, "is int, must be ints"));
  EXPECT_THAT(RunFunction("Add", {x}),
              StatusIs(StatusCode::kInvalidArgument, "takes 2 arguments, got"));
}

}  // namespace
}  // namespace hawser
