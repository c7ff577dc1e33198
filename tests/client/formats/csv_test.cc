#include "client/formats/csv/csv.h"

#include <cmath>
#include <limits>
#include <string>

#include "client/formats/csv/csv_number.h"
#include "client/formats/csv/csv_records.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

absl::StatusOr<NamedArrays> CsvOf(const std::string& text,
                                  const CsvOptions& options) {
  return ParseCsv(FileBytes::Of(text), options);
}

// ---- columns --------------------------------------------------------------

TEST(Csv, EachColumnIsAnArrayNamedByItsHeader) {
  ASSERT_OK_AND_ASSIGN(
      const NamedArrays got,
      CsvOf("x,\"the \"\"y\"\", of it\",flag\n1.5,-2,true\r\n +3e2 ,\"+4\",0",
            {.dtypes = {DType::kF32, DType::kS64, DType::kBool}}));
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].name, "x");
  EXPECT_THAT(got[0].value, LiteralEquals(Literal::Vector<float>({1.5f, 300})));
  EXPECT_EQ(got[1].name, "the \"y\", of it");
  EXPECT_THAT(got[1].value, LiteralEquals(Literal::Vector<int64_t>({-2, 4})));
  EXPECT_EQ(got[2].name, "flag");
  EXPECT_THAT(got[2].value,
              LiteralEquals(Literal::Vector<bool>({true, false})));
}

TEST(Csv, WithoutAHeaderColumnsAreCounted) {
  ASSERT_OK_AND_ASSIGN(
      const NamedArrays got,
      CsvOf("1,2\n3,4\n", {.dtypes = {DType::kU8}, .header = false}));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].name, "column1");
  EXPECT_EQ(got[1].name, "column2");
  EXPECT_THAT(got[1].value, LiteralEquals(Literal::Vector<uint8_t>({2, 4})));
}

TEST(Csv, AMatrixHasRowsAndColumns) {
  const std::string rows = "1;2;3\n4;5;6\n";
  for (const bool header : {true, false}) {
    ASSERT_OK_AND_ASSIGN(
        const NamedArrays got,
        CsvOf((header ? "a;a;a\n" : "") + rows, {.dtypes = {DType::kS32},
                                                 .header = header,
                                                 .matrix = true,
                                                 .separator = ';'}));
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].name, "");
    EXPECT_THAT(got[0].value, LiteralEquals(Literal::Of<int32_t>(
                                  {1, 2, 3, 4, 5, 6}, {2, 3})));
  }
}

TEST(Csv, NoRowsIsAnArrayOfNone) {
  ASSERT_OK_AND_ASSIGN(const NamedArrays got,
                       CsvOf("\xEF\xBB\xBFx,y\n", {.dtypes = {DType::kF64}}));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].name, "x") << "the byte order mark is no part of it";
  EXPECT_EQ(got[0].value.shape(), Shape::Of(DType::kF64, {0}));
  ASSERT_OK_AND_ASSIGN(
      const NamedArrays matrix,
      CsvOf("x,y\n", {.dtypes = {DType::kF64}, .matrix = true}));
  EXPECT_EQ(matrix[0].value.shape(), Shape::Of(DType::kF64, {0, 2}));
}

TEST(Csv, EmptyFieldsAreNanWhereThatIsAsked) {
  const std::string text = "x,y\n,2\n\"\",\n";
  ASSERT_OK_AND_ASSIGN(
      const NamedArrays got,
      CsvOf(text, {.dtypes = {DType::kF32}, .empty_is_nan = true}));
  EXPECT_TRUE(std::isnan(got[0].value.data<float>()[0]));
  EXPECT_TRUE(std::isnan(got[0].value.data<float>()[1]));
  EXPECT_EQ(got[1].value.data<float>()[0], 2.0f);
  EXPECT_THAT(CsvOf(text, {.dtypes = {DType::kF32}}),
              StatusIs(StatusCode::kInvalidArgument,
                       "row 2, column 1 (\"x\"): \"\" is no f32"));
  EXPECT_THAT(CsvOf(text, {.dtypes = {DType::kS32}, .empty_is_nan = true}),
              StatusIs(StatusCode::kInvalidArgument, "\"\" is no s32"));
}

