// A convolutional network on Fashion-MNIST: two convolutions with pooling, then
// a hidden layer with dropout.
//
// The images are put once and used by token; an epoch is one call (see
// classifier.h). When the server goes away, the epoch is made again here from
// what is known, and training goes on. `--filters_out=F.pgm` writes the first
// convolution's filters, as they became, as a picture.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "client/examples/server_kill/server_kill.h"
#include "client/examples/training/classifier.h"
#include "client/hawser.h"
#include "core/base/status.h"

ABSL_FLAG(std::string, data, "/usr/share/datasets/fashion-mnist",
          "folder of the four gzipped IDX files");
ABSL_FLAG(int, epochs, 5, "how often each image is seen");
ABSL_FLAG(int, images, 60000, "training images, the first ones");
ABSL_FLAG(int, batch, 64, "images a step");
ABSL_FLAG(int, filters, 16, "of the first convolution; the second has twice");
ABSL_FLAG(int, hidden, 128, "size of the hidden layer");
ABSL_FLAG(double, dropout, 0.25, "part of the hidden layer left out of a step");
ABSL_FLAG(double, rate, 1e-3, "Adam's learning rate");
ABSL_FLAG(int, seed, 1, "of everything that is random");
ABSL_FLAG(std::string, filters_out, "",
          "a PGM file of the first convolution's filters; empty: none");

namespace hawser {
namespace {

constexpr int64_t kSide = 28;
constexpr int64_t kWindow = 5;  // of both convolutions
constexpr int64_t kClasses = 10;

// A convolution, a bias, a ReLU, and the largest of each 2 x 2 places.
Tensor Layer(const Tensor& x, const Tensor& kernel, const Tensor& bias) {
  const Tensor y =
      Conv(x, kernel, {.same_size = true, .layout = ConvLayout::kFeaturesLast});
  return WindowMax(Maximum(y + bias, 0), {1, 2, 2, 1},
                   {.strides = {1, 2, 2, 1}});
}

Tensor Scores(const Parameters& p, const Tensor& images, const Tensor& key) {
  const Tensor x = Reshape(Convert(images, DType::kF32) / 255,
                           {images.dim(0), kSide, kSide, 1});
  const Tensor features = Layer(Layer(x, p[0], p[1]), p[2], p[3]);
  const Tensor rows = Reshape(features, {images.dim(0), -1});
  Tensor hidden = Maximum(Dot(rows, p[4]) + p[5], 0);
  if (key.dim(0) == 2) {
    const float kept = static_cast<float>(1 - absl::GetFlag(FLAGS_dropout));
    const Tensor stays = RandomBernoulli(key, kept, hidden.shape().dims());
    hidden = Select(stays, hidden / kept, 0);
  }
  return Dot(hidden, p[6]) + p[7];
}

// A kernel [5, 5, features, out] for a layer before a ReLU.
Tensor RandomKernel(Tensor key, int64_t features, int64_t out) {
  return Reshape(RandomLayer(key, kWindow * kWindow * features, out),
                 {kWindow, kWindow, features, out});
}

Classifier Network() {
  const int64_t filters = absl::GetFlag(FLAGS_filters);
  const int64_t hidden = absl::GetFlag(FLAGS_hidden);
  return {
      .make =
          [=](Tensor key) {
            const Tensor keys = RandomSplit(key, 4);
            const int64_t pooled = kSide / 4;
            return Parameters{
                RandomKernel(keys[{0}], 1, filters),
                Zeros(DType::kF32, {filters}),
                RandomKernel(keys[{1}], filters, 2 * filters),
                Zeros(DType::kF32, {2 * filters}),
                RandomLayer(keys[{2}], pooled * pooled * 2 * filters, hidden),
                Zeros(DType::kF32, {hidden}),
                RandomLayer(keys[{3}], hidden, kClasses),
                Zeros(DType::kF32, {kClasses})};
          },
      .scores = Scores};
}

// Writes a kernel [5, 5, 1, n] as n pictures of 5 x 5 beside each other, each
// place 8 pixels wide, from black, the smallest, to white.
absl::Status WritePicture(const Literal& kernel, const std::string& path) {
  constexpr int64_t kPixels = 8, kGap = 4;
  const int64_t n = kernel.shape().dim(3);
  const int64_t height = kWindow * kPixels + 2 * kGap;
  const int64_t width = n * (kWindow * kPixels + kGap) + kGap;
  const auto values = kernel.data<float>();
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const float range = std::max(*most - *least, 1e-6f);
  std::vector<unsigned char> pixels(height * width, 128);
  for (int64_t y = 0; y < kWindow * kPixels; ++y) {
    for (int64_t x = 0; x < n * kWindow * kPixels; ++x) {
      const int64_t filter = x / (kWindow * kPixels);
      const int64_t column = x % (kWindow * kPixels);
      const float value =
          values[(y / kPixels * kWindow + column / kPixels) * n + filter];
      pixels[(y + kGap) * width + kGap + filter * (kWindow * kPixels + kGap) +
             column] =
          static_cast<unsigned char>(255 * (value - *least) / range);
    }
  }
  FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return InvalidArgument("cannot write ", path);
  std::fprintf(file, "P5\n%lld %lld\n255\n", static_cast<long long>(width),
               static_cast<long long>(height));
  const size_t written = std::fwrite(pixels.data(), 1, pixels.size(), file);
  if (std::fclose(file) != 0 || written != pixels.size()) {
    return InvalidArgument("cannot write ", path);
  }
  std::printf("wrote %lld filters to %s\n", static_cast<long long>(n),
              path.c_str());
  return absl::OkStatus();
}

absl::Status AtEnd(const Parameters& parameters) {
  const std::string path = absl::GetFlag(FLAGS_filters_out);
  if (path.empty()) return absl::OkStatus();
  HAWSER_ASSIGN_OR_RETURN(const Literal kernel, parameters[0].Fetch());
  return WritePicture(kernel, path);
}

absl::Status Run() {
  return TrainAndTest(Network(), absl::GetFlag(FLAGS_data),
                      {.seed = absl::GetFlag(FLAGS_seed),
                       .epochs = absl::GetFlag(FLAGS_epochs),
                       .images = absl::GetFlag(FLAGS_images),
                       .batch = absl::GetFlag(FLAGS_batch),
                       .rate = static_cast<float>(absl::GetFlag(FLAGS_rate)),
                       .after = KillServerAfter,
                       .at_end = AtEnd});
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "A convolutional network on Fashion-MNIST, on the server that "
      "HAWSER_SERVERS names, or on this machine's CPU.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = hawser::Run();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
