// GpuBuffer: a value of a GpuClient, on the device or on its way there.
#ifndef HAWSER_KERNELS_GPU_GPU_BUFFER_H_
#define HAWSER_KERNELS_GPU_GPU_BUFFER_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/mutex.h"
#include "core/runtime/client.h"
#include "kernels/gpu/engine/engine.h"

namespace hawser::gpu {

class GpuBuffer : public runtime::Buffer {
 public:
  // The future completes once what makes the value is queued.
  GpuBuffer(std::shared_ptr<Engine> engine, const Shape& shape,
            Future<DeviceValue> value);
  // Makes a buffer of a value that is kept here, and uploaded when it is first
  // used.
  GpuBuffer(std::shared_ptr<Engine> engine, Literal kept);
  ~GpuBuffer() override { --engine_->live_buffers; }

  const Shape& shape() const override { return shape_; }
  // nullptr once the client is gone.
  runtime::Client* client() const override { return engine_->client(); }
  Future<Literal> Fetch(const runtime::CallOptions& options) override;
  Future<bool> Ready(const runtime::CallOptions& options) override;
  runtime::RanOn ran_on() const override { return {engine_->platform()}; }

  // The value for use on the device.
  Future<DeviceValue> value();
  // Takes the value out of the buffer, of which the caller is the only holder.
  // nullopt while the value is not queued yet, and for one kept on the host.
  std::optional<DeviceValue> Take();

 private:
  const std::shared_ptr<Engine> engine_;
  const Shape shape_;
  const Literal kept_;  // or no value
  Mutex mu_;
  // Not valid() until a kept value is used.
  Future<DeviceValue> value_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_GPU_BUFFER_H_