// ---- numbers --------------------------------------------------------------

// The value of a field as text; "-" for a field that is refused.
std::string Read(const char* text, DType dtype) {
  Literal value = Literal::Uninitialized(Shape::Scalar(dtype));
  const bool good = (*NumberStore(dtype))(text, value.mutable_bytes().data());
  return good ? ElementToString(value, 0) : "-";
}

struct NumberCase {
  DType dtype;
  const char* text;
  const char* want;
};
constexpr NumberCase kNumbers[] = {
    {DType::kBool, "1", "true"},
    {DType::kBool, "TRUE", "true"},
    {DType::kBool, "False", "false"},
    {DType::kBool, "2", "-"},
    {DType::kBool, "yes", "-"},
    {DType::kU8, "255", "255"},
    {DType::kU8, "+7", "7"},
    {DType::kU8, "007", "7"},
    {DType::kU8, "256", "-"},
    {DType::kU8, "-1", "-"},
    {DType::kU8, "+-1", "-"},
    {DType::kU8, "++1", "-"},
    {DType::kU8, "1.0", "-"},
    {DType::kU8, "0x10", "-"},
    {DType::kU8, "1 2", "-"},
    {DType::kS8, "-128", "-128"},
    {DType::kS8, "-129", "-"},
    {DType::kU16, "65536", "-"},
    {DType::kS16, "32767", "32767"},
    {DType::kU32, "4294967295", "4294967295"},
    {DType::kS32, "2147483648", "-"},
    {DType::kU64, "18446744073709551615", "18446744073709551615"},
    {DType::kU64, "18446744073709551616", "-"},
    {DType::kS64, "-9223372036854775808", "-9223372036854775808"},
    {DType::kS64, "", "-"},
    {DType::kS64, "+", "-"},
    {DType::kF64, "0.1", "0.1"},
    {DType::kF64, ".5", "0.5"},
    {DType::kF64, "5.", "5"},
    {DType::kF64, "-0", "-0"},
    {DType::kF64, "1e308", "1e+308"},
    {DType::kF64, "1e309", "-"},
    {DType::kF64, "-1e309", "-"},
    {DType::kF64, "1e-400", "0"},
    {DType::kF64, "1e", "-"},
    {DType::kF64, "1,5", "-"},
    {DType::kF64, "inf", "inf"},
    {DType::kF64, "-INFINITY", "-inf"},
    {DType::kF64, "NaN", "nan"},
    {DType::kF64, "none", "-"},
    {DType::kF64, "0x1p3", "-"},
    {DType::kF32, "16777217", "16777216"},
    {DType::kF32, "3.4e38", "3.4e+38"},
    {DType::kF32, "3.5e38", "-"},
    {DType::kF16, "65504", "65504"},
    {DType::kF16, "65520", "-"},
    {DType::kF16, "-inf", "-inf"},
    {DType::kF16, "1e-9", "0"},
    {DType::kBF16, "1.5", "1.5"},
    {DType::kBF16, "1e39", "-"},
    // The middle of two, and what lies beside it.
    {DType::kBF16, "1.00390625", "1"},
    {DType::kBF16, "1.003906251", "1.0078125"},
    {DType::kBF16, "1.003906250000000000000001", "1.0078125"},
    {DType::kBF16, "+1.003906249999999999999999", "1"},
    {DType::kF16, "1.00048828126", "1.0009766"},
};

TEST(CsvNumber, FitsOrIsRefused) {
  for (const NumberCase& c : kNumbers) {
    EXPECT_EQ(Read(c.text, c.dtype), c.want)
        << "\"" << c.text << "\" as " << DTypeName(c.dtype);
  }
  for (const DType dtype : {DType::kC64, DType::kC128}) {
    EXPECT_THAT(NumberStore(dtype),
                StatusIs(StatusCode::kInvalidArgument, "CSV has no c"));
  }
}

// ---- records --------------------------------------------------------------

std::vector<std::vector<std::string>> Records(const std::string& text) {
  CsvRecords records(text, ',');
  std::vector<CsvField> fields;
  std::vector<std::vector<std::string>> out;
  while (true) {
    const auto more = records.Next(&fields);
    EXPECT_OK(more);
    if (!more.ok() || !*more) return out;
    out.emplace_back();
    for (const CsvField& field : fields) out.back().push_back(field.Value());
  }
}

