// The PJRT C ABI as far as hawser uses it: facts of xla/pjrt/c/pjrt_c_api.h, in
// our own words. Every struct begins with its size as the caller knows it; a
// field beyond that is neither read nor written (struct_fields.h). The
// arguments of entries are in args.h.
#ifndef HAWSER_CLIENT_PJRT_ABI_ABI_H_
#define HAWSER_CLIENT_PJRT_ABI_ABI_H_

#include <cstddef>
#include <cstdint>

namespace hawser::pjrt {

// The version that is announced. Callers of older ones read less of the table.
inline constexpr int kMajorVersion = 0;
inline constexpr int kMinorVersion = 112;

// The caller has handles of these; objects.h defines them.
struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct Topology;
struct Executable;
struct LoadedExecutable;
struct Buffer;
struct ExecuteContext;

struct Header {
  size_t struct_size;
  void* extension;
};

struct NamedValue {
  Header header;
  const char* name;
  size_t name_size;
  int type;  // 0: a string; 1: an integer; 2: a list of them; 3: f32; 4: bool
  union {
    const char* string;
    int64_t integer;
    const int64_t* integers;
    float number;
    bool flag;
  };
  size_t size;  // of a string or a list, else 1
};

struct Program {
  Header header;
  const char* code;
  size_t code_size;
  const char* format;  // "mlir"
  size_t format_size;
};

struct MemoryLayout {
  Header header;
  union {
    struct {
      Header header;
      const int64_t* minor_to_major;
      size_t minor_to_major_size;
      const int64_t* tile_dims;
      const size_t* tile_dim_sizes;
      size_t num_tiles;
    } tiled;
    struct {
      Header header;
      const int64_t* byte_strides;
      size_t num_byte_strides;
    } strides;
  };
  int type;  // 0: tiled; 1: strides
};

struct ExecuteOptions {
  Header header;
  void* send_callbacks;
  void* recv_callbacks;
  size_t num_send_ops;
  size_t num_recv_ops;
  int launch_id;
  const int64_t* non_donatable_input_indices;
  size_t num_non_donatable_input_indices;
};

struct LogicalDeviceIds {
  int replica;
  int partition;
};

using EventCallback = void (*)(Error* error, void* user_arg);

// ---- the table ------------------------------------------------------------

using Entry = Error* (*)(void* args);

inline constexpr size_t kEntries = 0
#define HAWSER_PJRT_HAS(Name) +1
#define HAWSER_PJRT_LACKS(Name) +1
#include "client/pjrt/abi/entries.def"  // IWYU pragma: keep
#undef HAWSER_PJRT_HAS
#undef HAWSER_PJRT_LACKS
    ;

struct Api {
  size_t struct_size;
  const void* extension_start;
  struct {
    Header header;
    int major_version;
    int minor_version;
  } version;
  Entry entries[kEntries];
};

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_ABI_ABI_H_
