#include "kernels/emu/launch/host_compiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/process/own_folder.h"
#include "core/base/digest.h"
#include "core/base/status.h"
#include "kernels/dialect/dialect.h"

extern char** environ;

namespace hawser::emu {
namespace {

// No contraction and no fast math, as strict mode has it. The compiler computes
// no functions of constants: its results may differ from the library's.
const char* const kFlags[] = {
    "-std=c++20", "-O1",         "-fPIC",
    "-shared",    "-w",          "-fvisibility=hidden",
    "-x",         "c++",         "-ffp-contract=off",
    "-fwrapv",    "-fno-strict-aliasing", "-frounding-math",
};
constexpr absl::string_view kMagic = "hawser emu kernels 1\n";

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool FileExists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

// A name in the folder that no other thread or process uses.
std::string Unique(const std::string& stem) {
  static std::atomic<int> count{0};
  return absl::StrCat(stem, ".", getpid(), ".", count++);
}

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return FailedPrecondition("cannot make the folder ", path, ": ",
                            std::strerror(errno));
}

// Writes a file that other processes see complete or not at all, even when
// several write it at the same time.
absl::Status WriteFile(const std::string& path, absl::string_view text) {
  const std::string temporary = Unique(path);
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.flush()) {
      return FailedPrecondition("cannot write ", temporary, ": ",
                                std::strerror(errno));
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    return FailedPrecondition("cannot rename ", temporary, " to ", path, ": ",
                              std::strerror(errno));
  }
  return absl::OkStatus();
}

// Runs `arguments` with its output to the file `output`. Returns the exit
// status, or -1 when the program could not be started.
int Run(const std::vector<std::string>& arguments, const std::string& output) {
  std::vector<char*> argv;
  for (const std::string& a : arguments) {
    argv.push_back(const_cast<char*>(a.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = -1;
  const int error =
      posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

HostCompiler::HostCompiler(std::string folder, std::string compiler)
    : folder_(std::move(folder)), compiler_(std::move(compiler)) {
  id_ = absl::StrCat(compiler_, " ", __VERSION__, " ",
                     dialect::PreludeDigest().substr(0, 16));
  for (const char* flag : kFlags) absl::StrAppend(&id_, " ", flag);
}

absl::Status HostCompiler::PrepareFolder() {
  // Files in the folder are loaded and run.
  HAWSER_RETURN_IF_ERROR(MakeOwnFolder(folder_));
  for (const dialect::HostHeader& header : dialect::HostHeaders()) {
    const std::string path = absl::StrCat(folder_, "/", header.name);
    for (size_t at = folder_.size() + 1;
         (at = path.find('/', at)) != std::string::npos; ++at) {
      HAWSER_RETURN_IF_ERROR(MakeFolder(path.substr(0, at)));
    }
    if (FileExists(path) && ReadFile(path) == header.text) continue;
    HAWSER_RETURN_IF_ERROR(WriteFile(path, header.text));
  }
  return absl::OkStatus();
}

// Compiles and returns the bytes of the shared object.
absl::StatusOr<std::string> HostCompiler::Build(const std::string& stem,
                                                const std::string& source) {
  HAWSER_RETURN_IF_ERROR(PrepareFolder());
  const std::string text = stem + ".cc";
  HAWSER_RETURN_IF_ERROR(WriteFile(text, source));
  const std::string object = Unique(stem + ".so"), log = object + ".log";
  std::vector<std::string> arguments = {compiler_};
  arguments.insert(arguments.end(), std::begin(kFlags), std::end(kFlags));
  arguments.insert(arguments.end(), {"-I" + folder_, text, "-o", object});
  const int status = Run(arguments, log);
  const std::string said = ReadFile(log);
  std::remove(log.c_str());
  if (status < 0 || status == 127) {
    return FailedPrecondition("cannot run ", compiler_,
                              ", which compiles kernels for the emulator");
  }
  if (status != 0) {
    std::remove(object.c_str());
    return InvalidArgument(compiler_, " says:\n", said);
  }
  std::string bytes = ReadFile(object);
  std::remove(object.c_str());
  return bytes;
}

absl::StatusOr<gpu::KernelBinary> HostCompiler::Compile(
    absl::string_view name, absl::string_view text,
    const gpu::CompileOptions& options) {
  const std::string source = dialect::HostSource(name, text);
  const std::string hash =
      Hasher().Text(id_).Text(source).Finish().ToHex().substr(0, 32);
  const std::string stem = absl::StrCat(folder_, "/", hash);
  gpu::KernelBinary binary;
  if (FileExists(stem + ".bin")) {
    binary.bytes = ReadFile(stem + ".bin");
  } else {
    HAWSER_ASSIGN_OR_RETURN(std::string object, Build(stem, source));
    binary.bytes = absl::StrCat(kMagic, id_, "\n", object);
    HAWSER_RETURN_IF_ERROR(WriteFile(stem + ".bin", binary.bytes));
  }
  for (const dialect::KernelName& kernel : dialect::FindKernels(text)) {
    binary.kernels.push_back({.name = kernel.name});
  }
  return binary;
}

absl::StatusOr<std::string> HostCompiler::FileOf(absl::string_view binary) {
  absl::string_view object = binary;
  if (!absl::ConsumePrefix(&object, kMagic) ||
      !absl::ConsumePrefix(&object, absl::StrCat(id_, "\n"))) {
    return InvalidArgument("not a kernel binary of this compiler, which is ",
                           id_);
  }
  HAWSER_RETURN_IF_ERROR(PrepareFolder());
  const std::string hash = Sha256({object.data(), object.size()}).ToHex();
  const std::string path =
      absl::StrCat(folder_, "/", hash.substr(0, 32), ".so");
  if (!FileExists(path)) HAWSER_RETURN_IF_ERROR(WriteFile(path, object));
  return path;
}

absl::StatusOr<std::unique_ptr<HostModule>> HostModule::Open(
    const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Internal("cannot open ", file, ": ", dlerror());
  }
  std::unique_ptr<HostModule> module(new HostModule(library));
  module->enter_ = reinterpret_cast<void (*)(hk::HostContext*)>(
      dlsym(library, "hk_enter"));
  if (module->enter_ == nullptr) return Internal(file, " has no hk_enter");
  return module;
}

HostModule::~HostModule() { dlclose(library_); }

absl::StatusOr<hk::HostKernelInfo> HostModule::Find(
    const std::string& kernel) const {
  void* symbol = dlsym(library_, absl::StrCat("hk_info_", kernel).c_str());
  if (symbol == nullptr) {
    return NotFound("the module has no kernel '", kernel, "'");
  }
  hk::HostKernelInfo info;
  reinterpret_cast<void (*)(hk::HostKernelInfo*)>(symbol)(&info);
  return info;
}

}  // namespace hawser::emu