TEST(CsvRecords, AreThoseOfRfc4180) {
  using Record = std::vector<std::string>;
  EXPECT_THAT(Records(""), ElementsAre());
  EXPECT_THAT(Records("\n"), ElementsAre(Record{""}));
  EXPECT_THAT(Records("a"), ElementsAre(Record{"a"}));
  EXPECT_THAT(Records("a\r"), ElementsAre(Record{"a"}));
  EXPECT_THAT(Records("a,b\n"), ElementsAre(Record{"a", "b"}));
  EXPECT_THAT(Records("a,\n,b"), ElementsAre(Record{"a", ""}, Record{"", "b"}));
  EXPECT_THAT(Records("a,"), ElementsAre(Record{"a", ""}));
  EXPECT_THAT(Records("\"a,\"\"\n\r\nb\",\"\"\r\nc\rd,e\r\n"),
              ElementsAre(Record{"a,\"\n\r\nb", ""}, Record{"c\rd", "e"}));
  EXPECT_THAT(Records("\"a\"\r"), ElementsAre(Record{"a"}));
}

struct BadText {
  const char* text;
  const char* error;
};
constexpr BadText kBadTexts[] = {
    {"", "holds no records"},
    {"x,y\n1\n", "row 2 has 1 fields, the first has 2"},
    {"x\n1\n\n2,3\n", "row 4 has 2 fields, the first has 1"},
    {"x\n\"1", "row 2, column 1: a quote is opened and never closed"},
    {"x\n\"", "a quote is opened and never closed"},
    {"x,y\n1,\"2\"3\n", "row 2, column 2: the field goes on after its closing"},
    {"x\n\"1\" \n", "goes on after its closing quote"},
    {"x\n1\"2\n", "row 2, column 1: a quote stands inside a field"},
    {"x,x\n1,2\n", "two columns are called \"x\""},
    {"x,y\n1,2\n3,4 5\n", "row 3, column 2 (\"y\"): \"4 5\" is no s32"},
    {"x\n1\n\n", "row 3, column 1 (\"x\"): \"\" is no s32"},
    {"x\n\001z\n", "\"\\x01z\" is no s32"},
};

TEST(Csv, NamesRowColumnAndText) {
  for (const BadText& bad : kBadTexts) {
    EXPECT_THAT(CsvOf(bad.text, {.dtypes = {DType::kS32}}),
                StatusIs(StatusCode::kInvalidArgument, bad.error))
        << bad.text;
  }
}

TEST(Csv, OptionsMustFitTheFile) {
  const std::string text = "x,y\n1,2\n";
  EXPECT_THAT(CsvOf(text, {}),
              StatusIs(StatusCode::kInvalidArgument, "needs a dtype"));
  EXPECT_THAT(CsvOf(text, {.dtypes = {DType::kU8, DType::kU8, DType::kU8}}),
              StatusIs(StatusCode::kInvalidArgument,
                       "has 2 columns, dtypes are given "
                       "for 3"));
  EXPECT_THAT(CsvOf(text, {.dtypes = {DType::kU8, DType::kU8}, .matrix = true}),
              StatusIs(StatusCode::kInvalidArgument, "a matrix has one dtype"));
  EXPECT_THAT(CsvOf(text, {.dtypes = {DType::kC64}}),
              StatusIs(StatusCode::kInvalidArgument, "CSV has no c64"));
  for (const char separator : {'"', '\n', '\r'}) {
    EXPECT_THAT(CsvOf(text, {.dtypes = {DType::kU8}, .separator = separator}),
                StatusIs(StatusCode::kInvalidArgument, "separated by"));
  }
}

TEST(Csv, ARecordHasAsManyFieldsAsThereIsRoomFor) {
  const std::string text(CsvRecords::kMostFields, ',');
  EXPECT_THAT(CsvOf(text, {.dtypes = {DType::kU8}}),
              StatusIs(StatusCode::kInvalidArgument,
                       "row 1 has more than 1048576 fields"));
}

}  // namespace
}  // namespace hawser
