// A network of one hidden layer on Fashion-MNIST.
//
// The training images are put once and used by token. An epoch is one call: the
// order of the images, the minibatches, dropout, gradients and Adam's steps are
// all in the graph, random by a key. The same program gives the same bits on
// this machine's CPU and on a server's. When the server goes away, the epoch is
// made again here from what is known, and training goes on.

#include <signal.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "client/examples/training/classifier.h"
#include "client/examples/fashion_mnist.h"
#include "client/hawser.h"
#include "core/base/status.h"

ABSL_FLAG(std::string, data, "/usr/share/datasets/fashion-mnist",
          "folder of the four gzipped IDX files");
ABSL_FLAG(int, epochs, 10, "how often each image is seen");
ABSL_FLAG(int, images, 60000, "training images, the first ones");
ABSL_FLAG(int, batch, 128, "images a step");
ABSL_FLAG(int, hidden, 256, "size of the hidden layer");
ABSL_FLAG(double, dropout, 0.2, "part of the hidden layer left out of a step");
ABSL_FLAG(double, rate, 1e-3, "Adam's learning rate");
ABSL_FLAG(int, seed, 1, "of everything that is random");
ABSL_FLAG(int, kill_server_after_epoch, 0,
          "kill the server with -9 after this many epochs; 0: never");
ABSL_FLAG(int, server_pid, 0,
          "the server that --kill_server_after_epoch kills");

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

// Says how it goes; kills the server when it is time to.
absl::Status AfterEpoch(int epoch, const Tensor& loss) {
  HAWSER_ASSIGN_OR_RETURN(const Literal value, loss.Fetch());
  std::printf("epoch %d loss %.4f on %s\n", epoch, value.data<float>()[0],
              loss.ran_on().c_str());
  std::fflush(stdout);
  if (epoch != absl::GetFlag(FLAGS_kill_server_after_epoch)) {
    return absl::OkStatus();
  }
  const int pid = absl::GetFlag(FLAGS_server_pid);
  if (pid <= 0) return InvalidArgument("--server_pid is missing");
  kill(pid, SIGKILL);
  std::printf("killed the server (pid %d)\n", pid);
  return absl::OkStatus();
}

absl::Status Run() {
  HAWSER_ASSIGN_OR_RETURN(const FashionMnist images,
                          ReadFashionMnist(absl::GetFlag(FLAGS_data)));
  const Client client = Client::Default();
  HAWSER_ASSIGN_OR_RETURN(const Dataset data,
                          client.Put({{"images", images.train},
                                      {"labels", images.train_labels}}));
  const Classifier network = Network();
  HAWSER_ASSIGN_OR_RETURN(
      const Parameters trained,
      Train(network, data,
            {.seed = absl::GetFlag(FLAGS_seed),
             .epochs = absl::GetFlag(FLAGS_epochs),
             .images = absl::GetFlag(FLAGS_images),
             .batch = absl::GetFlag(FLAGS_batch),
             .rate = static_cast<float>(absl::GetFlag(FLAGS_rate)),
             .after = AfterEpoch}));
  HAWSER_ASSIGN_OR_RETURN(
      const float accuracy,
      Accuracy(network, trained, images.test, images.test_labels));
  HAWSER_ASSIGN_OR_RETURN(const std::string digest, DigestOf(trained));
  std::printf("accuracy=%.4f digest=%s\n", accuracy, digest.c_str());
  return absl::OkStatus();
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
