#include "tests/bench/cpu/bench.h"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "client/bench/timing.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "tests/bench/cpu/work.h"

extern char** environ;

namespace hawser::bench {
namespace {

constexpr char kPeersScript[] = "tests/bench/cpu/peers/peers.py";
// The one that Debian's packages are for.
constexpr char kPython[] = "/usr/bin/python3";
// Behind the home folder; jax.sh makes it.
constexpr char kJaxPython[] = "/.cache/hawser/jax/bin/python3";
// Until threads of a peer's library that look for more work sleep.
constexpr absl::Duration kRest = absl::Milliseconds(5);
// More cores that others keep than this disturb a sample.
constexpr double kDisturbed = 0.1;
constexpr absl::Duration kLook = absl::Milliseconds(200);
// What an engine thinks of a run is to be within this of what it takes.
constexpr double kMostOff = 4;

// ---- peers ----------------------------------------------------------------

std::string PythonOf(absl::string_view peer) {
  const char* home = std::getenv("HOME");
  if (peer != "jax" || home == nullptr) return kPython;
  return absl::StrCat(home, kJaxPython);
}

// A process of peers.py, which does one work at a time and says what it took.
// Killed and reaped when it goes. Not thread-safe.
class Peer {
 public:
  // Errors: why it is not here.
  static absl::StatusOr<std::unique_ptr<Peer>> Start(const std::string& name,
                                                     int threads, bool small) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return Internal("no socket");
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const std::string python = PythonOf(name);
    std::vector<std::string> words = {python, kPeersScript, name,
                                      absl::StrCat(threads),
                                      small ? "small" : "full"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = -1;
    const int error = posix_spawn(&pid, python.c_str(), &actions, nullptr,
                                  argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
      close(ends[0]);
      return NotFound(name, " is not here: ", python, ": ",
                      std::strerror(error));
    }
    auto peer = std::unique_ptr<Peer>(new Peer(pid, ends[0]));
    HAWSER_ASSIGN_OR_RETURN(peer->version_, peer->ReadLine());
    if (!absl::StartsWith(peer->version_, name)) {
      return NotFound(name, " is not here: ", peer->version_);
    }
    return peer;
  }
  ~Peer() {
    close(socket_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  const std::string& version() const { return version_; }

  // Processor time that it has taken.
  double Seconds() const {
    clockid_t clock;
    timespec time = {};
    if (clock_getcpuclockid(pid_, &clock) != 0) return 0;
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_nsec) * 1e-9;
  }

  // Microseconds of one run. Errors: why it has none.
  absl::StatusOr<double> Micros(const std::string& work) {
    const std::string line = absl::StrCat(work, "\n");
    if (send(socket_, line.data(), line.size(), MSG_NOSIGNAL) < 0) {
      return Unavailable("the peer has ended");
    }
    HAWSER_ASSIGN_OR_RETURN(const std::string answer, ReadLine());
    double micros = 0;
    if (!absl::SimpleAtod(answer, &micros)) return NotFound(answer);
    absl::SleepFor(kRest);
    return micros;
  }

 private:
  Peer(pid_t pid, int socket) : pid_(pid), socket_(socket) {}

  absl::StatusOr<std::string> ReadLine() {
    std::string line;
    for (char c = 0; read(socket_, &c, 1) == 1;) {
      if (c == '\n') return line;
      line.push_back(c);
    }
    return Unavailable("the peer has ended");
  }

  const pid_t pid_;
  const int socket_;
  std::string version_;
};

// Processor time of all of this machine, in ticks of kTick seconds.
constexpr double kTick = 0.01;
double MachineSeconds() {
  std::ifstream stat("/proc/stat");
  std::string word;
  stat >> word;  // "cpu"
  // user nice system idle iowait irq softirq steal
  double ticks = 0, of = 0;
  for (int i = 0; i < 8 && stat >> of; ++i) {
    if (i != 3 && i != 4) ticks += of;
  }
  return ticks * kTick;
}

double OwnSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

// ---- rounds ---------------------------------------------------------------

// One of those that take their turn in each round; once it has failed, it does
// not any more.
struct Side {
  Sample sample;
  std::vector<double> figures = {};
  absl::Status status = absl::OkStatus();

