// Scatters in which threads meet: sums and extremes against their definition,
// in f64 or in whole numbers, and the same bits in every run.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/values/dtype.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::gpu {
namespace {

using runtime::Numerics;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Rows of `width` at index vectors of one number, into `places` rows.
struct Case {
  std::string fold;  // add, maximum, minimum
  DType dtype;
  DType index;
  int64_t places, width, vectors;

  std::string Text() const {
    const auto type = [&](const std::string& dims) {
      return absl::StrCat(DTypeName(dtype), "[", dims, "]");
    };
    const std::string wide = width > 0 ? absl::StrCat(",", width) : "";
    return absl::StrCat(
        "module \"scatter\"\ncomputation @0 \"fold\" (%0: ", type(""),
        ", %1: ", type(""), ") {\n  %2: ", type(""), " = ", fold,
        "(%0, %1)\n  return %2\n}\ncomputation @1 \"main\" (%0: ",
        type(absl::StrCat(places, wide)), ", %1: ", DTypeName(index), "[",
        vectors, ",1], %2: ", type(absl::StrCat(vectors, wide)),
        ") {\n  %3: ", type(absl::StrCat(places, wide)),
        " = scatter(%0, %1, %2) index_vector_dim=1 inserted_window_dims=[0]"
        " scatter_dims_to_operand_dims=[0] update_window_dims=[",
        width > 0 ? "1" : "", "] @0\n  return %3\n}\n");
  }
  int64_t columns() const { return std::max<int64_t>(width, 1); }
};

absl::StatusOr<Values> RunScatter(const Case& c, const Values& arguments,
                                  int multiprocessors = 132,
                                  uint64_t seed = 1) {
  Rig rig({.device = {.seed = seed, .multiprocessors = multiprocessors}});
  HAWSER_ASSIGN_OR_RETURN(const ExecutablePtr run,
                          rig.Compile(c.Text(), Numerics::kFast));
  return RunOn(run, {arguments.begin(), arguments.end()});
}

// Calls take(place, element of the updates) for each that is inside.
template <typename Take>
void ForEachUpdate(const Case& c, const Literal& indices, const Take& take) {
  VisitDType(c.index, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const auto at = indices.data<T>();
      for (int64_t n = 0; n < c.vectors; ++n) {
        if (!(at[n] >= 0 &&
              static_cast<uint64_t>(at[n]) < static_cast<uint64_t>(c.places))) {
          continue;
        }
        for (int64_t w = 0; w < c.columns(); ++w) {
          take(at[n] * c.columns() + w, n * c.columns() + w);
        }
      }
    }
  });
}

Values Drawn(const Case& c, Random& random) {
  const Module module = Parse(c.Text());
  Values given = RandomArguments(module.signature(), random,
                                 /*extremes=*/c.dtype != DType::kF32);
  VisitDType(c.index, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      for (T& at : given[1].mutable_data<T>()) {
        at = static_cast<T>(random.Below(c.places));
        if (random.OneIn(20)) at = static_cast<T>(c.places);
        if (random.OneIn(20)) at = static_cast<T>(-1);
        if (random.OneIn(4)) at = 7;
      }
    }
  });
  return given;
}

