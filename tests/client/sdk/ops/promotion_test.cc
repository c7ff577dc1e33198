#include "client/sdk/graph/build/promotion.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "client/sdk/graph/build/op_scope.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using sdk::Promote;
using sdk::PromoteWeak;

struct Row {
  std::string kind, a, b, result;
};

// The rows of real Nx (nx_types.txt says where they come from).
std::vector<Row> NxRows(const std::string& kind) {
  std::ifstream file("tests/client/sdk/nx_types.txt");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Row row;
    words >> row.kind >> row.a;
    if (row.kind == "merge" || row.kind == "number") words >> row.b;
    words >> row.result;
    if (row.kind == kind) rows.push_back(row);
  }
  return rows;
}

DType D(const std::string& name) { return *ParseDType(name); }

TEST(Promotion, IsThatOfNx) {
  const auto rows = NxRows("merge");
  ASSERT_EQ(rows.size(), 78u);
  for (const Row& row : rows) {
    EXPECT_EQ(Promote(D(row.a), D(row.b)), D(row.result))
        << row.a << " + " << row.b;
  }
}

TEST(Promotion, IsSymmetricAndKeepsWhatIsEqual) {
  for (DType a : AllDTypes()) {
    EXPECT_EQ(Promote(a, a), a);
    for (DType b : AllDTypes()) {
      EXPECT_EQ(Promote(a, b), Promote(b, a)) << DTypeName(a) << DTypeName(b);
      // Promoting again changes nothing.
      EXPECT_EQ(Promote(Promote(a, b), b), Promote(a, b))
          << DTypeName(a) << DTypeName(b);
    }
  }
}

TEST(Promotion, BoolActsAsU8) {
  EXPECT_EQ(Promote(DType::kBool, DType::kBool), DType::kBool);
  EXPECT_EQ(Promote(DType::kBool, DType::kU8), DType::kU8);
  EXPECT_EQ(Promote(DType::kBool, DType::kS8), DType::kS16);
  EXPECT_EQ(Promote(DType::kBF16, DType::kBool), DType::kBF16);
}

TEST(Promotion, FloatingOfNx) {
  for (const Row& row : NxRows("floating")) {
    EXPECT_EQ(sdk::ToFloating(D(row.a)), D(row.result)) << row.a;
  }
}

TEST(Promotion, AggregateOfNxButU64StaysUnsigned) {
  for (const Row& row : NxRows("aggregate")) {
    const DType want = row.a == "u64" ? DType::kU64 : D(row.result);
    EXPECT_EQ(sdk::ToAggregate(D(row.a)), want) << row.a;
  }
  EXPECT_EQ(sdk::ToAggregate(DType::kBool), DType::kU32);
  EXPECT_EQ(sdk::ToAggregate(DType::kU64), DType::kU64);
}

// Nx widens an integer tensor until the number fits; hawser refuses.
TEST(Promotion, NumbersAreThoseOfNxWhereTheyFit) {
  const auto rows = NxRows("number");
  ASSERT_GT(rows.size(), 100u);
  for (const Row& row : rows) {
    const bool floating = row.b.find('.') != std::string::npos;
    const Number number = floating
                              ? Number(std::strtod(row.b.c_str(), nullptr))
                              : Number(std::strtoll(row.b.c_str(), nullptr, 10));
    const DType dtype = PromoteWeak(D(row.a), number.kind());
    const bool fits = number.ToLiteral(dtype).ok();
    if (dtype == D(row.result)) {
      // u64 with a number above s64 cannot stand in this file.
      EXPECT_TRUE(fits) << row.a << " with " << row.b;
    } else {
      EXPECT_FALSE(fits) << row.a << " with " << row.b;
      EXPECT_EQ(dtype, D(row.a));
    }
  }
}

