// AllOf: one future of many.
#ifndef HAWSER_CORE_BASE_THREADS_ALL_OF_H_
#define HAWSER_CORE_BASE_THREADS_ALL_OF_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/threads/future.h"

namespace hawser {

// All values in order once all are there, or the error that comes first, which
// others may still be on their way to.
template <typename T>
Future<std::vector<T>> AllOf(std::vector<Future<T>> futures) {
  struct Pending {
    std::vector<T> values;
    std::atomic<size_t> left;
    Promise<std::vector<T>> promise;
  };
  if (futures.empty()) return Future<std::vector<T>>(std::vector<T>());
  auto pending = std::make_shared<Pending>();
  pending->values.resize(futures.size());
  pending->left = futures.size();
  const Future<std::vector<T>> all = pending->promise.future();
  for (size_t i = 0; i < futures.size(); ++i) {
    futures[i].OnReady([pending, i](const absl::StatusOr<T>& value) {
      if (!value.ok()) {
        pending->promise.Set(value.status());
        return;
      }
      pending->values[i] = *value;
      if (--pending->left == 0) {
        pending->promise.Set(std::move(pending->values));
      }
    });
  }
  return all;
}

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_THREADS_ALL_OF_H_
