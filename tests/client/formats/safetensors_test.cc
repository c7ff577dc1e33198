#include "client/formats/safetensors.h"

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/formats/safetensors_header.h"
#include "gtest/gtest.h"
#include "tests/client/formats/temporary_file.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

absl::StatusOr<NamedArrays> TensorsOf(const std::string& bytes) {
  return ParseSafetensors(FileBytes::Of(bytes));
}

std::string TensorFile(const std::string& json, const std::string& data = "") {
  std::string length;
  for (int i = 0; i < 8; ++i) {
    length += static_cast<char>(uint64_t{json.size()} >> 8 * i);
  }
  return length + json + data;
}

// ---- good ones ------------------------------------------------------------

struct SafetensorsType {
  const char* code;
  DType dtype;
};
constexpr SafetensorsType kTypes[] = {
    {"BOOL", DType::kBool}, {"U8", DType::kU8},     {"U16", DType::kU16},
    {"U32", DType::kU32},   {"U64", DType::kU64},   {"I8", DType::kS8},
    {"I16", DType::kS16},   {"I32", DType::kS32},   {"I64", DType::kS64},
    {"F16", DType::kF16},   {"BF16", DType::kBF16}, {"F32", DType::kF32},
    {"F64", DType::kF64},   {"C64", DType::kC64},   {"C128", DType::kC128},
};

TEST(Safetensors, ReadsEveryDType) {
  for (const SafetensorsType& type : kTypes) {
    const int64_t width = ByteWidth(type.dtype);
    std::string data;
    for (int64_t i = 0; i < 3 * width; ++i) data += static_cast<char>(i % 2);
    const std::string json = absl::StrCat(
        R"({"x": {"dtype": ")", type.code,
        R"(", "shape": [3, 1], "data_offsets": [0, )", 3 * width, "]}}");
    ASSERT_OK_AND_ASSIGN(const NamedArrays got,
                         TensorsOf(TensorFile(json, data)));
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].name, "x");
    EXPECT_EQ(got[0].value.shape(), Shape::Of(type.dtype, {3, 1}));
    EXPECT_EQ(
        std::string(got[0].value.bytes().begin(), got[0].value.bytes().end()),
        data);
  }
}

TEST(Safetensors, TakesOtherWritersSpellings) {
  // Metadata, fields and arrays in any order, escapes, blanks, empty arrays.
  const std::string json = R"({ "b" :{"data_offsets":[4,4],"shape":[0,7],)"
                           R"("dtype":"F64"}, "__metadata__": {"format":"pt"},)"
                           R"("\u0061":{"dtype":"I32","shape":[],)"
                           R"("data_offsets":[0,4]}}      )";
  ASSERT_OK_AND_ASSIGN(const NamedArrays got,
                       TensorsOf(TensorFile(json, std::string("\5\0\0\0", 4))));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].name, "a");
  EXPECT_THAT(got[0].value, LiteralBitEquals(Literal::Scalar<int32_t>(5)));
  EXPECT_EQ(got[1].value.shape(), Shape::Of(DType::kF64, {0, 7}));
}

TEST(Safetensors, MapsInsteadOfReading) {
  // A hole of 64 GiB: a reader that allocated or read it would not return.
  const int64_t bytes = int64_t{1} << 36;
  std::string json = absl::StrCat(R"({"x":{"dtype":"F32","shape":[)", bytes / 4,
                                  R"(],"data_offsets":[0,)", bytes, "]}}");
  json.resize(80, ' ');
  const std::string path = WriteBytes("sparse.safetensors", TensorFile(json));
  std::error_code error;
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + bytes,
                               error);
  if (error) GTEST_SKIP() << "no sparse files here: " << error.message();
  ASSERT_OK_AND_ASSIGN(const FileBytes file, MapFile(path));
  ASSERT_OK_AND_ASSIGN(const NamedArrays got, ParseSafetensors(file));
  EXPECT_EQ(got[0].value.shape(), Shape::Of(DType::kF32, {bytes / 4}));
  std::filesystem::remove(path);
}

// ---- hostile ones ---------------------------------------------------------

