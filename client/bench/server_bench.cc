#include "client/bench/server_bench.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/bench/fresh_bytes.h"
#include "client/bench/hawser_calls.h"
#include "client/bench/tcp_exchange.h"
#include "client/bench/tcp_socket.h"
#include "client/bench/timing.h"
#include "client/bench/turns.h"
#include "client/sdk/client/client.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/runtime/datasets.h"

namespace hawser::bench {
namespace {

constexpr int kChain = 100;
constexpr int kKnownPuts = 5;  // in each round
constexpr absl::Duration kTurn = absl::Milliseconds(20);
// Few, since each occupies a port for a minute.
constexpr int kConnectsPerTurn = 5;
constexpr absl::Duration kConnectPatience = absl::Seconds(5);
constexpr absl::Duration kCleanUpPatience = absl::Seconds(5);
// The length of a step's messages, about.
constexpr int64_t kSmallRequest = 200;
constexpr int64_t kSmallAnswer = 100;

void AddTimes(const Timed& ours, const Timed& theirs, double quantile,
              const std::string& suffix, BenchReport* report) {
  if (!ours.measured() || !theirs.measured()) return;
  report->rows.push_back(
      {ours.name + suffix, theirs.name + suffix, BenchRow::Unit::kMicroseconds,
       Quantile(ours.micros, quantile), Quantile(theirs.micros, quantile),
       ours.micros.size()});
}

void AddTimes(const Timed& ours, const Timed& theirs, BenchReport* report) {
  AddTimes(ours, theirs, 0.5, ", p50", report);
  AddTimes(ours, theirs, 0.99, ", p99", report);
}

void AddSpeeds(const std::string& what, int64_t bytes, const Timed& ours,
               const Timed& theirs, BenchReport* report) {
  if (!ours.measured() || !theirs.measured()) return;
  const auto speed = [bytes](const Timed& timed) {
    return static_cast<double>(bytes) / Quantile(timed.micros, 0.5) / 1e3;
  };
  report->rows.push_back({what, theirs.name,
                          BenchRow::Unit::kGigabytesPerSecond, speed(ours),
                          speed(theirs), ours.micros.size()});
}

void NoteFailure(const Timed& theirs, BenchReport* report) {
  if (theirs.failure.ok()) return;
  report->notes.push_back(
      absl::StrCat("no ", theirs.name, ": ", theirs.failure.message()));
}

// TCP is measured by exchanges with a peer if the plan names one, else by
// connecting to the server if it has a TCP address.
struct Tcp {
  std::optional<TcpEndpoint> server;
  std::unique_ptr<TcpLink> peer;
};

absl::StatusOr<Tcp> ReachByTcp(const BenchPlan& plan, BenchReport* report) {
  Tcp tcp;
  if (!plan.peer.empty()) {
    HAWSER_ASSIGN_OR_RETURN(TcpLink link,
                            TcpLink::Open(plan.peer, plan.cancel));
    tcp.peer = std::make_unique<TcpLink>(std::move(link));
    return tcp;
  }
  if (absl::StartsWith(plan.address, "unix:")) {
    report->notes.push_back(
        absl::StrCat("no TCP: ", plan.address, " is a Unix socket"));
    return tcp;
  }
  const auto found = TcpSocket::Find(plan.address, kConnectPatience);
  if (found.ok()) {
    tcp.server = *found;
    report->notes.push_back(
        "of TCP only the time to connect: for round trips and streams run "
        "`hawser bench --serve` beside the server and name it by --peer");
  } else {
    report->notes.push_back(absl::StrCat("no TCP: ", found.status().message()));
  }
  return tcp;
}

absl::Status MeasureSmall(const BenchPlan& plan, const Tcp& tcp, absl::Time end,
                          Timed* check, BenchReport* report) {
  HAWSER_ASSIGN_OR_RETURN(const HawserCalls calls,
                          HawserCalls::On(Client(plan.client)));
  Timed step{"step", [&] { return calls.Step(); }};
  Timed call{"Call", [&] { return calls.Call(); }};
  Timed chain{absl::StrCat(kChain, " dependent steps"),
              [&] { return calls.DependentSteps(kChain); }};
  Timed ping{"gRPC ping", [&] { return plan.bare->Ping(); }};
  Timed small{"TCP round trip",
              [&] { return tcp.peer->Exchange(kSmallRequest, kSmallAnswer); }};
  Timed connect{
      "TCP connect",
      [&] {
        return TcpSocket::Connect(*tcp.server, kConnectPatience).status();
      },
      kConnectsPerTurn};
  std::vector<Timed*> subjects = {&ping, &step, check, &call, &chain};
  Timed* const below = tcp.peer != nullptr ? &small : &connect;
  if (tcp.peer != nullptr || tcp.server.has_value()) subjects.push_back(below);
  TakeTurns(subjects, kTurn, end, plan.cancel);
  for (const Timed* ours : {&step, &call, &chain}) {
    HAWSER_RETURN_IF_ERROR(ours->failure);
  }
  AddTimes(step, ping, report);
  AddTimes(step, *below, report);
  AddTimes(call, *check, report);
  AddTimes(call, *below, report);
  step.name = "one step";
  AddTimes(chain, step, 0.5, ", p50", report);
  AddTimes(chain, ping, 0.5, ", p50", report);
  for (const Timed* theirs : {&ping, check, below}) {
    NoteFailure(*theirs, report);
  }
  return plan.cancel.Check();
}

// Transfers of a large value both ways, beside their bare streams. Deletes
// every dataset that it has put.
class Bulk {
 public:
  Bulk(const BenchPlan& plan, const Tcp& tcp)
      : plan_(plan), tcp_(tcp), number_(absl::ToUnixNanos(SteadyNow()) >> 10) {}
  ~Bulk() { Forget().IgnoreError(); }
  Bulk(const Bulk&) = delete;
  Bulk& operator=(const Bulk&) = delete;

