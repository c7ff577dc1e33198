// OrExpired: waiting for a value no longer than a token lasts.
#ifndef HAWSER_CORE_BASE_THREADS_OR_EXPIRED_H_
#define HAWSER_CORE_BASE_THREADS_OR_EXPIRED_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/status.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/future.h"

namespace hawser {

// `value`, or what `token` says if it expires before the value is there; with
// another text, if one is given.
template <typename T>
Future<T> OrExpired(const Future<T>& value, const CancelToken& token,
                    absl::string_view text = "") {
  struct Waiting {
    Promise<T> promise;
    CancelToken::Registration registration;
  };
  if (!token.can_expire() || value.ready()) return value;
  auto waiting = std::make_shared<Waiting>();
  const Future<T> answer = waiting->promise.future();
  // Not held by the token: what has its value is forgotten.
  waiting->registration =
      token.OnExpiry([weak = std::weak_ptr<Waiting>(waiting),
                      text = std::string(text)](const absl::Status& expired) {
        const auto waiting = weak.lock();
        if (waiting == nullptr) return;
        waiting->promise.Set(text.empty() ? expired
                                          : absl::Status(expired.code(), text));
      });
  value.OnReady(
      [waiting = std::move(waiting)](const absl::StatusOr<T>& result) {
        waiting->promise.Set(result);
      });
  return answer;
}

// Waits for that. An error of the token names `who` was asked.
template <typename T>
absl::StatusOr<T> AwaitWithin(const Future<T>& value, const CancelToken& token,
                              absl::string_view who) {
  const Future<T> either = OrExpired(value, token);
  absl::StatusOr<T> result = either.Await();
  if (value.ready()) return value.Await();
  return Annotate(result.status(), who);
}

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_THREADS_OR_EXPIRED_H_
