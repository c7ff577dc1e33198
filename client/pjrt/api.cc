// The table that GetPjrtApi gives.
#include <algorithm>
#include <cstddef>
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

// The bytes that an entry's arguments say to have at least: all of ours but the
// last word, which XLA's headers forget in places (jaxlib 0.5.3 says 24 for the
// 32 of Plugin_Attributes), and but for what minor version 54 did not have.
template <typename Args>
constexpr size_t kLeast = std::min(sizeof(Args),
                                   std::max(sizeof(Header) + sizeof(void*),
                                            sizeof(Args) - sizeof(void*)));
template <>
constexpr size_t kLeast<Executable_DeserializeAndLoadArgs> = offsetof(
    Executable_DeserializeAndLoadArgs, overridden_serialized_compile_options);
template <>
constexpr size_t kLeast<Executable_GetCompiledMemoryStatsArgs> =
    offsetof(Executable_GetCompiledMemoryStatsArgs, peak_memory_in_bytes);

template <typename Args, absl::Status (*entry)(Args*)>
Error* Call(void* args) {
  if (args == nullptr) return ErrorOf(InvalidArgument("no arguments"));
  const size_t size = static_cast<const Header*>(args)->struct_size;
  if (size < kLeast<Args>) {
    return ErrorOf(InvalidArgument("arguments of ", size, " bytes, of ",
                                   kLeast<Args>, " at least"));
  }
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
