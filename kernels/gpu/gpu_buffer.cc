#include "kernels/gpu/gpu_buffer.h"

#include "core/base/status.h"
#include "core/base/threads/or_expired.h"
#include "core/runtime/attempt.h"

namespace hawser::gpu {
namespace {

// Passes the value to `then`, or passes on the value's error.
template <typename T, typename Then>
Future<T> Chain(const Future<DeviceValue>& value, Then then) {
  auto promise = std::make_shared<Promise<T>>();
  Future<T> answer = promise->future();
  value.OnReady([promise, then = std::move(then)](
                    const absl::StatusOr<DeviceValue>& there) {
    if (!there.ok()) {
      promise->Set(there.status());
      return;
    }
    then(*there).OnReady(
        [promise](const absl::StatusOr<T>& result) { promise->Set(result); });
  });
  return answer;
}

}  // namespace

GpuBuffer::GpuBuffer(std::shared_ptr<Engine> engine, const Shape& shape,
                     Future<DeviceValue> value)
    : engine_(std::move(engine)), shape_(shape), value_(std::move(value)) {
  ++engine_->live_buffers;
}

GpuBuffer::GpuBuffer(std::shared_ptr<Engine> engine, Literal kept)
    : engine_(std::move(engine)), shape_(kept.shape()), kept_(std::move(kept)) {
  ++engine_->live_buffers;
}

Future<DeviceValue> GpuBuffer::value() {
  MutexLock lock(&mu_);
  if (!value_.valid()) value_ = engine_->transfers().Upload(kept_);
  return value_;
}

std::optional<DeviceValue> GpuBuffer::Take() {
  MutexLock lock(&mu_);
  if (kept_.valid() || !value_.ready()) return std::nullopt;
  absl::StatusOr<DeviceValue> value = value_.Await();
  if (!value.ok()) return std::nullopt;
  value_ = Future<DeviceValue>(
      FailedPrecondition("this buffer was donated to an execution"));
  return *std::move(value);
}

Future<Literal> GpuBuffer::Fetch(const runtime::CallOptions& options) {
  if (kept_.valid()) return Future<Literal>(kept_);
  const Future<Literal> fetched = Chain<Literal>(
      value(), [engine = engine_, shape = shape_](const DeviceValue& there) {
        return engine->transfers().Fetch(there, shape);
      });
  return OrExpired(fetched, runtime::AttemptToken(options));
}

Future<bool> GpuBuffer::Ready(const runtime::CallOptions& options) {
  if (kept_.valid()) return Future<bool>(true);
  const Future<bool> ready =
      Chain<bool>(value(), [engine = engine_](const DeviceValue& there) {
        return engine->transfers().Ready(there);
      });
  return OrExpired(ready, runtime::AttemptToken(options));
}

}  // namespace hawser::gpu
