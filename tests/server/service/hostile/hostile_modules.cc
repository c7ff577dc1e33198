// Attacks by Compile: fingerprints, and modules that are none.
#include <string>

#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "tests/server/service/hostile/attacker.h"
#include "tests/testing/sample_modules.h"
#include "tests/testing/status_words.h"

namespace hawser::testing {
namespace {

using absl::StatusCode;
using v1::ModuleProto;

constexpr uint32_t kHuge = 0xFFFFFFFFu;

template <typename Column, typename T>
void Insert(Column* column, int at, T value) {
  column->Add(value);
  for (int i = column->size() - 1; i > at; --i) column->SwapElements(i, i - 1);
}

// (x: f32[]) -> x + x, `adds` times in a row, without the checks of a builder.
std::string Chain(uint32_t adds) {
  ModuleProto p;
  EXPECT_TRUE(p.ParseFromString(EncodeModule(ChainModule(1))));
  const int last = p.op_size() - 1;
  for (uint32_t i = 1; i < adds; ++i) {
    p.add_op(p.op(last));
    p.add_num_operands(2);
    p.add_num_results(1);
    p.add_num_called(0);
    p.add_num_attributes(0);
    p.add_operands(1);
    p.add_operands(1);
    p.add_result_shape(p.result_shape(0));
  }
  p.set_computation_instructions(0, p.computation_instructions(0) + adds - 1);
  p.set_results(0, p.results(0) + adds - 1);
  return p.SerializeAsString();
}

v1::ClientMessage Compile() {
  return CompileMessage(99, EncodeModule(SmallModule()));
}

std::vector<HostileRow> Fingerprints() {
  return {
      {"ShortFingerprint",
       [](Attacker& a) {
         v1::ClientMessage m = Compile();
         m.mutable_compile()->mutable_fingerprint()->pop_back();
         return a.Ask(m);
       },
       kInvalid, "fingerprint: "},
      {"NoFingerprint",
       [](Attacker& a) {
         v1::ClientMessage m = Compile();
         m.mutable_compile()->clear_fingerprint();
         return a.Ask(m);
       },
       kInvalid, "fingerprint: "},
      {"FingerprintOfNothingKnown",
       [](Attacker& a) {
         v1::ClientMessage m = CompileMessage(99, "never compiled");
         m.mutable_compile()->clear_module();
         return a.Ask(m);
       },
       StatusCode::kNotFound, "is not known; send the module"},
      {"FingerprintOfAnotherModule",
       [](Attacker& a) {
         v1::ClientMessage m = Compile();
         m.mutable_compile()->set_module(EncodeModule(AddModule()));
         return a.Ask(m);
       },
       kInvalid, "is not that of the module and options sent"},
      {"FingerprintOfOtherOptions",
       [](Attacker& a) {
         v1::ClientMessage m = Compile();
         m.mutable_compile()->mutable_options()->set_numerics(1);
         return a.Ask(m);
       },
       kInvalid, "is not that of the module and options sent"},
      {"OptionsToCome",
       [](Attacker& a) {
         v1::ClientMessage m = Compile();
         m.mutable_compile()->mutable_options()->set_numerics(7);
         return a.Ask(m);
       },
       kUnknown, "numerics 7 is not known"},
      {"ExecutableZero",
       [](Attacker& a) {
         return a.Ask(CompileMessage(0, EncodeModule(SmallModule())));
       },
       kInvalid, "executable 0 is not a number for one"},
      {"ExecutableInUse",
       [](Attacker& a) {
         return a.Ask(CompileMessage(1, EncodeModule(SmallModule())));
       },
       kInvalid, "executable 1 is in use for another module"},
      {"NoiseForAModule",
       [](Attacker& a) { return a.Compile(std::string(1000, '\xA5')); },
       kInvalid, "module"},
      {"HalfAModule",
       [](Attacker& a) {
         const std::string bytes = EncodeModule(SmallModule());
         return a.Compile(bytes.substr(0, bytes.size() / 2));
       },
       kInvalid, "add up to 8, op has 0"},
      {"SeventeenMebibytes",
       [](Attacker& a) { return a.Compile(std::string(17 << 20, '\0')); },
       kTooMuch, "the module has 17825792 bytes, the most is 16777216"},
  };
}

std::vector<HostileRow> Columns() {
  return {
      {"NoComputation",
       [](Attacker& a) {
         return a.CompileDamaged([](ModuleProto& p) {
           p.Clear();
           p.set_name("x");
         });
       },
       kInvalid, "module has no computation"},
      {"CutColumn",
       [](Attacker& a) {
         return a.CompileDamaged(
             [](ModuleProto& p) { p.mutable_op()->RemoveLast(); });
       },
       kInvalid, "op"},
      {"CutOperands",
       [](Attacker& a) {
         return a.CompileDamaged(
             [](ModuleProto& p) { p.mutable_operands()->RemoveLast(); });
       },
       kInvalid, "operands"},
      {"WrongArity",
       [](Attacker& a) {
         return a.CompileDamaged([](ModuleProto& p) {
           p.set_num_operands(2, 3);
           Insert(p.mutable_operands(), 0, 1);
         });
       },
       kInvalid, "add: takes 2 operands, got 3"},
      {"ForwardOperand",
       [](Attacker& a) {
         return a.CompileDamaged([](ModuleProto& p) { p.set_operands(0, 0); });
       },
       kInvalid, "(add): operand 0 is 0 back from value 2"},
      {"DanglingOperand",
       [](Attacker& a) {
         return a.CompileDamaged(
             [](ModuleProto& p) { p.set_operands(7, kHuge); });
       },
       kInvalid, "operand 1 is 4294967295 back"},
      {"DanglingResult",
       [](Attacker& a) {
         return a.CompileDamaged(
             [](ModuleProto& p) { p.set_results(3, kHuge); });
       },
       kInvalid, "returns value 4294967295"},
      {"DanglingString",
       [](Attacker& a) {
         return a.CompileDamaged([](ModuleProto& p) { p.set_op(2, kHuge); });
       },
       kInvalid, "op is string 4294967295"},
      {"CallsItself",
       [](Attacker& a) {
         return a.CompileDamaged([](ModuleProto& p) { p.set_called(0, 1); });
       },
       kInvalid, "calls computation 1, which is not a smaller index"},
      {"UnknownOp",
       [](Attacker& a) {
         return a.CompileDamaged(
             [](ModuleProto& p) { p.set_strings(3, "frobnicate"); });
       },
       kUnknown, "op \"frobnicate\" is not in opset"},
      {"UnknownDType",
       [](Attacker& a) {
         return a.CompileDamaged(
             [](ModuleProto& p) { p.set_shape_dtype(0, 99); });
       },
       kUnknown, "dtype number 99"},
      {"UnknownAttribute",
       [](Attacker& a) {
         return a.CompileDamaged(
             [](ModuleProto& p) { p.set_strings(7, "dimension"); });
       },
       kInvalid, "(reduce): has no attribute \"dimension\""},
      {"LaterOpset",
       [](Attacker& a) {
         return a.CompileDamaged([](ModuleProto& p) { p.set_opset(99); });
       },
       kUnknown, "module needs opset 99"},
      {"ShapeLie",
       [](Attacker& a) {
         return a.CompileDamaged(
             [](ModuleProto& p) { p.set_result_shape(5, 0); });
       },
       kInvalid, "claims result 0 is f32[], it is f32[2,3]"},
      {"DanglingShape",
       [](Attacker& a) {
         return a.CompileDamaged(
             [](ModuleProto& p) { p.set_result_shape(0, kHuge); });
       },
       kInvalid, "is of shape 4294967295"},
      {"Rank17",
       [](Attacker& a) {
         return a.CompileDamaged([](ModuleProto& p) {
           p.set_shape_rank(1, 17);
           for (int i = 0; i < 15; ++i) Insert(p.mutable_shape_dims(), 2, 1);
         });
       },
       kInvalid, "shape has rank 17, the largest is 16"},
      {"SizesThatOverflow",
       [](Attacker& a) {
         return a.CompileDamaged([](ModuleProto& p) {
           p.set_shape_dims(0, uint64_t{1} << 32);
           p.set_shape_dims(1, uint64_t{1} << 32);
         });
       },
       kInvalid, "is larger than 2^62 bytes"},
      {"NegativeSize",
       [](Attacker& a) {
         return a.CompileDamaged(
             [](ModuleProto& p) { p.set_shape_dims(0, ~uint64_t{0}); });
       },
       kInvalid, "the size 18446744073709551615 is too large"},
      {"ConstantThatClaimsMore",
       [](Attacker& a) {
         return a.CompileDamaged(
             [](ModuleProto& p) { p.set_attribute_values(5, 1); });
       },
       kInvalid, "f32[2,3] takes 24 bytes, got 4"},
      {"ConstantThatClaimsTerabytes",
       [](Attacker& a) {
         return a.CompileDamaged([](ModuleProto& p) {
           p.add_shape_dtype(p.shape_dtype(0));
           p.add_shape_rank(1);
           p.add_shape_dims(uint64_t{1} << 40);
           p.set_attribute_values(5, p.shape_dtype_size() - 1);
         });
       },
       kInvalid, "f32[1099511627776] takes 4398046511104 bytes, got 4"},
      {"ConstantsOverTheLimit",
       [](Attacker& a) {
         return a.CompileDamaged([](ModuleProto& p) {
           p.set_blobs(0, std::string((8 << 20) + 1, 'x'));
         });
       },
       kTooMuch, "more than 8388608 bytes of constants"},
      {"MillionInstructions",
       [](Attacker& a) { return a.Compile(Chain(1000000)); }, kTooMuch,
       "65536"},
      {"ChainOfHundredThousand",
       [](Attacker& a) { return a.Compile(Chain(100000)); }, kTooMuch,
       "65536"},
      {"LongestChainAllowed",
       [](Attacker& a) { return a.Compile(Chain(65000)); }, StatusCode::kOk,
       ""},
  };
}

}  // namespace

std::vector<HostileRow> HostileModules() {
  std::vector<HostileRow> rows = Fingerprints();
  for (const HostileRow& row : Columns()) rows.push_back(row);
  return rows;
}

}  // namespace hawser::testing
