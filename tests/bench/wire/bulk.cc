#include "tests/bench/wire/bulk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bench/fresh_bytes.h"
#include "client/hawser.h"
#include "client/remote/link/options.h"
#include "core/base/status.h"
#include "core/runtime/datasets.h"
#include "tests/bench/measure/peers.h"
#include "tests/bench/measure/placement.h"
#include "tests/bench/measure/rounds.h"
#include "tests/bench/measure/throughput.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::bench {
namespace {

constexpr absl::string_view kPlacement = "free";

std::string PerSecond(int64_t bytes, double microseconds) {
  return absl::StrFormat("%.2f GB/s", bytes / microseconds / 1e3);
}

struct Floor {
  std::string what;
  Subject subject;
  std::string target;
};

// A row of speeds for each floor, all measured in the same rounds.
absl::Status AddSpeeds(const std::string& what, int64_t bytes, int rounds,
                       const Subject& ours, const std::vector<Floor>& floors,
                       Report* report) {
  std::vector<Subject> subjects = {ours};
  for (const Floor& floor : floors) subjects.push_back(floor.subject);
  HAWSER_ASSIGN_OR_RETURN(const Rounds all, Measure(subjects, rounds));
  const auto speed = [&](size_t of) {
    return PerSecond(bytes, MedianOf(all, [&](const Round& round) {
                       return round[of].p50;
                     }));
  };
  for (size_t i = 0; i < floors.size(); ++i) {
    report->rows.push_back({std::string(kPlacement),
                            absl::StrCat(what, " / ", floors[i].what), speed(0),
                            speed(i + 1),
                            MedianOf(all,
                                     [&](const Round& round) {
                                       return round[i + 1].p50 / round[0].p50;
                                     }),
                            floors[i].target});
  }
  return absl::OkStatus();
}

Subject Once(std::function<absl::Status()> work) {
  return [work = std::move(work)] { return TimesOf(work, 1); };
}

Subject FloorOf(const Peers& peers, const std::string& kind, int64_t bytes) {
  return [&peers, kind, bytes] {
    return peers.Echo({kind, absl::StrCat(bytes), absl::StrCat(kFrameBytes),
                       "1", absl::StrCat(RemoteOptions().bulk_threads)});
  };
}

// Into memory that was written to before, as the floor does it, and as a value
// of its own, which takes new memory.
absl::Status MeasureDownloads(const Peers& peers, const Client& client,
                              const std::string& token, const Literal& value,
                              int rounds, Report* report) {
  const int64_t bytes = value.shape().byte_size();
  const auto check = [&](absl::Span<const char> back) {
    if (back.back() == value.bytes().back()) return absl::OkStatus();
    return Internal("the download is not what was put");
  };
  std::vector<char> room(bytes, 'x');
  const Subject into = Once([&]() -> absl::Status {
    HAWSER_RETURN_IF_ERROR(client.runtime()->datasets().FetchInto(
        {token, "", std::nullopt}, absl::MakeSpan(room), {}));
    return check(room);
  });
  const Subject fetch = Once([&]() -> absl::Status {
    HAWSER_ASSIGN_OR_RETURN(const auto array,
                            client.runtime()->datasets().Open({token, ""}, {}));
    HAWSER_ASSIGN_OR_RETURN(const Literal back, array->Fetch({}).Await());
    return check(back.bytes());
  });
  const std::string what = absl::StrFormat("download of %d MiB", bytes >> 20);
  HAWSER_RETURN_IF_ERROR(AddSpeeds(
      what + " into touched memory", bytes, rounds, into,
      {{"server streams", FloorOf(peers, "get", bytes), "0.8"}}, report));
  return AddSpeeds(what + " into new memory", bytes, rounds, fetch,
                   {{"server streams", FloorOf(peers, "get", bytes), ""}},
                   report);
}

absl::Status MeasureSize(const Peers& peers, const Client& client,
                         int64_t bytes, int rounds, Report* report) {
  const std::string size = absl::StrFormat("%d MiB", bytes >> 20);
  uint64_t number = 0;
  Literal value = FreshBytes(bytes, number);
  std::string token;
  const Subject fresh = [&]() -> absl::StatusOr<Times> {
    value = FreshBytes(bytes, ++number);
    if (!token.empty()) HAWSER_RETURN_IF_ERROR(client.Delete(token));
    return TimesOf(
        [&]() -> absl::Status {
          HAWSER_ASSIGN_OR_RETURN(const Dataset put, client.Put({{"", value}}));
          token = put.token();
          return absl::OkStatus();
        },
        1);
  };
  HAWSER_RETURN_IF_ERROR(
      AddSpeeds("upload of " + size, bytes, rounds, fresh,
                {{"client streams", FloorOf(peers, "put", bytes), "0.8"},
                 {"client streams hashed at both ends",
                  FloorOf(peers, "hashed_put", bytes), ""}},
                report));
  HAWSER_RETURN_IF_ERROR(
      MeasureDownloads(peers, client, token, value, rounds, report));
  // As the command puts a file that it has hashed before.
  DatasetSource known{{{"", value, {}}}};
  known.arrays[0].chunks = ManifestOf(known, 2).arrays[0].chunks;
  HAWSER_ASSIGN_OR_RETURN(
      const Times again,
      TimesOf(
          [&] { return client.runtime()->datasets().Put(known, {}).status(); },
          20));
  HAWSER_ASSIGN_OR_RETURN(const Times ping,
                          peers.Echo({"unary", "64", "64", "200"}));
  report->rows.push_back({std::string(kPlacement),
                          "put of a known " + size + " / two calls",
                          absl::StrFormat("%.2f ms", again.p50 / 1e3),
                          absl::StrFormat("%.2f ms", 2 * ping.p50 / 1e3),
                          again.p50 / (2 * ping.p50), "at most 5 ms"});
  return client.Delete(token);
}

// What `dd conv=fsync` does: writes and flushes.
absl::Status WriteAndFlush(const std::string& path, const Literal& value) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return Unavailable("cannot write ", path);
  absl::Span<const char> left = value.bytes();
  while (!left.empty()) {
    const ssize_t n =
        write(fd, left.data(), std::min<size_t>(left.size(), kChunkBytes));
    if (n <= 0) break;
    left.remove_prefix(static_cast<size_t>(n));
  }
  const bool flushed = fsync(fd) == 0;
  close(fd);
  unlink(path.c_str());
  if (left.empty() && flushed) return absl::OkStatus();
  return Unavailable("cannot write ", path);
}