struct BadFile {
  const char* json;  // with 8 bytes of data behind it
  const char* error;
};
constexpr BadFile kBadFiles[] = {
    {"{", "no JSON"},
    {"[]", "holds a list"},
    {"5", "holds a number"},
    {"{} {}", "no JSON"},
    {R"({"a": 1e999})", "no JSON"},
    {"{}", "holds no arrays"},
    {R"({"__metadata__": {"a": "b"}})", "holds no arrays"},
    {R"({"__metadata__": {"a": 1}})", "__metadata__ holds a number"},
    {R"({"__metadata__": {"a": {}}})", "__metadata__ holds an object"},
    {R"({"__metadata__": "a"})", "header holds a text"},
    {R"({"a": 5})", "header holds a number"},
    {R"({"a": null})", "header holds null"},
    {R"({"a": {}})", "array \"a\": dtype is missing"},
    {R"({"a": {"dtype": "F32"}})", "array \"a\": shape is missing"},
    {R"({"a": {"dtype": "F32", "shape": [2]}})", "data_offsets are missing"},
    {R"({"a": {"dtype": "F32", "dtype": "F32"}})",
     "array \"a\": field \"dtype\" holds a second value"},
    {R"({"a": {"shape": [2], "shape": [2]}})", "a second value"},
    {R"({"a": {"colour": "red"}})", "field \"colour\" holds a text"},
    {R"({"a": {"colour": []}})", "field \"colour\" holds a list"},
    {R"({"a": {"dtype": 5}})", "field \"dtype\" holds a number"},
    {R"({"a": {"shape": ["2"]}})", "field \"shape\" holds a text"},
    {R"({"a": {"shape": [[2]]}})", "field \"shape\" holds a list"},
    {R"({"a": {"shape": [{}]}})", "field \"shape\" holds an object"},
    {R"({"a": {"shape": [-2]}})", "holds a negative number"},
    {R"({"a": {"shape": [2.0]}})", "holds a number with a fraction"},
    {R"({"a": {"shape": [true]}})", "holds a boolean"},
    {R"({"a": {"shape": 2}})", "field \"shape\" holds a number"},
    {R"({"a": {"shape": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}})",
     "a list of more than 16"},
    {R"({"a": {"dtype": "F8_E4M3", "shape": [8], "data_offsets": [0, 8]}})",
     "array \"a\": dtype \"F8_E4M3\" is no dtype"},
    {R"({"a": {"dtype": "C32", "shape": [2], "data_offsets": [0, 8]}})",
     "dtype \"C32\""},
    {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0]}})",
     "data_offsets [0] are not the 8 bytes of f32[2]"},
    {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4, 8]}})",
     "[0, 4, 8]"},
    {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}})",
     "data_offsets [8, 0]"},
    {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}})",
     "data_offsets [0, 4] are not the 8 bytes"},
    {R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}})",
     "arrays take 12 bytes, behind the header are 8"},
    {R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})",
     "arrays take 4 bytes, behind the header are 8"},
    {R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})",
     "array \"a\" begins at 4, the one before it ends at 0"},
    {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},)"
     R"("b": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})",
     "array \"b\" begins at 4, the one before it ends at 8"},
    {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},)"
     R"("b": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})",
     "begins at 0, the one before it ends at 8"},
    {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},)"
     R"("a": {"dtype": "F32", "shape": [0], "data_offsets": [8, 8]}})",
     "array \"a\" is there twice"},
    {R"({"a": {"dtype": "F32", "shape": [4294967296, 4294967296],)"
     R"("data_offsets": [0, 8]}})",
     "larger than 2^62 bytes"},
    {R"({"a": {"dtype": "U8", "shape": [18446744073709551615],)"
     R"("data_offsets": [0, 18446744073709551615]}})",
     "array \"a\""},
    {R"({"a": {"dtype": "U8", "shape": [8],)"
     R"("data_offsets": [18446744073709551608, 18446744073709551616]}})",
     "holds a number with a fraction"},
    {R"({"a": {"dtype": "U8", "shape": [0],)"
     R"("data_offsets": [18446744073709551615, 18446744073709551615]}})",
     "are not the 0 bytes"},
    {R"({"a": {"dtype": "BOOL", "shape": [8], "data_offsets": [0, 8]}})",
     "array \"a\": element 1"},
    {"{\"a\xff\": 5}", "no JSON"},
};

TEST(Safetensors, NamesArrayAndField) {
  for (const BadFile& bad : kBadFiles) {
    EXPECT_THAT(TensorsOf(TensorFile(bad.json, std::string("\0\2abcdef", 8))),
                StatusIs(StatusCode::kInvalidArgument, bad.error))
        << bad.json;
  }
}

std::string TwoArrays() {
  return TensorFile(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                    R"("b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}})",
                    "elevenbytes");
}

