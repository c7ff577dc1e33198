// A client that leaves its server no rest: stall_test runs several.
//
//   stall_victim loop SECONDS MS   loops without end, each with a deadline
//   stall_victim work SECONDS 0    long work, to its end
//   stall_victim here SECONDS 0    the same without a server
//
// It ends with 0 when its time is over and every call came back.
#include <cstdlib>
#include <iostream>
#include <string>
#include <tuple>

#include "absl/time/clock.h"
#include "client/hawser.h"

namespace hawser {
namespace {

// No call takes longer where nothing is stuck: it is ended by hand then.
constexpr absl::Duration kForEver = absl::Minutes(5);

int Loop(const Client& client, absl::Time end, absl::Duration deadline) {
  auto loop = Jit([](Tensor x) {
    return While(
        x, [](Tensor y) { return Sum(y) > 0.0f; },
        [](Tensor y) { return y * 1.0f; });
  });
  const auto run =
      loop.With({.client = client, .call = {.deadline = deadline}});
  while (absl::Now() < end) {
    const auto result = run(Ones(DType::kF32, {64}));
    const absl::Status status =
        result.ok() ? result->Fetch({.call = {.deadline = deadline}}).status()
                    : result.status();
    if (absl::IsDeadlineExceeded(status)) continue;
    std::cerr << "a loop without end: " << status << "\n";
    return 1;
  }
  return 0;
}

int Work(const Client& client, absl::Time end) {
  auto work = Jit([](Tensor x) {
    return For(50, x, [](Tensor, Tensor y) { return Tanh(MatMul(y, y)); });
  });
  const auto run =
      work.With({.client = client, .call = {.deadline = kForEver}});
  while (absl::Now() < end) {
    const auto result = run(Ones(DType::kF32, {300, 300}));
    const absl::Status status =
        result.ok() ? result->Fetch({.call = {.deadline = kForEver}}).status()
                    : result.status();
    if (status.ok()) continue;
    std::cerr << "work: " << status << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) {
  using namespace hawser;  // NOLINT: a program of a user's
  if (argc != 4) return 2;
  const std::string how = argv[1];
  const absl::Time end = absl::Now() + absl::Seconds(std::atoi(argv[2]));
  if (how == "here") return Work(Client::Cpu(), end);
  const char* const servers = std::getenv("HAWSER_SERVERS");
  if (servers == nullptr) return 2;
  const auto client = Connect({.servers = {servers}, .fallback = Client()});
  if (!client.ok()) {
    std::cerr << client.status() << "\n";
    return 1;
  }
  if (how == "work") return Work(*client, end);
  return Loop(*client, end, absl::Milliseconds(std::atoi(argv[3])));
}
