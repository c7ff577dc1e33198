// Sums in strict mode have the same bits on devices of any size; sums of halves
// in one place are exact in any mode.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/kernels/gpu/rig.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::gpu {
namespace {

using runtime::Numerics;

// All, rows, few long rows, columns, few long columns, a row that is read
// again, a scan in parts along a row and along columns: each sum takes a path of
// its own.
constexpr char kSums[] = R"(module "sums"
computation @0 "add" (%0: f32[], %1: f32[]) {
  %2: f32[] = add(%0, %1)
  return %2
}
computation @1 "main" (%0: f32[40,1000], %1: f32[3,9000], %2: f32[9000,3]) {
  %3: f32[] = constant() value=f32[] {0}
  %4: f32[] = reduce(%0, %3) dimensions=[0,1] @0
  %5: f32[40] = reduce(%0, %3) dimensions=[1] @0
  %6: f32[3] = reduce(%1, %3) dimensions=[1] @0
  %7: f32[1000] = reduce(%0, %3) dimensions=[0] @0
  %8: f32[3] = reduce(%2, %3) dimensions=[0] @0
  %9: f32[40,1000] = broadcast_in_dim(%5) broadcast_dimensions=[0] dims=[40,1000]
  %10: f32[40,1000] = divide(%0, %9)
  %11: f32[40000] = reshape(%0) dims=[40000]
  %12: f32[40000] = scan(%11) dimension=0 @0
  %13: f32[9000,3] = scan(%2) dimension=0 @0
  return %4, %5, %6, %7, %8, %10, %12, %13
}
)";

absl::StatusOr<Values> SumsOn(int multiprocessors, Numerics numerics,
                              const Values& arguments) {
  Rig rig({.device = {.seed = 1, .multiprocessors = multiprocessors}});
  HAWSER_ASSIGN_OR_RETURN(const ExecutablePtr run,
                          rig.Compile(kSums, numerics));
  return RunOn(run, {arguments.begin(), arguments.end()});
}

TEST(StrictSums, DoNotDependOnTheNumberOfMultiprocessors) {
  const Module module = Parse(kSums);
  Values arguments;
  Random random(1);
  for (const Shape& shape : module.signature().parameters) {
    Literal value = *Literal::Allocate(shape);
    for (float& x : value.mutable_data<float>()) {
      // Sums of these round in every step.
      x = 1.0f + static_cast<float>(random.Below(1 << 23)) * 0x1p-23f;
    }
    arguments.push_back(std::move(value));
  }
  ASSERT_OK_AND_ASSIGN(const Values want,
                       SumsOn(132, Numerics::kStrict, arguments));
  for (const int multiprocessors : {4, 20, 114}) {
    SCOPED_TRACE(multiprocessors);
    ASSERT_OK_AND_ASSIGN(const Values got,
                         SumsOn(multiprocessors, Numerics::kStrict, arguments));
    for (size_t r = 0; r < want.size(); ++r) {
      EXPECT_EQ(got[r].bytes(), want[r].bytes()) << "result " << r;
    }
  }
  // The test can tell: in fast mode a small device sums in another order.
  ASSERT_OK_AND_ASSIGN(const Values fast,
                       SumsOn(4, Numerics::kFast, arguments));
  ASSERT_OK_AND_ASSIGN(const Values large,
                       SumsOn(132, Numerics::kFast, arguments));
  bool differs = false;
  for (size_t r = 0; r < want.size(); ++r) {
    differs = differs || fast[r].bytes() != large[r].bytes();
  }
  EXPECT_TRUE(differs);
}

// Ones added to one place of a small table, of a large one and of a large one's
// rows: 600 of them, as bf16 has it, which alone would stick at 256.
constexpr char kHalves[] = R"(module "halves"
computation @0 "add" (%0: bf16[], %1: bf16[]) {
  %2: bf16[] = add(%0, %1)
  return %2
}
computation @1 "main" (%0: bf16[4], %1: bf16[524288], %2: bf16[8192,64], %3: s32[602], %4: bf16[602], %5: bf16[602,64]) {
  %6: bf16[4] = scatter(%0, %3, %4) index_vector_dim=1 inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] update_window_dims=[] @0
  %7: bf16[524288] = scatter(%1, %3, %4) index_vector_dim=1 inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] update_window_dims=[] @0
  %8: bf16[8192,64] = scatter(%2, %3, %5) index_vector_dim=1 inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] update_window_dims=[1] @0
  return %6, %7, %8
}
)";

TEST(HalfSums, InOnePlaceAreRoundedOnce) {
  const Signature signature = Parse(kHalves).signature();
  Values arguments;
  for (const Shape& shape : signature.parameters) {
    arguments.push_back(Literal::Zeros(shape));
  }
  for (const size_t updates : {4, 5}) {
    for (BFloat16& x : arguments[updates].mutable_data<BFloat16>()) {
      x = BFloat16(1.0f);
    }
  }
  const auto places = arguments[3].mutable_data<int32_t>();
  std::fill(places.begin(), places.end(), 2);
  places[17] = -1;  // dropped
  places[401] = 1 << 30;
  for (const Numerics numerics : {Numerics::kFast, Numerics::kStrict}) {
    Rig rig;
    ASSERT_OK_AND_ASSIGN(const ExecutablePtr run,
                         rig.Compile(kHalves, numerics));
    ASSERT_OK_AND_ASSIGN(const Values got,
                         RunOn(run, {arguments.begin(), arguments.end()}));
    for (const Literal& result : got) {
      const auto elements = result.data<BFloat16>();
      const size_t row = result.shape().rank() == 2 ? 64 : 1;
      for (size_t i = 0; i < elements.size(); ++i) {
        const float want = i / row == 2 ? 600 : 0;
        ASSERT_EQ(static_cast<float>(elements[i]), want)
            << result.shape().ToString() << " " << i;
      }
    }
  }
}

// Sums of f32 ones alone stick at 2^24. In fast numerics they are sums of sums,
// by sorted places, which the emulator has no time for.
TEST(FloatSums, CountBeyondWhatF32CountsByOnes) {
  constexpr int64_t kCount = 20'000'000;
  Literal places = Literal::Zeros(Shape::Of(DType::kS32, {kCount}));
  Literal ones = Literal::Zeros(Shape::Of(DType::kF32, {kCount}));
  for (int64_t i = 0; i < kCount; ++i) {
    places.mutable_data<int32_t>()[i] = i % 1000 == 0 ? 2 : 0;
    ones.mutable_data<float>()[i] = 1;
  }
  Rig rig;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig.Compile(R"(module "counts"
computation @0 "add" (%0: f32[], %1: f32[]) {
  %2: f32[] = add(%0, %1)
  return %2
}
computation @1 "main" (%0: f32[3], %1: s32[20000000], %2: f32[20000000]) {
  %3: f32[3] = scatter(%0, %1, %2) index_vector_dim=1 inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] update_window_dims=[] @0
  return %3
}
)",
                                                           Numerics::kStrict));
  ASSERT_OK_AND_ASSIGN(
      const Values got,
      RunOn(run, {Literal::Vector<float>({1, 2, 4}), places, ones}));
  EXPECT_THAT(got[0], LiteralEquals(Literal::Vector<float>(
                          {19'980'000, 2, 20'004})));
}

}  // namespace
}  // namespace hawser::gpu
