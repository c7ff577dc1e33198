#include "kernels/cuda/runtime/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/status.h"

namespace hawser::cuda {
namespace {

// The value of a variable; "" when it is not set.
std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> Glob(const std::string& pattern) {
  std::vector<std::string> found;
  glob_t matches = {};
  if (glob(pattern.c_str(), GLOB_ONLYDIR, nullptr, &matches) == 0) {
    found.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  globfree(&matches);
  return found;
}

void Append(std::vector<std::string> from, std::vector<std::string>* to) {
  for (std::string& s : from) to->push_back(std::move(s));
}

std::vector<std::string> PythonFolders() {
  std::vector<std::string> folders;
  Append(absl::StrSplit(Environment("PYTHONPATH"), ':', absl::SkipEmpty()),
         &folders);
  for (const char* prefix : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string root = Environment(prefix);
    if (root.empty()) continue;
    Append(Glob(absl::StrCat(root, "/lib/python3*/site-packages")), &folders);
  }
  const std::string home = Environment("HOME");
  if (!home.empty()) {
    Append(Glob(absl::StrCat(home, "/.local/lib/python3*/site-packages")),
           &folders);
  }
  for (const char* pattern : {"/usr/local/lib/python3*/dist-packages",
                              "/usr/local/lib/python3*/site-packages",
                              "/usr/lib/python3*/site-packages",
                              "/usr/lib/python3/dist-packages"}) {
    Append(Glob(pattern), &folders);
  }
  return folders;
}

// The path of the file that the loader took for `handle`.
std::string PathOf(void* handle, const std::string& asked) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr ||
      *map->l_name == '\0') {
    return asked;
  }
  return map->l_name;
}

}  // namespace

LibraryPlaces LibraryPlaces::FromEnvironment() {
  LibraryPlaces places;
  places.listed = absl::StrSplit(Environment("HAWSER_CUDA_LIBS"), ':',
                                 absl::SkipEmpty());
  for (const char* name : {"CUDA_PATH", "CUDA_HOME"}) {
    std::string root = Environment(name);
    if (!root.empty()) places.toolkits.push_back(std::move(root));
  }
  places.toolkits.push_back("/usr/local/cuda");
  places.python = PythonFolders();
  return places;
}

std::vector<std::string> LibraryCandidates(
    const LibraryPlaces& places, absl::Span<const absl::string_view> sonames) {
  std::vector<std::string> candidates;
  for (const std::string& folder : places.listed) {
    for (const absl::string_view soname : sonames) {
      candidates.push_back(absl::StrCat(folder, "/", soname));
    }
  }
  std::vector<std::string> folders;
  for (const std::string& root : places.toolkits) {
    folders.push_back(absl::StrCat(root, "/lib64"));
  }
  for (const std::string& python : places.python) {
    Append(Glob(absl::StrCat(python, "/nvidia/*/lib")), &folders);
  }
  for (const absl::string_view soname : sonames) {
    candidates.push_back(std::string(soname));
    for (const std::string& folder : folders) {
      candidates.push_back(absl::StrCat(folder, "/", soname));
    }
  }
  return candidates;
}

absl::StatusOr<Library> Library::Open(
    const LibraryPlaces& places, absl::Span<const absl::string_view> sonames) {
  const std::vector<std::string> candidates =
      LibraryCandidates(places, sonames);
  std::vector<std::string> refusals;
  for (const std::string& candidate : candidates) {
    void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return Library(handle, PathOf(handle, candidate));
    // The error reports a file that exists and does not load.
    const char* why = dlerror();
    if (why != nullptr && access(candidate.c_str(), F_OK) == 0) {
      refusals.push_back(why);
    }
  }
  return FailedPrecondition(
      "no library ", absl::StrJoin(sonames, " or "), "; looked for ",
      absl::StrJoin(candidates, ", "), " (HAWSER_CUDA_LIBS names folders)",
      refusals.empty() ? "" : ": ", absl::StrJoin(refusals, "; "));
}

int64_t Library::file_bytes() const {
  struct stat info = {};
  return stat(path_.c_str(), &info) == 0 ? info.st_size : 0;
}

absl::Status Library::LoadCompanion(const std::string& soname) const {
  const std::string beside =
      path_.substr(0, path_.find_last_of('/') + 1) + soname;
  for (const std::string& file : {beside, soname}) {
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) {
      return absl::OkStatus();
    }
  }
  return FailedPrecondition("no library ", soname, " for ", path_,
                            "; looked for ", beside, ", ", soname);
}

absl::StatusOr<void*> Library::Find(const char* name) const {
  void* const function = dlsym(handle_, name);
  if (function == nullptr) {
    return FailedPrecondition(path_, " has no function ", name);
  }
  return function;
}

}  // namespace hawser::cuda
