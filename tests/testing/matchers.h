// gmock matchers for Status, StatusOr and Literal, and two macros.
#ifndef HAWSER_TESTS_TESTING_MATCHERS_H_
#define HAWSER_TESTS_TESTING_MATCHERS_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "core/base/status.h"
#include "core/base/values/compare.h"
#include "core/base/values/literal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hawser {

// GoogleTest finds this by the namespace of Literal.
inline void PrintTo(const Literal& literal, std::ostream* os) {
  *os << literal.ToString();
}

// Of a Status or a StatusOr.
MATCHER(IsOk, negation ? "is not OK" : "is OK") {
  const absl::Status& status = ::hawser::internal::ToStatus(arg);
  if (!status.ok()) *result_listener << "which is " << status.ToString();
  return status.ok();
}

// The code, and a part of the message.
MATCHER_P2(StatusIs, code, part,
           std::string(negation ? "is not " : "is ") +
               absl::StatusCodeToString(code) + " with \"" + std::string(part) +
               "\" in its message") {
  const absl::Status& status = ::hawser::internal::ToStatus(arg);
  *result_listener << "which is " << status.ToString();
  return status.code() == code &&
         absl::StrContains(status.message(), absl::string_view(part));
}

// Shape and elements; NaN equals NaN, -0 equals 0.
MATCHER_P(LiteralEquals, want, "equals " + want.ToString()) {
  const absl::Status status = CompareLiterals(arg, want);
  *result_listener << status.message();
  return status.ok();
}

MATCHER_P2(LiteralNear, want, tolerance, "is near " + want.ToString()) {
  const absl::Status status = CompareLiterals(arg, want, tolerance);
  *result_listener << status.message();
  return status.ok();
}

// Shape and bytes.
MATCHER_P(LiteralBitEquals, want, "has the bits of " + want.ToString()) {
  const absl::Status status =
      CompareLiterals(arg, want, Tolerance{.bits = true});
  *result_listener << status.message();
  return status.ok();
}

}  // namespace hawser

#define EXPECT_OK(expression) EXPECT_THAT((expression), ::hawser::IsOk())
#define ASSERT_OK(expression) ASSERT_THAT((expression), ::hawser::IsOk())

// ASSERT_OK_AND_ASSIGN(const Module m, DecodeModule(bytes));
#define ASSERT_OK_AND_ASSIGN(lhs, expression) \
  ASSERT_OK_AND_ASSIGN_(HAWSER_CONCAT_(asserted_, __LINE__), lhs, expression)
#define ASSERT_OK_AND_ASSIGN_(var, lhs, expression)             \
  auto var = (expression);                                      \
  ASSERT_TRUE(var.ok()) << #expression << ": " << var.status(); \
  lhs = *std::move(var)

#endif  // HAWSER_TESTS_TESTING_MATCHERS_H_
