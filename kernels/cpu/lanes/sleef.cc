#include "kernels/cpu/lanes/sleef.h"

#include <dlfcn.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"

namespace hawser::cpu {

Sleef::Sleef() : library_(dlopen("libsleef.so.3", RTLD_NOW | RTLD_LOCAL)) {
  if (library_ != nullptr) return;
  HAWSER_LOG(kWarning) << "no libsleef.so.3: some functions use own, slower "
                          "loops";
}

const Sleef& Sleef::OfProcess() {
  static const Sleef& sleef = *new Sleef();
  return sleef;
}

void* Sleef::Find(const char* function, const char* vector, const char* bound,
                  const char* set) const {
  if (library_ == nullptr) return nullptr;
  const std::string name = absl::StrCat("Sleef_", function, vector, bound, set);
  return dlsym(library_, name.c_str());
}

}  // namespace hawser::cpu
