// limits_bench: prints what tenants and sessions that take all they can do to
// the small steps of others. See README.md.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/hawser.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/status.h"
#include "tests/bench/measure/report.h"
#include "tests/bench/measure/rounds.h"
#include "tests/testing/processes/http2_flood.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

ABSL_FLAG(int, steps, 200, "that are measured beside each");
ABSL_FLAG(int, flooded_steps, 2000, "that are measured beside each flood");

namespace hawser::bench {
namespace {

constexpr absl::string_view kQuiet = "quiet-tenants-token-0123456789abc";
constexpr absl::string_view kGreedy = "greedy-tenants-token-0123456789ab";

using testing::Http2Connection;
using Step = std::function<absl::Status()>;

absl::StatusOr<Client> ConnectAs(const std::string& address,
                                 absl::string_view token) {
  return Connect({.servers = {address},
                  .credentials = {.token = std::string(token)},
                  .fallback = Client()});
}

// One call of `fn` with `argument`, fetched.
template <typename Fn>
Step StepOf(const Client& client, Fn fn, const Literal& argument) {
  auto run = Jit(fn).With({.client = client});
  return [run, argument]() -> absl::Status {
    HAWSER_ASSIGN_OR_RETURN(const Tensor result, run(argument));
    return result.Fetch({.call = {.deadline = absl::Seconds(60)}}).status();
  };
}

Literal Zeros(int64_t n) { return Literal::Zeros(Shape::Of(DType::kF32, {n})); }

// About a microsecond of computing; and about a millisecond, which waits its
// turn.
Step SmallStep(const Client& client) {
  return StepOf(
      client, [](Tensor x) { return x + x; }, Zeros(16));
}
// Sixteen numbers go there, `rows` times as many are computed with.
Tensor Work(const Tensor& x, int64_t rows) {
  return Sum(Exp(Exp(BroadcastTo(x, {rows, 16}))));
}
Step StepInLine(const Client& client) {
  return StepOf(
      client, [](Tensor x) { return Work(x, 1 << 13); }, Zeros(16));
}
Step HeavyStep(const Client& client) {
  return StepOf(
      client, [](Tensor x) { return Work(x, 1 << 17); }, Zeros(16));
}

constexpr absl::string_view kSession = "/hawser.v1.Executor/Session";

// A call, where `token` is one, and a block of headers that does not end.
std::function<void(Http2Connection&)> HeadersWithoutEnd(
    absl::string_view token) {
  const std::string more = Http2Connection::Continuation(3, 4000);
  return [token = std::string(token), more](Http2Connection& connection) {
    if (!token.empty()) {
      connection.Send(Http2Connection::Headers(1, kSession, token, true));
      absl::SleepFor(absl::Milliseconds(10));
    }
    connection.Send(Http2Connection::Headers(3, kSession, token, false));
    while (connection.Send(more)) {
    }
  };
}

// Calls that are given up as they begin.
void RapidResets(Http2Connection& connection) {
  for (uint32_t stream = 1; stream < (1u << 30);) {
    std::string calls;
    for (int i = 0; i < 100; ++i, stream += 2) {
      absl::StrAppend(&calls,
                      Http2Connection::Headers(stream, kSession, kGreedy, true),
                      Http2Connection::Reset(stream));
    }
    if (!connection.Send(calls)) return;
  }
}

// What goes on beside, from its making to its death.
class Beside {
 public:
  void Add(Step step) {
    threads_.emplace_back([this, step = std::move(step)] {
      while (!over_) (void)step();
    });
  }
  ~Beside() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

class LimitsBench {
 public:
  static absl::StatusOr<std::unique_ptr<LimitsBench>> Start() {
    auto bench = std::make_unique<LimitsBench>();
    const auto line = [](absl::string_view tenant, absl::string_view token) {
      return absl::StrCat(tenant, " ", Sha256(token).ToHex(), "\n");
    };
    const std::string tokens = bench->folder_.Write(
        "tokens", absl::StrCat(line("quiet", kQuiet), line("greedy", kGreedy)));
    HAWSER_ASSIGN_OR_RETURN(
        testing::Process server,
        testing::StartHawserd({"--device=cpu", "--tokens_file=" + tokens},
                              &bench->address_));
    bench->server_ = std::make_unique<testing::Process>(std::move(server));
    return bench;
  }

