#include "kernels/cpu/lanes/sleef.h"

#include <dlfcn.h>

#include <string>

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

void* Sleef::Find(absl::string_view name) const {
  if (library_ == nullptr) return nullptr;
  return dlsym(library_, std::string(name).c_str());
}

}  // namespace hawser::cpu
