// Trains classifiers of Fashion-MNIST in the graph: an epoch is one call.
#ifndef HAWSER_CLIENT_EXAMPLES_TRAINING_CLASSIFIER_H_
#define HAWSER_CLIENT_EXAMPLES_TRAINING_CLASSIFIER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "client/examples/training/adam.h"
#include "client/hawser.h"

namespace hawser {

// The parameters and what Adam knows of them.
struct Training {
  Parameters parameters;
  Adam adam;
};
inline auto HawserFields(Training& t) { return std::tie(t.parameters, t.adam); }

struct Classifier {
  // New parameters, by a key.
  std::function<Parameters(Tensor key)> make;
  // Scores f32[n, 10] of images u8[n, 28, 28]. The key: of what is random while
  // it is trained; u32[0] when it is tested.
  std::function<Tensor(Parameters, Tensor images, Tensor key)> scores;
};

struct TrainingOptions {
  int64_t seed = 1;
  int epochs = 10;
  int64_t images = 60000;  // of the training set, the first ones
  int64_t batch = 128;
  float rate = 1e-3f;
  // After the line of each epoch, counted from 1.
  std::function<absl::Status(int epoch)> after = [](int) {
    return absl::OkStatus();
  };
  // It is called with the trained parameters, before the last line.
  std::function<absl::Status(const Parameters&)> at_end =
      [](const Parameters&) { return absl::OkStatus(); };
};

// Puts the training images of `folder`, then trains: an epoch is one call, in
// which a loop runs once for each batch of a new order of the images; what is
// left over of the last batch is not seen. Prints a line for each epoch with
// its mean loss and where it was computed, and "accuracy=... digest=..." at the
// end: the part of the test images that are classified as labelled, and the
// SHA-256 of the parameters' bytes. Errors: options that do not fit; those of
// the client.
absl::Status TrainAndTest(const Classifier& model, const std::string& folder,
                          const TrainingOptions& options);

// A random matrix [inputs, outputs] of a layer before a ReLU (He et al., 2015).
Tensor RandomLayer(Tensor key, int64_t inputs, int64_t outputs);

}  // namespace hawser
#endif  // HAWSER_CLIENT_EXAMPLES_TRAINING_CLASSIFIER_H_
