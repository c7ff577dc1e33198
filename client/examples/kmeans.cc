// k-means on Fashion-MNIST's images.
//
// The centres begin as images chosen by a key. One call iterates, in the graph,
// until no image changes its centre; what comes back are centres, how many
// images each has, and how many iterations it took.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <tuple>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "client/examples/fashion_mnist.h"
#include "client/hawser.h"
#include "core/base/status.h"

ABSL_FLAG(std::string, data, "/usr/share/datasets/fashion-mnist",
          "folder of the four gzipped IDX files");
ABSL_FLAG(int, centres, 10, "how many centres");
ABSL_FLAG(int, most_turns, 100, "turns, at most");
ABSL_FLAG(int, seed, 1, "of the choice of the first centres");

namespace hawser {
namespace {

struct Clusters {
  Tensor centres;   // f32[k, pixels]
  Tensor nearest;   // s32[n], the centre of each image
  Tensor distance;  // f32[], the mean square of an image's to it
  Tensor turns;     // s32[]
};
auto HawserFields(Clusters& c) {
  return std::tie(c.centres, c.nearest, c.distance, c.turns);
}

// Each image's nearest centre, and the mean square of the distances. |x|^2 is
// the same for every centre and is added at the end.
std::tuple<Tensor, Tensor> Nearest(const Tensor& rows, const Tensor& centres) {
  const Tensor apart =
      Sum(Square(centres), {.axis = 1}) - 2 * Dot(rows, Transpose(centres));
  const Tensor all = ReduceMin(apart, {.axis = 1}) +
                     Sum(Square(rows), {.axis = 1});
  return {ArgMin(apart, {.axis = 1}), Mean(all)};
}

// The mean of each centre's images; a centre without one stays.
Tensor Moved(const Tensor& rows, const Tensor& nearest, const Tensor& centres) {
  const int64_t k = centres.dim(0);
  const Tensor is_of = Convert(
      Eq(ExpandDims(nearest, 1), Iota(DType::kS32, {1, k})), DType::kF32);
  const Tensor count = ExpandDims(Sum(is_of, {.axis = 0}), 1);
  const Tensor sums = Dot(Transpose(is_of), rows);
  return Select(Gt(count, 0), sums / Maximum(count, 1), centres);
}

Clusters Cluster(const Tensor& images, const Tensor& key, int64_t k,
                 int64_t most_turns) {
  const Tensor rows =
      Convert(Reshape(images, {images.dim(0), -1}), DType::kF32) / 255;
  const Tensor centres = RandomChoice(key, rows, k, {.replace = false});
  const auto [nearest, distance] = Nearest(rows, centres);
  const Clusters first{centres, nearest, distance, Scalar(0)};
  const auto last = While(
      std::tuple(first, Scalar(true)),
      [&](Clusters now, Tensor changed) {
        return LogicalAnd(changed, Lt(now.turns, most_turns));
      },
      [&](Clusters now, Tensor) {
        const Tensor centres = Moved(rows, now.nearest, now.centres);
        const auto [nearest, distance] = Nearest(rows, centres);
        return std::tuple(
            Clusters{centres, nearest, distance, now.turns + 1},
            Any(Ne(nearest, now.nearest)));
      });
  return std::get<0>(last);
}

absl::Status Run() {
  HAWSER_ASSIGN_OR_RETURN(const FashionMnist images,
                          ReadFashionMnist(absl::GetFlag(FLAGS_data)));
  const Client client = Client::Default();
  HAWSER_ASSIGN_OR_RETURN(const Dataset data,
                          client.Put({{"images", images.train}}));
  const int64_t k = absl::GetFlag(FLAGS_centres);
  const int64_t most_turns = absl::GetFlag(FLAGS_most_turns);
  auto cluster = Jit([=](Tensor images, Tensor key) {
    return Cluster(images, key, k, most_turns);
  });
  HAWSER_ASSIGN_OR_RETURN(
      const Clusters found,
      cluster(data["images"], RandomKey(absl::GetFlag(FLAGS_seed))));
  HAWSER_ASSIGN_OR_RETURN(const Literal turns, found.turns.Fetch());
  HAWSER_ASSIGN_OR_RETURN(const Literal distance, found.distance.Fetch());
  HAWSER_ASSIGN_OR_RETURN(const Literal nearest, found.nearest.Fetch());
  std::printf("%d turns on %s, mean square distance %.4f\n",
              turns.data<int32_t>()[0], found.turns.ran_on().c_str(),
              distance.data<float>()[0]);
  for (int c = 0; c < k; ++c) {
    const auto of = nearest.data<int32_t>();
    std::printf("centre %d: %d images\n", c,
                static_cast<int>(std::count(of.begin(), of.end(), c)));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "k-means on Fashion-MNIST's images, on the server that HAWSER_SERVERS "
      "names, or on this machine's CPU.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = hawser::Run();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
