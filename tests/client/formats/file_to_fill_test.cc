// Files that are written through a mapping.
#include "client/formats/files/file_to_fill.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "client/formats/numpy/npy.h"
#include "client/formats/safetensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/formats/temporary_file.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FileToFill, HasItsNameOnceItIsKept) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("x", "old");
  ASSERT_OK_AND_ASSIGN(FileToFill file, FileToFill::Create(path, 5));
  EXPECT_EQ(file.bytes().size(), 5u);
  EXPECT_TRUE(file.bytes() == absl::MakeConstSpan("\0\0\0\0\0", 5));
  const std::string text = "fresh";
  std::copy(text.begin(), text.end(), file.bytes().begin());
  EXPECT_EQ(ReadBytes(path), "old");
  FileToFill moved = std::move(file);
  EXPECT_OK(moved.Keep());
  EXPECT_EQ(ReadBytes(path), "fresh");
  EXPECT_THAT(folder.Files(), ElementsAre("x"));
}

TEST(FileToFill, MayBeEmpty) {
  const TemporaryFolder folder;
  ASSERT_OK_AND_ASSIGN(FileToFill file,
                       FileToFill::Create(folder.Path("x"), 0));
  EXPECT_THAT(file.bytes(), IsEmpty());
  EXPECT_OK(file.Keep());
  EXPECT_EQ(ReadBytes(folder.Path("x")), "");
}

TEST(FileToFill, LeavesNothingWhenItIsNotKept) {
  const TemporaryFolder folder;
  {
    ASSERT_OK_AND_ASSIGN(const FileToFill file,
                         FileToFill::Create(folder.Path("x"), 5));
    EXPECT_EQ(folder.Files().size(), 1u);
  }
  EXPECT_THAT(folder.Files(), IsEmpty());
  // A folder has taken the name meanwhile.
  ASSERT_OK_AND_ASSIGN(FileToFill file,
                       FileToFill::Create(folder.Path("y"), 5));
  folder.Write("y/inside", "");
  EXPECT_FALSE(file.Keep().ok());
  EXPECT_THAT(folder.Files(), ElementsAre("y/inside"));
}

TEST(FileToFill, WithoutRoomThereIsAnErrorAndNoFile) {
  EXPECT_THAT(FileToFill::Create("/no/such/x", 1),
              StatusIs(absl::StatusCode::kNotFound, "/no/such/x"));
  const TemporaryFolder folder;
  const std::string path = folder.Path("x");
  const auto file = FileToFill::Create(path, int64_t{1} << 62);
  EXPECT_FALSE(file.ok());
  EXPECT_NE(file.status().message().find(path), absl::string_view::npos);
  EXPECT_THAT(folder.Files(), IsEmpty());
}

// Elements are in the order of the caller, whatever their order in the file.
TEST(LayOutSafetensors, SaysWhereEachArrayBelongs) {
  const TemporaryFolder folder;
  const std::string path = folder.Path("x.safetensors");
  const Literal narrow = Literal::Vector<uint8_t>({1, 2, 3});
  const Literal wide = Literal::Vector<double>({4, 5});
  const Literal none = Literal::Zeros(Shape::Of(DType::kF32, {0}));
  ASSERT_OK_AND_ASSIGN(ArraysToFill file,
                       LayOutSafetensors(path, {{"narrow", narrow.shape()},
                                                {"none", none.shape()},
                                                {"wide", wide.shape()}}));
  const Literal* const values[] = {&narrow, &none, &wide};
  for (size_t i = 0; i < 3; ++i) {
    const auto bytes = values[i]->bytes();
    ASSERT_EQ(file.elements[i].size(), bytes.size());
    std::copy(bytes.begin(), bytes.end(), file.elements[i].begin());
  }
  EXPECT_OK(file.file.Keep());
  const std::string laid_out = ReadBytes(path);
  ASSERT_OK(WriteSafetensors(
      path, {{"wide", wide}, {"narrow", narrow}, {"none", none}}));
  EXPECT_EQ(laid_out, ReadBytes(path));
}

}  // namespace
}  // namespace hawser