TEST(Number, KeepsFloatsInTheirKindAndWidensIntegers) {
  EXPECT_EQ(PromoteWeak(DType::kBF16, Number(1.0).kind()), DType::kBF16);
  EXPECT_EQ(PromoteWeak(DType::kF16, Number(3).kind()), DType::kF16);
  EXPECT_EQ(PromoteWeak(DType::kS64, Number(0.5f).kind()), DType::kF32);
  EXPECT_EQ(PromoteWeak(DType::kBool, Number(2).kind()), DType::kU8);
  EXPECT_EQ(PromoteWeak(DType::kBool, Number(true).kind()), DType::kBool);
  const Number i(std::complex<float>(0, 1));
  EXPECT_EQ(PromoteWeak(DType::kS8, i.kind()), DType::kC64);
  EXPECT_EQ(PromoteWeak(DType::kF64, i.kind()), DType::kC128);
}

TEST(Number, AloneHasTheDTypeOfItsCppTypeButDoubleIsF32) {
  EXPECT_EQ(Number(1).dtype(), DType::kS32);
  EXPECT_EQ(Number(int64_t{1}).dtype(), DType::kS64);
  EXPECT_EQ(Number(1ull).dtype(), DType::kU64);
  EXPECT_EQ(Number(uint8_t{1}).dtype(), DType::kU8);
  EXPECT_EQ(Number(true).dtype(), DType::kBool);
  EXPECT_EQ(Number(0.1f).dtype(), DType::kF32);
  EXPECT_EQ(Number(0.1).dtype(), DType::kF32);
  EXPECT_EQ(Number(Half(1.0f)).dtype(), DType::kF16);
  EXPECT_EQ(Number(std::complex<double>(1)).dtype(), DType::kC64);
}

TEST(Number, FitsExactlyToTheLimits) {
  const auto fits = [](Number n, DType d) { return n.ToLiteral(d).ok(); };
  EXPECT_TRUE(fits(255, DType::kU8));
  EXPECT_FALSE(fits(256, DType::kU8));
  EXPECT_FALSE(fits(-1, DType::kU64));
  EXPECT_TRUE(fits(INT64_MIN, DType::kS64));
  EXPECT_FALSE(fits(UINT64_MAX, DType::kS64));
  EXPECT_TRUE(fits(UINT64_MAX, DType::kU64));
  EXPECT_TRUE(fits(-128, DType::kS8));
  EXPECT_FALSE(fits(-129, DType::kS8));
  EXPECT_FALSE(fits(1.5, DType::kS32));
  EXPECT_TRUE(fits(2.0, DType::kS32));
  EXPECT_FALSE(fits(std::ldexp(1.0, 63), DType::kS64));
  EXPECT_TRUE(fits(-std::ldexp(1.0, 63), DType::kS64));
  EXPECT_FALSE(fits(NAN, DType::kS32));
  EXPECT_FALSE(fits(2, DType::kBool));
  EXPECT_TRUE(fits(1.0, DType::kBool));
  EXPECT_FALSE(fits(0.5, DType::kBool));
  EXPECT_FALSE(fits(std::complex<float>(1, 0), DType::kF32));
  // Floats round and overflow as floats do.
  EXPECT_THAT(*Number(1e6).ToLiteral(DType::kF16),
              LiteralEquals(Literal::Scalar(Half(INFINITY))));
  EXPECT_THAT(*Number(0.1f).ToLiteral(DType::kF64),
              LiteralEquals(Literal::Scalar<double>(0.1f)));
}

TEST(BroadcastDims, IsNumPys) {
  const auto dims = [](Dims a, Dims b) { return *sdk::BroadcastDims(a, b); };
  EXPECT_EQ(dims({}, {}), Dims({}));
  EXPECT_EQ(dims({3}, {}), Dims({3}));
  EXPECT_EQ(dims({2, 1}, {3}), Dims({2, 3}));
  EXPECT_EQ(dims({1}, {0}), Dims({0}));
  EXPECT_EQ(dims({4, 1, 5}, {3, 1}), Dims({4, 3, 5}));
  EXPECT_THAT(sdk::BroadcastDims({2}, {3}),
              StatusIs(absl::StatusCode::kInvalidArgument, "[2] and [3]"));
  EXPECT_FALSE(sdk::BroadcastDims({2, 3}, {0}).ok());
}

}  // namespace
}  // namespace hawser
