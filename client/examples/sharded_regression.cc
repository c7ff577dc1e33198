// Data-parallel logistic regression on Fashion-MNIST over several servers.
//
// Each step cuts its minibatch into six parts: each place sums the gradient of
// its parts, adds up a share of all of them, updates that share of the weights
// and gives it to the others. Nothing here says so but `Cut`: the step is
// written for one machine. The losses do not depend on how many servers there
// are, which, or which are lost on the way.

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
#include "client/examples/fashion_mnist.h"
#include "client/examples/softmax_model.h"
#include "client/hawser.h"
#include "core/base/status.h"

ABSL_FLAG(std::string, data, "/usr/share/datasets/fashion-mnist",
          "folder of the four gzipped IDX files");
ABSL_FLAG(int, steps, 60, "how many steps of gradient descent");
ABSL_FLAG(int, batch, 1536, "training images a step, in file order");
ABSL_FLAG(int, parts, 6, "parts of a batch");
ABSL_FLAG(double, learning_rate, 0.2, "what a step goes along the gradient");
ABSL_FLAG(int, report_every, 10, "steps from one printed loss to the next");

namespace hawser {
namespace {

absl::Status Train(const Dataset& data, int64_t images) {
  const int64_t batch = absl::GetFlag(FLAGS_batch);
  const int parts = absl::GetFlag(FLAGS_parts);
  if (batch < 1 || batch > images) {
    return InvalidArgument("--batch=", batch, " of ", images, " images");
  }
  const float rate = static_cast<float>(absl::GetFlag(FLAGS_learning_rate));
  auto step = Jit([=](SoftmaxModel m, Tensor rows,
                      Tensor labels) { return Descend(m, rows, labels, rate); },
                  {.strict_cuts = true});
  SoftmaxModel model = ZeroModel();
  for (int i = 0; i < absl::GetFlag(FLAGS_steps); ++i) {
    const int64_t first = i % (images / batch) * batch;
    HAWSER_ASSIGN_OR_RETURN(
        auto next, step(Donate(Whole(model)),
                        Cut(data.Rows("images", first, batch), 0, parts),
                        Cut(data.Rows("labels", first, batch), 0, parts)));
    Tensor loss;
    std::tie(model, loss) = std::move(next);
    if ((i + 1) % std::max(absl::GetFlag(FLAGS_report_every), 1) != 0) continue;
    HAWSER_ASSIGN_OR_RETURN(const float value, loss.Item<float>());
    std::printf("step %d loss %.9g on %s\n", i + 1, value,
                loss.ran_on().c_str());
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

absl::Status Run() {
  HAWSER_ASSIGN_OR_RETURN(const FashionMnist images,
                          ReadFashionMnist(absl::GetFlag(FLAGS_data)));
  HAWSER_ASSIGN_OR_RETURN(
      const Dataset data,
      Client::Default().Put(
          {{"images", images.train}, {"labels", images.train_labels}}));
  const absl::Time start = absl::Now();
  HAWSER_RETURN_IF_ERROR(Train(data, images.train.shape().dim(0)));
  std::printf("%d steps in %s\n", absl::GetFlag(FLAGS_steps),
              absl::FormatDuration(absl::Now() - start).c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Data-parallel logistic regression on Fashion-MNIST, on all servers of "
      "HAWSER_SERVERS with HAWSER_SPREAD=1, else on one, or this machine's "
      "CPU.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = hawser::Run();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
