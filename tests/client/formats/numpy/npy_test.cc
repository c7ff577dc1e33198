#include "client/formats/numpy/npy.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/formats/numpy/npy_header.h"
#include "gtest/gtest.h"
#include "tests/client/formats/numpy/numpy_files.h"
#include "tests/client/formats/temporary_file.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

absl::StatusOr<Literal> NpyOf(const std::string& bytes) {
  return ParseNpy(FileBytes::Of(bytes));
}

// A format 1 file with this dictionary and this data.
std::string NpyFile(const std::string& dictionary,
                    const std::string& data = "") {
  std::string file = std::string(kNpyMagic) + std::string("\1\0", 2);
  file += static_cast<char>(dictionary.size() & 0xFF);
  file += static_cast<char>(dictionary.size() >> 8);
  return file + dictionary + data;
}

// ---- against NumPy --------------------------------------------------------

class NumpyFileTest : public ::testing::TestWithParam<NumpyFile> {};

TEST_P(NumpyFileTest, ReadsWhatNumpyWrote) {
  ASSERT_OK_AND_ASSIGN(const Literal got,
                       NpyOf(absl::HexStringToBytes(GetParam().file)));
  EXPECT_EQ(got.shape().ToString(), GetParam().shape);
  EXPECT_EQ(absl::BytesToHexString(
                absl::string_view(got.bytes().data(), got.bytes().size())),
            GetParam().data);
}

TEST_P(NumpyFileTest, WritesTheSameBytes) {
  if (!GetParam().as_written) return;  // another format or order
  const std::string bytes = absl::HexStringToBytes(GetParam().file);
  ASSERT_OK_AND_ASSIGN(const Literal value, NpyOf(bytes));
  const std::string path = TemporaryPath(absl::StrCat(GetParam().name, ".npy"));
  ASSERT_OK(WriteNpy(path, value));
  EXPECT_EQ(absl::BytesToHexString(ReadBytes(path)), GetParam().file);
}

// Every cut is an error and never a crash; so is every longer file.
TEST_P(NumpyFileTest, RefusesEveryOtherLength) {
  const std::string bytes = absl::HexStringToBytes(GetParam().file);
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THAT(NpyOf(bytes.substr(0, n)),
                StatusIs(StatusCode::kInvalidArgument, ""))
        << "cut to " << n;
  }
  EXPECT_THAT(NpyOf(bytes + '\0'),
              StatusIs(StatusCode::kInvalidArgument, "behind the header"));
}

