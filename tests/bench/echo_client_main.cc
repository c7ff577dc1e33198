// echo_client: bare gRPC against echo_server, timed. Prints the median and the
// 99th percentile in microseconds. Usage:
//   echo_client ADDRESS ping|unary REQUEST_BYTES ANSWER_BYTES ITERATIONS
//   echo_client ADDRESS put|hashed_put|get BYTES FRAME_BYTES ITERATIONS
//   [STREAMS]
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/status.h"
#include "tests/bench/echo/echo_client.h"
#include "tests/bench/echo/message_sizes.h"
#include "tests/bench/measure/rounds.h"

namespace hawser::bench {
namespace {

// What a fresh process needs to get up to speed, in exchanges.
constexpr int kWarmUp = 100;

// `bytes` in all, in as many streams on connections of their own.
absl::StatusOr<Times> RunBulk(const std::string& address,
                              const std::string& kind, size_t bytes,
                              size_t frame_bytes, int iterations, int streams) {
  std::vector<char> data(bytes, 'x');  // touched
  std::vector<std::unique_ptr<EchoClient>> clients;
  for (int i = 0; i < streams; ++i) {
    clients.push_back(std::make_unique<EchoClient>(address));
  }
  const auto once = [&]() -> absl::Status {
    std::vector<absl::Status> statuses(streams);
    std::vector<std::thread> threads;
    for (int i = 0; i < streams; ++i) {
      const size_t begin = bytes * i / streams, end = bytes * (i + 1) / streams;
      const auto part = absl::MakeSpan(data).subspan(begin, end - begin);
      threads.emplace_back([&, i, part] {
        statuses[i] = kind == "get"
                          ? clients[i]->Get(part, frame_bytes)
                          : clients[i]->Put(part, frame_bytes, kind != "put");
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const absl::Status& status : statuses) HAWSER_RETURN_IF_ERROR(status);
    return absl::OkStatus();
  };
  return TimesOf(once, iterations);
}

absl::StatusOr<Times> Run(EchoClient& client, const std::string& kind,
                          size_t first, size_t second, int iterations) {
  const EchoMessage request =
      RequestOf(MessageSizes{.request = first, .answer = second});
  std::function<absl::Status()> once = [&] { return client.Ping(request); };
  if (kind == "unary") once = [&] { return client.Unary(request); };
  const auto warm = TimesOf(once, kWarmUp);
  return warm.ok() ? TimesOf(once, iterations) : warm;
}

}  // namespace

int Main(int argc, char** argv) {
  if (argc != 6 && argc != 7) {
    std::fprintf(stderr, "echo_client: see echo_client_main.cc\n");
    return 2;
  }
  const std::string kind = argv[2];
  const size_t first = std::strtoull(argv[3], nullptr, 10);
  const size_t second = std::strtoull(argv[4], nullptr, 10);
  const int iterations = std::atoi(argv[5]);
  EchoClient client(argv[1]);
  const absl::StatusOr<Times> times =
      kind == "put" || kind == "hashed_put" || kind == "get"
          ? RunBulk(argv[1], kind, first, second, iterations,
                    argc == 7 ? std::atoi(argv[6]) : 1)
          : Run(client, kind, first, second, iterations);
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
