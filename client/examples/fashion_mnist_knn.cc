// Exact nearest-neighbour classification of Fashion-MNIST.
//
// The training images are put once and used by token; what depends only on
// them is computed once and stays where it was computed; per batch of test
// images only the batch and its labels travel. When the server goes away in
// the middle, the same answers come from this machine's CPU.

#include <signal.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/examples/shuffle.h"
#include "client/formats/idx.h"
#include "client/hawser.h"
#include "core/base/status.h"

ABSL_FLAG(std::string, data, "/usr/share/datasets/fashion-mnist",
          "folder of the four gzipped IDX files");
ABSL_FLAG(int, images, 1000, "how many test images to classify");
ABSL_FLAG(int, batch, 100, "test images a batch");
ABSL_FLAG(uint64_t, shuffle_train, 0,
          "seed to shuffle the training images with; 0: file order");
ABSL_FLAG(std::string, labels_out, "", "file for the labels found, one a line");
ABSL_FLAG(int, kill_server_after, 0,
          "kill the server with -9 after this many batches; 0: never");
ABSL_FLAG(int, server_pid, 0, "the server that --kill_server_after kills");

namespace hawser {
namespace {

// Pixels centred to [-128, 127]: every partial sum of a dot product then stays
// below 2^24, where float counts without gaps, so all machines agree exactly.
Tensor Centred(const Tensor& images) {
  const Tensor rows = Reshape(images, {images.dim(0), -1});
  return Convert(rows, DType::kF32) - 128;
}

struct Images {
  Literal train, train_labels, test, test_labels;
};

absl::StatusOr<Images> ReadImages() {
  const std::string folder = absl::GetFlag(FLAGS_data) + "/";
  Images images;
  HAWSER_ASSIGN_OR_RETURN(images.train,
                          ReadIdx(folder + "train-images-idx3-ubyte.gz"));
  HAWSER_ASSIGN_OR_RETURN(images.train_labels,
                          ReadIdx(folder + "train-labels-idx1-ubyte.gz"));
  HAWSER_ASSIGN_OR_RETURN(images.test,
                          ReadIdx(folder + "t10k-images-idx3-ubyte.gz"));
  HAWSER_ASSIGN_OR_RETURN(images.test_labels,
                          ReadIdx(folder + "t10k-labels-idx1-ubyte.gz"));
  if (const uint64_t seed = absl::GetFlag(FLAGS_shuffle_train); seed != 0) {
    const auto order = ShuffledOrder(images.train.shape().dim(0), seed);
    images.train = RowsInOrder(images.train, order);
    images.train_labels = RowsInOrder(images.train_labels, order);
  }
  return images;
}

// Rows [begin, begin + count) of a host value.
Literal HostRows(const Literal& all, int64_t begin, int64_t count) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < count; ++i) rows.push_back(begin + i);
  return RowsInOrder(all, rows);
}

absl::Status Run() {
  HAWSER_ASSIGN_OR_RETURN(const Images images, ReadImages());
  const Client client = Client::Default();
  const absl::Time start = absl::Now();
  HAWSER_ASSIGN_OR_RETURN(const Dataset data,
                          client.Put({{"images", images.train},
                                      {"labels", images.train_labels}}));
  std::cout << "dataset " << data.token() << ", uploaded "
            << data.info().sent_bytes << " of " << data.info().bytes
            << " bytes in " << absl::Now() - start << "\n";

  // |x - t|^2 = |x|^2 + |t|^2 - 2 x.t, and |x|^2 is the same for every t.
  auto prepare = Jit([](Tensor train) {
    const Tensor rows = Centred(train);
    return std::tuple(rows, Sum(Square(rows) * 0.5f, {.axes = {1}}));
  });
  auto classify = Jit([](Tensor rows, Tensor half_norms, Tensor labels,
                         Tensor batch) {
    const Tensor dots = Dot(Centred(batch), Transpose(rows));
    return Take(labels, ArgMin(half_norms - dots, {.axis = 1}));
  });
  HAWSER_ASSIGN_OR_RETURN(auto prepared, prepare(data["images"]));
  const auto& [rows, half_norms] = prepared;

  const int total = absl::GetFlag(FLAGS_images);
  const int batch = absl::GetFlag(FLAGS_batch);
  std::vector<int> found;
  std::map<std::string, int> batches_on;
  const absl::Time first = absl::Now();
  for (int begin = 0; begin < total; begin += batch) {
    const int count = std::min(batch, total - begin);
    HAWSER_ASSIGN_OR_RETURN(
        Tensor labels, classify(rows, half_norms, data["labels"],
                                HostRows(images.test, begin, count)));
    HAWSER_ASSIGN_OR_RETURN(const Literal got, labels.Fetch());
    for (uint8_t label : got.data<uint8_t>()) found.push_back(label);
    std::cout << "batch " << begin / batch << " on " << labels.ran_on()
              << "\n";
    ++batches_on[labels.ran_on()];
    if (begin / batch + 1 == absl::GetFlag(FLAGS_kill_server_after)) {
      const int pid = absl::GetFlag(FLAGS_server_pid);
      if (pid <= 0) return InvalidArgument("--server_pid is missing");
      kill(pid, SIGKILL);
      std::cout << "killed the server (pid " << pid << ")\n";
    }
  }
  const absl::Duration took = absl::Now() - first;

  int correct = 0;
  for (int i = 0; i < total; ++i) {
    correct += found[i] == images.test_labels.data<uint8_t>()[i];
  }
  std::printf("accuracy %.3f over %d images in %s\n",
              static_cast<double>(correct) / total, total,
              absl::FormatDuration(took).c_str());
  for (const auto& [where, n] : batches_on) {
    std::printf("%d batches on %s\n", n, where.c_str());
  }
  if (const std::string path = absl::GetFlag(FLAGS_labels_out); !path.empty()) {
    std::ofstream out(path);
    for (int label : found) out << label << "\n";
    if (!out.flush()) return DataLoss("cannot write ", path);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Exact nearest-neighbour classification of Fashion-MNIST, on the server "
      "that HAWSER_SERVERS names, or on this machine's CPU.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = hawser::Run();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
