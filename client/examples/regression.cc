// Logistic regression on Fashion-MNIST.
//
// The training images are put once and used by token. The parameters are made
// on the server and stay there; each step slices its minibatch out of the
// dataset in the graph, differentiates the loss and gives the new parameters.
// Steps are queued without waiting; every hundredth loss is all that is
// fetched. When the server goes away in the middle, the steps are made again
// on this machine's CPU, with the same result.

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/examples/fashion_mnist.h"
#include "client/examples/server_kill/server_kill.h"
#include "client/examples/softmax_model.h"
#include "client/hawser.h"
#include "core/base/status.h"

ABSL_FLAG(std::string, data, "/usr/share/datasets/fashion-mnist",
          "folder of the four gzipped IDX files");
ABSL_FLAG(int, steps, 400, "how many steps of gradient descent");
ABSL_FLAG(int, batch, 256, "training images a step, in file order");
ABSL_FLAG(double, learning_rate, 0.2, "what a step goes along the gradient");
ABSL_FLAG(int, report_every, 100, "steps from one fetched loss to the next");

namespace hawser {
namespace {

// The part of the images that are classified as labelled.
absl::StatusOr<float> Accuracy(const SoftmaxModel& model,
                               const FashionMnist& data) {
  auto accuracy = Jit([](SoftmaxModel m, Tensor images, Tensor labels) {
    const Tensor found = ArgMax(Scores(m, images), {.axis = 1});
    return Mean(Convert(Eq(found, labels), DType::kF32));
  });
  HAWSER_ASSIGN_OR_RETURN(const Tensor part,
                          accuracy(model, data.test, data.test_labels));
  HAWSER_ASSIGN_OR_RETURN(const Literal value, part.Fetch());
  std::cout << "tested on " << part.ran_on() << "\n";
  return value.data<float>()[0];
}

// Fetches the loss where one is due; kills the server when it is time to.
absl::Status AfterStep(int steps, const Tensor& loss) {
  if (steps % absl::GetFlag(FLAGS_report_every) == 0) {
    HAWSER_ASSIGN_OR_RETURN(const Literal value, loss.Fetch());
    std::printf("step %d loss %.4f on %s\n", steps, value.data<float>()[0],
                loss.ran_on().c_str());
  }
  return KillServerAfter(steps);
}

absl::StatusOr<SoftmaxModel> Train(const Dataset& data, int64_t images) {
  const int64_t batch = absl::GetFlag(FLAGS_batch);
  if (batch < 1 || batch > images) {
    return InvalidArgument("--batch=", batch, " of ", images, " images");
  }
  if (absl::GetFlag(FLAGS_report_every) < 1) {
    return InvalidArgument("--report_every is below 1");
  }
  const float rate = static_cast<float>(absl::GetFlag(FLAGS_learning_rate));
  auto step =
      Jit([=](SoftmaxModel m, Tensor all, Tensor all_labels, Tensor first) {
        return Descend(m, Rows(all, first, batch),
                       Rows(all_labels, first, batch), rate);
      });
  SoftmaxModel model = ZeroModel();
  for (int i = 0; i < absl::GetFlag(FLAGS_steps); ++i) {
    const int64_t first = i % (images / batch) * batch;
    HAWSER_ASSIGN_OR_RETURN(
        auto next, step(Donate(model), data["images"], data["labels"], first));
    Tensor loss;
    std::tie(model, loss) = std::move(next);
    HAWSER_RETURN_IF_ERROR(AfterStep(i + 1, loss));
  }
  return model;
}

absl::Status Run() {
  HAWSER_ASSIGN_OR_RETURN(const FashionMnist images,
                          ReadFashionMnist(absl::GetFlag(FLAGS_data)));
  const Client client = Client::Default();
  HAWSER_ASSIGN_OR_RETURN(const Dataset data,
                          client.Put({{"images", images.train},
                                      {"labels", images.train_labels}}));
  std::cout << "dataset " << data.token() << ", uploaded "
            << data.info().sent_bytes << " of " << data.info().bytes
            << " bytes" << ToPlaces(client) << "\n";
  const absl::Time start = absl::Now();
  HAWSER_ASSIGN_OR_RETURN(const SoftmaxModel model,
                          Train(data, images.train.shape().dim(0)));
  HAWSER_ASSIGN_OR_RETURN(const float accuracy, Accuracy(model, images));
  std::printf("accuracy %.4f over %d images, %d steps in %s\n", accuracy,
              static_cast<int>(images.test.shape().dim(0)),
              absl::GetFlag(FLAGS_steps),
              absl::FormatDuration(absl::Now() - start).c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Logistic regression on Fashion-MNIST, on the server that "
      "HAWSER_SERVERS names, or on this machine's CPU.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = hawser::Run();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
