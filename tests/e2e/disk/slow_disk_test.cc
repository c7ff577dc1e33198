// A disk that is slower than a server may be silent is no dead server: verbs
// that are answered once the disk has them end well, with any client, and no
// other end takes over.
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/fallback/fallback_client.h"
#include "client/remote/grpc/grpc_transport.h"
#include "client/sharded/sharded_client.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/runtime/datasets.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/e2e/disk/data_server.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kSilence = absl::Milliseconds(600);
// Each flush takes so long; a verb waits for three at least.
constexpr int kFlushMs = 500;
constexpr int64_t kDatasetMemory = int64_t{16} << 20;
constexpr char kKinds[3][9] = {"plain", "fallback", "sharded"};

runtime::CallOptions Patient() {
  return {.cancel = CancelToken(SteadyNow() + absl::Seconds(60))};
}

// A client of one kind, and a server of its own with a slow disk.
class Ends {
 public:
  absl::Status Start(int kind) {
    HAWSER_RETURN_IF_ERROR(StartServer(/*slow=*/true, &servers_[0]));
    HAWSER_ASSIGN_OR_RETURN(const auto slow, Remote(0, kind != 0));
    client_ = slow;
    if (kind == 1) {
      fallback_ = MakeFallbackClient(slow, cpu::MakeCpuClient({.threads = 1}));
      client_ = fallback_;
    } else if (kind == 2) {
      HAWSER_RETURN_IF_ERROR(StartServer(/*slow=*/false, &servers_[1]));
      HAWSER_ASSIGN_OR_RETURN(const auto quick, Remote(1, true));
      HAWSER_ASSIGN_OR_RETURN(sharded_, MakeShardedClient({slow, quick}));
      client_ = sharded_;
    }
    return absl::OkStatus();
  }
  runtime::Datasets& datasets() { return client_->datasets(); }
  int64_t takeovers() const {
    if (fallback_ != nullptr) return fallback_->stats().switches;
    return sharded_ == nullptr ? 0 : sharded_->stats().places_left;
  }

 private:
  absl::Status StartServer(bool slow, std::unique_ptr<DataServer>* server) {
    std::vector<std::string> launcher;
    if (slow) {
      launcher = {
          "/usr/bin/env",
          "LD_PRELOAD=" + Runfile("tests/testing/faulty_files_preload.so"),
          absl::StrCat("HAWSER_TEST_FAULTS=fsync / 0 100 ", kFlushMs)};
    }
    folders_.push_back(std::make_unique<TemporaryFolder>());
    *server = std::make_unique<DataServer>(folders_.back()->path(), launcher);
    return (*server)->Start(
        {"--device=cpu", absl::StrCat("--dataset_memory=", kDatasetMemory)});
  }
  absl::StatusOr<std::shared_ptr<runtime::Client>> Remote(int server,
                                                          bool stands_in) {
    RemoteOptions options;
    options.silence = kSilence;
    options.give_up_silent = stands_in;
    return ConnectRemote(servers_[server]->address(), options);
  }

  std::vector<std::unique_ptr<TemporaryFolder>> folders_;
  std::unique_ptr<DataServer> servers_[2];
  std::shared_ptr<runtime::Client> client_;
  std::shared_ptr<FallbackClient> fallback_;
  std::shared_ptr<ShardedClient> sharded_;
};

absl::StatusOr<std::string> Commit(runtime::Datasets& datasets, int seed,
                                   int64_t bytes = 1000) {
  DatasetSource source;
  source.arrays.push_back({"x", SeededBytes(bytes, seed)});
  HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info,
                          datasets.Put(source, Patient()));
  if (!info.durable) return Internal("it is not durable");
  return info.token;
}

struct Outcome {
  const char* verb;
  absl::Status status;
  absl::Duration took;
  int64_t takeovers;
};

// Every verb that waits for the disk, one after the other.
std::vector<Outcome> RunVerbs(Ends& ends) {
  runtime::Datasets& datasets = ends.datasets();
  std::vector<Outcome> all;
  const auto run = [&](const char* verb, auto fn) {
    const absl::Time start = absl::Now();
    absl::Status status = fn();
    all.push_back(
        {verb, std::move(status), absl::Now() - start, ends.takeovers()});
  };
  const auto ask = [&](const auto& verb) {
    return datasets.Ask(verb, Patient()).status();
  };
  std::string token;
  run("commit", [&] {
    auto committed = Commit(datasets, 1);
    if (committed.ok()) token = *committed;
    return committed.status();
  });
  run("tag", [&] { return ask(DatasetTag{"@x", token, std::nullopt}); });
  run("swap", [&] { return ask(DatasetTag{"@x", "", token}); });
  run("pin", [&] { return ask(PinDataset{token, absl::Minutes(5)}); });
  run("unpin", [&] { return ask(PinDataset{token, absl::ZeroDuration()}); });
  run("freeze", [&] {
    const runtime::NamedArgument array = {"y", SeededBytes(100, 2)};
    return datasets.Freeze({&array, 1}, Patient()).status();
  });
  run("delete", [&] { return ask(DeleteDataset{token}); });
  // Its chunks wait for memory that the disk has to make.
  run("large put",
      [&] { return Commit(datasets, 3, 2 * kDatasetMemory).status(); });
  return all;
}

TEST(SlowDiskTest, IsNoDeadServer) {
  Mutex mu;
  int rows = 0;
  std::vector<std::thread> threads;
  for (int kind = 0; kind < 3; ++kind) {
    threads.emplace_back([&, kind] {
      Ends ends;
      const absl::Status started = ends.Start(kind);
      const auto outcomes =
          started.ok() ? RunVerbs(ends) : std::vector<Outcome>();
      MutexLock lock(&mu);
      EXPECT_TRUE(started.ok()) << started;
      for (const Outcome& one : outcomes) {
        ++rows;
        std::cout << kKinds[kind] << " " << one.verb << ": " << one.status
                  << " after " << one.took << "\n";
        EXPECT_TRUE(one.status.ok()) << kKinds[kind] << " " << one.verb;
        EXPECT_EQ(one.takeovers, 0) << kKinds[kind] << " " << one.verb;
        // Or nothing was tried.
        EXPECT_GT(one.took, kSilence) << kKinds[kind] << " " << one.verb;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::cout << rows << " verbs of clients on a slow disk\n";
  EXPECT_EQ(rows, 24);
}

}  // namespace
}  // namespace hawser::testing
