// CUDA's libraries, found at run time: a process starts without them, and
// errors name the files that were looked for.
#ifndef HAWSER_KERNELS_CUDA_RUNTIME_LIBRARY_H_
#define HAWSER_KERNELS_CUDA_RUNTIME_LIBRARY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hawser::cuda {

// The folders in which libraries are looked for.
struct LibraryPlaces {
  std::vector<std::string> listed;    // folders of the user, searched first
  std::vector<std::string> toolkits;  // roots that have lib64
  // Folders of Python packages: NVIDIA's wheels bring the same libraries.
  std::vector<std::string> python;

  // Listed: HAWSER_CUDA_LIBS, folders separated by colons. Toolkits: CUDA_PATH,
  // CUDA_HOME and /usr/local/cuda. Python: the current environment's, the
  // user's and the system's.
  static LibraryPlaces FromEnvironment();
};

// The files to try, in order: each of `sonames` in each listed folder; then the
// first of them as the loader finds it, in the toolkits, in the wheels; then
// the second likewise.
std::vector<std::string> LibraryCandidates(
    const LibraryPlaces& places, absl::Span<const absl::string_view> sonames);

// A loaded library. It is never unloaded.
class Library {
 public:
  // Errors: kFailedPrecondition naming every place, with the loader's texts.
  static absl::StatusOr<Library> Open(
      const LibraryPlaces& places, absl::Span<const absl::string_view> sonames);

  // The path of the file that was loaded.
  const std::string& path() const { return path_; }
  // The size of the file, which helps to tell versions apart.
  int64_t file_bytes() const;

  // Loads `soname` from this library's folder, or as the loader finds it, so
  // that the library itself finds it by name.
  absl::Status LoadCompanion(const std::string& soname) const;

  // Sets `*function` to the function `name`, which has that type. Errors:
  // kFailedPrecondition naming the function and the library.
  template <typename Function>
  absl::Status Resolve(const char* name, Function** function) const {
    absl::StatusOr<void*> found = Find(name);
    if (!found.ok()) return found.status();
    *function = reinterpret_cast<Function*>(*found);
    return absl::OkStatus();
  }

 private:
  Library(void* handle, std::string path)
      : handle_(handle), path_(std::move(path)) {}
  absl::StatusOr<void*> Find(const char* name) const;

  void* handle_;
  std::string path_;
};

}  // namespace hawser::cuda

// A struct of the functions that FUNCTIONS(X) lists by X(name), with the types
// that the vendor's header declares; `Load` resolves them all.
#define HAWSER_CUDA_FUNCTION_TABLE(Table, FUNCTIONS)                    \
  struct Table {                                                        \
    FUNCTIONS(HAWSER_CUDA_FUNCTION_FIELD_)                              \
    ::absl::Status Load(const ::hawser::cuda::Library& library) {       \
      ::absl::Status status;                                            \
      FUNCTIONS(HAWSER_CUDA_FUNCTION_RESOLVE_)                          \
      return status;                                                    \
    }                                                                   \
  }
#define HAWSER_CUDA_FUNCTION_FIELD_(name) decltype(&::name) name = nullptr;
#define HAWSER_CUDA_FUNCTION_RESOLVE_(name) \
  status.Update(library.Resolve(#name, &this->name));

#endif  // HAWSER_KERNELS_CUDA_RUNTIME_LIBRARY_H_
