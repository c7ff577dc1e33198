// echo_client: bare gRPC against echo_server, timed. Prints the median and the
// 99th percentile in microseconds. Usage:
//   echo_client ADDRESS ping|unary REQUEST_BYTES ANSWER_BYTES ITERATIONS
//   echo_client ADDRESS put BYTES FRAME_BYTES ITERATIONS
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "tests/bench/echo_client.h"
#include "tests/bench/message_sizes.h"
#include "tests/bench/rounds.h"

namespace hawser::bench {
namespace {

// What a fresh process needs to get up to speed, in exchanges.
constexpr int kWarmUp = 100;

absl::StatusOr<Times> Run(EchoClient& client, const std::string& kind,
                          size_t first, size_t second, int iterations) {
  if (kind == "put") {
    const std::vector<char> data(first, 'x');  // touched
    return TimesOf([&] { return client.Put(data, second); }, iterations);
  }
  const EchoMessage request =
      RequestOf(MessageSizes{.request = first, .answer = second});
  std::function<absl::Status()> once = [&] { return client.Ping(request); };
  if (kind == "unary") once = [&] { return client.Unary(request); };
  const auto warm = TimesOf(once, kWarmUp);
  return warm.ok() ? TimesOf(once, iterations) : warm;
}

}  // namespace

int Main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "echo_client: 5 arguments, see echo_client_main.cc\n");
    return 2;
  }
  EchoClient client(argv[1]);
  const absl::StatusOr<Times> times =
      Run(client, argv[2], std::strtoull(argv[3], nullptr, 10),
          std::strtoull(argv[4], nullptr, 10), std::atoi(argv[5]));
  if (!times.ok()) {
    std::fprintf(stderr, "echo_client: %s\n",
                 times.status().ToString().c_str());
    return 1;
  }
  std::printf("%.3f %.3f\n", times->p50, times->p99);
  return 0;
}

}  // namespace hawser::bench

int main(int argc, char** argv) { return hawser::bench::Main(argc, argv); }
