// The principal components of Fashion-MNIST's images.
//
// The images are put once and used by token. One call computes their mean and
// the eigenvectors of their covariance, along which they differ most; these
// stay where they were computed. Then test images, batch after batch, are made
// again of a few components, and how much is lost is all that comes back. When
// the server goes away in the middle, this machine's CPU goes on, with the same
// answers.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "client/examples/fashion_mnist.h"
#include "client/examples/server_kill/server_kill.h"
#include "client/hawser.h"
#include "core/base/status.h"

ABSL_FLAG(std::string, data, "/usr/share/datasets/fashion-mnist",
          "folder of the four gzipped IDX files");
ABSL_FLAG(int, components, 16, "how many components images are made of");
ABSL_FLAG(int, batch, 2000, "test images a batch");
ABSL_FLAG(std::string, picture, "components.pgm", "what is written");

namespace hawser {
namespace {

constexpr int64_t kSide = 28;

struct Basis {
  Tensor mean;      // f32[pixels]
  Tensor vectors;   // f32[pixels, k], those of the largest variance first
  Tensor variance;  // f32[k], the part of all variance that each explains
};
auto HawserFields(Basis& b) { return std::tie(b.mean, b.vectors, b.variance); }

Tensor Pixels(const Tensor& images) {
  return Convert(Reshape(images, {images.dim(0), -1}), DType::kF32) / 255;
}

// A vector may point either way: here its largest element is positive.
Tensor Pointed(const Tensor& vectors) {
  const Over down{.axis = 0};
  const Tensor most = ReduceMax(vectors, down),
               least = ReduceMin(vectors, down);
  return vectors * Select(Gt(-least, most), -1.0F, 1.0F);
}

Basis BasisOf(const Tensor& images, int64_t k) {
  const Tensor rows = Pixels(images);
  const Tensor mean = Mean(rows, {.axis = 0});
  const Tensor apart = rows - mean;
  const Tensor covariance =
      Dot(Transpose(apart), apart) / static_cast<float>(rows.dim(0));
  const EighFactors f = Eigh(covariance);
  const Tensor values = Reverse(f.values, {0});
  const Tensor vectors = Reverse(f.vectors, {1});
  return {mean, Pointed(vectors[{Range(), Range(0, k)}]),
          values[Range(0, k)] / Sum(values)};
}

// The mean square by which pixels differ that are made of the components.
Tensor Loss(const Basis& b, const Tensor& images) {
  const Tensor apart = Pixels(images) - b.mean;
  const Tensor weights = Dot(apart, b.vectors);
  return Mean(Square(apart - Dot(weights, Transpose(b.vectors))));
}

// A square of pictures, grey where a component has no say.
Tensor Picture(const Tensor& vectors, int64_t across) {
  const Tensor most = ReduceMax(Abs(vectors), {.axis = 0});
  const Tensor grey = Round(127.5F + vectors / most * 127.5F);
  const Tensor tiles = Reshape(Transpose(grey), {across, across, kSide, kSide});
  return Convert(
      Reshape(Transpose(tiles, {0, 2, 1, 3}), {across * kSide, across * kSide}),
      DType::kU8);
}

absl::Status WritePicture(const std::string& path, const Tensor& vectors) {
  int64_t across = 1;
  while ((across + 1) * (across + 1) <= vectors.dim(1)) ++across;
  auto picture = Jit([=](Tensor v) {
    return Picture(v[{Range(), Range(0, across * across)}], across);
  });
  HAWSER_ASSIGN_OR_RETURN(const Tensor drawn, picture(vectors));
  HAWSER_ASSIGN_OR_RETURN(const Literal grey, drawn.Fetch());
  std::ofstream out(path, std::ios::binary);
  out << "P5\n" << across * kSide << " " << across * kSide << "\n255\n";
  out.write(grey.bytes().data(),
            static_cast<std::streamsize>(grey.bytes().size()));
  out.close();
  if (out.fail()) return Unavailable("cannot write ", path);
  return absl::OkStatus();
}

absl::Status PrintVariance(const Basis& basis) {
  HAWSER_ASSIGN_OR_RETURN(const Literal variance, basis.variance.Fetch());
  double all = 0;
  const auto of = variance.data<float>();
  for (size_t i = 0; i < of.size(); ++i) {
    all += of[i];
    std::printf("component %d explains %.2f %%, so far %.2f %%\n",
                static_cast<int>(i + 1), 100 * of[i], 100 * all);
  }
  std::printf("found on %s\n", basis.variance.ran_on().c_str());
  return absl::OkStatus();
}

absl::Status PrintLosses(const Basis& basis, const Dataset& data,
                         int64_t images) {
  const int64_t batch = absl::GetFlag(FLAGS_batch);
  if (batch < 1 || batch > images) {
    return InvalidArgument("--batch=", batch, " of ", images, " images");
  }
  auto loss = Jit([=](Basis b, Tensor all, Tensor first) {
    return Loss(b, Rows(all, first, batch));
  });
  double sum = 0;
  const auto batches = static_cast<int>(images / batch);
  for (int i = 0; i < batches; ++i) {
    HAWSER_ASSIGN_OR_RETURN(const Tensor lost,
                            loss(basis, data["test"], i * batch));
    HAWSER_ASSIGN_OR_RETURN(const Literal value, lost.Fetch());
    std::printf("batch %d loses %.6f on %s\n", i + 1, value.data<float>()[0],
                lost.ran_on().c_str());
    sum += value.data<float>()[0];
    HAWSER_RETURN_IF_ERROR(KillServerAfter(i + 1));
  }
  std::printf("made of %d components a pixel is off by %.6f, squared\n",
              static_cast<int>(basis.vectors.dim(1)), sum / batches);
  return absl::OkStatus();
}

absl::Status Run() {
  HAWSER_ASSIGN_OR_RETURN(const FashionMnist images,
                          ReadFashionMnist(absl::GetFlag(FLAGS_data)));
  const Client client = Client::Default();
  HAWSER_ASSIGN_OR_RETURN(
      const Dataset data,
      client.Put({{"images", images.train}, {"test", images.test}}));
  std::cout << "dataset " << data.token() << ", uploaded "
            << data.info().sent_bytes << " of " << data.info().bytes << " bytes"
            << ToPlaces(client) << std::endl;
  const int64_t k = absl::GetFlag(FLAGS_components);
  if (k < 1 || k > kSide * kSide) {
    return InvalidArgument("--components=", k, " of ", kSide * kSide);
  }
  auto find = Jit([=](Tensor all) { return BasisOf(all, k); });
  HAWSER_ASSIGN_OR_RETURN(const Basis basis, find(data["images"]));
  HAWSER_RETURN_IF_ERROR(PrintVariance(basis));
  HAWSER_RETURN_IF_ERROR(PrintLosses(basis, data, images.test.shape().dim(0)));
  return WritePicture(absl::GetFlag(FLAGS_picture), basis.vectors);
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "The principal components of Fashion-MNIST, on the server that "
      "HAWSER_SERVERS names, or on this machine's CPU.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = hawser::Run();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
