// WhenAll, AllOf: many futures awaited as one.
#ifndef HAWSER_CORE_BASE_THREADS_ALL_OF_H_
#define HAWSER_CORE_BASE_THREADS_ALL_OF_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/threads/future.h"

namespace hawser {

// Calls done(status, position) once: OK when all are there; else the error of
// the first of them, by position, that has one, as soon as all before it are
// there. Lets go of each as it is met. It is called on the calling thread, or
// on the one that completes the last of them.
template <typename T>
void WhenAll(std::vector<Future<T>> futures,
             std::function<void(const absl::Status&, size_t)> done) {
  struct Walk : std::enable_shared_from_this<Walk> {
    std::vector<Future<T>> futures;
    std::function<void(const absl::Status&, size_t)> done;

    void From(size_t i) {
      for (; i < futures.size(); ++i) {
        const Future<T> next = std::exchange(futures[i], Future<T>());
        if (!next.ready()) {
          next.OnReady([self = this->shared_from_this(),
                        i](const absl::StatusOr<T>& value) {
            value.ok() ? self->From(i + 1) : self->done(value.status(), i);
          });
          return;
        }
        const absl::Status status = next.Await().status();
        if (!status.ok()) return done(status, i);
      }
      done(absl::OkStatus(), i);
    }
  };
  auto walk = std::make_shared<Walk>();
  walk->futures = std::move(futures);
  walk->done = std::move(done);
  walk->From(0);
}

// All values in order, or the error that WhenAll gives.
template <typename T>
Future<std::vector<T>> AllOf(std::vector<Future<T>> futures) {
  auto promise = std::make_shared<Promise<std::vector<T>>>();
  WhenAll<T>(futures, [promise, futures](const absl::Status& status, size_t) {
    if (!status.ok()) {
      promise->Set(status);
      return;
    }
    std::vector<T> values;
    for (const Future<T>& future : futures) values.push_back(*future.Await());
    promise->Set(std::move(values));
  });
  return promise->future();
}

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_THREADS_ALL_OF_H_
