// The table that GetPjrtApi gives.
#include <utility>

#include "client/pjrt/abi/args.h"
#include "client/pjrt/entries.h"
#include "client/pjrt/extension/extension.h"
#include "client/pjrt/objects/objects.h"
#include "core/base/status.h"

namespace hawser::pjrt {
namespace {

Error* ErrorOf(absl::Status status) {
  return status.ok() ? nullptr : new Error(std::move(status));
}

template <typename Args, absl::Status (*entry)(Args*)>
Error* Call(void* args) {
  if (args == nullptr) return ErrorOf(InvalidArgument("no arguments"));
  return ErrorOf(entry(static_cast<Args*>(args)));
}

template <const char* name>
Error* Lacks(void*) {
  return ErrorOf(Unimplemented("PJRT_", name));
}

#define HAWSER_PJRT_HAS(Name)
#define HAWSER_PJRT_LACKS(Name) constexpr char k##Name[] = #Name;
#include "client/pjrt/abi/entries.def"  // IWYU pragma: keep
#undef HAWSER_PJRT_HAS
#undef HAWSER_PJRT_LACKS

constexpr Extension kExtension = {.struct_size = sizeof(Extension),
                                  .type = Extension::kType,
                                  .next = nullptr,
                                  .ask = Call<AskArgs, Ask>};

constexpr Api kApi = {
    .struct_size = sizeof(Api),
    .extension_start = &kExtension,
    .version = {.header = {.struct_size = sizeof(Api::version),
                           .extension = nullptr},
                .major_version = kMajorVersion,
                .minor_version = kMinorVersion},
    .entries = {
#define HAWSER_PJRT_HAS(Name) Call<Name##Args, Name>,
#define HAWSER_PJRT_LACKS(Name) Lacks<k##Name>,
#include "client/pjrt/abi/entries.def"  // IWYU pragma: keep
#undef HAWSER_PJRT_HAS
#undef HAWSER_PJRT_LACKS
    }};

}  // namespace
}  // namespace hawser::pjrt

extern "C" __attribute__((visibility("default"))) const void* GetPjrtApi() {
  return &hawser::pjrt::kApi;
}