TEST(Scatters, OfIntegersWrapAndCompareAsTheyAre) {
  int compared = 0;
  for (const DType dtype :
       {DType::kS32, DType::kU32, DType::kS64, DType::kU64}) {
    for (const char* fold : {"add", "maximum", "minimum"}) {
      for (const int64_t width : {0, 3}) {
        const Case c{fold, dtype, width == 0 ? DType::kS64 : DType::kU32,
                     5000, width, 1500};
        Random random(compared);
        const Values given = Drawn(c, random);
        ASSERT_OK_AND_ASSIGN(const Values got, RunScatter(c, given));
        VisitDType(dtype, [&](auto tag) {
          using T = typename decltype(tag)::type;
          if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) {
            const auto updates = given[2].data<T>();
            std::vector<T> want(given[0].data<T>().begin(),
                                given[0].data<T>().end());
            ForEachUpdate(c, given[1], [&](int64_t place, int64_t u) {
              T& x = want[place];
              if (c.fold == "add") {
                x = static_cast<T>(static_cast<uint64_t>(x) +
                                   static_cast<uint64_t>(updates[u]));
              } else {
                x = c.fold == "maximum" ? std::max(x, updates[u])
                                        : std::min(x, updates[u]);
              }
            });
            EXPECT_TRUE(
                std::equal(want.begin(), want.end(), got[0].data<T>().begin()))
                << c.Text();
          }
        });
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 24);
}

// Numbers of very different sizes, places with none, infinities of one and of
// both signs, NaN, zeros of both signs.
Values HardFloats(const Case& c, Random& random) {
  Values given = Drawn(c, random);
  for (float& x : given[2].mutable_data<float>()) {
    x = std::ldexp(static_cast<float>(random.Below(1 << 24)) - 8e6f,
                   static_cast<int>(random.Below(40)) - 60);
    if (random.OneIn(50)) x = std::ldexp(x, 100);
    if (random.OneIn(50)) x = std::ldexp(x, -100);
  }
  const float special[] = {
      kInfinity, -kInfinity, std::nanf(""),
      -0.0f,     0.0f,       std::numeric_limits<float>::denorm_min(),
      3e38f};
  for (int n = 0; n < 70; ++n) {
    given[2].mutable_data<float>()[random.Below(c.vectors * c.columns())] =
        special[n % 7];
  }
  return given;
}

TEST(Scatters, OfFloatsAddAsWellAsAnyOrderOfThem) {
  int finite = 0, other = 0;
  for (const int64_t width : {0, 2, 5}) {
    const Case c{"add", DType::kF32, DType::kS32, 4100, width, 20000};
    Random random(width);
    const Values given = HardFloats(c, random);
    ASSERT_OK_AND_ASSIGN(const Values got, RunScatter(c, given));
    const auto input = given[0].data<float>(), updates = given[2].data<float>();
    std::vector<double> want(input.begin(), input.end());
    std::vector<double> largest(want.size(), 0);
    std::vector<int> count(want.size(), 0);
    ForEachUpdate(c, given[1], [&](int64_t place, int64_t u) {
      want[place] += updates[u];
      largest[place] = std::max<double>(largest[place], std::fabs(updates[u]));
      ++count[place];
    });
    for (size_t k = 0; k < want.size(); ++k) {
      const float x = got[0].data<float>()[k];
      if (count[k] == 0) {
        EXPECT_EQ(std::memcmp(&x, &input[k], sizeof(x)), 0) << k;
      } else if (!std::isfinite(want[k])) {
        ++other;
        EXPECT_EQ(std::isnan(x), std::isnan(want[k])) << k;
        EXPECT_TRUE(std::isnan(want[k]) || x == want[k]) << k << " " << x;
      } else {
        ++finite;
        // A rounding of the result, and half a unit of each update: 2^15 of
        // them have 2^-46 of the largest.
        const double bound = std::fabs(want[k]) * 0x1p-24 +
                             largest[k] * count[k] * 0x1p-46 + 0x1p-149;
        if (std::fabs(want[k]) <= std::numeric_limits<float>::max()) {
          EXPECT_NEAR(x, want[k], bound) << k;
        }
      }
    }
  }
  EXPECT_GT(finite, 10000);
  EXPECT_GT(other, 50);
}

TEST(Scatters, OfFloatsKeepTheLargestOrLeastAndNan) {
  for (const char* fold : {"maximum", "minimum"}) {
    const Case c{fold, DType::kF32, DType::kS32, 4100, 2, 20000};
    Random random(3);
    const Values given = HardFloats(c, random);
    ASSERT_OK_AND_ASSIGN(const Values got, RunScatter(c, given));
    std::vector<float> want(given[0].data<float>().begin(),
                            given[0].data<float>().end());
    const auto updates = given[2].data<float>();
    ForEachUpdate(c, given[1], [&](int64_t place, int64_t u) {
      const float x = updates[u];
      float& best = want[place];
      const bool better = c.fold == "maximum" ? x > best : x < best;
      if (std::isnan(x) || (!std::isnan(best) && better)) best = x;
    });
    int nans = 0;
    for (size_t k = 0; k < want.size(); ++k) {
      const float x = got[0].data<float>()[k];
      nans += std::isnan(want[k]);
      EXPECT_EQ(std::isnan(x), std::isnan(want[k])) << k;
      EXPECT_TRUE(std::isnan(want[k]) || x == want[k]) << k << " " << x;
    }
    EXPECT_GT(nans, 5);
  }
}

TEST(Scatters, HaveTheSameBitsOnEveryDevice) {
  const Case c{"add", DType::kF32, DType::kS32, 4096, 1, 9000};
  Random random(5);
  Values given = HardFloats(c, random);
  ASSERT_OK_AND_ASSIGN(const Values want, RunScatter(c, given));
  for (const int multiprocessors : {1, 16, 114}) {
    ASSERT_OK_AND_ASSIGN(const Values got, RunScatter(c, given, multiprocessors,
                                                      multiprocessors + 1));
    EXPECT_EQ(got[0].bytes(), want[0].bytes()) << multiprocessors;
  }
  // Nor does the order of the updates tell.
  const auto at = given[1].mutable_data<int32_t>();
  const auto updates = given[2].mutable_data<float>();
  std::reverse(at.begin(), at.end());
  std::reverse(updates.begin(), updates.end());
  ASSERT_OK_AND_ASSIGN(const Values reversed, RunScatter(c, given));
  EXPECT_EQ(reversed[0].bytes(), want[0].bytes());
}

TEST(Scatters, IntoOnePlaceAndIntoNone) {
  const Case c{"add", DType::kF32, DType::kS32, 4096, 0, 5000};
  Random random(6);
  Values given = Drawn(c, random);
  for (float& x : given[2].mutable_data<float>()) x = 1.0f;
  for (const int32_t place : {4095, 4096, -1}) {
    for (int32_t& at : given[1].mutable_data<int32_t>()) at = place;
    ASSERT_OK_AND_ASSIGN(const Values got, RunScatter(c, given));
    std::vector<float> want(given[0].data<float>().begin(),
                            given[0].data<float>().end());
    if (place == 4095) want[place] += 5000;
    EXPECT_TRUE(
        std::equal(want.begin(), want.end(), got[0].data<float>().begin()))
        << place;
  }
}

}  // namespace
}  // namespace hawser::gpu