  void Take() {
    if (!status.ok()) return;
    // What the side before it left in the caches is no concern of a sample.
    absl::StatusOr<double> figure = sample();
    if (figure.ok()) figure = sample();
    status = figure.status();
    if (figure.ok()) figures.push_back(*figure);
  }
  void Forget() {
    if (status.ok()) figures.pop_back();
  }
};

Ratio RatioOf(const Side& ours, const Side& theirs, double target) {
  Ratio ratio;
  ratio.target = target;
  if (!theirs.status.ok()) {
    ratio.skipped = std::string(theirs.status.message());
    return ratio;
  }
  std::vector<double> ratios;
  for (size_t r = 0; r < ours.figures.size(); ++r) {
    ratios.push_back(ours.figures[r] / theirs.figures[r]);
  }
  ratio.median = Quantile(ratios, 0.5);
  ratio.least = *absl::c_min_element(ratios);
  ratio.most = *absl::c_max_element(ratios);
  return ratio;
}

// On so many threads.
class Rounds {
 public:
  Rounds(const CpuBenchOptions& options, int threads)
      : options_(options),
        setting_{options.small, threads,
                 cpu::MakeCpuClient({.threads = threads})} {
    for (const char* name : kPeers) {
      peers_.push_back(options.peers
                           ? Peer::Start(name, threads, options.small)
                           : absl::FailedPreconditionError("no peers"));
    }
  }

  CpuBenchLine Measure(const Work& work) {
    CpuBenchLine line = {
        .work = work.name, .threads = setting_.threads, .unit = work.unit};
    line.ours_target = work.targets.ours;
    line.status = Fill(work, &line);
    // What is kept for values to come is no other work's.
    setting_.client->LetGo();
    return line;
  }

 private:
  absl::Status Fill(const Work& work, CpuBenchLine* line) {
    HAWSER_ASSIGN_OR_RETURN(const Race race, work.prepare(setting_));
    HAWSER_RETURN_IF_ERROR(race.check());
    Side ours = {race.ours}, floor = {race.floor};
    std::vector<Side> peers;
    for (const auto& peer : peers_) peers.push_back({Asking(work, peer)});
    std::vector<Side*> sides = {&ours, &floor};
    for (Side& peer : peers) sides.push_back(&peer);
    line->others = TakeRounds(sides);
    HAWSER_RETURN_IF_ERROR(ours.status);
    HAWSER_RETURN_IF_ERROR(floor.status);
    const double scale = absl::string_view(work.unit) == "ms" ? 1e-3 : 1;
    line->ours = Quantile(ours.figures, 0.5) * scale;
    line->floor = Quantile(floor.figures, 0.5) * scale;
    const Targets& targets = work.targets;
    line->of_floor = RatioOf(ours, floor, targets.floor);
    const double numpy =
        setting_.threads == 1 ? targets.numpy_on_1 : targets.numpy_on_2;
    const double targets_of[kNumPeers] = {numpy, targets.torch, targets.jax};
    for (size_t k = 0; k < kNumPeers; ++k) {
      line->of_peers.push_back(RatioOf(ours, peers[k], targets_of[k]));
    }
    if (setting_.threads == 1) {
      line->thought = race.thought / Quantile(ours.figures, 0.5);
    }
    return absl::OkStatus();
  }

  // Returns how many cores others kept busy beside the worst sample.
  double TakeRounds(const std::vector<Side*>& sides) {
    const absl::Time end = SteadyNow() + options_.patience;
    double worst = 0;
    for (int r = 0; r < options_.rounds; ++r) {
      for (Side* side : sides) worst = std::max(worst, TakeCalmly(side, end));
    }
    return worst;
  }

  // A sample that others do not disturb, or the first one behind `end`; returns
  // how many cores they kept.
  double TakeCalmly(Side* side, absl::Time end) {
    while (side->status.ok()) {
      const double cores = OthersDuring([&] { side->Take(); });
      if (cores <= kDisturbed || SteadyNow() >= end) return cores;
      side->Forget();
      while (SteadyNow() < end &&
             OthersDuring([] { absl::SleepFor(kLook); }) > kDisturbed) {
      }
    }
    return 0;
  }

  // How many cores others keep busy meanwhile.
  double OthersDuring(absl::FunctionRef<void()> fn) const {
    const double before = OthersSeconds();
    const absl::Time start = SteadyNow();
    fn();
    // Both ends are read in whole ticks.
    const double others = OthersSeconds() - before - 2 * kTick;
    return std::max(others / absl::ToDoubleSeconds(SteadyNow() - start), 0.0);
  }

