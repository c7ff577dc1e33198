#include "kernels/cpu/libraries/blas.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/log.h"
#include "core/base/mutex.h"
#include "kernels/cpu/libraries/resolve.h"

namespace hawser::cpu {
namespace {

// Calls `fn` while the environment has one variable more, "NAME=value". A
// thread that reads the environment meanwhile finds it whole, old or new; so
// does one that still reads the new one later.
void WithVariable(const char* variable, absl::FunctionRef<void()> fn) {
  static Mutex mu;
  static auto& kept = *new std::vector<std::vector<char*>>();
  const MutexLock lock(&mu);
  std::vector<char*> all = {const_cast<char*>(variable)};
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    all.push_back(*at);
  }
  all.push_back(nullptr);
  kept.push_back(std::move(all));
  char** const before = environ;
  environ = kept.back().data();
  fn();
  environ = before;
}

// Lets OpenBLAS choose its kernels anew if it took those for processors it does
// not know, which do without vectors of 256 bits. It reads the name of better
// ones from the environment.
void ChooseKernels(void* library) {
  char* (*core)() = nullptr;
  void (*quit)() = nullptr;
  void (*init)() = nullptr;
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr ||
      !Resolve(library, "openblas_get_corename", &core) ||
      !Resolve(library, "gotoblas_dynamic_quit", &quit) ||
      !Resolve(library, "gotoblas_dynamic_init", &init) ||
      absl::string_view(core()) != "Prescott") {
    return;
  }
  bool has_avx512 = false, has_avx2 = false;
#if defined(__x86_64__)
  has_avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  if (!has_avx512 && !has_avx2) return;
  WithVariable(
      has_avx512 ? "OPENBLAS_CORETYPE=SkylakeX" : "OPENBLAS_CORETYPE=Haswell",
      [&] {
        quit();
        init();
      });
}

// The name has its version and the kernels that it chose, if it tells.
std::string NameOf(void* library, const std::string& path) {
  char* (*config)() = nullptr;
  char* (*core)() = nullptr;
  if (!Resolve(library, "openblas_get_config", &config) ||
      !Resolve(library, "openblas_get_corename", &core)) {
    return path;
  }
  // "OpenBLAS 0.3.21 NO_AFFINITY ..."
  const std::vector<absl::string_view> words = absl::StrSplit(config(), ' ');
  return absl::StrCat(words[0], " ", words.size() > 1 ? words[1] : "?", " ",
                      core());
}

std::unique_ptr<const Blas> ChooseBlas() {
  const char* wish = std::getenv("HAWSER_BLAS");
  if (wish != nullptr && absl::string_view(wish) == "off") return nullptr;
  if (wish != nullptr && *wish != '\0') {
    auto blas = OpenBlas(wish);
    if (blas == nullptr) {
      HAWSER_LOG(kWarning) << "HAWSER_BLAS=" << wish
                           << " is no BLAS; matrix products use own loops";
    }
    return blas;
  }
  for (const char* name : {"libopenblas.so.0", "libblas.so.3"}) {
    if (auto blas = OpenBlas(name)) return blas;
  }
  HAWSER_LOG(kWarning) << "no libopenblas.so.0 and no libblas.so.3: matrix "
                          "products use own, slower loops";
  return nullptr;
}

}  // namespace

std::unique_ptr<const Blas> OpenBlas(absl::string_view path) {
  auto blas = std::make_unique<Blas>();
  blas->path = std::string(path);
  void* library = nullptr;
  const auto open = [&] {
    library = dlopen(blas->path.c_str(), RTLD_NOW | RTLD_LOCAL);
  };
  // OpenBLAS starts a thread for each core when it is opened.
  if (std::getenv("OPENBLAS_NUM_THREADS") == nullptr) {
    WithVariable("OPENBLAS_NUM_THREADS=1", open);
  } else {
    open();
  }
  if (library == nullptr) return nullptr;
  if (!Resolve(library, "cblas_sgemm", &blas->sgemm) ||
      !Resolve(library, "cblas_dgemm", &blas->dgemm) ||
      !Resolve(library, "cblas_cgemm", &blas->cgemm) ||
      !Resolve(library, "cblas_zgemm", &blas->zgemm) ||
      !Resolve(library, "cblas_sgemv", &blas->sgemv) ||
      !Resolve(library, "cblas_dgemv", &blas->dgemv) ||
      !Resolve(library, "cblas_cgemv", &blas->cgemv) ||
      !Resolve(library, "cblas_zgemv", &blas->zgemv)) {
    dlclose(library);
    return nullptr;
  }
  ChooseKernels(library);
  blas->name = NameOf(library, blas->path);
  void (*set_threads)(int) = nullptr;
  if (Resolve(library, "openblas_set_num_threads", &set_threads)) {
    set_threads(1);
  }
  return blas;
}

const Blas* FindBlas() {
  static const Blas* const blas = ChooseBlas().release();
  return blas;
}

}  // namespace hawser::cpu
