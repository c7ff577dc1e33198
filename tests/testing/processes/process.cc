#include "tests/testing/processes/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "core/base/status.h"

extern char** environ;

namespace hawser::testing {
namespace {

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// As a shell says it.
int ExitCode(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

absl::StatusOr<Process> Process::Start(
    const std::vector<std::string>& argv,
    const std::vector<std::string>& environment) {
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) return Internal("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDERR_FILENO);
  std::vector<std::string> arguments = argv;
  // The first of two equal names counts, so ours go in front.
  std::vector<std::string> variables = environment;
  for (char** e = environ; *e != nullptr; ++e) variables.push_back(*e);
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, argv[0].c_str(), &actions, nullptr,
                  Pointers(arguments).data(), Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_fds[1]);
  if (error != 0) {
    close(pipe_fds[0]);
    return NotFound(argv[0], " cannot be started: ", std::strerror(error));
  }
  return Process(pid, pipe_fds[0]);
}

Process::Process(Process&& other) { *this = std::move(other); }

Process& Process::operator=(Process&& other) {
  std::swap(pid_, other.pid_);
  std::swap(fd_, other.fd_);
  std::swap(reaped_, other.reaped_);
  std::swap(exit_code_, other.exit_code_);
  std::swap(peak_memory_, other.peak_memory_);
  std::swap(output_, other.output_);
  std::swap(line_start_, other.line_start_);
  return *this;
}

Process::~Process() {
  if (pid_ > 0 && !reaped_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (fd_ >= 0) close(fd_);
}

pid_t Process::Reap(int* status, int flags) {
  rusage usage = {};
  const pid_t reaped = wait4(pid_, status, flags, &usage);
  peak_memory_ = int64_t{usage.ru_maxrss} << 10;
  return reaped;
}

bool Process::ReadSome(absl::Time deadline) {
  const int64_t left = absl::ToInt64Milliseconds(deadline - absl::Now());
  pollfd poller = {fd_, POLLIN, 0};
  if (poll(&poller, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 100))) <=
      0) {
    return true;
  }
  char buffer[4096];
  const ssize_t n = read(fd_, buffer, sizeof(buffer));
  if (n > 0) output_.append(buffer, n);
  return n > 0;
}

absl::StatusOr<std::string> Process::ReadLine(absl::Duration patience) {
  const absl::Time deadline = absl::Now() + patience;
  bool more = true;
  while (true) {
    const size_t end = output_.find('\n', line_start_);
    if (end != std::string::npos) {
      std::string line = output_.substr(line_start_, end - line_start_);
      line_start_ = end + 1;
      return line;
    }
    if (!more) return Unavailable("the output has ended: ", output_);
    if (absl::Now() >= deadline) {
      return DeadlineExceeded("no further line; so far: ", output_);
    }
    more = ReadSome(deadline);
  }
}

absl::StatusOr<std::string> Process::ReadLineWith(absl::string_view part,
                                                  absl::Duration patience) {
  const absl::Time deadline = absl::Now() + patience;
  while (true) {
    HAWSER_ASSIGN_OR_RETURN(std::string line,
                            ReadLine(deadline - absl::Now()));
    if (absl::string_view(line).find(part) != absl::string_view::npos) {
      return line;
    }
  }
}

void Process::Signal(int signal) {
  if (pid_ > 0 && !reaped_) kill(pid_, signal);
}

absl::Status Process::Freeze() {
  Signal(SIGSTOP);
  int status = 0;
  if (reaped_ || waitpid(pid_, &status, WUNTRACED) != pid_) {
    return Unavailable("process ", pid_, " has ended; output: ", output_);
  }
  if (WIFSTOPPED(status)) return absl::OkStatus();
  reaped_ = true;
  exit_code_ = ExitCode(status);
  return Unavailable("process ", pid_, " ended with ", exit_code_,
                     " instead of stopping; output: ", output_);
}

absl::StatusOr<int> Process::Wait(absl::Duration patience) {
  const absl::Time deadline = absl::Now() + patience;
  bool more = true;
  while (!reaped_) {
    if (more) more = ReadSome(deadline);
    int status = 0;
    if (Reap(&status, WNOHANG) == pid_) {
      reaped_ = true;
      exit_code_ = ExitCode(status);
    } else if (absl::Now() >= deadline) {
      return DeadlineExceeded("still running; output: ", output_);
    } else if (!more) {
      absl::SleepFor(absl::Milliseconds(5));
    }
  }
  // What was written before the end is still in the pipe.
  while (more && absl::Now() < deadline) more = ReadSome(deadline);
  return exit_code_;
}

std::string Runfile(absl::string_view path) {
  const char* folder = std::getenv("TEST_SRCDIR");
  const char* workspace = std::getenv("TEST_WORKSPACE");
  if (folder == nullptr || workspace == nullptr) {
    return absl::StrCat("bazel-bin/", path);
  }
  return absl::StrCat(folder, "/", workspace, "/", path);
}

absl::StatusOr<Process> StartHawserd(
    const std::vector<std::string>& flags, std::string* address,
    const std::vector<std::string>& launcher) {
  std::vector<std::string> argv = launcher;
  argv.insert(argv.end(),
              {Runfile("server/hawserd"), "--listen=127.0.0.1:0"});
  argv.insert(argv.end(), flags.begin(), flags.end());
  HAWSER_ASSIGN_OR_RETURN(Process server, Process::Start(argv));
  HAWSER_ASSIGN_OR_RETURN(
      std::string line,
      server.ReadLineWith("hawserd ready on ", absl::Seconds(20)));
  const std::vector<std::string> words = absl::StrSplit(line, ' ');
  *address = words[3];
  return server;
}

}  // namespace hawser::testing
