// Short words for the codes that bad input ends with, for tables of it.
#ifndef HAWSER_TESTS_TESTING_STATUS_WORDS_H_
#define HAWSER_TESTS_TESTING_STATUS_WORDS_H_

#include "absl/status/status.h"

namespace hawser {

inline constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
inline constexpr auto kNotFound = absl::StatusCode::kNotFound;
inline constexpr auto kTooMuch = absl::StatusCode::kResourceExhausted;
inline constexpr auto kUnknown = absl::StatusCode::kUnimplemented;

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_STATUS_WORDS_H_