  absl::Status MeasureAll(Report* report) {
    HAWSER_RETURN_IF_ERROR(BesideDearOps(report));
    HAWSER_RETURN_IF_ERROR(BesideEndlessLoops(report));
    HAWSER_RETURN_IF_ERROR(BesideManySessions(report));
    HAWSER_RETURN_IF_ERROR(BesideALongLine(report));
    return BesideFloods(report);
  }

  // What it said, after a failure.
  void ShowServer() {
    server_->Signal(SIGTERM);
    const auto code = server_->Wait(absl::Seconds(5));
    std::fprintf(stderr, "%s\nhawserd ended: %s\n", server_->output().c_str(),
                 code.ok() ? absl::StrCat(*code).c_str()
                           : code.status().ToString().c_str());
  }

 private:
  absl::StatusOr<Times> Measure(const Step& step) {
    HAWSER_RETURN_IF_ERROR(step());  // compiles
    return TimesOf(step, absl::GetFlag(FLAGS_steps));
  }
  static void AddRow(const std::string& what, double us, double alone,
                     const std::string& target, Report* report) {
    report->rows.push_back({"free", what, absl::StrFormat("%.1f us", us),
                            absl::StrFormat("%.1f us", alone), us / alone,
                            target});
  }

  // 64 executes at once of the dearest element there is.
  absl::Status BesideDearOps(Report* report) {
    HAWSER_ASSIGN_OR_RETURN(const Client quiet, ConnectAs(address_, kQuiet));
    const Step small = SmallStep(quiet);
    HAWSER_ASSIGN_OR_RETURN(const Times alone, Measure(small));
    HAWSER_ASSIGN_OR_RETURN(const Client greedy, ConnectAs(address_, kGreedy));
    const Literal huge =
        Literal::Of<double>(std::vector<double>(100000, 1.7e308), {100000});
    auto dear = Jit([](Tensor x) {
                  return Remainder(x, x * 0.0 + 1.5e-323);
                }).With({.client = greedy});
    Beside beside;
    beside.Add([&]() -> absl::Status {
      std::vector<Tensor> all;
      for (int i = 0; i < 64; ++i) {
        HAWSER_ASSIGN_OR_RETURN(Tensor one, dear(huge));
        all.push_back(std::move(one));
      }
      return all.back().Fetch().status();
    });
    HAWSER_ASSIGN_OR_RETURN(const Times times, Measure(small));
    AddRow("step beside 64 dear executes, p99", times.p99, alone.p99,
           "p99 below 20 ms", report);
    return absl::OkStatus();
  }

  absl::Status BesideEndlessLoops(Report* report) {
    HAWSER_ASSIGN_OR_RETURN(const Client quiet, ConnectAs(address_, kQuiet));
    const Step step = StepInLine(quiet);
    HAWSER_ASSIGN_OR_RETURN(const Times alone, Measure(step));
    HAWSER_ASSIGN_OR_RETURN(const Client greedy, ConnectAs(address_, kGreedy));
    auto endless = Jit([](Tensor x) {
                     return While(
                         x, [](Tensor at) { return Ge(at, Scalar(0.0f)); },
                         [](Tensor at) { return Abs(at); });
                   }).With({.client = greedy});
    std::vector<Tensor> loops;
    for (int i = 0; i < 8; ++i) {
      HAWSER_ASSIGN_OR_RETURN(Tensor loop, endless(Literal::Scalar<float>(1)));
      loops.push_back(std::move(loop));
    }
    absl::SleepFor(absl::Milliseconds(200));
    HAWSER_ASSIGN_OR_RETURN(const Times times, Measure(step));
    AddRow("1 ms step beside endless loops, p50", times.p50, alone.p50,
           "p50 below 20 ms", report);
    AddRow("... p99", times.p99, alone.p99, "p99 below 100 ms", report);
    return absl::OkStatus();
  }

  absl::Status BesideManySessions(Report* report) {
    HAWSER_ASSIGN_OR_RETURN(const Client quiet, ConnectAs(address_, kQuiet));
    const Step step = StepInLine(quiet);
    HAWSER_ASSIGN_OR_RETURN(const Times alone, Measure(step));
    Beside beside;
    for (int i = 0; i < 63; ++i) {
      HAWSER_ASSIGN_OR_RETURN(const Client one, ConnectAs(address_, kGreedy));
      beside.Add(HeavyStep(one));
    }
    absl::SleepFor(absl::Seconds(1));
    HAWSER_ASSIGN_OR_RETURN(const Times times, Measure(step));
    AddRow("1 ms step beside 63 heavy sessions, p50", times.p50, alone.p50, "3",
           report);
    return absl::OkStatus();
  }

