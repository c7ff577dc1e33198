// Files of arrays in every format that is written.
#include <string>
#include <vector>

#include "client/formats/array_file.h"
#include "client/formats/numpy/npz.h"
#include "client/formats/zip/zip.h"
#include "client/formats/zip/zip_layout.h"
#include "gtest/gtest.h"
#include "tests/client/formats/temporary_file.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

const NamedArrays& Arrays() {
  static const auto& arrays =
      *new NamedArrays{{"x", Literal::Of<float>({1, 2, 3, 4, 5, 6}, {2, 3})},
                       {"deep/y.z", Literal::Vector<uint8_t>({7, 8, 9})},
                       {"flag", Literal::Scalar(true)},
                       {"none", Literal::Zeros(Shape::Of(DType::kS64, {0, 4}))},
                       {"last", Literal::Vector<double>({-1.5})}};
  return arrays;
}

TEST(WriteArrays, ComeBackAsTheyWere) {
  for (const char* name : {"all.npz", "all.safetensors", "ALL.NPZ"}) {
    const std::string path = TemporaryPath(name);
    EXPECT_TRUE(HoldsNames(path));
    ASSERT_OK(WriteArrays(path, Arrays()));
    ASSERT_OK_AND_ASSIGN(const NamedArrays back, ReadArrays(path, {}));
    ASSERT_EQ(back.size(), Arrays().size());
    for (const NamedArray& array : back) {
      for (const NamedArray& wrote : Arrays()) {
        if (wrote.name != array.name) continue;
        EXPECT_THAT(array.value, LiteralBitEquals(wrote.value));
      }
    }
  }
  const std::string one = TemporaryPath("one.npy");
  EXPECT_FALSE(HoldsNames(one));
  ASSERT_OK(WriteArrays(one, {{"any", Arrays()[0].value}}));
  EXPECT_THAT(*ReadArray(one), LiteralBitEquals(Arrays()[0].value));
}

TEST(WriteArrays, MembersOfANpzMayBeMapped) {
  const std::string path = TemporaryPath("mapped.npz");
  ASSERT_OK(WriteArrays(path, Arrays()));
  ASSERT_OK_AND_ASSIGN(const FileBytes file, MapFile(path));
  ASSERT_OK_AND_ASSIGN(const auto members, ReadZipDirectory(file));
  ASSERT_EQ(members.size(), Arrays().size());
  for (size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(members[i].name, Arrays()[i].name + ".npy");
    EXPECT_FALSE(members[i].deflated);
    EXPECT_EQ((members[i].packed.data.get() - file.data.get()) % 64, 0) << i;
    EXPECT_OK(UnpackMember(members[i]).status());
  }
}

TEST(WriteArrays, OfAnNpzAreTheSameBytesEveryTime) {
  const std::string a = TemporaryPath("a.npz"), b = TemporaryPath("b.npz");
  ASSERT_OK(WriteArrays(a, Arrays()));
  ASSERT_OK(WriteArrays(b, Arrays()));
  EXPECT_EQ(ReadBytes(a), ReadBytes(b));
}

TEST(WriteArrays, NamesWhatItCannotWrite) {
  const Literal x = Literal::Scalar(1.0f);
  const Literal narrow = Literal::Zeros(Shape::Of(DType::kBF16, {2}));
  struct Bad {
    const char* path;
    NamedArrays arrays;
    const char* text;
  };
  const Bad bads[] = {
      {"bad.npz", {}, "there are no arrays"},
      {"bad.npz", {{"x", x}, {"x", x}}, "two members are called \"x.npy\""},
      {"bad.npz", {{"../x", x}}, "no relative path"},
      {"bad.npz", {{"/x", x}}, "no relative path"},
      {"bad.npz", {{"a\nb", x}}, "no relative path"},
      {"bad.npz", {{"n", narrow}}, "array \"n\": "},
      {"bad.npz", {{"v", Literal()}}, "array \"v\" has no value"},
      {"bad.npy", {{"x", x}, {"y", x}}, "holds one array, not 2"},
      {"bad.csv", {{"x", x}}, "is called none of .safetensors .npy .npz"},
  };
  for (const Bad& bad : bads) {
    const std::string path = TemporaryPath(bad.path);
    const absl::Status got = WriteArrays(path, bad.arrays);
    EXPECT_THAT(got, StatusIs(StatusCode::kInvalidArgument, bad.text));
    EXPECT_THAT(got, StatusIs(StatusCode::kInvalidArgument, bad.path));
    EXPECT_FALSE(MapFile(path).ok()) << "nothing is left";
  }
}

}  // namespace
}  // namespace hawser
