// CpuBuffer: a value of a CpuClient, there or on its way.
#ifndef HAWSER_KERNELS_CPU_CLIENT_CPU_BUFFER_H_
#define HAWSER_KERNELS_CPU_CLIENT_CPU_BUFFER_H_

#include <memory>
#include <string>
#include <utility>

#include "core/runtime/client.h"
#include "kernels/cpu/client/client_state.h"

namespace hawser::cpu {

class CpuBuffer : public runtime::Buffer {
 public:
  CpuBuffer(std::shared_ptr<ClientState> state, const Shape& shape,
            Future<Literal> value)
      : state_(std::move(state)), shape_(shape), value_(std::move(value)) {
    ++state_->live_buffers;
  }
  ~CpuBuffer() override { --state_->live_buffers; }

  const Shape& shape() const override { return shape_; }
  // nullptr once the client is gone.
  runtime::Client* client() const override { return state_->client.load(); }
  // Shares the bytes. Also fails, soon, when `options` expire before the value
  // is there.
  Future<Literal> Fetch(const runtime::CallOptions& options) override;
  runtime::RanOn ran_on() const override { return {"cpu"}; }

  const Future<Literal>& value() const { return value_; }

 private:
  const std::shared_ptr<ClientState> state_;
  const Shape shape_;
  const Future<Literal> value_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_CLIENT_CPU_BUFFER_H_