  double OthersSeconds() const {
    double seconds = MachineSeconds() - OwnSeconds();
    for (const auto& peer : peers_) {
      if (peer.ok()) seconds -= (*peer)->Seconds();
    }
    return seconds;
  }

  static Sample Asking(const Work& work,
                       const absl::StatusOr<std::unique_ptr<Peer>>& peer) {
    if (!work.has_peers) {
      return [] { return absl::NotFoundError("not asked"); };
    }
    return [&peer, name = work.name]() -> absl::StatusOr<double> {
      HAWSER_RETURN_IF_ERROR(peer.status());
      return (*peer)->Micros(name);
    };
  }

  const CpuBenchOptions& options_;
  const Setting setting_;
  std::vector<absl::StatusOr<std::unique_ptr<Peer>>> peers_;
};

// "1.31 (1.25-1.40)", "10.4! (9.9-12.0)", "-"
std::string TextOf(const Ratio& ratio) {
  if (!ratio.skipped.empty() || ratio.median == 0) return "-";
  const bool is_missed = ratio.target > 0 && ratio.median > ratio.target;
  return absl::StrFormat("%.3g%s (%.3g-%.3g)", ratio.median,
                         is_missed ? "!" : "", ratio.least, ratio.most);
}

// "1.2 |", "- |"; one that is more than kMostOff off has a "!".
std::string ThoughtOf(double thought) {
  if (thought == 0) return " - |";
  const bool is_off = thought > kMostOff || thought < 1 / kMostOff;
  return absl::StrFormat(" %.2g%s |", thought, is_off ? "!" : "");
}

std::string TargetOf(const Ratio& ratio) {
  return ratio.target > 0 ? absl::StrFormat("%.3g", ratio.target) : "";
}

}  // namespace

std::string TableHead() {
  return "| work | threads | hawser | floor | of floor | target | of NumPy | "
         "target | of torch | target | of JAX | target | thought | others |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
}

std::string ToTableLine(const CpuBenchLine& line) {
  if (!line.status.ok()) {
    return absl::StrFormat("| %s | %d | %s |\n", line.work, line.threads,
                           line.status.ToString());
  }
  const bool is_missed = line.ours_target > 0 && line.ours > line.ours_target;
  std::string text = absl::StrFormat(
      "| %s | %d | %.3g%s %s | %.3g | %s | %s |", line.work, line.threads,
      line.ours, is_missed ? "!" : "", line.unit, line.floor,
      TextOf(line.of_floor), TargetOf(line.of_floor));
  for (const Ratio& ratio : line.of_peers) {
    absl::StrAppend(&text, " ", TextOf(ratio), " | ", TargetOf(ratio), " |");
  }
  return absl::StrCat(text, ThoughtOf(line.thought),
                      absl::StrFormat(" %.1f |\n", line.others));
}

std::string PeersHere() {
  std::vector<std::string> texts;
  for (const char* name : kPeers) {
    const auto peer = Peer::Start(name, 1, true);
    texts.push_back(peer.ok() ? (*peer)->version()
                              : std::string(peer.status().message()));
  }
  return absl::StrJoin(texts, "; ");
}

absl::Status RunCpuBench(
    const CpuBenchOptions& options,
    const std::function<void(const CpuBenchLine&)>& print) {
  const std::vector<Work> works = AllWorks();
  for (const std::string& name : options.only) {
    const auto has_name = [&](const Work& w) { return w.name == name; };
    if (absl::c_none_of(works, has_name)) {
      return InvalidArgument("no work is named '", name, "'");
    }
  }
  std::vector<std::unique_ptr<Rounds>> rounds;
  for (const int threads : options.threads) {
    rounds.push_back(std::make_unique<Rounds>(options, threads));
  }
  for (const Work& work : works) {
    if (!options.only.empty() &&
        !absl::c_linear_search(options.only, work.name)) {
      continue;
    }
    for (size_t i = 0; i < rounds.size(); ++i) {
      if (work.one_thread && i > 0) break;
      print(rounds[i]->Measure(work));
    }
  }
  return absl::OkStatus();
}

}  // namespace hawser::bench
