#include "tests/bench/measure/latency.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bench/hawser_calls.h"
#include "client/hawser.h"
#include "client/remote/grpc/grpc_transport.h"
#include "core/base/status.h"
#include "tests/bench/calls/small_calls.h"
#include "tests/bench/echo/message_sizes.h"
#include "tests/bench/measure/rounds.h"

namespace hawser::bench {
namespace {

constexpr int kChain = 100;

// The subjects, in the order in which a round runs them.
enum Index {
  kPing,
  kStep,
  kStepAlone,
  kStepRuntime,
  kChainOfSteps,
  kChainHere,
  kThousandRemote,
  kTwoThousandsRemote,
  kThousandHere,
  kTwoThousandsHere,
  kOneHere,
  kUnary,
  kCall,
  kCallRuntime,
  kSubjects,  // how many there are
};

using Figure = std::function<double(const Round&)>;

Figure P50(Index of) {
  return [of](const Round& times) { return times[of].p50; };
}
Figure P50OverP50(Index a, Index b) {
  return [a, b](const Round& times) { return times[a].p50 / times[b].p50; };
}
Figure P99OverP99(Index a, Index b) {
  return [a, b](const Round& times) { return times[a].p99 / times[b].p99; };
}
// What computing over there costs more than computing here. The difference of
// two medians would be mostly that of the two ends' speeds just then.
double Overhead(const Round& times, Index there, Index here) {
  return times[there].p5 - times[here].p5;
}

class Table {
 public:
  Table(const Rounds& rounds, std::string placement, Report* report)
      : rounds_(rounds), placement_(std::move(placement)), report_(*report) {}

  void Add(const std::string& what, const Figure& ours, const Figure& floor,
           const Figure& ratio, const std::string& target) {
    report_.rows.push_back({placement_, what, Micros(ours), Micros(floor),
                            MedianOf(rounds_, ratio), target});
  }
  void AddP50(const std::string& what, Index ours, Index floor,
              const std::string& target) {
    Add(what, P50(ours), P50(floor), P50OverP50(ours, floor), target);
  }

 private:
  std::string Micros(const Figure& figure) const {
    return absl::StrFormat("%.1f us", MedianOf(rounds_, figure));
  }

  const Rounds& rounds_;
  const std::string placement_;
  Report& report_;
};

void AddRows(const Rounds& rounds, const std::string& placement,
             Report* report) {
  Table table(rounds, placement, report);
  table.AddP50("step / bidi ping, p50", kStep, kPing, "1.5");
  const auto p99 = [](Index of) {
    return [of](const Round& times) { return times[of].p99; };
  };
  table.Add("step / bidi ping, p99", p99(kStep), p99(kPing),
            P99OverP99(kStep, kPing), "2");
  table.AddP50("... without a fallback", kStepAlone, kPing, "");
  table.AddP50("... by the runtime interface", kStepRuntime, kPing, "");
  table.AddP50("Call / unary call, p50", kCall, kUnary, "1.5");
  table.AddP50("... by the runtime interface", kCallRuntime, kUnary, "");
  table.AddP50("100 dependent steps / one", kChainOfSteps, kStep, "5");
  table.AddP50("... / bidi ping", kChainOfSteps, kPing, "");
  table.AddP50("... in this process alone / one remote step", kChainHere, kStep,
               "");
  const auto overhead = [](Index there, Index here) -> Figure {
    return [=](const Round& times) { return Overhead(times, there, here); };
  };
  const Figure one = overhead(kStep, kOneHere);
  const auto add = [&](const std::string& what, const Figure& ours,
                       const std::string& target) {
    table.Add(
        what, ours, one,
        [=](const Round& times) { return ours(times) / one(times); }, target);
  };
  add("remote - local, 1,000 ops / one op",
      overhead(kThousandRemote, kThousandHere), "1.3");
  add("... two such executables in turn",
      overhead(kTwoThousandsRemote, kTwoThousandsHere), "1.2");
}

// `kind` of exchange, as long as hawser's.
Subject Exchange(const Peers& peers, const std::string& kind,
                 const MessageSizes& sizes, int iterations) {
  return [&peers, arguments = std::vector<std::string>{
                      kind, absl::StrCat(sizes.request),
                      absl::StrCat(sizes.answer), absl::StrCat(iterations)}] {
    return peers.Echo(arguments);
  };
}

Subject Timed(std::function<absl::Status()> once, int iterations) {
  return [once = std::move(once), iterations] {
    return TimesOf(once, iterations);
  };
}

}  // namespace

absl::Status MeasureLatency(const Peers& peers, const LatencyPlan& plan,
                            const std::string& placement, Report* report) {
  HAWSER_ASSIGN_OR_RETURN(const Client client,
                          Connect({.servers = {peers.hawserd()}}));
  HAWSER_ASSIGN_OR_RETURN(const auto remote, ConnectRemote(peers.hawserd()));
  HAWSER_ASSIGN_OR_RETURN(const HawserCalls calls, HawserCalls::On(client));
  HAWSER_ASSIGN_OR_RETURN(const HawserCalls alone,
                          HawserCalls::On(Client(remote)));
  HAWSER_ASSIGN_OR_RETURN(const HawserCalls here,
                          HawserCalls::On(Client::Cpu()));
  HAWSER_ASSIGN_OR_RETURN(const RuntimeCalls runtime, RuntimeCalls::On(remote));
  const ThousandOps thousand(client), thousand_here(Client::Cpu());

  const int n = plan.iterations;
  std::vector<Subject> subjects(kSubjects);
  subjects[kPing] = Exchange(peers, "ping", SizesOfStep(), n);
  subjects[kStep] = Timed([&] { return calls.Step(); }, n);
  subjects[kStepAlone] = Timed([&] { return alone.Step(); }, n);
  subjects[kStepRuntime] = Timed([&] { return runtime.Step(); }, n);
  subjects[kChainOfSteps] =
      Timed([&] { return calls.DependentSteps(kChain); }, std::max(n / 20, 1));
  const auto on_its_core = [&](Subject subject) -> Subject {
    return [&peers, subject = std::move(subject)] {
      return peers.OnServerCore(subject);
    };
  };
  subjects[kChainHere] = on_its_core(
      Timed([&] { return here.DependentSteps(kChain); }, std::max(n / 20, 1)));
  subjects[kThousandRemote] = Timed([&] { return thousand.Run(); }, n);
  subjects[kThousandHere] =
      on_its_core(Timed([&] { return thousand_here.Run(); }, n));
  const auto in_turn = [](const ThousandOps& of) {
    return [&of, second = false]() mutable {
      second = !second;
      return of.Run(second);
    };
  };
  subjects[kTwoThousandsRemote] = Timed(in_turn(thousand), n);
  subjects[kTwoThousandsHere] = on_its_core(Timed(in_turn(thousand_here), n));
  subjects[kOneHere] = on_its_core(Timed([&] { return here.Step(); }, n));
  subjects[kUnary] = Exchange(peers, "unary", SizesOfCall(), n);
  subjects[kCall] = Timed([&] { return calls.Call(); }, n);
  subjects[kCallRuntime] = Timed([&] { return runtime.Call(); }, n);
  HAWSER_ASSIGN_OR_RETURN(const Rounds rounds, Measure(subjects, plan.rounds));
  AddRows(rounds, placement, report);
  return absl::OkStatus();
}

}  // namespace hawser::bench