TEST(Safetensors, RefusesEveryOtherLength) {
  const std::string file = TwoArrays();
  ASSERT_OK(TensorsOf(file));
  for (size_t n = 0; n < file.size(); ++n) {
    EXPECT_THAT(TensorsOf(file.substr(0, n)),
                StatusIs(StatusCode::kInvalidArgument, ""))
        << "cut to " << n;
  }
  EXPECT_THAT(TensorsOf(file + "x"),
              StatusIs(StatusCode::kInvalidArgument, "behind the header"));
}

TEST(Safetensors, SurvivesEveryChangedByte) {
  const std::string file = TwoArrays();
  for (size_t n = 0; n < file.size(); ++n) {
    for (const char c : {'\0', '\xff', '9', '"', ',', '{', '[', '}'}) {
      std::string changed = file;
      changed[n] = c;
      const auto got = TensorsOf(changed);
      EXPECT_TRUE(got.ok() ||
                  got.status().code() == StatusCode::kInvalidArgument);
    }
  }
}

TEST(Safetensors, AHeaderIsNeverLongerThanTheFileOrTheReferenceAllows) {
  std::string file = TwoArrays();
  for (int i = 0; i < 8; ++i) file[i] = '\xff';
  EXPECT_THAT(TensorsOf(file),
              StatusIs(StatusCode::kInvalidArgument,
                       "header length is 18446744073709551615"));
  // 10,000 nested lists cost neither stack nor memory.
  EXPECT_THAT(TensorsOf(TensorFile("{\"a\":" + std::string(10000, '['))),
              StatusIs(StatusCode::kInvalidArgument, "holds a list"));
}

// ---- writing --------------------------------------------------------------

TEST(WriteSafetensors, EveryDTypeComesBackWhereItMayLie) {
  NamedArrays arrays;
  for (const SafetensorsType& type : kTypes) {
    arrays.push_back({absl::StrCat("the \"", type.code, "\""),
                      Literal::Zeros(Shape::Of(type.dtype, {3}))});
  }
  arrays.push_back({"", Literal::Scalar(5.0f)});
  const std::string path = TemporaryPath("all.safetensors");
  ASSERT_OK(WriteSafetensors(path, arrays));
  ASSERT_OK_AND_ASSIGN(const FileBytes file, MapFile(path));
  EXPECT_TRUE(LooksLikeSafetensors(file));
  ASSERT_OK_AND_ASSIGN(const NamedArrays got, ParseSafetensors(file));
  ASSERT_EQ(got.size(), arrays.size());
  for (const NamedArray& array : got) {
    const auto same =
        std::find_if(arrays.begin(), arrays.end(),
                     [&](const auto& a) { return a.name == array.name; });
    ASSERT_NE(same, arrays.end()) << array.name;
    EXPECT_THAT(array.value, LiteralBitEquals(same->value));
    const char* bytes = array.value.bytes().data();
    EXPECT_TRUE(bytes >= file.data.get() && bytes < file.data.get() + file.size)
        << array.name << " was copied";
  }
}

TEST(WriteSafetensors, WritesTheseBytes) {
  const std::string path = TemporaryPath("two.safetensors");
  ASSERT_OK(WriteSafetensors(path, {{"y", Literal::Vector<uint8_t>({7, 8})},
                                    {"x", Literal::Vector<float>({1})}}));
  EXPECT_EQ(
      ReadBytes(path),
      TensorFile(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                 R"("y":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}})"
                 "      ",
                 std::string("\0\0\x80\x3f\7\x8", 6)));
}

TEST(WriteSafetensors, NamesWhatItCannotWrite) {
  const std::string path = TemporaryPath("never.safetensors");
  const Literal one = Literal::Scalar(1.0f);
  const struct {
    NamedArrays arrays;
    const char* error;
  } kCases[] = {
      {{}, "there are no arrays"},
      {{{"x", Literal()}}, "array \"x\" has no value"},
      {{{"x", one}, {"x", one}}, "array \"x\" is there twice"},
      {{{"__metadata__", one}}, "no such names"},
      {{{"\xff", one}}, "array \"\\xff\": safetensors has no such names"},
  };
  for (const auto& bad : kCases) {
    const absl::Status got = WriteSafetensors(path, bad.arrays);
    EXPECT_THAT(got, StatusIs(StatusCode::kInvalidArgument, path));
    EXPECT_THAT(got, StatusIs(StatusCode::kInvalidArgument, bad.error));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THAT(WriteSafetensors("/no/such/x.safetensors", {{"x", one}}),
              StatusIs(StatusCode::kNotFound, "/no/such/x.safetensors"));
}

}  // namespace
}  // namespace hawser