absl::Status MeasureDurable(const BulkPlan& plan, Report* report) {
  const TemporaryFolder folder(plan.folder);
  std::string address;
  HAWSER_ASSIGN_OR_RETURN(
      testing::Process server,
      testing::StartHawserd({"--data_dir=" + folder.Path("data"),
                             absl::StrCat("--prepared_memory=", 2LL << 30)},
                            &address));
  HAWSER_ASSIGN_OR_RETURN(const Client client, Connect({.servers = {address}}));
  const int64_t bytes = plan.durable_bytes;
  uint64_t number = 0;
  Literal value;
  const Subject put = [&]() -> absl::StatusOr<Times> {
    value = FreshBytes(bytes, ++number);
    std::string token;
    const auto times = TimesOf(
        [&]() -> absl::Status {
          HAWSER_ASSIGN_OR_RETURN(const Dataset dataset,
                                  client.Put({{"", value}}));
          token = dataset.token();
          if (dataset.info().durable) return absl::OkStatus();
          return Internal("not durable");
        },
        1);
    HAWSER_RETURN_IF_ERROR(client.Delete(token));
    return times;
  };
  const absl::Status measured = AddSpeeds(
      absl::StrFormat("durable upload of %d MiB", bytes >> 20), bytes,
      plan.rounds, put,
      {{"write and fsync",
        Once([&] { return WriteAndFlush(folder.Path("floor"), value); }),
        "0.7"}},
      report);
  server.Signal(SIGTERM);
  HAWSER_RETURN_IF_ERROR(server.Wait(absl::Seconds(30)));
  return measured;
}

// The most memory `process` has had, in bytes.
absl::StatusOr<int64_t> PeakOf(pid_t process) {
  std::ifstream status(absl::StrCat("/proc/", process, "/status"));
  for (std::string line; std::getline(status, line);) {
    int64_t kilobytes = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %ld", &kilobytes) == 1) {
      return kilobytes << 10;
    }
  }
  return Unavailable("process ", process, " does not say what it has used");
}

absl::Status MeasureMemory(const BulkPlan& plan, Report* report) {
  std::string address;
  HAWSER_ASSIGN_OR_RETURN(
      testing::Process server,
      testing::StartHawserd(
          {absl::StrCat("--dataset_memory=", plan.watched_bytes + (1LL << 28))},
          &address));
  HAWSER_ASSIGN_OR_RETURN(const Client client, Connect({.servers = {address}}));
  const Literal value = FreshBytes(plan.watched_bytes, 0);
  HAWSER_ASSIGN_OR_RETURN(const int64_t server_before, PeakOf(server.pid()));
  HAWSER_ASSIGN_OR_RETURN(const int64_t client_before, PeakOf(getpid()));
  HAWSER_RETURN_IF_ERROR(client.Put({{"", value}}).status());
  HAWSER_ASSIGN_OR_RETURN(const int64_t server_after, PeakOf(server.pid()));
  HAWSER_ASSIGN_OR_RETURN(const int64_t client_after, PeakOf(getpid()));
  const auto add = [&](const std::string& who, int64_t more) {
    report->rows.push_back(
        {std::string(kPlacement),
         absl::StrFormat("memory of the %s beyond %d MiB uploaded", who,
                         plan.watched_bytes >> 20),
         absl::StrFormat("%d MiB", more >> 20), "128 MiB",
         static_cast<double>(more) / (128 << 20), "at most 1"});
  };
  add("server", server_after - server_before - plan.watched_bytes);
  add("client", client_after - client_before);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Report> MeasureBulk(const BulkPlan& plan) {
  Report report;
  if (!plan.bytes.empty()) {
    const int64_t largest =
        *std::max_element(plan.bytes.begin(), plan.bytes.end());
    HAWSER_ASSIGN_OR_RETURN(Peers peers, Peers::Start(3 * largest));
    HAWSER_ASSIGN_OR_RETURN(const Client client,
                            Connect({.servers = {peers.hawserd()}}));
    for (const int64_t bytes : plan.bytes) {
      HAWSER_RETURN_IF_ERROR(
          MeasureSize(peers, client, bytes, plan.rounds, &report));
    }
  }
  if (plan.durable_bytes > 0) {
    HAWSER_RETURN_IF_ERROR(MeasureDurable(plan, &report));
  }
  if (plan.watched_bytes > 0) {
    HAWSER_RETURN_IF_ERROR(MeasureMemory(plan, &report));
  }
  return report;
}

}  // namespace hawser::bench
