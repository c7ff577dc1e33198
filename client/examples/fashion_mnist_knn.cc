// Exact nearest-neighbour classification of Fashion-MNIST.
//
// The training images are put once and used by token; what depends only on
// them is computed once and stays where it was computed; per batch of test
// images only the batch and its labels travel. When the server goes away in
// the middle, the same answers come from this machine's CPU.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/examples/fashion_mnist.h"
#include "client/examples/knn.h"
#include "client/examples/server_kill/server_kill.h"
#include "client/examples/shuffle.h"
#include "client/hawser.h"
#include "core/base/status.h"

ABSL_FLAG(std::string, data, "/usr/share/datasets/fashion-mnist",
          "folder of the four gzipped IDX files");
ABSL_FLAG(int, images, 1000, "how many test images to classify");
ABSL_FLAG(int, batch, 100, "test images a batch");
ABSL_FLAG(uint64_t, shuffle_train, 0,
          "seed to shuffle the training images with; 0: file order");
ABSL_FLAG(std::string, labels_out, "", "file for the labels found, one a line");

namespace hawser {
namespace {

absl::StatusOr<FashionMnist> ReadImages() {
  HAWSER_ASSIGN_OR_RETURN(FashionMnist images,
                          ReadFashionMnist(absl::GetFlag(FLAGS_data)));
  if (const uint64_t seed = absl::GetFlag(FLAGS_shuffle_train); seed != 0) {
    const auto order = ShuffledOrder(images.train.shape().dim(0), seed);
    images.train = RowsInOrder(images.train, order);
    images.train_labels = RowsInOrder(images.train_labels, order);
  }
  return images;
}

// After each batch: says where it ran, counts, and kills the server when it is
// time to.
absl::Status OnBatch(int batch, const Tensor& labels,
                     std::map<std::string, int>* batches_on) {
  std::cout << "batch " << batch << " on " << labels.ran_on() << std::endl;
  ++(*batches_on)[labels.ran_on()];
  return KillServerAfter(batch + 1);
}

absl::Status WriteLabels(const std::string& path,
                         const std::vector<uint8_t>& labels) {
  std::ofstream out(path);
  for (int label : labels) out << label << "\n";
  if (!out.flush()) return DataLoss("cannot write ", path);
  return absl::OkStatus();
}

absl::Status Run() {
  HAWSER_ASSIGN_OR_RETURN(const FashionMnist images, ReadImages());
  const Client client = Client::Default();
  const absl::Time start = absl::Now();
  HAWSER_ASSIGN_OR_RETURN(const Dataset data,
                          client.Put({{"images", images.train},
                                      {"labels", images.train_labels}}));
  std::cout << "dataset " << data.token() << ", uploaded "
            << data.info().sent_bytes << " of " << data.info().bytes
            << " bytes" << ToPlaces(client) << " in " << absl::Now() - start
            << "\n";

  const int64_t total = std::min<int64_t>(absl::GetFlag(FLAGS_images),
                                          images.test.shape().dim(0));
  if (total < 1) return InvalidArgument("--images=", total, " is none");
  std::vector<int64_t> first_ones(total);
  std::iota(first_ones.begin(), first_ones.end(), 0);
  std::map<std::string, int> batches_on;
  const absl::Time first = absl::Now();
  HAWSER_ASSIGN_OR_RETURN(
      const std::vector<uint8_t> found,
      NearestLabels(data, RowsInOrder(images.test, first_ones),
                    absl::GetFlag(FLAGS_batch),
                    [&](int batch, const Tensor& labels) {
                      return OnBatch(batch, labels, &batches_on);
                    }));
  const absl::Duration took = absl::Now() - first;

  int correct = 0;
  for (int64_t i = 0; i < total; ++i) {
    correct += found[i] == images.test_labels.data<uint8_t>()[i];
  }
  std::printf("accuracy %.3f over %d images in %s\n",
              static_cast<double>(correct) / total, static_cast<int>(total),
              absl::FormatDuration(took).c_str());
  for (const auto& [where, n] : batches_on) {
    std::printf("%d batches on %s\n", n, where.c_str());
  }
  const std::string path = absl::GetFlag(FLAGS_labels_out);
  return path.empty() ? absl::OkStatus() : WriteLabels(path, found);
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
