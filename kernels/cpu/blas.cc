#include "kernels/cpu/blas.h"

#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>

#include "core/base/log.h"

namespace hawser::cpu {
namespace {

// Resolves a name into a function pointer of the field's own type.
template <typename Fn>
bool Resolve(void* library, const char* name, Fn* fn) {
  *fn = reinterpret_cast<Fn>(dlsym(library, name));
  return *fn != nullptr;
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
  void* library = dlopen(blas->path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  if (!Resolve(library, "cblas_sgemm", &blas->sgemm) ||
      !Resolve(library, "cblas_dgemm", &blas->dgemm) ||
      !Resolve(library, "cblas_sgemv", &blas->sgemv) ||
      !Resolve(library, "cblas_dgemv", &blas->dgemv)) {
    dlclose(library);
    return nullptr;
  }
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
