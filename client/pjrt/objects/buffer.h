// Buffer: a value on a device, as the C ABI's handles mean it.
#ifndef HAWSER_CLIENT_PJRT_OBJECTS_BUFFER_H_
#define HAWSER_CLIENT_PJRT_OBJECTS_BUFFER_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/pjrt/objects/objects.h"
#include "core/base/mutex.h"
#include "core/base/threads/future.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "core/ops/part/box.h"
#include "core/runtime/client.h"

namespace hawser::pjrt {

// A value of a program of several partitions, on the client of all devices.
struct Together {
  runtime::BufferPtr value;
};

// A buffer's value, in one of three ways, or none.
struct Held {
  runtime::BufferPtr there;               // on the buffer's device
  Literal here;                           // from the host, and on no device yet
  std::shared_ptr<const Together> whole;  // or a box of that
  Box box;
  std::shared_ptr<const void> counted;  // in DeviceMemory, if it is on a device

  bool any() const {
    return there != nullptr || here.valid() || whole != nullptr;
  }
};

// Thread-safe.
struct Buffer {
  Buffer(DevicesPtr of, Device* on, const Shape& shape, Held what);

  // kInvalidArgument that says so once it was deleted or donated.
  absl::Status Usable() { return Get().status(); }
  // The value on the device: a part of a whole is cut out of it and brought
  // there first, and then stays. May block then. Errors: as Usable; those of
  // the link.
  absl::StatusOr<runtime::BufferPtr> OnDevice();
  // The future may fail with the first error of what was to make the value.
  // Errors: as Usable.
  absl::StatusOr<Future<Literal>> Fetch();
  absl::StatusOr<Future<bool>> Ready();
  absl::StatusOr<runtime::RanOn> ran_on();
  // Errors: as Usable.
  absl::StatusOr<Held> Get();
  // Changes nothing once it was deleted.
  void Set(const Held& what);
  // Returns what it was, and none is left.
  Held Take();
  void Drop() { Take(); }
  // Gives back what was taken.
  void Restore(const Held& what);
  // The same, counted in the memory of the device if it is there.
  Held Counted(Held what) const;

  const DevicesPtr devices;
  Device* const device;
  const Shape shape;
  const std::vector<int64_t> dims;
  const std::vector<int64_t> minor_to_major;  // it is dense, row-major
  Mutex mu;
  Held held ABSL_GUARDED_BY(mu);
};

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_OBJECTS_BUFFER_H_
