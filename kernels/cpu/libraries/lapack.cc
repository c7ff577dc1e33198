#include "kernels/cpu/libraries/lapack.h"

#include <dlfcn.h>

#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "kernels/cpu/libraries/blas.h"
#include "kernels/cpu/libraries/resolve.h"

namespace hawser::cpu {
namespace {

// The functions whose names begin with `letter`. False: one is not there.
template <typename T>
bool ResolveAll(void* library, char letter, LapackOf<T>* f) {
  constexpr bool kIsReal = std::is_same_v<T, RealOf<T>>;
  const auto resolve = [&](absl::string_view name, auto* fn) {
    return Resolve(library, absl::StrCat(std::string(1, letter), name).c_str(),
                   fn);
  };
  return resolve("gemm_", &f->gemm) &&
         resolve(kIsReal ? "syrk_" : "herk_", &f->herk) &&
         resolve("trsm_", &f->trsm) && resolve("potrf_", &f->potrf) &&
         resolve("getrf_", &f->getrf) && resolve("geqrf_", &f->geqrf) &&
         resolve("larft_", &f->larft) && resolve("larfb_", &f->larfb) &&
         (kIsReal ? resolve("syevd_", &f->syevd)
                  : resolve("heevd_", &f->heevd)) &&
         (kIsReal ? resolve("gesdd_", &f->real_gesdd)
                  : resolve("gesdd_", &f->gesdd)) &&
         (kIsReal ? resolve("geev_", &f->real_geev)
                  : resolve("geev_", &f->geev));
}

const Lapack* FindLapack() {
  const Blas* const blas = FindBlas();
  if (blas == nullptr) return nullptr;
  auto lapack = Lapack::Open(blas->path);
  if (lapack == nullptr) {
    HAWSER_LOG(kWarning) << blas->path
                         << " has no LAPACK: factorizations use own, slower "
                            "loops";
  }
  return lapack.release();
}

}  // namespace

std::unique_ptr<const Lapack> Lapack::Open(absl::string_view path) {
  void* const library =
      dlopen(std::string(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  auto lapack = std::make_unique<Lapack>();
  if (ResolveAll(library, 's', &lapack->f32_) &&
      ResolveAll(library, 'd', &lapack->f64_) &&
      ResolveAll(library, 'c', &lapack->c64_) &&
      ResolveAll(library, 'z', &lapack->c128_)) {
    return lapack;
  }
  dlclose(library);
  return nullptr;
}

const Lapack* Lapack::OfProcess() {
  static const Lapack* const lapack = FindLapack();
  return lapack;
}

}  // namespace hawser::cpu
