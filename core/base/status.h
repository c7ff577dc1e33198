// Status macros and the words every error message is built from.
#ifndef HAWSER_CORE_BASE_STATUS_H_
#define HAWSER_CORE_BASE_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hawser {

// `status` with "context: " in front of its message; OK stays OK.
// Payloads and the code are kept. Each layer adds context at most once.
absl::Status Annotate(const absl::Status& status, absl::string_view context);

template <typename... Args>
absl::Status InvalidArgument(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status Unimplemented(const Args&... args) {
  return absl::UnimplementedError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status FailedPrecondition(const Args&... args) {
  return absl::FailedPreconditionError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status NotFound(const Args&... args) {
  return absl::NotFoundError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status ResourceExhausted(const Args&... args) {
  return absl::ResourceExhaustedError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status Unavailable(const Args&... args) {
  return absl::UnavailableError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status DeadlineExceeded(const Args&... args) {
  return absl::DeadlineExceededError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status Cancelled(const Args&... args) {
  return absl::CancelledError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status DataLoss(const Args&... args) {
  return absl::DataLossError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status Aborted(const Args&... args) {
  return absl::AbortedError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status Internal(const Args&... args) {
  return absl::InternalError(absl::StrCat(args...));
}

namespace internal {
inline const absl::Status& ToStatus(const absl::Status& s) { return s; }
template <typename T>
const absl::Status& ToStatus(const absl::StatusOr<T>& s) {
  return s.status();
}
[[noreturn]] void CheckFailed(const char* file, int line, const char* what);
// Prints "file:line: what" and ends the process.
[[noreturn]] void Die(const char* file, int line, absl::string_view what);
}  // namespace internal
}  // namespace hawser

#define HAWSER_CONCAT_INNER_(a, b) a##b
#define HAWSER_CONCAT_(a, b) HAWSER_CONCAT_INNER_(a, b)

// Returns from the enclosing function when `expr` (Status or StatusOr) failed.
#define HAWSER_RETURN_IF_ERROR(expr)                                       \
  do {                                                                     \
    if (auto&& hawser_status_ = (expr); !hawser_status_.ok()) [[unlikely]] \
      return ::hawser::internal::ToStatus(hawser_status_);                 \
  } while (false)

// HAWSER_ASSIGN_OR_RETURN(auto x, StatusOrExpr());
#define HAWSER_ASSIGN_OR_RETURN(lhs, expr) \
  HAWSER_ASSIGN_OR_RETURN_(HAWSER_CONCAT_(hawser_or_, __LINE__), lhs, expr)
#define HAWSER_ASSIGN_OR_RETURN_(var, lhs, expr)        \
  auto var = (expr);                                    \
  if (!var.ok()) [[unlikely]] return var.status();      \
  lhs = *std::move(var)

// A programmer error inside this process. Never reachable from wire bytes or
// from a user's shapes: those get a Status.
#define HAWSER_CHECK(condition)        \
  do {                                 \
    if (!(condition)) [[unlikely]]     \
      ::hawser::internal::CheckFailed( \
          __FILE__, __LINE__, #condition); \
  } while (false)

#endif  // HAWSER_CORE_BASE_STATUS_H_
