// heavy_client: a session that keeps a server's device busy. Multiplies two
// matrices that lie on the server, again and again, with a few executions under
// way. Prints "heavy at work", and in the end "EXECUTIONS_PER_SECOND
// MILLISECONDS": the second is what one takes by itself. Usage:
//   heavy_client ADDRESS SIZE SECONDS
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <utility>

#include "client/bench/timing.h"
#include "client/remote/grpc/grpc_transport.h"
#include "client/sdk/hawser.h"
#include "core/base/status.h"

namespace hawser::bench {
namespace {

constexpr size_t kUnderWay = 8;
constexpr int kAlone = 5;  // executions, after one to warm up

absl::Status Run(const std::string& address, int64_t size, double seconds) {
  HAWSER_ASSIGN_OR_RETURN(auto remote, ConnectRemote(address));
  const RunOptions options{.client = Client(std::move(remote))};
  const auto product =
      Jit([](const Tensor& a) { return Mean(Dot(a, a)); }).With(options);
  Tensor matrix = Ones(DType::kF32, {size, size});
  HAWSER_RETURN_IF_ERROR(matrix.Eval(options));
  const auto once = [&]() -> absl::Status {
    HAWSER_ASSIGN_OR_RETURN(const Tensor mean, product(matrix));
    return mean.Fetch().status();
  };
  HAWSER_RETURN_IF_ERROR(once());
  const double before = NowMicros();
  for (int i = 0; i < kAlone; ++i) HAWSER_RETURN_IF_ERROR(once());
  const double alone = (NowMicros() - before) / kAlone / 1e3;

  std::deque<Tensor> under_way;
  const double start = NowMicros();
  int done = 0;
  for (bool said = false; NowMicros() - start < seconds * 1e6; ++done) {
    while (under_way.size() < kUnderWay) {
      HAWSER_ASSIGN_OR_RETURN(Tensor mean, product(matrix));
      under_way.push_back(std::move(mean));
    }
    HAWSER_RETURN_IF_ERROR(under_way.front().Fetch().status());
    under_way.pop_front();
    if (said) continue;
    said = true;
    std::printf("heavy at work\n");
    std::fflush(stdout);
  }
  const double lasted = (NowMicros() - start) / 1e6;
  std::printf("%.2f %.2f\n", done / lasted, alone);
  return absl::OkStatus();
}

}  // namespace

int Main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "heavy_client: see heavy_client_main.cc\n");
    return 2;
  }
  const absl::Status status =
      Run(argv[1], std::atoll(argv[2]), std::atof(argv[3]));
  if (status.ok()) return 0;
  std::fprintf(stderr, "heavy_client: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace hawser::bench

int main(int argc, char** argv) { return hawser::bench::Main(argc, argv); }
