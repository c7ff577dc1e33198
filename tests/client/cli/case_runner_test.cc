#include "client/cli/cases/case_runner.h"

#include <google/protobuf/text_format.h>

#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/testing/matchers.h"

namespace hawser::cli {
namespace {

using absl::StatusCode;

absl::Status RunText(const std::string& text) {
  v1::Case record;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &record));
  return RunCase(record, Client(cpu::MakeCpuClient()));
}

constexpr char kHalf[] =
    "op: 'multiply' inputs { shape: 'f32[2]' f: [1, 3] } "
    "inputs { shape: 'f32[2]' f: 0.5 } ";

TEST(CaseRunner, ComparesByTheCasesOwnTolerance) {
  const std::string near =
      std::string(kHalf) + "outputs { shape: 'f32[2]' f: [0.5, 1.501] } ";
  EXPECT_THAT(RunText(near),
              StatusIs(StatusCode::kInvalidArgument, "output 0"));
  EXPECT_THAT(RunText(near), StatusIs(StatusCode::kInvalidArgument, "[1]"));
  EXPECT_OK(RunText(near + "atol: 0.01"));
  EXPECT_OK(RunText(near + "rtol: 0.001"));
  EXPECT_FALSE(RunText(near + "ulp: 2").ok());
  EXPECT_OK(RunText(near + "ulp: 100000"));
}

TEST(CaseRunner, APropertyTellsFactorsFromOthers) {
  const std::string values = "outputs { shape: 'f64[2]' f: [1, 3] } ";
  const std::string vectors = "outputs { shape: 'f64[2,2]' } ";
  const std::string eigh =
      "fn: 'Eigh' inputs { shape: 'f64[2,2]' f: [2, 1, 1, 2] } atol: 1e-14 ";
  EXPECT_OK(RunText(eigh + values + vectors + "property: EIGH"));
  EXPECT_OK(RunText(eigh + values + vectors + "property: EIG"));
  EXPECT_THAT(RunText(eigh + values + vectors),
              StatusIs(StatusCode::kInvalidArgument, "takes 4 values"));
  EXPECT_THAT(RunText(eigh + values + vectors + "property: QR"),
              StatusIs(StatusCode::kInvalidArgument, "not the factors"));
  EXPECT_THAT(
      RunText(eigh + values + "outputs { shape: 'f64[4]' } property: EIGH"),
      StatusIs(StatusCode::kInvalidArgument, "output 1"));
  const std::string others =
      "outputs { shape: 'f64[2,2]' } "
      "outputs { shape: 'f64[2,2]' } property: QR";
  EXPECT_OK(RunText("fn: 'Qr' inputs { shape: 'f64[2,2]' f: [2, 1, 1, 2] } " +
                    others));
  // Two copies, which multiply to something else.
  const std::string copies =
      "module: 'module \"m\"' "
      "module: 'computation @0 \"main\" (%0: f64[2,2]) {' "
      "module: '  return %0, %0' module: '}' "
      "inputs { shape: 'f64[2,2]' f: [0, 1, 0, 1] } ";
  EXPECT_THAT(RunText(copies + others),
              StatusIs(StatusCode::kInternal, "Q of matrix 0 is off by 1"));
}

TEST(CaseRunner, BitsTellTheZerosApart) {
  const std::string zero =
      "op: 'negate' inputs { shape: 'f32[]' f: 0 } "
      "outputs { shape: 'f32[]' f: 0 } ";
  EXPECT_OK(RunText(zero));
  EXPECT_FALSE(RunText(zero + "comparison: BITS").ok());
}

