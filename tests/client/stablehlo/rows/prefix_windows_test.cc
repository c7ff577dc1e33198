// Windows of all elements up to a place, or from there on, beside what
// StableHLO's words come to in f64: with any initial value, by any computation,
// of halves too.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/stablehlo/stablehlo.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/client/stablehlo/programs.h"
#include "tests/testing/matchers.h"

namespace hawser::stablehlo {
namespace {

using Numbers = std::vector<double>;

struct Body {
  const char* name;
  const char* text;  // from %x and %y to %r, over T
  std::function<double(double, double)> of;
  double neutral;
  std::vector<double> initial;
};

double LogOfSum(double x, double y) {
  const double most = std::max(x, y);
  if (std::isinf(most)) return most;
  return most + std::log1p(std::exp(std::min(x, y) - most));
}

const std::vector<Body>& Bodies() {
  static const auto& bodies = *new std::vector<Body>{
      {"add",
       "%r = stablehlo.add %x, %y : T\n",
       [](double x, double y) { return x + y; },
       0,
       {0, 1, -2.5}},
      {"multiply",
       "%r = stablehlo.multiply %x, %y : T\n",
       [](double x, double y) { return x * y; },
       1,
       {1, 2}},
      {"maximum",
       "%r = stablehlo.maximum %x, %y : T\n",
       [](double x, double y) { return std::max(x, y); },
       -INFINITY,
       {3, 0}},
      {"minimum",
       "%r = stablehlo.minimum %x, %y : T\n",
       [](double x, double y) { return std::min(x, y); },
       INFINITY,
       {2, 9}},
      {"the larger by a choice",
       "%c = stablehlo.compare GT, %x, %y : (T, T) -> tensor<i1>\n"
       "%r = stablehlo.select %c, %x, %y : tensor<i1>, T\n",
       [](double x, double y) { return x > y ? x : y; },
       -1000,
       {4, -1000}},
      {"xy + x + y",
       "%p = stablehlo.multiply %x, %y : T\n"
       "%q = stablehlo.add %p, %x : T\n"
       "%r = stablehlo.add %q, %y : T\n",
       [](double x, double y) { return x * y + x + y; },
       0,
       {0, 1}},
      {"the logarithm of a sum",
       "%m = stablehlo.maximum %x, %y : T\n"
       "%n = stablehlo.minimum %x, %y : T\n"
       "%d = stablehlo.subtract %n, %m : T\n"
       "%e = stablehlo.exponential %d : T\n"
       "%l = stablehlo.log_plus_one %e : T\n"
       "%r = stablehlo.add %m, %l : T\n",
       LogOfSum,
       -1000,
       {-1000, 0.5}},
  };
  return bodies;
}

struct Windows {
  std::string dtype;  // as StableHLO calls it
  int64_t size = 0;
  bool reverse = false;
  bool is_constant = true;  // the initial value; else it is an argument
};

std::string ProgramOf(const Body& body, const Windows& w, double initial) {
  const std::string scalar = absl::StrCat("tensor<", w.dtype, ">");
  const std::string vector = absl::StrCat("tensor<", w.size, "x", w.dtype, ">");
  const int64_t before = w.reverse ? 0 : w.size - 1;
  const std::string constant = absl::StrCat("%z = stablehlo.constant dense<",
                                            initial, ".0> : ", scalar, "\n");
  return MainOf(
      absl::StrCat("%a: ", vector, ", %i: ", scalar), vector,
      absl::StrCat(
          w.is_constant ? absl::StrReplaceAll(constant, {{".5.0", ".5"}}) : "",
          "%0 = \"stablehlo.reduce_window\"(%a, ", w.is_constant ? "%z" : "%i",
          ") <{padding = dense<[[", before, ", ", w.size - 1 - before,
          "]]> : tensor<1x2xi64>, window_dimensions = array<i64: ", w.size,
          ">}> ({\n^bb0(%x: ", scalar, ", %y: ", scalar, "):\n",
          absl::StrReplaceAll(body.text, {{"T", scalar}, {"GT", "GT"}}),
          "stablehlo.return %r : ", scalar, "\n}) : (", vector, ", ", scalar,
          ") -> ", vector, "\nreturn %0 : ", vector));
}

DType DTypeOf(const std::string& name) {
  return *ParseDType(name == "i32" ? "s32" : name);
}

// Rounded to the dtype.
Literal LiteralOf(DType dtype, const Numbers& numbers, bool is_scalar = false) {
  const Dims dims =
      is_scalar ? Dims() : Dims{static_cast<int64_t>(numbers.size())};
  Literal value = Literal::Uninitialized(Shape::Of(dtype, dims));
  for (size_t i = 0; i < numbers.size(); ++i) {
    VisitDType(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!kIsComplex<T>) {
        value.mutable_data<T>()[i] = static_cast<T>(numbers[i]);
      }
    });
  }
  return value;
}
Numbers NumbersIn(const Literal& value) {
  Numbers numbers;
  for (int64_t i = 0; i < value.shape().num_elements(); ++i) {
    VisitDType(value.shape().dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!kIsComplex<T>) {
        numbers.push_back(static_cast<double>(value.data<T>()[i]));
      }
    });
  }
  return numbers;
}

