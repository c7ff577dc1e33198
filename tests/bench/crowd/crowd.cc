#include "tests/bench/crowd/crowd.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "client/bench/timing.h"
#include "core/base/status.h"
#include "tests/testing/processes/process.h"

namespace hawser::bench {
namespace {

// What one run of crowd_client has seen.
struct Crowd {
  double per_second = 0;
  double p50 = 0, p99 = 0;      // microseconds
  double processor_micros = 0;  // of the server, per call
};

// What `process` has used of all cores so far.
absl::StatusOr<double> ProcessorMicros(pid_t process) {
  std::ifstream file(absl::StrCat("/proc/", process, "/stat"));
  std::stringstream all;
  all << file.rdbuf();
  // Behind the name, which may hold anything: 11 fields, then these two.
  const std::string text = all.str();
  const size_t name_end = text.rfind(')');
  const std::vector<std::string> fields =
      name_end == std::string::npos
          ? std::vector<std::string>()
          : absl::StrSplit(text.substr(name_end + 1), ' ', absl::SkipEmpty());
  double user = 0, system = 0;
  if (fields.size() < 13 || !absl::SimpleAtod(fields[11], &user) ||
      !absl::SimpleAtod(fields[12], &system)) {
    return Unavailable("process ", process, " does not say what it has used");
  }
  return (user + system) / sysconf(_SC_CLK_TCK) * 1e6;
}

absl::StatusOr<Crowd> RunCrowd(const std::string& address,
                               const std::string& kind, pid_t server,
                               const CrowdPlan& plan) {
  HAWSER_ASSIGN_OR_RETURN(const double before, ProcessorMicros(server));
  HAWSER_ASSIGN_OR_RETURN(
      testing::Process client,
      testing::Process::Start({testing::Runfile("tests/bench/crowd_client"),
                               address, kind, absl::StrCat(plan.connections),
                               absl::StrCat(plan.seconds)}));
  HAWSER_ASSIGN_OR_RETURN(const int code,
                          client.Wait(kPatience + absl::Seconds(plan.seconds)));
  HAWSER_ASSIGN_OR_RETURN(const double after, ProcessorMicros(server));
  const std::vector<std::string> words =
      absl::StrSplit(client.output(), absl::ByAnyChar(" \n"));
  Crowd crowd;
  double calls = 0;
  if (code != 0 || words.size() < 4 ||
      !absl::SimpleAtod(words[0], &crowd.per_second) ||
      !absl::SimpleAtod(words[1], &crowd.p50) ||
      !absl::SimpleAtod(words[2], &crowd.p99) ||
      !absl::SimpleAtod(words[3], &calls)) {
    return Internal("crowd_client ", kind, " ended with ", code,
                    " and said: ", client.output());
  }
  crowd.processor_micros = (after - before) / calls;
  return crowd;
}

struct Figure {
  const char* what;
  double Crowd::*of;
  const char* unit;
  const char* target;
};
constexpr Figure kFigures[] = {
    {"calls a second", &Crowd::per_second, "", "at least 0.5"},
    {"p99 of a call", &Crowd::p99, " us", "3"},
    {"p50 of a call", &Crowd::p50, " us", ""},
    {"server's processor time for one", &Crowd::processor_micros, " us", ""},
};

double Median(const std::vector<Crowd>& crowds, double Crowd::*of) {
  std::vector<double> values;
  for (const Crowd& crowd : crowds) values.push_back(crowd.*of);
  return Quantile(std::move(values), 0.5);
}

}  // namespace

absl::Status MeasureCrowd(const Peers& peers, const CrowdPlan& plan,
                          const std::string& placement, Report* report) {
  std::vector<Crowd> ours, floors;
  for (int i = 0; i < plan.rounds; ++i) {
    HAWSER_ASSIGN_OR_RETURN(
        floors.emplace_back(),
        RunCrowd(peers.echo(), "echo", peers.echo_process(), plan));
    HAWSER_ASSIGN_OR_RETURN(
        ours.emplace_back(),
        RunCrowd(peers.hawserd(), "call", peers.hawserd_process(), plan));
  }
  for (const Figure& figure : kFigures) {
    const double our = Median(ours, figure.of);
    const double floor = Median(floors, figure.of);
    const auto text = [&](double value) {
      return absl::StrFormat("%.0f%s", value, figure.unit);
    };
    report->rows.push_back({placement,
                            absl::StrFormat("%s, %d connections / echo",
                                            figure.what, plan.connections),
                            text(our), text(floor), our / floor,
                            figure.target});
  }
  return absl::OkStatus();
}

}  // namespace hawser::bench
