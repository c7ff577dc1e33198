#include "tests/bench/crowd/neighbour.h"

#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/bench/hawser_calls.h"
#include "client/bench/timing.h"
#include "client/remote/grpc/grpc_transport.h"
#include "client/sdk/client/client.h"
#include "core/base/status.h"
#include "tests/bench/crowd/crowd.h"
#include "tests/bench/echo/echo_client.h"
#include "tests/bench/echo/message_sizes.h"
#include "tests/bench/measure/rounds.h"
#include "tests/testing/processes/process.h"

namespace hawser::bench {
namespace {

// Between two looks at the other process, which are not timed.
constexpr int kBetweenLooks = 64;

using Once = std::function<absl::Status()>;

// Times `once` again and again while `goes_on`.
absl::StatusOr<Times> TimesWhile(const Once& once,
                                 const std::function<bool()>& goes_on) {
  std::vector<double> micros;
  do {
    for (int i = 0; i < kBetweenLooks; ++i) {
      const double start = NowMicros();
      HAWSER_RETURN_IF_ERROR(once());
      micros.push_back(NowMicros() - start);
    }
  } while (goes_on());
  return Times{Quantile(micros, 0.5), Quantile(micros, 0.99)};
}

// The other session.
struct Heavy {
  double per_second = 0;
  double milliseconds = 0;  // an execution by itself
};

class HeavyProcess {
 public:
  // Returns once it is at work.
  static absl::StatusOr<HeavyProcess> Start(const Peers& peers,
                                            const NeighbourPlan& plan) {
    HAWSER_ASSIGN_OR_RETURN(
        testing::Process process,
        testing::Process::Start({testing::Runfile("tests/bench/heavy_client"),
                                 peers.hawserd(), absl::StrCat(plan.size),
                                 absl::StrCat(plan.seconds)}));
    HAWSER_RETURN_IF_ERROR(process.ReadLineWith("heavy at work", kPatience));
    return HeavyProcess(std::move(process));
  }

  bool AtWork() { return !process_.Wait(absl::ZeroDuration()).ok(); }

  absl::StatusOr<Heavy> Finish() {
    HAWSER_ASSIGN_OR_RETURN(const int code, process_.Wait(kPatience));
    const std::vector<std::string> lines =
        absl::StrSplit(process_.output(), '\n', absl::SkipEmpty());
    const std::vector<std::string> words = absl::StrSplit(lines.back(), ' ');
    Heavy heavy;
    if (code != 0 || words.size() != 2 ||
        !absl::SimpleAtod(words[0], &heavy.per_second) ||
        !absl::SimpleAtod(words[1], &heavy.milliseconds)) {
      return Internal("heavy_client ended with ", code,
                      " and said: ", process_.output());
    }
    return heavy;
  }

 private:
  explicit HeavyProcess(testing::Process process)
      : process_(std::move(process)) {}

  testing::Process process_;
};

// One round.
struct Seen {
  Times alone, beside;            // steps
  Times ping_alone, ping_beside;  // bare exchanges
  Heavy heavy_alone, heavy_beside;
};

absl::StatusOr<Times> Alone(const Once& once, double seconds) {
  const absl::Time end = absl::Now() + absl::Seconds(seconds);
  return TimesWhile(once, [end] { return absl::Now() < end; });
}

absl::StatusOr<Times> Beside(const Once& once, const Peers& peers,
                             const NeighbourPlan& plan, Heavy* heavy) {
  HAWSER_ASSIGN_OR_RETURN(HeavyProcess process,
                          HeavyProcess::Start(peers, plan));
  HAWSER_ASSIGN_OR_RETURN(const Times times,
                          TimesWhile(once, [&] { return process.AtWork(); }));
  HAWSER_ASSIGN_OR_RETURN(*heavy, process.Finish());
  return times;
}

absl::StatusOr<Seen> MeasureRound(const Peers& peers, const NeighbourPlan& plan,
                                  const Once& step, const Once& ping) {
  Seen seen;
  HAWSER_ASSIGN_OR_RETURN(seen.alone, Alone(step, plan.seconds));
  HAWSER_ASSIGN_OR_RETURN(seen.ping_alone, Alone(ping, plan.seconds));
  Heavy beside_ping;
  HAWSER_ASSIGN_OR_RETURN(seen.beside,
                          Beside(step, peers, plan, &seen.heavy_beside));
  HAWSER_ASSIGN_OR_RETURN(seen.ping_beside,
                          Beside(ping, peers, plan, &beside_ping));
  HAWSER_ASSIGN_OR_RETURN(HeavyProcess process,
                          HeavyProcess::Start(peers, plan));
  HAWSER_ASSIGN_OR_RETURN(seen.heavy_alone, process.Finish());
  return seen;
}

double Median(const std::vector<Seen>& all,
              const std::function<double(const Seen&)>& of) {
  std::vector<double> values;
  for (const Seen& seen : all) values.push_back(of(seen));
  return Quantile(std::move(values), 0.5);
}

void AddRows(const std::vector<Seen>& all, const NeighbourPlan& plan,
             const std::string& placement, Report* report) {
  using Of = std::function<double(const Seen&)>;
  const auto add = [&](const std::string& what, const Of& ours, const Of& floor,
                       const char* unit, const char* target) {
    report->rows.push_back(
        {placement, what, absl::StrFormat("%.1f%s", Median(all, ours), unit),
         absl::StrFormat("%.1f%s", Median(all, floor), unit),
         Median(all, [&](const Seen& s) { return ours(s) / floor(s); }),
         target});
  };
  const std::string heavy = absl::StrFormat(
      "products of %d x %d (%.1f ms each)", plan.size, plan.size,
      Median(all, [](const Seen& s) { return s.heavy_alone.milliseconds; }));
  add(
      "step beside " + heavy + " / alone, p99",
      [](const Seen& s) { return s.beside.p99; },
      [](const Seen& s) { return s.alone.p99; }, " us", "2");
  add(
      "... p50", [](const Seen& s) { return s.beside.p50; },
      [](const Seen& s) { return s.alone.p50; }, " us", "");
  add(
      "bare ping beside them / alone, p99",
      [](const Seen& s) { return s.ping_beside.p99; },
      [](const Seen& s) { return s.ping_alone.p99; }, " us", "");
  add(
      "step / bare ping, both beside them, p99",
      [](const Seen& s) { return s.beside.p99; },
      [](const Seen& s) { return s.ping_beside.p99; }, " us", "");
  add(
      "products beside steps / alone",
      [](const Seen& s) { return s.heavy_beside.per_second; },
      [](const Seen& s) { return s.heavy_alone.per_second; }, "/s", "");
}

}  // namespace

absl::Status MeasureNeighbour(const Peers& peers, const NeighbourPlan& plan,
                              const std::string& placement, Report* report) {
  HAWSER_ASSIGN_OR_RETURN(auto remote, ConnectRemote(peers.hawserd()));
  HAWSER_ASSIGN_OR_RETURN(const HawserCalls calls,
                          HawserCalls::On(Client(std::move(remote))));
  EchoClient echo(peers.echo());
  const EchoMessage request = RequestOf(SizesOfStep());
  std::vector<Seen> all;
  for (int i = 0; i < plan.rounds; ++i) {
    HAWSER_ASSIGN_OR_RETURN(all.emplace_back(),
                            MeasureRound(
                                peers, plan, [&] { return calls.Step(); },
                                [&] { return echo.Ping(request); }));
  }
  AddRows(all, plan, placement, report);
  return absl::OkStatus();
}

}  // namespace hawser::bench
