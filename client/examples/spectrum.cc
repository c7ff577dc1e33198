// The spectrum of a recording as a picture: time to the right, frequency
// upwards.
//
// The samples of a WAV file are cut into frames that overlap by half, which a
// window fades in and out; the strength of each frequency of each frame is a
// pixel, in decibels. Without a file it makes a recording: a tone that rises.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "client/hawser.h"
#include "core/base/status.h"

ABSL_FLAG(std::string, wav, "", "the recording: PCM of 16 bits");
ABSL_FLAG(std::string, picture, "spectrum.pgm", "what is written");
ABSL_FLAG(int, frame, 1024, "samples of a frame");
ABSL_FLAG(double, range, 80, "decibels from black to white");

namespace hawser {
namespace {

struct Recording {
  int64_t rate = 0;  // samples a second
  std::vector<float> samples;
};

// Numbers of a WAV file, the lowest byte first.
uint32_t NumberAt(const std::string& bytes, size_t at, int width) {
  uint32_t number = 0;
  for (int k = width; k-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[at + k]);
  }
  return number;
}

// The samples of chunk "data" at `at`, the mean of all channels.
Recording SamplesOf(const std::string& bytes, size_t at, size_t size,
                    int64_t rate, int channels) {
  Recording recording{.rate = rate};
  const size_t step = 2 * static_cast<size_t>(channels);
  for (size_t k = 0; k + step <= size; k += step) {
    int sum = 0;
    for (int c = 0; c < channels; ++c) {
      sum += static_cast<int16_t>(NumberAt(bytes, at + k + 2 * c, 2));
    }
    recording.samples.push_back(static_cast<float>(sum) /
                                (32768.0F * static_cast<float>(channels)));
  }
  return recording;
}

absl::StatusOr<Recording> ReadWav(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  if (bytes.size() < 12 || bytes.compare(0, 4, "RIFF") != 0 ||
      bytes.compare(8, 4, "WAVE") != 0) {
    return InvalidArgument(path, " is no WAV file");
  }
  int channels = 0;
  int64_t rate = 0;
  for (size_t at = 12; at + 8 <= bytes.size();) {
    const size_t body = at + 8;
    const size_t size =
        std::min<size_t>(NumberAt(bytes, at + 4, 4), bytes.size() - body);
    if (bytes.compare(at, 4, "fmt ") == 0 && size >= 16) {
      const uint32_t kind = NumberAt(bytes, body, 2);
      channels = static_cast<int>(NumberAt(bytes, body + 2, 2));
      rate = NumberAt(bytes, body + 4, 4);
      if (kind != 1 || NumberAt(bytes, body + 14, 2) != 16 || channels == 0) {
        return InvalidArgument(path, " has other samples than PCM of 16 bits");
      }
    } else if (bytes.compare(at, 4, "data") == 0 && channels > 0) {
      return SamplesOf(bytes, body, size, rate, channels);
    }
    at = body + size + size % 2;
  }
  return InvalidArgument(path, " has no samples");
}

// Two seconds that rise from 200 to 3,800 Hz.
Recording RisingTone() {
  Recording recording{.rate = 8000};
  for (int k = 0; k < 16000; ++k) {
    const double t = k / 8000.0;
    const double turns = 200 * t + 900 * t * t;
    recording.samples.push_back(
        static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * turns)));
  }
  return recording;
}

struct Spectrum {
  Tensor picture;   // u8[frame / 2 + 1, frames], the highest frequency on top
  Tensor strength;  // f32[frame / 2 + 1], the mean of all frames
};
auto HawserFields(Spectrum& s) { return std::tie(s.picture, s.strength); }

Spectrum SpectrumOf(const Tensor& samples, int64_t frame, double range) {
  const int64_t hop = frame / 2, halves = samples.dim(0) / hop;
  const Tensor pieces = Reshape(samples[Range(0, halves * hop)], {halves, hop});
  const Tensor frames =
      Concatenate({pieces[Range(0, halves - 1)], pieces[Range(1, halves)]}, 1);
  const Tensor turn = Iota(DType::kF32, {frame}) *
                      (2 * std::numbers::pi / static_cast<double>(frame));
  const Tensor window = 0.5 - 0.5 * Cos(turn);
  const Tensor power = Square(Abs(Rfft(frames * window)));
  const Tensor decibels = 10 * Log10(Maximum(power, 1e-20));
  const Tensor above = decibels - ReduceMax(decibels) + range;
  const Tensor grey = Clip(above * (255 / range), 0, 255);
  return {Reverse(Transpose(Convert(Round(grey), DType::kU8)), {0}),
          Mean(power, {.axis = 0})};
}

absl::Status WritePicture(const std::string& path, const Literal& picture) {
  std::ofstream out(path, std::ios::binary);
  out << "P5\n"
      << picture.shape().dim(1) << " " << picture.shape().dim(0) << "\n255\n";
  const auto bytes = picture.bytes();
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (out.fail()) return Unavailable("cannot write ", path);
  return absl::OkStatus();
}

absl::Status Run() {
  const std::string wav = absl::GetFlag(FLAGS_wav);
  Recording recording = RisingTone();
  if (!wav.empty()) {
    HAWSER_ASSIGN_OR_RETURN(recording, ReadWav(wav));
  }
  const int64_t frame = absl::GetFlag(FLAGS_frame);
  const auto count = static_cast<int64_t>(recording.samples.size());
  if (frame < 2 || frame % 2 != 0 || count < frame) {
    return InvalidArgument("frames of ", frame, " samples, of ", count);
  }
  const double range = absl::GetFlag(FLAGS_range);
  auto spectrum =
      Jit([=](Tensor samples) { return SpectrumOf(samples, frame, range); });
  HAWSER_ASSIGN_OR_RETURN(
      const Spectrum found,
      spectrum(Constant(Literal::Of<float>(recording.samples, {count}))));
  HAWSER_ASSIGN_OR_RETURN(const Literal picture, found.picture.Fetch());
  HAWSER_ASSIGN_OR_RETURN(const Literal strength, found.strength.Fetch());
  const std::string path = absl::GetFlag(FLAGS_picture);
  HAWSER_RETURN_IF_ERROR(WritePicture(path, picture));
  const auto of = strength.data<float>();
  const auto loudest = std::max_element(of.begin(), of.end()) - of.begin();
  std::printf("%.2f s on %s, loudest at %.0f Hz; %s: %d x %d\n",
              static_cast<double>(count) / static_cast<double>(recording.rate),
              found.picture.ran_on().c_str(),
              static_cast<double>(loudest) *
                  static_cast<double>(recording.rate) /
                  static_cast<double>(frame),
              path.c_str(), static_cast<int>(picture.shape().dim(1)),
              static_cast<int>(picture.shape().dim(0)));
  return absl::OkStatus();
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "The spectrum of a WAV file as a picture, computed on the server that "
      "HAWSER_SERVERS names, or on this machine's CPU.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = hawser::Run();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
