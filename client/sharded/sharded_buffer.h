// ShardedBuffer: a value of a sharded client, in the hands of a user.
#ifndef HAWSER_CLIENT_SHARDED_SHARDED_BUFFER_H_
#define HAWSER_CLIENT_SHARDED_SHARDED_BUFFER_H_

#include <memory>

#include "client/sharded/shard_runner.h"
#include "client/sharded/values/sharded_value.h"
#include "core/runtime/client.h"

namespace hawser {

// The pieces of its value stay in their places while it lives.
class ShardedBuffer : public runtime::Buffer {
 public:
  ShardedBuffer(runtime::Client* client, std::shared_ptr<ShardRunner> runner,
                ShardedValuePtr value);
  ~ShardedBuffer() override;

  const Shape& shape() const override { return value_->shape; }
  // nullptr once it is gone.
  runtime::Client* client() const override {
    return runner_->open() ? client_ : nullptr;
  }
  // Fetches its pieces and puts them together here. Pieces that were lost with
  // a place are made again.
  Future<Literal> Fetch(const runtime::CallOptions& options) override {
    return runner_->Fetch(value_, options);
  }
  // All places where the execution that gives it ran.
  runtime::RanOn ran_on() const override;

  const std::shared_ptr<ShardRunner>& runner() const { return runner_; }
  const ShardedValuePtr& value() const { return value_; }

 private:
  runtime::Client* const client_;
  const std::shared_ptr<ShardRunner> runner_;
  const ShardedValuePtr value_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_SHARDED_BUFFER_H_
