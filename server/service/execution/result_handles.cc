#include "server/service/execution/result_handles.h"

namespace hawser::server {

void ResultHandles::Declare(absl::Span<const Shape> shapes) {
  made_ = true;
  outcome_.emplace();
  for (size_t i = 0; i < count_; ++i) {
    table_->DeclareResult(first_ + i, shapes[i], outcome_->future(), wanted_);
  }
}

void ResultHandles::Give(std::vector<runtime::BufferPtr> buffers, bool ended) {
  if (!ended && !outcome_.has_value()) outcome_.emplace();
  for (size_t i = 0; i < count_; ++i) {
    const int64_t bytes = buffers[i]->shape().byte_size();
    Value value{.now = std::move(buffers[i])};
    if (!ended) {
      value.outcome = outcome_->future();
      value.wanted = wanted_;
    }
    if (made_) {
      table_->Fill(first_ + i, std::move(value));
    } else {
      table_->Insert(first_ + i, std::move(value), bytes);
    }
  }
  made_ = true;
  wanted_ = nullptr;
}

void ResultHandles::Succeed() {
  if (outcome_.has_value()) outcome_->Set(true);
}

void ResultHandles::Fail(const absl::Status& cause) {
  for (size_t i = 0; i < count_; ++i) {
    if (made_) {
      table_->Poison(first_ + i, cause);
    } else {
      table_->Insert(first_ + i, Value{.now = cause}, 0);
    }
  }
  if (outcome_.has_value()) outcome_->Set(cause);
}

}  // namespace hawser::server
