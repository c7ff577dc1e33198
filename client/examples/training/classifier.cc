#include "client/examples/training/classifier.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "client/examples/fashion_mnist.h"
#include "core/base/digest.h"
#include "core/base/status.h"

namespace hawser {
namespace {

constexpr int64_t kClasses = 10;

// Mean cross entropy of the scores' softmax; labels: u8[n].
Tensor CrossEntropy(const Tensor& scores, const Tensor& labels) {
  const Tensor is_class =
      Eq(ExpandDims(labels, 1), Iota(DType::kU8, {1, kClasses}));
  const Tensor right = Sum(Select(is_class, scores, 0), {.axis = 1});
  return Mean(LogSumExp(scores, {.axis = 1}) - right);
}

// One epoch: the training after it, and the mean of its batches' losses.
std::tuple<Training, Tensor> Epoch(const Classifier& model,
                                   const TrainingOptions& options,
                                   Training training, Tensor images,
                                   Tensor labels, Tensor key) {
  const Tensor keys = RandomSplit(key);
  const Tensor order = RandomPermutation(keys[{0}], options.images);
  const int64_t batches = options.images / options.batch;
  auto [trained, sum] =
      For(batches, std::tuple(training, Scalar(0.0f)),
          [&](Tensor i, Training now, Tensor sum) {
            const Tensor rows = Rows(order, i * options.batch, options.batch);
            const Tensor seen = Take(images, rows), right = Take(labels, rows);
            const Tensor own = RandomFoldIn(keys[{1}], i);
            const auto [loss, gradients] = ValueAndGrad([&](Parameters p) {
              return CrossEntropy(model.scores(p, seen, own), right);
            })(now.parameters);
            auto [parameters, adam] =
                Step(now.parameters, gradients, now.adam, options.rate);
            return std::tuple(Training{parameters, adam}, sum + loss);
          });
  return {trained, sum / static_cast<float>(batches)};
}

absl::Status Check(const TrainingOptions& options, const Dataset& data) {
  const int64_t there = data["images"].shape().dim(0);
  if (options.images < 1 || options.images > there) {
    return InvalidArgument(options.images, " of ", there, " images");
  }
  if (options.batch < 1 || options.batch > options.images) {
    return InvalidArgument("a batch of ", options.batch, " of ", options.images,
                           " images");
  }
  return absl::OkStatus();
}

absl::Status PrintEpoch(int epoch, const Tensor& loss) {
  HAWSER_ASSIGN_OR_RETURN(const Literal value, loss.Fetch());
  std::printf("epoch %d loss %.4f on %s\n", epoch, value.data<float>()[0],
              loss.ran_on().c_str());
  std::fflush(stdout);
  return absl::OkStatus();
}

// Trains with the dataset's "images" and "labels".
absl::StatusOr<Parameters> Train(const Classifier& model, const Dataset& data,
                                 const TrainingOptions& options) {
  HAWSER_RETURN_IF_ERROR(Check(options, data));
  auto begin = Jit([&](Tensor key) {
    const Parameters made = model.make(key);
    return Training{made, NewAdam(made)};
  });
  auto epoch =
      Jit([&](Training training, Tensor images, Tensor labels, Tensor key) {
        return Epoch(model, options, training, images, labels, key);
      });
  RandomKeys keys(options.seed);
  HAWSER_ASSIGN_OR_RETURN(Training training, begin(keys.Next()));
  for (int e = 1; e <= options.epochs; ++e) {
    HAWSER_ASSIGN_OR_RETURN(auto next, epoch(Donate(training), data["images"],
                                             data["labels"], keys.Next()));
    Tensor loss;
    std::tie(training, loss) = std::move(next);
    HAWSER_RETURN_IF_ERROR(PrintEpoch(e, loss));
    HAWSER_RETURN_IF_ERROR(options.after(e));
  }
  return training.parameters;
}

absl::StatusOr<float> Accuracy(const Classifier& model,
                               const Parameters& parameters,
                               const Literal& images, const Literal& labels) {
  auto accuracy = Jit([&](Parameters p, Tensor images, Tensor labels) {
    const Tensor scores = model.scores(p, images, Zeros(DType::kU32, {0}));
    const Tensor found = ArgMax(scores, {.axis = 1});
    return Mean(Convert(Eq(found, labels), DType::kF32));
  });
  HAWSER_ASSIGN_OR_RETURN(const Tensor part,
                          accuracy(parameters, images, labels));
  HAWSER_ASSIGN_OR_RETURN(const Literal value, part.Fetch());
  return value.data<float>()[0];
}

absl::StatusOr<std::string> DigestOf(const Parameters& parameters) {
  std::string bytes;
  for (const Tensor& p : parameters) {
    HAWSER_ASSIGN_OR_RETURN(const Literal value, p.Fetch());
    bytes.append(value.bytes().data(), value.bytes().size());
  }
  return Sha256(bytes).ToHex();
}

}  // namespace

absl::Status TrainAndTest(const Classifier& model, const std::string& folder,
                          const TrainingOptions& options) {
  HAWSER_ASSIGN_OR_RETURN(const FashionMnist images, ReadFashionMnist(folder));
  const Client client = Client::Default();
  HAWSER_ASSIGN_OR_RETURN(
      const Dataset data,
      client.Put({{"images", images.train}, {"labels", images.train_labels}}));
  HAWSER_ASSIGN_OR_RETURN(const Parameters trained,
                          Train(model, data, options));
  HAWSER_ASSIGN_OR_RETURN(
      const float accuracy,
      Accuracy(model, trained, images.test, images.test_labels));
  HAWSER_ASSIGN_OR_RETURN(const std::string digest, DigestOf(trained));
  HAWSER_RETURN_IF_ERROR(options.at_end(trained));
  std::printf("accuracy=%.4f digest=%s\n", accuracy, digest.c_str());
  return absl::OkStatus();
}

Tensor RandomLayer(Tensor key, int64_t inputs, int64_t outputs) {
  return RandomNormal(key, {inputs, outputs}, DType::kF32, 0,
                      std::sqrt(2.0 / static_cast<double>(inputs)));
}

}  // namespace hawser
