// A loop of each set of instructions gives what the row's element loop gives.
#include "kernels/cpu/lanes/lanes.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include "core/base/values/compare.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/registry.h"
#include "gtest/gtest.h"
#include "kernels/cpu/chains/op_loops.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

using absl::StatusCode;

constexpr Isa kIsas[] = {Isa::kSse4, Isa::kAvx2, Isa::kAvx512};

// Lengths around the widths of vectors, and beyond a chunk of halves.
constexpr int64_t kLengths[] = {1, 3, 8, 17, 64, 255, 700};

// What the op gives for operands of one dtype; kInvalid: it takes no such.
DType ResultOf(const OpDef& op, DType dtype) {
  if (op.name == "compare" || op.name == "is_finite") return DType::kBool;
  if (op.name == "abs" && IsComplex(dtype)) {
    return dtype == DType::kC64 ? DType::kF32 : DType::kF64;
  }
  return dtype;
}

// Expects both loops to give the same for random operands.
void ExpectSame(const OpDef& op, DType dtype, const Attributes& attributes,
                Isa isa, int64_t n) {
  std::vector<DType> dtypes(op.arity.min, dtype);
  if (op.name == "select") dtypes[0] = DType::kBool;
  const DType result = ResultOf(op, dtype);
  const ElementTypes types{dtypes, result, attributes};
  const ElementFn fast = FindLoop(op, types, isa);
  if (fast == nullptr) return;
  const CpuKernel* kernel = FindCpuKernel(op);
  ASSERT_NE(kernel, nullptr);
  const ElementFn slow = kernel->element(types);
  ASSERT_NE(slow, nullptr) << op.name << " of " << DTypeName(dtype);
  Random random(static_cast<uint64_t>(n) * 31 + static_cast<uint64_t>(isa));
  std::vector<Literal> operands;
  std::vector<const char*> in;
  for (const DType d : dtypes) {
    operands.push_back(RandomLiteral(Shape::Of(d, {n}), random));
    in.push_back(operands.back().bytes().data());
  }
  Literal got = Literal::Zeros(Shape::Of(result, {n}));
  Literal want = Literal::Zeros(Shape::Of(result, {n}));
  fast(in.data(), got.mutable_bytes().data(), n);
  slow(in.data(), want.mutable_bytes().data(), n);
  const Tolerance tolerance =
      op.ulp > 0 ? Tolerance{.ulp = static_cast<double>(op.ulp)}
                 : Tolerance{.bits = true};
  EXPECT_OK(CompareLiterals(got, want, tolerance))
      << op.name << " of " << n << " " << DTypeName(dtype) << " by "
      << IsaName(isa);
}

TEST(Lanes, GiveWhatTheRowGives) {
  int loops = 0;
  for (const OpDef* op : AllOps()) {
    if (!op->Is(kElementwise)) continue;
    std::vector<Attributes> attributes(1);
    if (op == &kCompare) {
      attributes.clear();
      for (const char* direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
        attributes.emplace_back().Set("direction", std::string(direction));
      }
    }
    for (const Attributes& a : attributes) {
      for (const DType dtype : AllDTypes()) {
        for (const Isa isa : kIsas) {
          if (isa > MachineIsa()) continue;
          std::vector<DType> dtypes(op->arity.min, dtype);
          loops +=
              FindLoop(*op, {dtypes, ResultOf(*op, dtype), a}, isa) != nullptr;
          for (const int64_t n : kLengths) ExpectSame(*op, dtype, a, isa, n);
        }
      }
    }
  }
  std::cout << loops << " loops, the largest set is " << IsaName(MachineIsa())
            << "\n";
}

TEST(Lanes, ConvertAsTheRowDoes) {
  int loops = 0;
  for (const DType from : AllDTypes()) {
    for (const DType to : AllDTypes()) {
      const std::vector<DType> dtypes{from};
      const ElementTypes types{dtypes, to, Attributes()};
      for (const Isa isa : kIsas) {
        const ElementFn fast =
            isa > MachineIsa() ? nullptr : FindConvert(types, isa);
        if (fast == nullptr) continue;
        ++loops;
        const ElementFn slow = FindCpuKernel(kConvert)->element(types);
        for (const int64_t n : kLengths) {
          Random random(static_cast<uint64_t>(n));
          const Literal x = RandomLiteral(Shape::Of(from, {n}), random);
          Literal got = Literal::Zeros(Shape::Of(to, {n}));
          Literal want = Literal::Zeros(Shape::Of(to, {n}));
          const char* in[] = {x.bytes().data()};
          fast(in, got.mutable_bytes().data(), n);
          slow(in, want.mutable_bytes().data(), n);
          EXPECT_OK(CompareLiterals(got, want, {}))
              << DTypeName(from) << " to " << DTypeName(to) << " by "
              << IsaName(isa);
        }
      }
    }
  }
  std::cout << loops << " loops\n";
  EXPECT_GT(loops, 100);
}

// The reals around the ends of what `to` holds, which is of so many bits.
template <typename From>
Literal AroundTheEnds(int bits) {
  std::vector<From> x;
  for (const int power : {bits - 1, bits}) {
    const From end = std::ldexp(From{1}, power);
    for (const From at : {end, end - 1, end + 1, std::nextafter(end, From{0}),
                          std::nextafter(end, 2 * end)}) {
      x.push_back(at);
      x.push_back(-at);
    }
  }
  Literal all = Literal::Uninitialized(
      Shape::Of(kDTypeOf<From>, {static_cast<int64_t>(x.size())}));
  std::copy(x.begin(), x.end(), all.mutable_data<From>().begin());
  return all;
}

TEST(Lanes, ConvertTheEndsOfIntegersAsTheRowDoes) {
  for (const DType to : AllDTypes()) {
    if (!IsInteger(to)) continue;
    const int bits = static_cast<int>(8 * ByteWidth(to));
    for (const Literal& x :
         {AroundTheEnds<float>(bits), AroundTheEnds<double>(bits)}) {
      const std::vector<DType> dtypes{x.shape().dtype()};
      const ElementTypes types{dtypes, to, Attributes()};
      const int64_t n = x.shape().num_elements();
      const char* in[] = {x.bytes().data()};
      Literal want = Literal::Zeros(Shape::Of(to, {n}));
      FindCpuKernel(kConvert)->element(types)(in, want.mutable_bytes().data(),
                                              n);
      for (const Isa isa : kIsas) {
        const ElementFn fast =
            isa > MachineIsa() ? nullptr : FindConvert(types, isa);
        if (fast == nullptr) continue;
        Literal got = Literal::Zeros(want.shape());
        fast(in, got.mutable_bytes().data(), n);
        EXPECT_THAT(got, LiteralBitEquals(want))
            << DTypeName(dtypes[0]) << " to " << DTypeName(to) << " by "
            << IsaName(isa);
      }
    }
  }
}

TEST(Lanes, ASetOfInstructionsIsNamed) {
  for (const Isa isa : {Isa::kBase, Isa::kSse4, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > MachineIsa()) continue;
    EXPECT_EQ(*ParseIsa(IsaName(isa)), isa);
  }
  EXPECT_THAT(ParseIsa("mmx"), StatusIs(StatusCode::kInvalidArgument, "mmx"));
}

}  // namespace
}  // namespace hawser::cpu