TEST_P(NumpyFileTest, SurvivesEveryChangedByte) {
  const std::string bytes = absl::HexStringToBytes(GetParam().file);
  for (size_t n = 0; n < bytes.size(); ++n) {
    for (const char c : {'\0', '\xff', '9', '\'', ',', '('}) {
      std::string changed = bytes;
      changed[n] = c;
      const auto got = NpyOf(changed);
      EXPECT_TRUE(got.ok() ||
                  got.status().code() == StatusCode::kInvalidArgument);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Numpy, NumpyFileTest, ::testing::ValuesIn(kNumpyFiles),
                         [](const auto& info) { return info.param.name; });

// ---- headers --------------------------------------------------------------

struct BadHeader {
  const char* name;
  const char* dictionary;
  const char* error;
};
constexpr BadHeader kBadHeaders[] = {
    {"NoDictionary", "[1, 2]", "no dictionary"},
    {"Empty", "{}", "descr is missing"},
    {"NoDescr", "{'fortran_order': False, 'shape': (1,)}", "descr is missing"},
    {"NoOrder", "{'descr': '<f4', 'shape': (1,)}", "fortran_order is missing"},
    {"NoShape", "{'descr': '<f4', 'fortran_order': False}", "shape is missing"},
    {"Twice", "{'descr': '<f4', 'descr': '<f4'}", "descr is there twice"},
    {"Unknown", "{'descr': '<f4', 'colour': 1}", "unknown field \"colour\""},
    {"Structured", "{'descr': [('a', '<f4')]}", "descr is malformed"},
    {"Unterminated", "{'descr': '<f4", "descr is malformed"},
    {"OrderIsInt", "{'fortran_order': 0}", "fortran_order is malformed"},
    {"NoColon", "{'shape' (1,)}", "header is malformed"},
    {"NoComma", "{'fortran_order': False 'shape': (1,)}",
     "header is malformed at"},
    {"NotClosed", "{'fortran_order': False,", "header is malformed at \"\""},
    {"GoesOn", "{'descr': '<f4', 'fortran_order': False, 'shape': ()} {}",
     "goes on after its end"},
    {"NegativeSize", "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
     "shape is malformed"},
    {"NoTuple", "{'descr': '<f4', 'fortran_order': False, 'shape': (3)}",
     "shape is malformed"},
    {"List", "{'descr': '<f4', 'fortran_order': False, 'shape': [3]}",
     "shape is malformed"},
    {"SizeOf70Bits",
     "{'descr': '<f4', 'fortran_order': False, "
     "'shape': (1180591620717411303424,)}",
     "shape is malformed"},
    {"Overflow",
     "{'descr': '<f4', 'fortran_order': False, "
     "'shape': (4294967296, 4294967296)}",
     "larger than 2^62 bytes"},
    {"Rank17",
     "{'descr': '<f4', 'fortran_order': False, "
     "'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
     "rank 17"},
    {"Text", "{'descr': '<U4', 'fortran_order': False, 'shape': (1,)}",
     "descr \"<U4\""},
    {"Object", "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
     "descr \"|O\""},
    {"LongDouble", "{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}",
     "descr \"<f16\""},
    {"Bf16", "{'descr': '<V2', 'fortran_order': False, 'shape': (1,)}",
     "descr \"<V2\""},
    {"NoDtype", "{'descr': '', 'fortran_order': False, 'shape': (1,)}",
     "descr \"\""},
    {"Huge",
     "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,)}",
     "takes 4398046511104 bytes, got 0"},
};

class BadHeaderTest : public ::testing::TestWithParam<BadHeader> {};

TEST_P(BadHeaderTest, NamesFileAndField) {
  const std::string path =
      WriteBytes(absl::StrCat("bad_", GetParam().name, ".npy"),
                 NpyFile(GetParam().dictionary));
  const auto got = ReadNpy(path);
  EXPECT_THAT(got, StatusIs(StatusCode::kInvalidArgument, path));
  EXPECT_THAT(got, StatusIs(StatusCode::kInvalidArgument, GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(Npy, BadHeaderTest, ::testing::ValuesIn(kBadHeaders),
                         [](const auto& info) { return info.param.name; });

TEST(Npy, TakesOtherWritersSpellings) {
  // Another order of fields, double quotes, no blanks, Python 2's long
  // integers, native and missing byte order, no final newline.
  const std::string data("\1\0\0\0\2\0\0\0", 8);
  for (const char* descr : {"<i4", "=i4", "|i4", "i4"}) {
    const std::string dictionary = absl::StrReplaceAll(
        "{\"shape\":(2L,),\"fortran_order\":False,"
        "\"descr\":\"DESCR\"}",
        {{"DESCR", descr}});
    EXPECT_THAT(*NpyOf(NpyFile(dictionary, data)),
                LiteralBitEquals(Literal::Vector<int32_t>({1, 2})));
  }
}

TEST(Npy, RefusesVersionsAndMagic) {
  std::string file = NpyFile("{}");
  file[6] = 4;
  EXPECT_THAT(NpyOf(file),
              StatusIs(StatusCode::kInvalidArgument, "version is 4.0"));
  file[0] = 'N';
  EXPECT_THAT(NpyOf(file), StatusIs(StatusCode::kInvalidArgument, "magic"));
}

TEST(Npy, RefusesHeaderLongerThanTheFile) {
  std::string file = NpyFile("{}");
  file[6] = 2;  // the length is four bytes now: '{', '}' among them
  file += "\xff\xff";
  EXPECT_THAT(NpyOf(file),
              StatusIs(StatusCode::kInvalidArgument, "header length is"));
}

TEST(Npy, RefusesBoolsThatAreNeither0Nor1) {
  EXPECT_THAT(NpyOf(NpyFile("{'descr': '|b1', 'fortran_order': False, "
                         "'shape': (3,)}",
                         std::string("\0\1\2", 3))),
              StatusIs(StatusCode::kInvalidArgument, "element 2"));
}

// ---- memory ---------------------------------------------------------------

TEST(Npy, MapsInsteadOfReading) {
  // A hole of 64 GiB: a reader that allocated or read it would not return.
  const std::string path = TemporaryPath("sparse.npy");
  const Shape shape = Shape::Of(DType::kF32, {int64_t{1} << 34});
  ASSERT_OK_AND_ASSIGN(const std::string header, NpyHeaderOf(shape));
  WriteBytes("sparse.npy", header);
  std::error_code error;
  std::filesystem::resize_file(path, header.size() + shape.byte_size(), error);
  if (error) GTEST_SKIP() << "no sparse files here: " << error.message();
  ASSERT_OK_AND_ASSIGN(const Literal value, ReadNpy(path));
  EXPECT_EQ(value.shape(), shape);
  EXPECT_EQ(value.data<float>().back(), 0.0f);
  std::filesystem::remove(path);
}

// A donated argument would otherwise be written into a read-only page.
TEST(Npy, MappedValueIsNotOfferedForWriting) {
  const std::string path = TemporaryPath("mapped.npy");
  ASSERT_OK(WriteNpy(path, Literal::Vector<float>({1, 2})));
  ASSERT_OK_AND_ASSIGN(const Literal value, ReadNpy(path));
  EXPECT_FALSE(value.unique());
}

TEST(Npy, CopiesElementsThatLieAtAnOddPlace) {
  const std::string dictionary =
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}";
  for (int blanks = 0; blanks < 8; ++blanks) {
    const std::string data("\0\0\0\0\0\0\xf0\x3f", 8);
    ASSERT_OK_AND_ASSIGN(
        const Literal value,
        NpyOf(NpyFile(dictionary + std::string(blanks, ' '), data)));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(value.bytes().data()) % 8, 0u);
    EXPECT_EQ(value.data<double>()[0], 1.0);
  }
}

// ---- writing --------------------------------------------------------------

TEST(Npy, ReplacesAFileWhileItsOldValueIsMapped) {
  const std::string path = TemporaryPath("replaced.npy");
  ASSERT_OK(WriteNpy(path, Literal::Vector<int8_t>({1, 2, 3})));
  ASSERT_OK_AND_ASSIGN(const Literal old, ReadNpy(path));
  ASSERT_OK(WriteNpy(path, Literal::Scalar<int8_t>(9)));
  EXPECT_THAT(old, LiteralEquals(Literal::Vector<int8_t>({1, 2, 3})));
  EXPECT_THAT(*ReadNpy(path), LiteralEquals(Literal::Scalar<int8_t>(9)));
}

TEST(Npy, WriteNamesWhatItCannotWrite) {
  const std::string path = TemporaryPath("bf16.npy");
  EXPECT_THAT(WriteNpy(path, Literal::Scalar(BFloat16(1.0f))),
              StatusIs(StatusCode::kInvalidArgument, "bf16"));
  EXPECT_THAT(WriteNpy(path, Literal()),
              StatusIs(StatusCode::kInvalidArgument, "no value"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Npy, WriteToNowhereLeavesNothing) {
  const std::string path = TemporaryPath("no/such/folder/x.npy");
  EXPECT_THAT(WriteNpy(path, Literal::Scalar(1.0f)),
              StatusIs(StatusCode::kNotFound, path));
  // A folder has the name: the rename fails, the unfinished file is removed.
  const std::string folder = TemporaryPath("folder.npy");
  std::filesystem::create_directories(folder + "/inside");
  EXPECT_FALSE(WriteNpy(folder, Literal::Scalar(1.0f)).ok());
  for (const auto& entry :
       std::filesystem::directory_iterator(::testing::TempDir())) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  }
}

TEST(Npy, ReadNamesTheFile) {
  EXPECT_THAT(ReadNpy("/no/such.npy"),
              StatusIs(StatusCode::kNotFound, "/no/such.npy"));
  EXPECT_THAT(ReadNpy(::testing::TempDir()),
              StatusIs(StatusCode::kInvalidArgument, "regular file"));
  const std::string pipe = TemporaryPath("pipe");
  ::mkfifo(pipe.c_str(), 0600);
  EXPECT_THAT(ReadNpy(pipe),
              StatusIs(StatusCode::kInvalidArgument, "regular file"));
}

}  // namespace
}  // namespace hawser
