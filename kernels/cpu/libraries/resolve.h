// Resolve: a function of a loaded library.
#ifndef HAWSER_KERNELS_CPU_LIBRARIES_RESOLVE_H_
#define HAWSER_KERNELS_CPU_LIBRARIES_RESOLVE_H_

#include <dlfcn.h>

namespace hawser::cpu {

// Makes `fn` the function of that name; false where `library`, a handle of
// dlopen, has none. The name's type is the caller's promise.
template <typename Fn>
bool Resolve(void* library, const char* name, Fn* fn) {
  *fn = reinterpret_cast<Fn>(dlsym(library, name));
  return *fn != nullptr;
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LIBRARIES_RESOLVE_H_
