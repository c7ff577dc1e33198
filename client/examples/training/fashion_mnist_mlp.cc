// A network of one hidden layer on Fashion-MNIST.
//
// The training images are put once and used by token. An epoch is one call: the
// order of the images, the minibatches, dropout, gradients and Adam's steps are
// all in the graph, random by a key. The same program gives the same bits on
// this machine's CPU and on a server's. When the server goes away, the epoch is
// made again here from what is known, and training goes on.

#include <iostream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "client/examples/server_kill/server_kill.h"
#include "client/examples/training/classifier.h"
#include "client/hawser.h"

ABSL_FLAG(std::string, data, "/usr/share/datasets/fashion-mnist",
          "folder of the four gzipped IDX files");
ABSL_FLAG(int, epochs, 10, "how often each image is seen");
ABSL_FLAG(int, images, 60000, "training images, the first ones");
ABSL_FLAG(int, batch, 128, "images a step");
ABSL_FLAG(int, hidden, 256, "size of the hidden layer");
ABSL_FLAG(double, dropout, 0.2, "part of the hidden layer left out of a step");
ABSL_FLAG(double, rate, 1e-3, "Adam's learning rate");
ABSL_FLAG(int, seed, 1, "of everything that is random");

namespace hawser {
namespace {

constexpr int64_t kPixels = 28 * 28;
constexpr int64_t kClasses = 10;

Tensor Scores(const Parameters& p, const Tensor& images, const Tensor& key) {
  const Tensor rows = Reshape(images, {images.dim(0), kPixels});
  Tensor hidden =
      Maximum(Dot(Convert(rows, DType::kF32) / 255, p[0]) + p[1], 0);
  if (key.dim(0) == 2) {
    const float kept = static_cast<float>(1 - absl::GetFlag(FLAGS_dropout));
    const Tensor stays = RandomBernoulli(key, kept, hidden.shape().dims());
    hidden = Select(stays, hidden / kept, 0);
  }
  return Dot(hidden, p[2]) + p[3];
}

Classifier Network() {
  const int64_t hidden = absl::GetFlag(FLAGS_hidden);
  return {.make =
              [=](Tensor key) {
                const Tensor keys = RandomSplit(key);
                return Parameters{RandomLayer(keys[{0}], kPixels, hidden),
                                  Zeros(DType::kF32, {hidden}),
                                  RandomLayer(keys[{1}], hidden, kClasses),
                                  Zeros(DType::kF32, {kClasses})};
              },
          .scores = Scores};
}

absl::Status Run() {
  return TrainAndTest(Network(), absl::GetFlag(FLAGS_data),
                      {.seed = absl::GetFlag(FLAGS_seed),
                       .epochs = absl::GetFlag(FLAGS_epochs),
                       .images = absl::GetFlag(FLAGS_images),
                       .batch = absl::GetFlag(FLAGS_batch),
                       .rate = static_cast<float>(absl::GetFlag(FLAGS_rate)),
                       .after = KillServerAfter});
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "A network of one hidden layer on Fashion-MNIST, on the server that "
      "HAWSER_SERVERS names, or on this machine's CPU.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = hawser::Run();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