  // Who has run a loop, beside a neighbour of the same tenant with a long line.
  absl::Status BesideALongLine(Report* report) {
    HAWSER_ASSIGN_OR_RETURN(const Client looper, ConnectAs(address_, kQuiet));
    HAWSER_ASSIGN_OR_RETURN(const Client fresh, ConnectAs(address_, kQuiet));
    HAWSER_ASSIGN_OR_RETURN(const Client busy, ConnectAs(address_, kQuiet));
    auto heavy =
        Jit([](Tensor x) { return Work(x, 1 << 16); }).With({.client = busy});
    Beside beside;
    beside.Add([&]() -> absl::Status {
      std::vector<Tensor> line;
      for (int i = 0; i < 24; ++i) {
        HAWSER_ASSIGN_OR_RETURN(Tensor one, heavy(Zeros(16)));
        line.push_back(std::move(one));
      }
      return line.back().Fetch().status();
    });
    const Step loop = StepOf(
        looper,
        [](Tensor x) {
          return std::get<1>(While(
              std::tuple(Scalar(0), x),
              [](Tensor i, Tensor) { return Lt(i, 10); },
              [](Tensor i, Tensor at) { return std::tuple(i + 1, Tanh(at)); }));
        },
        Zeros(1 << 16));
    HAWSER_RETURN_IF_ERROR(loop());
    HAWSER_ASSIGN_OR_RETURN(const Times after, Measure(StepInLine(looper)));
    HAWSER_ASSIGN_OR_RETURN(const Times other, Measure(StepInLine(fresh)));
    AddRow("step after a while / of a fresh session, p50", after.p50, other.p50,
           "3", report);
    return absl::OkStatus();
  }

  // Two connections at a time that flood, each again once it is closed.
  absl::Status BesideFlood(const std::string& what,
                           const std::function<void(Http2Connection&)>& flood,
                           Report* report) {
    HAWSER_ASSIGN_OR_RETURN(const Client quiet, ConnectAs(address_, kQuiet));
    // One that does nothing between its steps has few of them delayed.
    const Step small = SmallStep(quiet);
    const Step paced = [&] {
      absl::SleepFor(absl::Milliseconds(1));
      return small();
    };
    HAWSER_ASSIGN_OR_RETURN(const Times alone, Measure(paced));
    Beside beside;
    for (int i = 0; i < 2; ++i) {
      beside.Add([&] {
        Http2Connection connection(address_);
        if (connection.valid()) flood(connection);
        return absl::OkStatus();
      });
    }
    HAWSER_ASSIGN_OR_RETURN(const Times times,
                            TimesOf(paced, absl::GetFlag(FLAGS_flooded_steps)));
    AddRow(absl::StrCat("step after 1 ms beside ", what, ", p99"), times.p99,
           alone.p99, "p99 50 ms later", report);
    return absl::OkStatus();
  }

  absl::Status BesideFloods(Report* report) {
    HAWSER_RETURN_IF_ERROR(
        BesideFlood("strangers' headers", HeadersWithoutEnd(""), report));
    HAWSER_RETURN_IF_ERROR(
        BesideFlood("a tenant's headers", HeadersWithoutEnd(kGreedy), report));
    return BesideFlood("rapid resets", RapidResets, report);
  }

  TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<testing::Process> server_;
};

absl::StatusOr<Report> MeasureAll() {
  HAWSER_ASSIGN_OR_RETURN(const auto bench, LimitsBench::Start());
  Report report;
  const absl::Status measured = bench->MeasureAll(&report);
  if (!measured.ok()) bench->ShowServer();
  HAWSER_RETURN_IF_ERROR(measured);
  return report;
}

}  // namespace
}  // namespace hawser::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const auto report = hawser::bench::MeasureAll();
  if (!report.ok()) {
    std::fprintf(stderr, "limits_bench: %s\n",
                 report.status().ToString().c_str());
    return 1;
  }
  std::fputs(hawser::bench::ToTable(*report).c_str(), stdout);
  return 0;
}