Numbers Computed(const Body& body, const Windows& w, const Numbers& x,
                 double initial) {
  auto program = ReadProgram(ProgramOf(body, w, initial));
  EXPECT_OK(program) << ProgramOf(body, w, initial);
  if (!program.ok()) return {};
  const DType dtype = DTypeOf(w.dtype);
  const auto client = cpu::MakeCpuClient();
  const auto executable = client->Compile(
      std::make_shared<const Module>(std::move(program->module)), {}, {});
  EXPECT_OK(executable);
  if (!executable.ok()) return {};
  const auto results =
      (*executable)
          ->Execute({LiteralOf(dtype, x), LiteralOf(dtype, {initial}, true)},
                    {});
  EXPECT_OK(results);
  if (!results.ok()) return {};
  const auto value = (*results)[0]->Fetch({}).Await();
  EXPECT_OK(value);
  return value.ok() ? NumbersIn(*value) : Numbers();
}

// Each window from the initial value on, over padding of it.
Numbers Expected(const Body& body, const Windows& w, const Numbers& x,
                 double initial) {
  Numbers results;
  const bool is_neutral = initial == body.neutral;
  double so_far = initial;
  for (int64_t i = 0; i < w.size; ++i) {
    if (is_neutral) {  // one scan: these are long
      so_far = body.of(so_far, x[w.reverse ? w.size - 1 - i : i]);
      results.push_back(so_far);
      continue;
    }
    double all = initial;
    for (int64_t at = i - (w.reverse ? 0 : w.size - 1), k = 0; k < w.size;
         ++k, ++at) {
      all = body.of(all, at < 0 || at >= w.size ? initial : x[at]);
    }
    results.push_back(all);
  }
  if (is_neutral && w.reverse) std::reverse(results.begin(), results.end());
  return results;
}

// Halves are rounded once where there are many of them; else at each step.
constexpr int64_t kShort = 16;

double Allowed(const Windows& w, double want) {
  const std::string& dtype = w.dtype;
  const double unit = dtype == "f16"    ? 0x1p-11
                      : dtype == "bf16" ? 0x1p-8
                      : dtype == "f32"  ? 0x1p-17
                      : dtype == "f64"  ? 0x1p-44
                                        : 0;
  const bool is_half = dtype == "f16" || dtype == "bf16";
  const auto roundings =
      static_cast<double>(is_half && w.size <= kShort ? 2 * w.size : 1);
  return 1.02 * roundings * unit * std::max(std::abs(want), 0x1p-10);
}

void ExpectRight(const Body& body, const Windows& w, const Numbers& x,
                 double initial) {
  const Numbers got = Computed(body, w, x, initial);
  const Numbers want = Expected(body, w, x, initial);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::abs(want[i]) > 65000) continue;  // it leaves the range
    ASSERT_NEAR(got[i], want[i], Allowed(w, want[i]))
        << body.name << " of " << w.size << " " << w.dtype
        << (w.reverse ? " reversed" : "") << " from "
        << (w.is_constant ? "the constant " : "the argument ") << initial
        << ", window " << i;
  }
}

bool IsOfIntegers(const Body& body) {
  const absl::string_view name = body.name;
  return name != "the logarithm of a sum";
}

TEST(PrefixWindows, BeginWithAnyValue) {
  int tried = 0;
  for (const Body& body : Bodies()) {
    for (const double initial : body.initial) {
      for (const char* dtype : {"f32", "f64", "f16", "bf16", "i32"}) {
        const bool is_integer = dtype[0] == 'i';
        if (is_integer &&
            (!IsOfIntegers(body) || initial != std::trunc(initial))) {
          continue;
        }
        for (const int64_t size : {1, 2, 6}) {
          for (const bool reverse : {false, true}) {
            for (const bool is_constant : {false, true}) {
              if (is_integer && is_constant) continue;  // 1.0 is no i32
              Numbers x;
              for (int64_t i = 0; i < size; ++i) {
                x.push_back(static_cast<double>((i * 5 + 1) % 7));
              }
              ExpectRight(body, {dtype, size, reverse, is_constant}, x,
                          initial);
              ++tried;
            }
          }
        }
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
  std::cout << tried << " windows up to a place\n";
}

// Where each step was rounded, sums of ones end at 256 in bf16.
TEST(PrefixWindows, OfHalvesAreRoundedOnce) {
  constexpr int64_t kLong = 4000;
  for (const Body& body : Bodies()) {
    if (std::isinf(body.neutral)) continue;
    for (const char* dtype : {"f16", "bf16"}) {
      for (const bool reverse : {false, true}) {
        const bool grows = body.neutral == 1 || body.name[0] == 'x';
        const double one = body.neutral == 1     ? 1 + 0x1p-7
                           : body.name[0] == 'x' ? 0x1p-7
                                                 : 1;
        ExpectRight(body, {dtype, grows ? 600 : kLong, reverse},
                    Numbers(grows ? 600 : kLong, one), body.neutral);
      }
    }
  }
}

}  // namespace
}  // namespace hawser::stablehlo
