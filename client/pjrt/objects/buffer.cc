#include "client/pjrt/objects/buffer.h"

#include "core/base/status.h"
#include "core/sharding/moves.h"

namespace hawser::pjrt {
namespace {

// The box of a whole, as a value of the client of all devices.
absl::StatusOr<runtime::BufferPtr> BoxOf(const Held& held, const Shape& shape) {
  const runtime::BufferPtr& whole = held.whole->value;
  if (shape == whole->shape()) return whole;
  HAWSER_ASSIGN_OR_RETURN(
      Module module,
      JoinModule(shape.dtype(), {WholeBox(whole->shape())}, held.box));
  HAWSER_ASSIGN_OR_RETURN(
      const auto slice,
      whole->client()->Compile(
          std::make_shared<const Module>(std::move(module)), {}, {}));
  HAWSER_ASSIGN_OR_RETURN(const auto values, slice->Execute({whole}, {}));
  return values[0];
}

std::vector<int64_t> MinorToMajor(size_t rank) {
  std::vector<int64_t> axes;
  for (size_t i = rank; i-- > 0;) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

}  // namespace

Buffer::Buffer(DevicesPtr of, Device* on, const Shape& shape, Held what)
    : devices(std::move(of)),
      device(on),
      shape(shape),
      dims(shape.dims().begin(), shape.dims().end()),
      minor_to_major(MinorToMajor(dims.size())),
      held(Counted(std::move(what))) {}

absl::StatusOr<Held> Buffer::Get() {
  MutexLock lock(&mu);
  if (held.any()) return held;
  return InvalidArgument(shape.ToString(), " was deleted or donated");
}

Held Buffer::Counted(Held what) const {
  if (what.counted == nullptr && !what.here.valid() && what.any()) {
    what.counted = device->used->Hold(shape.byte_size());
  }
  return what;
}

void Buffer::Set(const Held& what) {
  Held dropped = Counted(what);  // outside the lock
  MutexLock lock(&mu);
  if (held.any()) std::swap(held, dropped);
}

Held Buffer::Take() {
  MutexLock lock(&mu);
  return std::exchange(held, {});
}

void Buffer::Restore(const Held& what) {
  MutexLock lock(&mu);
  held = what;
}

absl::StatusOr<runtime::BufferPtr> Buffer::OnDevice() {
  HAWSER_ASSIGN_OR_RETURN(Held now, Get());
  if (now.there != nullptr) return now.there;
  if (!now.here.valid()) {
    HAWSER_ASSIGN_OR_RETURN(const runtime::BufferPtr part, BoxOf(now, shape));
    HAWSER_ASSIGN_OR_RETURN(now.here, part->Fetch({}).Await());
  }
  HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr there,
                          device->runtime->Upload(now.here, {}));
  Set({.there = there});
  return there;
}

absl::StatusOr<Future<Literal>> Buffer::Fetch() {
  HAWSER_ASSIGN_OR_RETURN(const Held now, Get());
  if (now.there != nullptr) return now.there->Fetch({});
  if (now.here.valid()) return Future<Literal>(now.here);
  HAWSER_ASSIGN_OR_RETURN(const runtime::BufferPtr part, BoxOf(now, shape));
  return part->Fetch({});
}

absl::StatusOr<Future<bool>> Buffer::Ready() {
  HAWSER_ASSIGN_OR_RETURN(const Held now, Get());
  if (now.there != nullptr) return now.there->Ready({});
  if (now.here.valid()) return Future<bool>(true);
  return now.whole->value->Ready({});
}

absl::StatusOr<runtime::RanOn> Buffer::ran_on() {
  HAWSER_ASSIGN_OR_RETURN(const Held now, Get());
  if (now.there != nullptr) return now.there->ran_on();
  if (now.here.valid()) return runtime::RanOn{"the host"};
  return now.whole->value->ran_on();
}

}  // namespace hawser::pjrt