  // One upload, one download and the known puts, hawser's and bare.
  absl::Status Round() {
    NewValue();
    HAWSER_RETURN_IF_ERROR(upload_.Call());
    for (int i = 0; i < kKnownPuts; ++i) HAWSER_RETURN_IF_ERROR(known_.Call());
    HAWSER_RETURN_IF_ERROR(download_.Call());
    HAWSER_RETURN_IF_ERROR(get_.Call());
    HAWSER_RETURN_IF_ERROR(Forget());
    NewValue();
    HAWSER_RETURN_IF_ERROR(put_.Call());
    HAWSER_RETURN_IF_ERROR(ForgetBare());
    if (tcp_.peer == nullptr) return absl::OkStatus();
    HAWSER_RETURN_IF_ERROR(up_.Call());
    return down_.Call();
  }

  void AddRows(const Timed& check, BenchReport* report) const {
    const std::string size = absl::StrCat(plan_.bytes >> 20, " MiB");
    const std::string upload =
        absl::StrCat("upload of ", size, durable_ ? ", to its disk" : "");
    AddSpeeds(upload, plan_.bytes, upload_, put_, report);
    AddSpeeds(upload, plan_.bytes, upload_, up_, report);
    const std::string download = absl::StrCat("download of ", size);
    AddSpeeds(download, plan_.bytes, download_, get_, report);
    AddSpeeds(download, plan_.bytes, download_, down_, report);
    Timed two = check;
    two.name = "two gRPC unary calls";
    for (double& micros : two.micros) micros *= 2;
    AddTimes(known_, two, 0.5, ", p50", report);
  }

 private:
  void NewValue() {
    value_ = FreshBytes(plan_.bytes, ++number_);
    manifest_ = ManifestOf(DatasetSource{{{"", value_, {}}}}, 2);
  }