TEST(CaseRunner, DtypeShapeAndNumberOfOutputsCount) {
  EXPECT_FALSE(
      RunText(std::string(kHalf) + "outputs { shape: 'f64[2]' f: [0.5, 1.5] }")
          .ok());
  EXPECT_FALSE(RunText(std::string(kHalf) +
                       "outputs { shape: 'f32[2,1]' f: [0.5, 1.5] }")
                   .ok());
  EXPECT_THAT(
      RunText(std::string(kHalf) + "outputs { shape: 'f32[2]' f: [0.5, 1.5] } "
                                   "outputs { shape: 'f32[]' f: 1 }"),
      StatusIs(StatusCode::kInternal, "1 outputs, should be 2"));
}

TEST(CaseRunner, AnExpectedErrorMustComeAndBeTheRightOne) {
  const std::string unequal =
      "op: 'add' inputs { shape: 'f32[2]' } inputs { shape: 'f32[3]' } ";
  EXPECT_OK(
      RunText(unequal + "error { code: 'INVALID_ARGUMENT' contains: 'C3' }"));
  EXPECT_THAT(
      RunText(unequal + "error { code: 'INVALID_ARGUMENT' contains: 'C1' }"),
      StatusIs(StatusCode::kInternal, "should be"));
  EXPECT_THAT(RunText(unequal + "error { code: 'NOT_FOUND' contains: 'C3' }"),
              StatusIs(StatusCode::kInternal, "should be"));
  EXPECT_THAT(RunText(std::string(kHalf) +
                      "error { code: 'INVALID_ARGUMENT' contains: 'C3' }"),
              StatusIs(StatusCode::kInternal, "no error"));
}

TEST(CaseRunner, AnErrorInsteadOfAValueIsToldAsItIs) {
  EXPECT_THAT(RunText("op: 'add' inputs { shape: 'f32[2]' f: 1 } "
                      "outputs { shape: 'f32[2]' f: 1 }"),
              StatusIs(StatusCode::kInvalidArgument, "takes 2 operands"));
}

// ---- SDK functions --------------------------------------------------------

TEST(CaseRunner, CallsFunctionsByName) {
  EXPECT_OK(
      RunText("fn: 'Sum' attributes { name: 'axes' ints { v: -1 } } "
              "inputs { shape: 's8[2,2]' i: [100, 100, 1, 2] } "
              "outputs { shape: 's32[2]' i: [200, 3] }"));
  EXPECT_THAT(RunText("fn: 'Frobnicate' outputs { shape: 'f32[]' f: 1 }"),
              StatusIs(StatusCode::kNotFound, "Frobnicate"));
}

TEST(CaseRunner, WeakInputsPromoteAsNumbers) {
  const std::string add =
      "fn: 'Add' inputs { shape: 'bf16[1]' f: 1 } "
      "inputs { shape: 'f32[]' f: 0.5 WEAK } ";
  const auto with = [&](const char* weak) {
    std::string text = add;
    return text.replace(text.find("WEAK"), 4, weak);
  };
  EXPECT_OK(
      RunText(with("weak: true") + "outputs { shape: 'bf16[1]' f: 1.5 }"));
  EXPECT_OK(RunText(with("") + "outputs { shape: 'f32[1]' f: 1.5 }"));
}

TEST(CaseRunner, FunctionsFailByNameAndAttribute) {
  EXPECT_OK(
      RunText("fn: 'Add' inputs { shape: 'f32[2]' f: 1 } "
              "error { code: 'INVALID_ARGUMENT' "
              "contains: 'Add: takes 2 arguments, got 1' }"));
  EXPECT_OK(
      RunText("fn: 'Reshape' inputs { shape: 'f32[2]' f: 1 } "
              "attributes { name: 'sizes' ints { v: 2 } } "
              "error { code: 'INVALID_ARGUMENT' contains: 'dims' }"));
  EXPECT_THAT(RunText("fn: 'Exp' inputs { shape: 'f32[2]' f: 1 weak: true } "
                      "outputs { shape: 'f32[]' f: 1 }"),
              StatusIs(StatusCode::kInvalidArgument, "cannot be weak"));
}

}  // namespace
}  // namespace hawser::cli
