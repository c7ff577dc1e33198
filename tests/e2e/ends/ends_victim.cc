// A program that ends in the middle of things, or forks: ends_test runs it.
//
//   ends_victim CLIENT HOW     CLIENT: cpu, remote, fallback, sharded, default
//                              HOW: work, thread, static, fork, or
//                              busy_fork: beside threads that compute,
//                              put, frozen: such a call is under way,
//                              exit: on another thread,
//                              say: where a value was computed, or
//                              freeze: a value, once its server was killed,
//                              which is process HAWSER_VICTIM_KILLS;
//                              freeze_all: values of every dtype
//
// Servers are in HAWSER_VICTIM_SERVERS. It ends with 7 where all was well.
#include <openssl/crypto.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/hawser.h"

namespace hawser {
namespace {

constexpr int kWell = 7;

// Destroyed when the process ends, after main.
std::optional<Client> kept;
std::optional<Tensor> kept_tensor;

absl::StatusOr<Client> MakeClient(const std::string& kind) {
  const char* const servers = std::getenv("HAWSER_VICTIM_SERVERS");
  ConnectOptions options;
  options.servers =
      absl::StrSplit(servers == nullptr ? "" : servers, ',', absl::SkipEmpty());
  if (kind == "cpu") return Client::Cpu();
  if (kind == "default") return Client::Default();
  if (kind == "sharded") return Sharded(options);
  options.servers.resize(1);
  if (kind == "remote") options.fallback = Client();
  return Connect(options);
}

absl::StatusOr<Tensor> RunSquare(const Client& client, int n) {
  static auto& square =
      *new auto(Jit([](Tensor x) { return Tanh(MatMul(x, x) * 0.001f); }));
  return square.With({.client = client})(Ones(DType::kF32, {n, n}));
}
Tensor Squared(const Client& client, int n) {
  const auto result = RunSquare(client, n);
  return result.ok() ? *result : Tensor();
}

// Work that is under way when main returns.
void LeaveWork(const Client& client) {
  static std::vector<Tensor>& left = *new std::vector<Tensor>;
  for (int i = 0; i < 4; ++i) left.push_back(Squared(client, 300 + i));
}

int Compute(const Client& client) {
  const auto value = Squared(client, 3).Fetch();
  if (!value.ok()) {
    std::cerr << value.status() << "\n";
    return 1;
  }
  return value->data<float>()[0] > 0 ? 0 : 2;
}

// Each verb says at once that it cannot.
int InChild(const Client& client, const Tensor& before) {
  const absl::Time start = absl::Now();
  const RunOptions patient = {.client = client,
                              .call = {.deadline = absl::Seconds(5)}};
  std::vector<absl::Status> all = {
      before.Fetch(patient).status(),
      (before + 1.0f).Eval(patient),
      RunSquare(client, 4).status(),
      client.Put({{"x", Literal::Vector<float>({1, 2})}}).status(),
      client.List().status(),
      client.Usage().status(),
      client.capabilities().status(),
      client.Freeze({{"x", before}}).status(),
      Connect({.servers = {"127.0.0.1:1"}}).status(),
      Sharded({.servers = {"127.0.0.1:1"}}).status(),
      before.To(client).status(),
  };
  int wrong = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    // A value that is in this process already may be had.
    if (all[i].ok() && (i == 0 || i == 10)) continue;
    if (absl::IsFailedPrecondition(all[i])) continue;
    std::cerr << "verb " << i << " in the child: " << all[i] << "\n";
    ++wrong;
  }
  if (absl::Now() - start > absl::Seconds(2)) ++wrong;
  return wrong == 0 ? 0 : 3;
}

int Fork(const Client& client) {
  if (const int wrong = Compute(client)) return wrong;
  Tensor large = Squared(client, 200);
  if (!large.Eval().ok()) return 4;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const int code = InChild(client, large);
      // With and without destructors and exit handlers.
      if (i % 2 == 0) std::exit(code);
      _exit(code);
    }
    int status = 0;
    for (int looks = 0; waitpid(child, &status, WNOHANG) == 0; ++looks) {
      if (looks == 1000) return 5;  // 10 s
      absl::SleepFor(absl::Milliseconds(10));
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      std::cerr << "child " << i << " ended with " << status << "\n";
      return 6;
    }
    // The parent never notices.
    if (const int wrong = Compute(client)) return wrong;
  }
  return 0;
}

// Forks while so many threads compute.
int ForkBeside(int threads, const Client& client) {
  std::atomic<bool> done{false};
  std::vector<std::thread> busy(threads);
  for (std::thread& thread : busy) {
    thread = std::thread([&] {
      while (!done) (void)Squared(client, 40).Fetch();
    });
  }
  const int wrong = Fork(client);
  done = true;
  for (std::thread& thread : busy) thread.join();
  return wrong;
}

// Puts or freezes one value after the other, until the process ends.
void Send(const Client& client, const std::string& how) {
  for (float i = 1;; ++i) {
    const Tensor large = Ones(DType::kF32, {1 << 20}) * i;
    if (how == "frozen") {
      (void)client.Freeze({{"x", large}});
      continue;
    }
    const auto value = large.Fetch({.client = Client::Cpu()});
    if (value.ok()) (void)client.Put({{"x", *value}});
  }
}

