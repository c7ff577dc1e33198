// The program on the front page does what it says.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "client/formats/numpy/npy.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"

namespace hawser {
namespace {

using testing::Process;

// 1,024 rows whose label is a fixed combination of their pixels.
void WriteData() {
  constexpr int kRows = 1024, kColumns = 784;
  Literal x = Literal::Uninitialized(Shape::Of(DType::kF32, {kRows, kColumns}));
  Literal y = Literal::Uninitialized(Shape::Of(DType::kF32, {kRows}));
  const auto pixels = x.mutable_data<float>();
  const auto labels = y.mutable_data<float>();
  uint32_t state = 1;
  for (int row = 0; row < kRows; ++row) {
    labels[row] = 0;
    for (int column = 0; column < kColumns; ++column) {
      state = state * 1664525 + 1013904223;
      const float pixel = (static_cast<int>(state >> 24) - 128) / 128.0f;
      pixels[row * kColumns + column] = pixel;
      labels[row] += pixel * (column % 7) / 10;
    }
  }
  ASSERT_OK(WriteNpy("x.npy", x));
  ASSERT_OK(WriteNpy("y.npy", y));
}

TEST(Readme, ItsProgramLearns) {
  char* binary =
      realpath(testing::Runfile("client/examples/readme_example").c_str(),
               nullptr);
  ASSERT_NE(binary, nullptr);
  const std::string path = binary;
  std::free(binary);
  ASSERT_EQ(chdir(::testing::TempDir().c_str()), 0);
  WriteData();
  auto program = Process::Start({path}, {"HAWSER_SERVERS="});
  ASSERT_OK(program);
  const auto exit_code = program->Wait(absl::Seconds(50));
  ASSERT_OK(exit_code);
  ASSERT_EQ(*exit_code, 0) << program->output();
  // "f32[] {0.0123} on cpu"
  const std::vector<std::string> words =
      absl::StrSplit(program->output(), ' ', absl::SkipWhitespace());
  ASSERT_EQ(words.size(), 4u) << program->output();
  EXPECT_EQ(words[0], "f32[]");
  float loss = -1;
  ASSERT_TRUE(absl::SimpleAtof(absl::StripSuffix(
      absl::StripPrefix(words[1], "{"), "}"), &loss)) << words[1];
  EXPECT_GE(loss, 0);
  EXPECT_LT(loss, 3);  // of labels whose mean square is about 34
  EXPECT_EQ(words[3], "cpu\n");
}

}  // namespace
}  // namespace hawser
