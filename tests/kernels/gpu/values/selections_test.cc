// The first elements of a sort, selected: the values and places that a stable
// sort in the test gives.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/values/dtype.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::gpu {
namespace {

// Integers of `rows` rows and their numbers, of which `count` are read.
struct Case {
  DType dtype;
  bool descending;
  int64_t rows, size, count;

  std::string Text() const {
    const std::string name(DTypeName(dtype));
    const auto type = [&](const std::string& of, int64_t columns) {
      return absl::StrCat(of, "[", rows, ",", columns, "]");
    };
    const auto slice = [&](int operand) {
      return absl::StrCat("slice(%", operand, ") limit_indices=[", rows, ",",
                          count, "] start_indices=[0,0] strides=[1,1]\n");
    };
    return absl::StrCat(
        "module \"top\"\ncomputation @0 \"before\" (%0: ", name,
        "[], %1: ", name,
        "[], %2: s32[], %3: s32[]) {\n  %4: bool[] = compare(%0, %1) "
        "direction=\"",
        descending ? "GT" : "LT",
        "\"\n  return %4\n}\ncomputation @1 \"main\" (%0: ", type(name, size),
        ") {\n  %1: ", type("s32", size), " = iota() dims=[", rows, ",", size,
        "] dtype=s32 iota_dimension=1\n  %2: ", type(name, size),
        ", %3: ", type("s32", size),
        " = sort(%0, %1) dimension=1 is_stable=true @0\n  %4: ",
        type(name, count), " = ", slice(2), "  %5: ", type("s32", count), " = ",
        slice(3), "  return %4, %5\n}\n");
  }
};

template <typename T>
void Check(const Case& c, const Literal& given, const Values& got) {
  const auto x = given.data<T>();
  for (int64_t row = 0; row < c.rows; ++row) {
    std::vector<int32_t> order(c.size);
    std::iota(order.begin(), order.end(), 0);
    const T* const of = x.data() + row * c.size;
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return c.descending ? of[b] < of[a] : of[a] < of[b];
    });
    for (int64_t k = 0; k < c.count; ++k) {
      const int64_t at = row * c.count + k;
      ASSERT_EQ(got[1].data<int32_t>()[at], order[k]) << c.Text() << row << k;
      ASSERT_EQ(got[0].data<T>()[at], of[order[k]]) << c.Text() << row << k;
    }
  }
}

// All different, many alike, all the same.
Literal Given(const Case& c, int kind, Random& random) {
  Literal x = RandomLiteral(Shape::Of(c.dtype, {c.rows, c.size}), random);
  VisitDType(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsInteger<T>) {
      for (T& value : x.mutable_data<T>()) {
        if (kind == 0) value = static_cast<T>(random.Below(int64_t{1} << 40));
        if (kind == 1) value = static_cast<T>(random.Below(3));
        if (kind == 2) value = 5;
      }
    }
  });
  return x;
}

TEST(Selections, GiveWhatAStableSortGives) {
  int compared = 0;
  const auto check = [&](const Case& c) {
    Rig rig;
    ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig.Compile(c.Text()));
    for (int kind = 0; kind < 3; ++kind) {
      Random random(compared);
      const Literal given = Given(c, kind, random);
      ASSERT_OK_AND_ASSIGN(const Values got, RunOn(run, {given}));
      VisitDType(c.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (kIsInteger<T>) Check<T>(c, given, got);
      });
      ++compared;
    }
  };
  for (const bool descending : {false, true}) {
    for (const DType dtype :
         {DType::kS8, DType::kU16, DType::kS32, DType::kU32, DType::kS64}) {
      check({dtype, descending, 3, 1025, 5});
    }
    check({DType::kS32, descending, 2, 1024, 1});
    check({DType::kS32, descending, 1, 3000, 300});
    check({DType::kU32, descending, 1, 8999, 1024});
    // Parts of a row, and those in one block.
    check({DType::kS32, descending, 2, 131072, 7});
  }
  EXPECT_EQ(compared, 2 * 9 * 3);
}

// top_k of floats as JAX and the SDK write it: NaN first, zeros of both signs,
// infinities.
TEST(Selections, OrderFloatsAsTheSortDoes) {
  const std::string text = R"(module "top"
computation @0 "larger" (%0: f32[], %1: f32[], %2: s32[], %3: s32[]) {
  %4: s32[] = bitcast_convert(%0) dtype=s32
  %5: s32[] = constant() value=s32[] {31}
  %6: s32[] = shift_right_arithmetic(%4, %5)
  %7: s32[] = constant() value=s32[] {1}
  %8: s32[] = shift_right_logical(%6, %7)
  %9: s32[] = xor(%4, %8)
  %10: s32[] = bitcast_convert(%1) dtype=s32
  %11: s32[] = shift_right_arithmetic(%10, %5)
  %12: s32[] = shift_right_logical(%11, %7)
  %13: s32[] = xor(%10, %12)
  %14: bool[] = compare(%9, %13) direction="GT"
  return %14
}
computation @1 "main" (%0: f32[4,2048]) {
  %1: s32[4,2048] = iota() dims=[4,2048] dtype=s32 iota_dimension=1
  %2: f32[4,2048], %3: s32[4,2048] = sort(%0, %1) dimension=1 is_stable=true @0
  %4: f32[4,20] = slice(%2) limit_indices=[4,20] start_indices=[0,0] strides=[1,1]
  %5: s32[2,9] = slice(%3) limit_indices=[3,9] start_indices=[1,0] strides=[1,1]
  return %4, %5
}
)";
  Literal given = *Literal::Allocate(Shape::Of(DType::kF32, {4, 2048}));
  Random random(1);
  const float special[] = {0.0f,
                           -0.0f,
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           1e-40f,
                           std::nanf("")};
  for (float& x : given.mutable_data<float>()) {
    x = random.OneIn(3) ? special[random.Below(6)]
                        : static_cast<float>(random.Below(2000)) - 1000;
  }
  Rig rig;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig.Compile(text));
  ASSERT_OK_AND_ASSIGN(const Values got, RunOn(run, {given}));
  ASSERT_OK_AND_ASSIGN(const Values want, Reference(Parse(text), {given}));
  EXPECT_EQ(got[0].bytes(), want[0].bytes());
  EXPECT_EQ(got[1].bytes(), want[1].bytes());
}

}  // namespace
}  // namespace hawser::gpu
