#include "client/pjrt/objects/objects.h"

#include "core/base/status.h"

namespace hawser::pjrt {
namespace {

constexpr ErrorTable kErrorTable = {
    .struct_size = sizeof(ErrorTable),
    .instance_size = sizeof(Error),
    .extension = nullptr,
    .destroy = [](Error* error) { delete error; },
    .message =
        [](const Error* error, const char** message, size_t* size) {
          *message = error->message.data();
          *size = error->message.size();
        },
    .code =
        [](const Error* error) {
          return static_cast<int>(error->status.code());
        },
    .for_each_payload = [](const Error*, void*, void*) {}};

void* GetUserData(Memory* memory, const void* key) {
  MutexLock lock(&memory->mu);
  const auto found = memory->user_data.find(key);
  return found == memory->user_data.end() ? nullptr : found->second.first;
}

void SetUserData(Memory* memory, const void* key, void* data,
                 void (*destroy)(void*)) {
  std::pair<void*, void (*)(void*)> old = {nullptr, nullptr};
  {
    MutexLock lock(&memory->mu);
    old = std::exchange(memory->user_data[key], {data, destroy});
  }
  if (old.second != nullptr && old.first != nullptr) old.second(old.first);
}

constexpr MemoryTable kMemoryTable = {.struct_size = sizeof(MemoryTable),
                                      .extension = nullptr,
                                      .instance_size = sizeof(Memory),
                                      .get_user_data = GetUserData,
                                      .set_user_data = SetUserData};

// In the order of the ABI, from 0 on.
constexpr DType kTypes[] = {
    DType::kInvalid, DType::kBool, DType::kS8,  DType::kS16,
    DType::kS32,     DType::kS64,  DType::kU8,  DType::kU16,
    DType::kU32,     DType::kU64,  DType::kF16, DType::kF32,
    DType::kF64,     DType::kBF16, DType::kC64, DType::kC128};

}  // namespace

Error::Error(absl::Status why)
    : table(&kErrorTable), status(std::move(why)), message(status.message()) {}

Memory::Memory() : table(&kMemoryTable) {}
Memory::~Memory() {
  for (const auto& [key, kept] : user_data) {
    if (kept.second != nullptr && kept.first != nullptr) {
      kept.second(kept.first);
    }
  }
}

Device* Devices::Find(int id) const {
  for (Device* device : list) {
    if (device->description.id == id) return device;
  }
  return nullptr;
}

int TypeOf(DType dtype) {
  for (size_t type = 1; type < std::size(kTypes); ++type) {
    if (kTypes[type] == dtype) return static_cast<int>(type);
  }
  return 0;
}

DType DTypeOf(int type) {
  const bool known = type > 0 && type < static_cast<int>(std::size(kTypes));
  return known ? kTypes[type] : DType::kInvalid;
}

absl::Status CheckHandle(const void* handle, absl::string_view name) {
  return handle != nullptr ? absl::OkStatus()
                           : InvalidArgument("there is no ", name);
}

}  // namespace hawser::pjrt
