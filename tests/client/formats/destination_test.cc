// Whatever stands where a file is to go: nothing but a regular file is
// replaced, by any format and by `hawser get -o`.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/hawser.h"
#include "client/formats/array_file.h"
#include "core/runtime/datasets.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser {
namespace {

constexpr int64_t kRows = 300;

NamedArrays Pixels() {
  return {{"x", Literal::Zeros(Shape::Of(DType::kU8, {kRows, 4, 3}))}};
}

// The kind of a node, a link being one of its own.
std::string KindOf(const std::string& path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) return "nothing";
  switch (info.st_mode & S_IFMT) {
    case S_IFREG:
      return "file";
    case S_IFLNK:
      return absl::StrCat("link to ",
                          std::filesystem::read_symlink(path).string());
    case S_IFDIR:
      return "folder";
    case S_IFIFO:
      return "fifo";
    case S_IFCHR:
      return "device";
    case S_IFSOCK:
      return "socket";
    default:
      return "other";
  }
}

// A node stands at the destination; `may_write` is false if nothing can be
// written through it.
struct Node {
  const char* name;
  std::function<bool(const std::string& path)> make;
  bool may_write = true;
  std::function<std::string(const std::string& path)> target =
      [](const std::string&) { return ""; };
};

bool Link(const std::string& to, const std::string& path) {
  return ::symlink(to.c_str(), path.c_str()) == 0;
}
bool Touch(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0644);
  return fd >= 0 && ::write(fd, "old", 3) == 3 && ::close(fd) == 0;
}
bool BindSocket(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  const int bound =
      ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  ::close(fd);
  return bound == 0;
}

std::vector<Node> Nodes() {
  const auto beside = [](const std::string& path) { return path + ".target"; };
  return {
      {"fifo", [](const std::string& p) { return !::mkfifo(p.c_str(), 0600); }},
      // It is the same as /dev/null; only root may make one.
      {"device",
       [](const std::string& p) {
         return !::mknod(p.c_str(), S_IFCHR | 0600, makedev(1, 3));
       }},
      {"file", Touch, true, [](const std::string& p) { return p; }},
      {"link",
       [=](const std::string& p) {
         return Touch(beside(p)) && Link(beside(p), p);
       },
       true, beside},
      {"chain",
       [=](const std::string& p) {
         return Touch(beside(p)) && Link(beside(p), p + ".1") &&
                Link(p + ".1", p + ".2") && Link(p + ".2", p);
       },
       true, beside},
      {"dangling", [=](const std::string& p) { return Link(beside(p), p); },
       true, beside},
      {"loop",
       [](const std::string& p) {
         return Link(p + ".1", p) && Link(p, p + ".1");
       },
       false},
      {"folder", [](const std::string& p) { return !::mkdir(p.c_str(), 0700); },
       false},
      {"socket", BindSocket, false},
  };
}

absl::Status Get(const std::string& path) {
  const auto client = cpu::MakeCpuClient({.threads = 1});
  DatasetSource source;
  for (const NamedArray& array : Pixels()) {
    source.arrays.push_back({array.name, array.value});
  }
  HAWSER_ASSIGN_OR_RETURN(const auto info, client->datasets().Put(source, {}));
  std::ostringstream out, err;
  cli::Environment environment;
  environment.out = &out;
  environment.err = &err;
  environment.servers = "near";
  environment.connect = [&](const std::string&)
      -> absl::StatusOr<std::shared_ptr<runtime::Client>> { return client; };
  if (cli::RunHawser({"get", info.token, "-o", path}, environment) == 0) {
    return absl::OkStatus();
  }
  return Internal(err.str());
}

// Takes what comes out of a fifo, until its writer is done.
class Reader {
 public:
  explicit Reader(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK)), thread_([this] {
          char bytes[4096];
          while (!done_ || taken_ == 0) {
            const ssize_t n = ::read(fd_, bytes, sizeof(bytes));
            if (n > 0) taken_ += n;
            if (n <= 0 && done_) break;
            if (n <= 0) std::this_thread::yield();
          }
        }) {}
  int64_t Taken() {
    done_ = true;
    thread_.join();
    ::close(fd_);
    return taken_;
  }

 private:
  const int fd_;
  std::atomic<bool> done_{false};
  std::atomic<int64_t> taken_{0};
  std::thread thread_;
};

struct Writer {
  const char* extension;
  bool get;
};

// Returns what is wrong with it.
std::string Try(const Node& node, const Writer& writer, const std::string& in) {
  const std::string path = absl::StrCat(
      in, "/", node.name, writer.get ? "_get" : "", ".", writer.extension);
  if (!node.make(path)) return "could not be made";
  const std::string before = KindOf(path);
  std::optional<Reader> reader;
  if (before == "fifo") reader.emplace(path);
  const absl::Status status =
      writer.get ? Get(path) : WriteArrays(path, Pixels());
  const int64_t taken = reader.has_value() ? reader->Taken() : kRows * 12;
  if (KindOf(path) != before) {
    return absl::StrCat("a ", before, " became a ", KindOf(path));
  }
  if (status.ok() != node.may_write) {
    return absl::StrCat("says ", status.ToString());
  }
  if (taken < kRows * 12) return absl::StrCat(taken, " bytes came");
  const std::string target = node.target(path);
  if (target.empty()) return "";
  std::error_code error;
  const auto size = std::filesystem::file_size(target, error);
  if (error || size < kRows * 12) return target + " is not what was written";
  return KindOf(target) == "file" ? "" : target + " is no file";
}

TEST(DestinationTest, NothingButAFileIsReplaced) {
  const TemporaryFolder folder("/tmp");
  int rows = 0;
  for (const Node& node : Nodes()) {
    for (const Writer& writer :
         {Writer{"npy", false}, Writer{"npz", false},
          Writer{"safetensors", false}, Writer{"ppm", false},
          Writer{"npy", true}, Writer{"safetensors", true}}) {
      const std::string wrong = Try(node, writer, folder.path());
      const std::string name = absl::StrCat(
          node.name, ", ", writer.get ? "get -o " : "", writer.extension);
      // It takes root.
      if (wrong == "could not be made" && ::geteuid() != 0) continue;
      EXPECT_EQ(wrong, "") << name;
      ++rows;
    }
  }
  std::cout << rows << " destinations\n";
  EXPECT_GE(rows, 48);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_FALSE(absl::EndsWith(entry.path().string(), ".tmp")) << entry;
  }
}

}  // namespace
}  // namespace hawser
