// One damaged module a row, and what must be said of it.
#include <functional>
#include <string>
#include <vector>

#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "proto/graph.pb.h"
#include "tests/testing/matchers.h"
#include "tests/testing/sample_modules.h"
#include "tests/testing/status_words.h"

namespace hawser {
namespace {

using absl::StatusCode;
using google::protobuf::FieldDescriptor;
using v1::ModuleProto;

constexpr uint32_t kHuge = 0xFFFFFFFFu;

// SmallModule as columns. Instructions, in a row: 0 1 parameter, 2 add | 3
// parameter, 4 constant, 5 add, 6 reduce, 7 compare. Operands: 0 1 of add, 2 3
// of add, 4 5 of reduce, 6 7 of compare. Attributes: 0-5 dims and dtype of the
// parameters, 6 value, 7 dimensions, 8 direction; their values: 18 | 18 | 2 3
// 18 | shape, blob | 0 | string. Shapes: f32[], f32[2,3], f32[3], bool[2,3].
ModuleProto Small() {
  ModuleProto proto;
  EXPECT_TRUE(proto.ParseFromString(EncodeModule(SmallModule())));
  return proto;
}

template <typename Column, typename T>
void Insert(Column* column, int at, T value) {
  column->Add(value);
  for (int i = column->size() - 1; i > at; --i) column->SwapElements(i, i - 1);
}

template <typename Column>
void Erase(Column* column, int at, int count = 1) {
  column->erase(column->begin() + at, column->begin() + at + count);
}

struct HostileRow {
  const char* name;
  void (*damage)(ModuleProto& p);
  StatusCode code;
  const char* part;
};

void PrintTo(const HostileRow& row, std::ostream* os) { *os << row.name; }

const HostileRow kHostileRows[] = {
    {"NothingAtAll", [](ModuleProto& p) { p.Clear(); }, kInvalid,
     "module has no computation"},
    {"LaterOpset", [](ModuleProto& p) { p.set_opset(99); }, kUnknown,
     "module needs opset 99, this end has 1"},
    {"NoOpset", [](ModuleProto& p) { p.clear_opset(); }, kInvalid,
     "claims opset 0, its ops need 1"},
    {"NameTooLong", [](ModuleProto& p) { p.set_name(std::string(5000, 'n')); },
     kTooMuch, "name has a text of 5000 bytes, the limit is 4096"},

    {"UnknownOp", [](ModuleProto& p) { p.set_strings(3, "frobnicate"); },
     kUnknown,
     "computation \"add\", instruction 2: op \"frobnicate\" is not in opset 1 "
     "of this end"},
    {"EmptyOp", [](ModuleProto& p) { p.set_strings(3, ""); }, kUnknown,
     "op \"\" is not in"},
    {"LongOp", [](ModuleProto& p) { p.set_strings(3, std::string(4000, 'x')); },
     kUnknown, "xxx\"... is not in opset"},
    {"OpOfControlCharacters",
     [](ModuleProto& p) { p.set_strings(3, "\n\x1B[2J"); }, kUnknown,
     "op \"\\n\\033[2J\" is"},
    {"DanglingOp", [](ModuleProto& p) { p.set_op(2, 11); }, kInvalid,
     "instruction 2: op is string 11 of 11"},
    {"HugeOp", [](ModuleProto& p) { p.set_op(2, kHuge); }, kInvalid,
     "op is string 4294967295 of 11"},

    {"UnknownDType", [](ModuleProto& p) { p.set_shape_dtype(0, 99); }, kUnknown,
     "shape 0: dtype number 99 is not in opset 1 of this end"},
    {"DTypeThatWrapsToF32",
     [](ModuleProto& p) { p.set_shape_dtype(0, 256 + 18); }, kUnknown,
     "dtype number 274"},
    {"ReservedDType", [](ModuleProto& p) { p.set_shape_dtype(3, 14); },
     kUnknown, "shape 3: dtype f8 is not in opset 1"},
    {"NoDType", [](ModuleProto& p) { p.set_shape_dtype(2, 0); }, kInvalid,
     "shape 2: the dtype is missing"},
    {"Rank17",
     [](ModuleProto& p) {
       p.set_shape_rank(1, 17);
       for (int i = 0; i < 15; ++i) Insert(p.mutable_shape_dims(), 2, 1);
     },
     kInvalid, "shape 1: shape has rank 17, the largest is 16"},
    {"Rank1000",
     [](ModuleProto& p) {
       p.set_shape_rank(1, 1000);
       for (int i = 0; i < 998; ++i) p.add_shape_dims(1);
     },
     kInvalid, "has rank 17"},
    {"HugeRank", [](ModuleProto& p) { p.set_shape_rank(1, kHuge); }, kInvalid,
     "shape_rank add up to"},
    {"NegativeSize", [](ModuleProto& p) { p.set_shape_dims(0, ~uint64_t{0}); },
     kInvalid, "shape 1: the size 18446744073709551615 is too large"},
    {"SizesOverflow",
     [](ModuleProto& p) {
       p.set_shape_dims(0, uint64_t{1} << 40);
       p.set_shape_dims(1, uint64_t{1} << 40);
     },
     kInvalid, "is larger than 2^62 bytes"},
    {"SizesOverflowToZero",
     [](ModuleProto& p) {
       p.set_shape_dims(0, uint64_t{1} << 32);
       p.set_shape_dims(1, uint64_t{1} << 32);
     },
     kInvalid, "is larger than 2^62 bytes"},
    {"TooManyElements",
     [](ModuleProto& p) {
       p.set_shape_dims(0, uint64_t{1} << 40);
       p.set_shape_dims(3, uint64_t{1} << 40);
       p.set_attribute_values(2, int64_t{1} << 40);
     },
     kTooMuch, "has more than 1099511627776 elements"},

    {"OperandIsItself", [](ModuleProto& p) { p.set_operands(0, 0); }, kInvalid,
     "instruction 2 (add): operand 0 is 0 back from value 2"},
    {"OperandBeforeTheStart", [](ModuleProto& p) { p.set_operands(1, 3); },
     kInvalid, "(add): operand 1 is 3 back from value 2"},
    {"OperandOfTheCallee", [](ModuleProto& p) { p.set_operands(2, 3); },
     kInvalid, "computation \"main\", instruction 2 (add): operand 0 is 3"},
    {"OperandForward", [](ModuleProto& p) { p.set_operands(7, kHuge); },
     kInvalid, "operand 1 is 4294967295 back from value 4"},
    {"TooFewOperands",
     [](ModuleProto& p) {
       p.set_num_operands(2, 1);
       Erase(p.mutable_operands(), 0);
     },
     kInvalid, "instruction 2 (add): add: takes 2 operands, got 1"},
    {"TooManyOperands",
     [](ModuleProto& p) {
       p.set_num_operands(2, 3);
       Insert(p.mutable_operands(), 0, 1);
     },
     kInvalid, "add: takes 2 operands, got 3"},
    {"ParameterOfAnOperand",
     [](ModuleProto& p) {
       p.set_num_operands(1, 1);
       Insert(p.mutable_operands(), 0, 1);
     },
     kInvalid, "parameter: takes 0 operands, got 1"},
    {"OperandOfAnotherShape", [](ModuleProto& p) { p.set_operands(7, 1); },
     kInvalid, "compare: C3: operand 0 is f32[2,3], operand 1 is f32[3]"},
    {"ParameterBehindAnInstruction",
     [](ModuleProto& p) {
       p.set_op(5, 0);
       p.set_num_operands(5, 0);
       Erase(p.mutable_operands(), 2, 2);
     },
     kInvalid, "parameter: stands behind another instruction"},

    {"CallsItself", [](ModuleProto& p) { p.set_called(0, 1); }, kInvalid,
     "(reduce): calls computation 1, which is not a smaller index"},
    {"CallsNothing", [](ModuleProto& p) { p.set_called(0, kHuge); }, kInvalid,
     "calls computation 4294967295"},
    {"CallsTooFew",
     [](ModuleProto& p) {
       p.clear_called();
       p.set_num_called(6, 0);
     },
     kInvalid, "reduce: takes 1 computations, got 0"},
    {"CallsTooMany",
     [](ModuleProto& p) {
       p.add_called(0);
       p.set_num_called(5, 1);
     },
     kInvalid, "add: takes 0 computations, got 1"},
    {"CalledTakesTooMany",
     [](ModuleProto& p) {
       p.set_num_operands(6, 4);
       for (uint32_t d : {2, 3}) Insert(p.mutable_operands(), 4, d);
     },
     kInvalid, "reduce: C"},

    {"ClaimsTwoResults",
     [](ModuleProto& p) {
       p.set_num_results(2, 2);
       Insert(p.mutable_result_shape(), 2, 0);
     },
     kInvalid, "(add): claims 2 results, has 1"},
    {"ClaimsNoResult",
     [](ModuleProto& p) {
       p.set_num_results(2, 0);
       Erase(p.mutable_result_shape(), 2);
     },
     kInvalid, "(add): claims 0 results, has 1"},
    {"SizeLie", [](ModuleProto& p) { p.set_result_shape(5, 0); }, kInvalid,
     "instruction 2 (add): claims result 0 is f32[], it is f32[2,3]"},
    {"DTypeLie", [](ModuleProto& p) { p.set_result_shape(7, 1); }, kInvalid,
     "(compare): claims result 0 is f32[2,3], it is bool[2,3]"},
    {"ShapeTableLie", [](ModuleProto& p) { p.set_shape_dims(2, 4); }, kInvalid,
     "(reduce): claims result 0 is f32[4], it is f32[3]"},
    {"DanglingShape", [](ModuleProto& p) { p.set_result_shape(7, 4); },
     kInvalid, "claims result 0 is of shape 4 of 4"},
    {"HugeShape", [](ModuleProto& p) { p.set_result_shape(0, kHuge); },
     kInvalid, "is of shape 4294967295 of 4"},
    {"ReturnsNoValue", [](ModuleProto& p) { p.set_results(0, 3); }, kInvalid,
     "computation \"add\" returns value 3 but has 3"},
    {"ReturnsMinusOne", [](ModuleProto& p) { p.set_results(3, kHuge); },
     kInvalid, "computation \"main\" returns value 4294967295 but has 5"},

    {"UnknownAttribute",
     [](ModuleProto& p) { p.set_strings(7, "dimension\n"); }, kInvalid,
     "instruction 3 (reduce): has no attribute \"dimension\\n\""},
    {"DanglingAttribute", [](ModuleProto& p) { p.set_attribute_name(8, 11); },
     kInvalid, "(compare): attribute 0 is string 11 of 11"},
    {"AttributeTwice", [](ModuleProto& p) { p.set_attribute_name(1, 1); },
     kInvalid, "attribute dims stands twice or out of order"},
    {"AttributesOutOfOrder",
     [](ModuleProto& p) {
       for (auto* column :
            {p.mutable_attribute_name(), p.mutable_attribute_kind(),
             p.mutable_attribute_size()}) {
         column->SwapElements(0, 1);
       }
     },
     kInvalid, "attribute dims stands twice or out of order"},
    {"AttributeMissing",
     [](ModuleProto& p) {
       p.set_num_attributes(4, 0);
       Erase(p.mutable_attribute_name(), 6);
       Erase(p.mutable_attribute_kind(), 6);
       Erase(p.mutable_attribute_size(), 6);
       Erase(p.mutable_attribute_values(), 5, 2);
     },
     kInvalid, "constant: attribute value is missing"},
    {"TooManyAttributes",
     [](ModuleProto& p) {
       p.set_num_attributes(4, 3);
       p.set_num_attributes(6, 0);
       p.set_num_attributes(7, 0);
     },
     kInvalid, "(constant): has 3 attributes, there are 1"},
    {"UnknownKind", [](ModuleProto& p) { p.set_attribute_kind(8, 7); },
     kInvalid, "attribute direction has unknown kind 7"},
    {"IntForInts", [](ModuleProto& p) { p.set_attribute_kind(7, 1); }, kInvalid,
     "attribute dimensions is int, must be ints"},
    {"FloatForInts", [](ModuleProto& p) { p.set_attribute_kind(7, 2); },
     kInvalid, "attribute dimensions is float, must be ints"},
    {"BoolForInts", [](ModuleProto& p) { p.set_attribute_kind(7, 0); },
     kInvalid, "attribute dimensions is bool, must be ints"},
    {"BoolOfTen", [](ModuleProto& p) { p.set_attribute_kind(8, 0); }, kInvalid,
     "attribute direction: is 10, a bool is 0 or 1"},
    {"StringOfNothing",
     [](ModuleProto& p) {
       p.set_attribute_size(8, 0);
       p.mutable_attribute_values()->RemoveLast();
     },
     kInvalid, "attribute direction: has 0 values, string takes 1"},
    {"LiteralOfOneNumber",
     [](ModuleProto& p) {
       p.set_attribute_size(6, 1);
       p.set_attribute_size(7, 2);
     },
     kInvalid, "attribute value: has 1 values, literal takes 2"},
    {"DanglingString", [](ModuleProto& p) { p.set_attribute_values(8, 11); },
     kInvalid, "attribute direction: is string 11 of 11"},
    {"NegativeString", [](ModuleProto& p) { p.set_attribute_values(8, -1); },
     kInvalid, "attribute direction: is string -1 of 11"},
    {"WordTheOpDoesNotKnow", [](ModuleProto& p) { p.set_strings(10, "XX"); },
     kInvalid, "compare: C4: direction is \"XX\""},
    {"AxisTheOperandLacks",
     [](ModuleProto& p) { p.set_attribute_values(7, 2); }, kInvalid,
     "reduce: C4: dimensions has 2"},
    {"AxisIsTheSmallestNumber",
     [](ModuleProto& p) { p.set_attribute_values(7, INT64_MIN); }, kInvalid,
     "reduce: C4: dimensions has -9223372036854775808"},
    {"NegativeSizeOfParameter",
     [](ModuleProto& p) { p.set_attribute_values(2, -2); }, kInvalid,
     "parameter: C1: shape [-2,3] has a negative size"},
    {"UnknownDTypeAttribute",
     [](ModuleProto& p) { p.set_attribute_values(0, 99); }, kUnknown,
     "(parameter): attribute dtype: dtype number 99"},
    {"NegativeDTypeAttribute",
     [](ModuleProto& p) { p.set_attribute_values(0, -1); }, kUnknown,
     "attribute dtype: dtype number 18446744073709551615"},

    {"LiteralOfDanglingShape",
     [](ModuleProto& p) { p.set_attribute_values(5, 4); }, kInvalid,
     "attribute value: is of shape 4 of 4"},
    {"LiteralOfNegativeShape",
     [](ModuleProto& p) { p.set_attribute_values(5, -1); }, kInvalid,
     "attribute value: is of shape 18446744073709551615 of 4"},
    {"LiteralOfDanglingBlob",
     [](ModuleProto& p) { p.set_attribute_values(6, 1); }, kInvalid,
     "attribute value: is blob 1 of 1"},
    {"LiteralClaimsMoreThanItCarries",
     [](ModuleProto& p) { p.set_attribute_values(5, 1); }, kInvalid,
     "attribute value: f32[2,3] takes 24 bytes, got 4"},
    {"LiteralClaimsTerabytes",
     [](ModuleProto& p) {
       p.add_shape_dtype(18);
       p.add_shape_rank(1);
       p.add_shape_dims(uint64_t{1} << 40);
       p.set_attribute_values(5, 4);
     },
     kInvalid, "f32[1099511627776] takes 4398046511104 bytes, got 4"},
    {"LiteralCarriesMoreThanItClaims",
     [](ModuleProto& p) { p.set_blobs(0, "12345678"); }, kInvalid,
     "f32[] takes 4 bytes, got 8"},
    {"LiteralOfNeitherTrueNorFalse",
     [](ModuleProto& p) {
       p.add_shape_dtype(1);
       p.add_shape_rank(0);
       p.set_attribute_values(5, 4);
       p.set_blobs(0, "\x02");
     },
     kInvalid, "element 0 of bool[] is the byte 2, a bool is 0 or 1"},
    {"LiteralOverTheLimit",
     [](ModuleProto& p) { p.set_blobs(0, std::string((8 << 20) + 1, 'x')); },
     kTooMuch, "module has more than 8388608 bytes of constants"},
    {"ModuleOverTheLimit",
     [](ModuleProto& p) { p.add_blobs(std::string(16 << 20, 'x')); }, kTooMuch,
     "bytes, the limit is 16777216"},
};

class HostileModule : public ::testing::TestWithParam<HostileRow> {};

TEST_P(HostileModule, IsRefused) {
  ModuleProto proto = Small();
  GetParam().damage(proto);
  EXPECT_THAT(DecodeModule(proto.SerializeAsString()),
              StatusIs(GetParam().code, GetParam().part));
}

INSTANTIATE_TEST_SUITE_P(Rows, HostileModule, ::testing::ValuesIn(kHostileRows),
                         [](const auto& row) { return row.param.name; });

// The columns of numbers, as fields.
std::vector<const FieldDescriptor*> NumberColumns() {
  std::vector<const FieldDescriptor*> columns;
  const auto* descriptor = ModuleProto::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    if (descriptor->field(i)->is_packed()) {
      columns.push_back(descriptor->field(i));
    }
  }
  return columns;
}

TEST(HostileColumns, OneEntryTooFewIsRefusedByName) {
  ASSERT_EQ(NumberColumns().size(), 18u);
  for (const FieldDescriptor* column : NumberColumns()) {
    ModuleProto proto = Small();
    proto.GetReflection()->RemoveLast(&proto, column);
    EXPECT_THAT(DecodeModule(proto.SerializeAsString()),
                StatusIs(kInvalid, column->name()));
  }
}

TEST(HostileColumns, OneEntryTooManyIsRefusedByName) {
  for (const FieldDescriptor* column : NumberColumns()) {
    ModuleProto proto = Small();
    const auto* reflection = proto.GetReflection();
    if (column->cpp_type() == FieldDescriptor::CPPTYPE_UINT32) {
      reflection->AddUInt32(&proto, column, 0);
    } else if (column->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
      reflection->AddUInt64(&proto, column, 0);
    } else {
      reflection->AddInt64(&proto, column, 0);
    }
    EXPECT_THAT(DecodeModule(proto.SerializeAsString()),
                StatusIs(kInvalid, column->name()));
  }
}

TEST(HostileColumns, AnEmptyColumnIsRefusedByName) {
  for (const FieldDescriptor* column : NumberColumns()) {
    ModuleProto proto = Small();
    proto.GetReflection()->ClearField(&proto, column);
    EXPECT_THAT(DecodeModule(proto.SerializeAsString()),
                StatusIs(kInvalid, column->name()));
  }
}

// Length-delimited field `number` with these bytes.
std::string Field(int number, absl::string_view payload) {
  std::string out;
  const uint32_t tag = static_cast<uint32_t>(number) << 3 | 2;
  if (tag >= 128) out.push_back(static_cast<char>(tag | 0x80));
  out.push_back(static_cast<char>(tag >= 128 ? tag >> 7 : tag));
  out.push_back(static_cast<char>(payload.size()));
  return out + std::string(payload);
}

TEST(HostileBytes, AreRefused) {
  const int op = ModuleProto::kOpFieldNumber;
  const std::string small = EncodeModule(SmallModule());
  const struct {
    std::string bytes;
    const char* part;
  } rows[] = {
      {std::string(1, '\0'), "module has no field at byte"},
      {std::string("\x02\x00", 2), "module has a field 0"},
      {small + std::string(1, '\0'), "module has no field at byte"},
      {small + "\xFF", "module has no field at byte"},
      {small + std::string(11, '\xFF'), "module has no field at byte"},
      {small + "\xA3\x06\xA4\x06", "field 100 has wire type 3"},
      {small + "\xA5\x06xyz", "breaks off inside field 100"},
      {small + "\xA1\x06xyz", "breaks off inside field 100"},
      {small + "\xA2\x06\x7Fxyz", "breaks off inside field 100"},
      {small + "\xA0\x06" + std::string(10, '\xFF'),
       "breaks off inside field 100"},
      {small + "\x5D"
               "abcd",
       "field op has wire type 5"},
      {small + "\x0D"
               "abcd",
       "field name has wire type 5"},
      {small + "\x12\x01", "field opset has wire type 2"},
      {Field(op, "\xFF"), "breaks off inside op"},
      {Field(op, std::string(11, '\xFF')), "breaks off inside op"},
      {Field(op, "\x80\x80\x80\x80\x10"),
       "op has the number 4294967296, which is too large"},
      {Field(ModuleProto::kNameFieldNumber, "\xC0\x80"),
       "name has a text that is not UTF-8: \"\\300\\200\""},
      {Field(ModuleProto::kStringsFieldNumber, "\xED\xA0\x80"),
       "strings has a text that is not UTF-8"},
      {"\x0A\xFF\xFF\xFF\xFF\x0F", "breaks off inside name"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(DecodeModule(row.bytes), StatusIs(kInvalid, row.part));
  }
}

}  // namespace
}  // namespace hawser
