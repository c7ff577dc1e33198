#include "client/sharded/sharded_buffer.h"

#include <string>
#include <utility>

namespace hawser {

ShardedBuffer::ShardedBuffer(runtime::Client* client,
                             std::shared_ptr<ShardRunner> runner,
                             ShardedValuePtr value)
    : client_(client), runner_(std::move(runner)), value_(std::move(value)) {
  runner_->Hold(value_);
}

ShardedBuffer::~ShardedBuffer() { runner_->LetGo(value_); }

runtime::RanOn ShardedBuffer::ran_on() const {
  std::string where = runner_->WhereIs(*value_);
  return {where.empty() ? "not computed yet" : std::move(where)};
}

}  // namespace hawser
