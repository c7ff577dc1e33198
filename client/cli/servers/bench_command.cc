// hawser bench: what a server's answers take, beside what the link takes.

#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bench/server_bench.h"
#include "client/bench/tcp_exchange.h"
#include "client/bench/tcp_socket.h"
#include "client/cli/command/command.h"
#include "client/cli/command/interrupt.h"
#include "client/cli/command/quantity.h"
#include "core/base/clock.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

using bench::BenchReport;
using bench::BenchRow;

constexpr Flag kFlags[] = {
    {"--seconds", "", "N", "how long, 10 if left out"},
    {"--mib", "", "N", "of an upload and a download, 64 if left out"},
    {"--peer", "", "ADDRESS", "of a `hawser bench --serve` beside the server"},
    {"--serve", "", "ADDRESS", "be that peer, until Ctrl-C; 127.0.0.1:7071",
     "127.0.0.1:7071"},
    kServerFlag,
};
// The most that --seconds and --mib take.
constexpr double kMostSeconds = 3600;
constexpr int kMostMib = 4096;

absl::Status ReadPlan(const CommandLine& line, bench::BenchPlan* plan) {
  if (const std::string text = line.Get("--seconds"); !text.empty()) {
    double seconds = 0;
    if (!absl::SimpleAtod(text, &seconds) || !(seconds > 0) ||
        seconds > kMostSeconds) {
      return UsageError(absl::StrCat("--seconds \"", text, "\" must be above 0",
                                     " and at most ", kMostSeconds));
    }
    plan->time = absl::Seconds(seconds);
  }
  if (const std::string text = line.Get("--mib"); !text.empty()) {
    int mib = 0;
    if (!absl::SimpleAtoi(text, &mib) || mib < 1 || mib > kMostMib) {
      return UsageError(
          absl::StrCat("--mib \"", text, "\" must be 1 to ", kMostMib));
    }
    plan->bytes = int64_t{mib} << 20;
  }
  plan->peer = line.Get("--peer");
  return absl::OkStatus();
}

std::string Readable(const BenchRow& row, double value) {
  return row.unit == BenchRow::Unit::kMicroseconds
             ? ReadableDuration(absl::Microseconds(value))
             : absl::StrFormat("%.2f GB/s", value);
}

std::string TableOf(const BenchReport& report) {
  std::string text = absl::StrFormat("  %-30s %11s   %-26s %11s  %6s\n", "",
                                     "hawser", "beside", "", "ratio");
  for (const BenchRow& row : report.rows) {
    absl::StrAppendFormat(&text, "  %-30s %11s   %-26s %11s  %6.2f\n", row.what,
                          Readable(row, row.ours), row.beside,
                          Readable(row, row.theirs), row.ratio());
  }
  for (const std::string& note : report.notes) {
    absl::StrAppend(&text, "  ", note, "\n");
  }
  return text;
}

Json JsonOf(const BenchReport& report) {
  Json rows = Json::array();
  for (const BenchRow& row : report.rows) {
    rows.push_back(Json::object(
        {{"what", row.what},
         {"unit", row.unit == BenchRow::Unit::kMicroseconds ? "us" : "GB/s"},
         {"hawser", row.ours},
         {"samples", row.samples},
         {"beside", row.beside},
         {"theirs", row.theirs},
         {"ratio", row.ratio()}}));
  }
  Json out = Json::object({{"rows", std::move(rows)}, {"notes", report.notes}});
  if (!report.failure.ok()) {
    out["error"] = {{"code", absl::StatusCodeToString(report.failure.code())},
                    {"message", report.failure.message()}};
  }
  return out;
}

absl::StatusOr<ExitCode> Serve(const Invocation& invocation,
                               const std::string& address) {
  if (!invocation.line.words().empty()) {
    return UsageError("--serve takes its address as --serve=ADDRESS");
  }
  const Interrupt interrupt;
  const auto listener = bench::TcpSocket::Listen(address);
  if (absl::IsInvalidArgument(listener.status())) {
    return UsageError(listener.status().message());
  }
  // kUnavailable would mean that a server is out of reach.
  if (!listener.ok()) {
    return absl::FailedPreconditionError(listener.status().message());
  }
  HAWSER_ASSIGN_OR_RETURN(const auto local, listener->local());
  invocation.Print(absl::StrCat("exchanging bytes on ", local.ToString(), "\n"),
                   Json::object({{"address", local.ToString()}}));
  const absl::Status ended = ServeExchanges(*listener, interrupt.token());
  if (absl::IsCancelled(ended)) return kOk;
  return ended;
}

absl::StatusOr<ExitCode> RunBench(const Invocation& invocation) {
  const CommandLine& line = invocation.line;
  if (line.Has("--serve")) return Serve(invocation, line.Get("--serve"));
  bench::BenchPlan plan;
  HAWSER_RETURN_IF_ERROR(ReadPlan(line, &plan));
  if (line.words().empty()) {
    HAWSER_ASSIGN_OR_RETURN(const auto servers, invocation.Servers());
    plan.address = servers[0];
  } else {
    plan.address = line.words()[0];
  }
  const Environment& environment = invocation.environment;
  HAWSER_ASSIGN_OR_RETURN(plan.client, environment.connect(plan.address));
  HAWSER_ASSIGN_OR_RETURN(const auto about, plan.client->capabilities());
  const Interrupt interrupt;
  plan.cancel = interrupt.token().Until(SteadyNow() + plan.time);
  HAWSER_ASSIGN_OR_RETURN(plan.bare,
                          environment.bare(plan.address, plan.cancel));
  HAWSER_ASSIGN_OR_RETURN(BenchReport report, BenchServer(plan));
  if (absl::IsDeadlineExceeded(report.failure)) {
    report.failure = absl::DeadlineExceededError(
        "large values did not fit: more --seconds or fewer --mib are needed");
  }
  Json json = Json::object({{"address", plan.address},
                            {"platform", about.platform},
                            {"device", about.device},
                            {"bytes", plan.bytes}});
  json.update(JsonOf(report));
  invocation.Print(absl::StrCat(plan.address, ": ", about.platform, ", ",
                                about.device, "\n", TableOf(report)),
                   json);
  if (report.failure.ok()) return kOk;
  *environment.err << "hawser: " << report.failure.message() << "\n";
  return kFailed;
}

}  // namespace

extern constinit const Command kBenchCommand = {
    .name = "bench",
    .arguments = "[ADDRESS]",
    .summary = "what a server takes, beside bare gRPC and TCP",
    .description =
        "Measures a running server (the first of HAWSER_SERVERS when none is "
        "given), each\nfigure beside what the same link takes without hawser, "
        "and their ratio:\n\n"
        "  step        two f32[16] sent, added and fetched, by Run and Fetch\n"
        "  Call        the same by the stateless call\n"
        "  gRPC        bare stubs on the same server: a health check, a "
        "message on an\n"
        "              open stream, the streams a put and a get consist of\n"
        "  TCP         the time to connect; with --peer round trips and "
        "streams\n\n"
        "What it puts it deletes, also at the first Ctrl-C; what a put that "
        "was cut\nshort has sent goes after ten minutes. Durable servers "
        "write to their disk.\nTCP is plain also where the server wants "
        "TLS.\n\n"
        "  hawser bench gpu-1:7070\n"
        "  hawser bench --serve=0.0.0.0:7071      # on gpu-1: anybody may send "
        "bytes\n"
        "  hawser bench gpu-1:7070 --peer gpu-1:7071 --seconds 30\n",
    .flags = kFlags,
    .words = {0, 1},
    .run = RunBench,
};

}  // namespace hawser::cli
