// The objects that handles of the PJRT C ABI point to.
#ifndef HAWSER_CLIENT_PJRT_OBJECTS_OBJECTS_H_
#define HAWSER_CLIENT_PJRT_OBJECTS_OBJECTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/pjrt/abi/abi.h"
#include "client/pjrt/abi/struct_fields.h"
#include "client/pjrt/objects/device_memory.h"
#include "client/pjrt/objects/program_source.h"
#include "client/stablehlo/tilings/tiling.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/base/threads/future.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "core/runtime/client.h"

namespace hawser::pjrt {

// Since minor version 112 an error begins with a table of its functions.
struct ErrorTable {
  size_t struct_size;
  size_t instance_size;
  void* extension;
  void (*destroy)(Error*);
  void (*message)(const Error*, const char**, size_t*);
  int (*code)(const Error*);
  void (*for_each_payload)(const Error*, void* visitor, void* user_arg);
};

struct Error {
  explicit Error(absl::Status why);
  const ErrorTable* const table;  // first
  const absl::Status status;
  const std::string message;
};

// Something that is done, or will be.
struct Event {
  explicit Event(Future<bool> when) : done(std::move(when)) {}
  // One that the caller sets.
  Event() : promise(new Promise<bool>), done(promise->future()) {}
  const std::unique_ptr<Promise<bool>> promise;  // null: not the caller's
  const Future<bool> done;
};

struct DeviceDescription {
  int id = 0;
  std::string kind;  // where it computed when the client was made
  std::string text;
  NamedValue client;  // its only attribute: Devices::number
};

// So does a memory, in which callers keep what is theirs.
struct MemoryTable {
  size_t struct_size;
  void* extension;
  size_t instance_size;
  void* (*get_user_data)(Memory*, const void* key);
  void (*set_user_data)(Memory*, const void* key, void* data,
                        void (*destroy)(void*));
};

struct Memory {
  Memory();
  ~Memory();
  const MemoryTable* const table;  // first
  Device* device = nullptr;
  std::string text;
  Mutex mu;
  std::map<const void*, std::pair<void*, void (*)(void*)>> user_data
      ABSL_GUARDED_BY(mu);
};

// One server with this machine behind it, or this machine alone.
struct Device {
  DeviceDescription description;
  Memory memory;
  std::vector<Memory*> memories;  // that one
  std::shared_ptr<runtime::Client> runtime;
  int64_t memory_bytes = 0;  // that it has; 0: not known
  const std::shared_ptr<DeviceMemory> used = std::make_shared<DeviceMemory>();
};

// The devices of a client, kept by all that is on them.
struct Devices {
  std::vector<std::unique_ptr<Device>> all;
  std::vector<Device*> list;
  std::vector<Memory*> memories;
  std::vector<DeviceDescription*> descriptions;
  std::string version;  // of hawser
  int64_t number = 0;   // no other devices of this process have it
  std::vector<std::string> servers;

  // Null: none has that number.
  Device* Find(int id) const;
  // One client of all devices, for programs of several partitions: made when it
  // is first asked for. May block then. Errors: those of Sharded.
  absl::StatusOr<std::shared_ptr<runtime::Client>> AllDevices() const;

 private:
  mutable Mutex mu_;
  mutable std::shared_ptr<runtime::Client> all_devices_ ABSL_GUARDED_BY(mu_);
};
using DevicesPtr = std::shared_ptr<const Devices>;

struct Topology {
  DevicesPtr devices;
};

struct Client {
  DevicesPtr devices;
  Topology topology;
};

// The facts of a program that need no run. Immutable.
struct ProgramFacts {
  std::string name;
  std::string fingerprint;
  size_t partitions = 1;
  std::vector<int> types;     // of results, as the ABI numbers them
  std::vector<int64_t> dims;  // of all results, one after the other
  std::vector<size_t> ranks;
  size_t num_arguments = 0;
  int64_t argument_bytes = 0, result_bytes = 0, donated_bytes = 0;
  std::vector<const char*> memory_kinds;  // of arguments or results: the longer
  std::vector<size_t> memory_kind_sizes;
  // Null of a program of more than kMaxKeptCode.
  std::shared_ptr<const ProgramSource> source;
  // A program that says how results lie on several partitions; else empty.
  std::string shardings;
};

struct Executable {
  std::shared_ptr<const ProgramFacts> facts;
};

struct LoadedExecutable {
  DevicesPtr devices;
  std::vector<Device*> device_list;  // one for each partition
  std::vector<LogicalDeviceIds> logical_ids;
  std::shared_ptr<const ProgramFacts> facts;
  std::vector<runtime::Argument> bound;  // its last arguments
  std::vector<Shape> shapes;             // of its own arguments: whole ones
  std::vector<int> donated;
  // How arguments and results lie on the partitions, where there are several.
  stablehlo::FunctionTilings tilings;
  Mutex mu;
  // Null: deleted.
  std::shared_ptr<runtime::Executable> runtime ABSL_GUARDED_BY(mu);
};

struct ExecuteContext {};

// Programs of more bytes, which have large constants, are not kept beside what
// they were compiled to.
inline constexpr size_t kMaxKeptCode = size_t{64} << 20;

// The name of the only kind of memory, and its number.
inline constexpr absl::string_view kMemoryKind = "device";

// The number of a dtype in the ABI; 0: it has none.
int TypeOf(DType dtype);
DType DTypeOf(int type);

// The caller's bytes; none where there are none, whatever the size.
inline absl::string_view TextOf(const char* text, size_t size) {
  return text == nullptr ? absl::string_view() : absl::string_view(text, size);
}

// kInvalidArgument that names a handle which is null.
absl::Status CheckHandle(const void* handle, absl::string_view name);

// The same for a struct of the caller's, and for one that is shorter than up to
// the end of `last`, its last field.
template <typename Struct, typename T>
absl::Status CheckStruct(const Struct* given, T Struct::*last,
                         absl::string_view name) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(given, name));
  if (Has(*given, last)) return absl::OkStatus();
  return InvalidArgument("the ", name, " has ", given->header.struct_size,
                         " bytes, which are too few");
}

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_OBJECTS_OBJECTS_H_
