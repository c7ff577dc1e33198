// Libraries of CUDA that this machine may have, found at run time: a process
// without them starts, and says what it looked for where.
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

// Where libraries are looked for.
struct LibraryPlaces {
  std::vector<std::string> listed;    // by the user: searched first
  std::vector<std::string> toolkits;  // roots that have lib64
  // Folders of Python packages: NVIDIA's wheels bring the same libraries.
  std::vector<std::string> python;

  // HAWSER_CUDA_LIBS (folders, by colons); CUDA_PATH, CUDA_HOME and
  // /usr/local/cuda; the current, the user's and the system's Python.
  static LibraryPlaces FromEnvironment();
};

// In the order in which they are tried: each file of `sonames` in each listed
// folder; then the first file as the loader finds it, in the toolkits, in the
// wheels; then the second.
std::vector<std::string> LibraryCandidates(
    const LibraryPlaces& places, absl::Span<const absl::string_view> sonames);

// A loaded library; it stays loaded for ever.
class Library {
 public:
  // Errors: kFailedPrecondition naming every place, with what the loader said.
  static absl::StatusOr<Library> Open(
      const LibraryPlaces& places, absl::Span<const absl::string_view> sonames);

  // The file that was loaded, with its folder.
  const std::string& path() const { return path_; }
  // Of the file; part of what tells one version from another.
  int64_t file_bytes() const;

  // Loads `soname` out of this library's own folder, or as the loader finds
  // it, so that the library itself finds it by name.
  absl::Status LoadCompanion(const std::string& soname) const;

  // Finds `name` as a function of `*function`'s type. Errors:
  // kFailedPrecondition naming it and the library.
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