  absl::Status Put(bool with_digests) {
    DatasetSource source{{{"", value_, {}}}};
    if (with_digests) source.arrays[0].chunks = manifest_.arrays[0].chunks;
    HAWSER_ASSIGN_OR_RETURN(
        const DatasetInfo info,
        plan_.client->datasets().Put(source, {.cancel = plan_.cancel}));
    token_ = info.token;
    durable_ = info.durable;
    const int64_t sent = with_digests ? 0 : plan_.bytes;
    if (info.sent_bytes == sent) return absl::OkStatus();
    return Internal("a put of ", plan_.bytes, " bytes has sent ",
                    info.sent_bytes, ", must be ", sent);
  }

  absl::Status Download() {
    const runtime::CallOptions call{.cancel = plan_.cancel};
    HAWSER_ASSIGN_OR_RETURN(const auto array,
                            plan_.client->datasets().Open({token_, ""}, call));
    HAWSER_ASSIGN_OR_RETURN(const Literal back, array->Fetch(call).Await());
    // Comparing all of it would take as long as some links do.
    if (back.shape() == value_.shape() &&
        back.bytes().back() == value_.bytes().back()) {
      return absl::OkStatus();
    }
    return Internal("the download is not what was put");
  }

  // Deletes the dataset, also when the time is over.
  absl::Status Forget() {
    if (token_.empty()) return absl::OkStatus();
    return plan_.client->datasets()
        .Ask(DeleteDataset{std::exchange(token_, "")},
             {.cancel = CleanUpTime()})
        .status();
  }
  // Makes a dataset of the chunks of a bare stream and deletes it: chunks alone
  // cannot be deleted.
  absl::Status ForgetBare() {
    HAWSER_RETURN_IF_ERROR(plan_.bare->Commit(manifest_, CleanUpTime()));
    token_ = TokenOf(manifest_);
    return Forget();
  }
  static CancelToken CleanUpTime() {
    return CancelToken(SteadyNow() + kCleanUpPatience);
  }

  const BenchPlan& plan_;
  const Tcp& tcp_;
  uint64_t number_;
  Literal value_;
  DatasetManifest manifest_;
  std::string token_;  // the dataset to delete
  bool durable_ = false;
  Timed upload_{"", [this] { return Put(/*with_digests=*/false); }};
  Timed known_{"put of the same again",
               [this] { return Put(/*with_digests=*/true); }};
  Timed download_{"", [this] { return Download(); }};
  Timed put_{"gRPC Put streams", [this] {
               return plan_.bare->Put(value_, manifest_.arrays[0].chunks);
             }};
  Timed get_{"gRPC Get streams",
             [this] { return plan_.bare->Get(token_, plan_.bytes); }};
  Timed up_{"TCP stream",
            [this] { return tcp_.peer->Exchange(plan_.bytes, 1); }};
  Timed down_{"TCP stream",
              [this] { return tcp_.peer->Exchange(1, plan_.bytes); }};
};

}  // namespace

absl::StatusOr<BenchReport> BenchServer(const BenchPlan& plan) {
  const absl::Time start = SteadyNow(), end = start + plan.time;
  BenchReport report;
  HAWSER_ASSIGN_OR_RETURN(const Tcp tcp, ReachByTcp(plan, &report));
  Timed check{"gRPC unary call", [&] { return plan.bare->Check(); }};
  HAWSER_RETURN_IF_ERROR(
      MeasureSmall(plan, tcp, start + plan.time / 2, &check, &report));
  Bulk bulk(plan, tcp);
  absl::Duration longest;
  bool first = true;
  do {
    const absl::Time begin = SteadyNow();
    report.failure = bulk.Round();
    longest = std::max(longest, SteadyNow() - begin);
    // This round was slower than the earlier ones, which count.
    if (!first && absl::IsDeadlineExceeded(report.failure)) report.failure = {};
    first = false;
  } while (report.failure.ok() && SteadyNow() + longest < end);
  bulk.AddRows(check, &report);
  return report;
}

}  // namespace hawser::bench