// 0, 1, 2, ... in that shape.
Tensor Counting(DType dtype, const Dims& dims) {
  const int64_t size = Shape::Of(dtype, dims).num_elements();
  return Reshape(Convert(Iota(DType::kS32, {size}, 0), dtype), dims);
}

// Freezes one array of each dtype and of some shapes, and all dtypes in one
// dataset; each is "@" and a name.
int FreezeAll(const Client& client) {
  std::vector<std::pair<std::string, std::vector<NamedTensor>>> models;
  std::vector<NamedTensor> all;
  for (const DType dtype : AllDTypes()) {
    const std::string name(DTypeName(dtype));
    models.push_back({name, {{"x", Counting(dtype, {2, 3})}}});
    all.push_back({name, Counting(dtype, {5})});
  }
  models.push_back({"all", all});
  models.push_back({"unnamed", {{"", Counting(DType::kF32, {7})}}});
  models.push_back({"scalar", {{"x", Counting(DType::kF32, {})}}});
  models.push_back({"empty", {{"x", Counting(DType::kF32, {0, 3})}}});
  models.push_back({"byte", {{"x", Counting(DType::kU8, {1})}}});
  models.push_back({"large", {{"x", Counting(DType::kF64, {1 << 20})}}});
  const std::string odd = "a \"b\" \\ {c}: 'd', ~";
  models.push_back({"odd", {{odd, Counting(DType::kF32, {3})}}});
  if (const int wrong = Compute(client)) return wrong;
  const char* const server = std::getenv("HAWSER_VICTIM_KILLS");
  if (server == nullptr || kill(std::atoi(server), SIGKILL) != 0) return 3;
  for (const auto& [name, arrays] : models) {
    const auto frozen = client.Freeze(arrays);
    if (!frozen.ok()) {
      std::cerr << name << ": " << frozen.status() << "\n";
      return 4;
    }
    const absl::Status tagged =
        client.Tag({.name = absl::StrCat("@", name), .token = frozen->token()});
    if (!tagged.ok()) return 5;
    std::cerr << "froze " << frozen->token() << " as " << name << std::endl;
  }
  return kWell;
}

// Freezes a value that is computed on a server that is killed before that.
int Freeze(const Client& client) {
  const Tensor value = Squared(client, 3);
  if (const int wrong = Compute(client)) return wrong;
  if (!value.Fetch().ok()) return 2;
  const char* const server = std::getenv("HAWSER_VICTIM_KILLS");
  if (server == nullptr || kill(std::atoi(server), SIGKILL) != 0) return 3;
  const auto frozen = client.Freeze({{"x", value}});
  if (!frozen.ok()) {
    std::cerr << frozen.status() << "\n";
    return 4;
  }
  const absl::Status tagged =
      client.Tag({.name = "@model", .token = frozen->token()});
  std::cerr << "froze " << frozen->token() << ", tag " << tagged << std::endl;
  return tagged.ok() ? kWell : 5;
}

int Main(const std::string& kind, const std::string& how) {
  // As a program that uses OpenSSL itself: its handlers run at exit.
  OPENSSL_init_crypto(0, nullptr);
  auto client = MakeClient(kind);
  if (!client.ok()) {
    std::cerr << client.status() << "\n";
    return 1;
  }
  if (how == "say") {
    const Tensor value = Squared(*client, 3);
    if (const int wrong = Compute(*client)) return wrong;
    if (!value.Fetch().ok()) return 2;
    std::cout << "ran on " << value.ran_on() << ", fallback "
              << value.on_fallback() << std::endl;
    return kWell;
  }
  if (how == "freeze") return Freeze(*client);
  if (how == "freeze_all") return FreezeAll(*client);
  if (how == "fork" || how == "busy_fork") {
    const int wrong = ForkBeside(how == "fork" ? 0 : 4, *client);
    return wrong == 0 ? kWell : wrong;
  }
  if (how == "static") {
    kept = *client;
    if (const int wrong = Compute(*kept)) return wrong;
    kept_tensor = Squared(*kept, 200);
    return kWell;
  }
  if (how == "put" || how == "frozen") {
    std::thread([client = *client, how] { Send(client, how); }).detach();
    absl::SleepFor(absl::Milliseconds(30));
    return kWell;
  }
  LeaveWork(*client);
  if (how == "exit") {
    std::thread([] { std::exit(kWell); }).detach();
    absl::SleepFor(absl::Seconds(30));
    return 8;
  }
  if (how == "thread") {
    std::thread([client = *client] {
      while (true) (void)Squared(client, 150).Fetch();
    }).detach();
    absl::SleepFor(absl::Milliseconds(5));
  }
  return kWell;
}

}  // namespace
}  // namespace hawser

int main(int argc, char** argv) {
  return argc == 3 ? hawser::Main(argv[1], argv[2]) : 2;
}
