// The picture of a recording shows where its tone is.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "client/formats/array_file.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"

namespace hawser {
namespace {

using testing::Process;

void Append(uint32_t number, int width, std::string* to) {
  for (int k = 0; k < width; ++k) {
    *to += static_cast<char>(number >> 8 * k);
  }
}

// Two channels of one tone, behind a chunk that nothing has to know.
void WriteTone(const std::string& path, int rate, double hertz) {
  std::string format, data;
  for (const auto& [number, width] : std::vector<std::pair<uint32_t, int>>{
           {1, 2}, {2, 2}, {rate, 4}, {4 * rate, 4}, {4, 2}, {16, 2}}) {
    Append(number, width, &format);
  }
  for (int k = 0; k < rate; ++k) {
    const double wave = std::sin(2 * M_PI * hertz * k / rate);
    for (int c = 0; c < 2; ++c) {
      Append(static_cast<uint16_t>(std::lround(12000 * wave)), 2, &data);
    }
  }
  std::string file = "RIFF----WAVELIST";
  Append(3, 4, &file);
  file += std::string("abc\0", 4) + "fmt ";
  Append(16, 4, &file);
  file += format + "data";
  Append(static_cast<uint32_t>(data.size()), 4, &file);
  std::ofstream(path, std::ios::binary) << file + data;
}

std::string RunExample(const std::vector<std::string>& flags, int want) {
  std::vector<std::string> command = {
      testing::Runfile("client/examples/spectrum")};
  command.insert(command.end(), flags.begin(), flags.end());
  auto program = Process::Start(command, {"HAWSER_SERVERS="});
  EXPECT_OK(program);
  if (!program.ok()) return "";
  const auto exit_code = program->Wait(absl::Seconds(50));
  EXPECT_OK(exit_code);
  EXPECT_EQ(exit_code.value_or(-1), want) << program->output();
  return program->output();
}

TEST(Spectrum, ShowsTheTone) {
  const std::string wav = ::testing::TempDir() + "/tone.wav";
  const std::string picture = ::testing::TempDir() + "/tone.pgm";
  WriteTone(wav, 16000, 2000);
  EXPECT_THAT(
      RunExample({"--wav=" + wav, "--picture=" + picture, "--frame=512"}, 0),
      ::testing::HasSubstr("1.00 s on cpu, loudest at 2000 Hz"));
  ASSERT_OK_AND_ASSIGN(const Literal pixels, ReadArray(picture));
  // 62 halves, so one frame less; 2,000 Hz is number 64 of 257 from below.
  ASSERT_EQ(pixels.shape(), Shape::Of(DType::kU8, {257, 61}));
  const auto grey = pixels.data<uint8_t>();
  for (int frame = 0; frame < 61; ++frame) {
    int brightest = 0;
    for (int row = 0; row < 257; ++row) {
      if (grey[row * 61 + frame] > grey[brightest * 61 + frame]) {
        brightest = row;
      }
    }
    EXPECT_EQ(brightest, 256 - 64) << frame;
  }
}

TEST(Spectrum, MakesARecordingOfItsOwn) {
  const std::string picture = ::testing::TempDir() + "/own.pgm";
  EXPECT_THAT(RunExample({"--picture=" + picture}, 0),
              ::testing::HasSubstr("2.00 s on cpu"));
}

TEST(Spectrum, RefusesWhatIsNoRecording) {
  const std::string wav = ::testing::TempDir() + "/none.wav";
  std::ofstream(wav) << "RIFF but no more";
  EXPECT_THAT(RunExample({"--wav=" + wav}, 1),
              ::testing::HasSubstr("is no WAV file"));
  EXPECT_THAT(RunExample({"--frame=3"}, 1),
              ::testing::HasSubstr("frames of 3"));
}

}  // namespace
}  // namespace hawser
