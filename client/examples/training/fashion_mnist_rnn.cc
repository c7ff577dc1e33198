// A recurrent network that reads Fashion-MNIST's images row by row.
//
// The rows go through one Scan, whose gradient runs backwards through the
// states it kept; an epoch is one call (see classifier.h).

#include <iostream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "client/examples/training/classifier.h"
#include "client/hawser.h"

ABSL_FLAG(std::string, data, "/usr/share/datasets/fashion-mnist",
          "folder of the four gzipped IDX files");
ABSL_FLAG(int, epochs, 3, "how often each image is seen");
ABSL_FLAG(int, images, 60000, "training images, the first ones");
ABSL_FLAG(int, batch, 128, "images a step");
ABSL_FLAG(int, hidden, 64, "size of the state");
ABSL_FLAG(int, seed, 1, "of everything that is random");

namespace hawser {
namespace {

constexpr int64_t kColumns = 28;
constexpr int64_t kClasses = 10;

// The state, a row at a time: h = tanh(row W + h U + b).
Tensor Scores(const Parameters& p, const Tensor& images, const Tensor&) {
  const Tensor rows = Transpose(Convert(images, DType::kF32) / 255, {1, 0, 2});
  const Tensor first = Zeros(DType::kF32, {images.dim(0), p[1].dim(0)});
  const auto [last, states] = Scan(first, rows, [&](Tensor h, Tensor row) {
    const Tensor next = Tanh(Dot(row, p[0]) + Dot(h, p[1]) + p[2]);
    return std::pair(next, Mean(next));
  });
  return Dot(last, p[3]) + p[4];
}

Classifier Network() {
  const int64_t hidden = absl::GetFlag(FLAGS_hidden);
  return {.make =
              [=](Tensor key) {
                const Tensor keys = RandomSplit(key, 3);
                // A state is carried through 28 rows: U begins as small turns.
                return Parameters{
                    RandomLayer(keys[{0}], kColumns, hidden),
                    RandomLayer(keys[{1}], hidden, hidden) * 0.5f +
                        0.5f * Eye(DType::kF32, hidden, hidden),
                    Zeros(DType::kF32, {hidden}),
                    RandomLayer(keys[{2}], hidden, kClasses),
                    Zeros(DType::kF32, {kClasses})};
              },
          .scores = Scores};
}

absl::Status Run() {
  return TrainAndTest(Network(), absl::GetFlag(FLAGS_data),
                      {.seed = absl::GetFlag(FLAGS_seed),
                       .epochs = absl::GetFlag(FLAGS_epochs),
                       .images = absl::GetFlag(FLAGS_images),
                       .batch = absl::GetFlag(FLAGS_batch)});
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "A recurrent network on the rows of Fashion-MNIST's images, on the "
      "server that HAWSER_SERVERS names, or on this machine's CPU.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = hawser::Run();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
