// Moves in each set of instructions put every byte where a plain loop does, and
// none elsewhere.
#include "kernels/cpu/lanes/moves.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace hawser::cpu {
namespace {

constexpr int64_t kWidths[] = {1, 2, 4, 8, 16};
// Around blocks and vectors of each width.
constexpr int64_t kSides[] = {1,  2,  3,  4,  5,  7,  8,  9,   15, 16,
                              17, 31, 33, 63, 64, 65, 70, 127, 130};

class MovesTest : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (GetParam() > MachineIsa()) GTEST_SKIP() << "not on this machine";
  }

  // Elements that differ from their neighbours in each byte.
  static std::string Elements(int64_t n, int64_t width) {
    std::string bytes(n * width, '\0');
    uint32_t state = 7;
    for (char& byte : bytes) {
      state = state * 1664525 + 1013904223;
      byte = static_cast<char>(state >> 24);
    }
    return bytes;
  }

  static const MoveLoops& Loops(int64_t width) {
    return *FindMoves(width, GetParam());
  }
};

TEST_P(MovesTest, RowsBecomeColumns) {
  for (const int64_t width : kWidths) {
    for (const int64_t ny : kSides) {
      for (const int64_t nx : kSides) {
        for (const int64_t gap : {0, 3}) {
          const int64_t pitch = ny + gap, to_pitch = nx + gap;
          const std::string from = Elements(nx * pitch, width);
          std::string want(ny * to_pitch * width, 'x'), got = want;
          for (int64_t j = 0; j < ny; ++j) {
            for (int64_t i = 0; i < nx; ++i) {
              std::memcpy(&want[(j * to_pitch + i) * width],
                          &from[(i * pitch + j) * width], width);
            }
          }
          Loops(width).across(from.data(), pitch, ny, nx, got.data(), to_pitch);
          ASSERT_EQ(got, want) << width << " bytes, " << ny << " x " << nx;
        }
      }
    }
  }
}

TEST_P(MovesTest, OneRowBecomesEachColumn) {
  for (const int64_t width : kWidths) {
    for (const int64_t nx : {2, 3, 4, 7, 20}) {
      const int64_t ny = 133;
      const std::string from = Elements(ny, width);
      std::string want, got(ny * nx * width, 'x');
      for (int64_t j = 0; j < ny; ++j) {
        for (int64_t i = 0; i < nx; ++i) want += from.substr(j * width, width);
      }
      Loops(width).across(from.data(), 0, ny, nx, got.data(), nx);
      EXPECT_EQ(got, want) << width << " bytes, " << nx << " columns";
    }
  }
}

// Memory ends with the last element.
TEST_P(MovesTest, EveryFewElements) {
  for (const int64_t width : kWidths) {
    for (const int64_t step : {-7, -3, -2, -1, 1, 2, 3, 4, 5, 9}) {
      for (const int64_t n : kSides) {
        const int64_t all = (n - 1) * std::abs(step) + 1;
        const std::string from = Elements(all, width);
        const char* const first =
            from.data() + (step < 0 ? all - 1 : 0) * width;
        std::string want, got(n * width, 'x');
        for (int64_t i = 0; i < n; ++i) {
          want.append(first + i * step * width, width);
        }
        Loops(width).strided(first, step, n, got.data());
        ASSERT_EQ(got, want) << width << " bytes, " << n << " by " << step;
      }
    }
  }
}

TEST_P(MovesTest, PastTheCaches) {
  for (const int64_t width : kWidths) {
    for (const int64_t nx : {1, 15, 63, 64, 65, 200, 1000}) {
      for (const int64_t begin : {0, 1, 5, 63}) {
        const int64_t ny = 3, to_pitch = nx + 2;
        const std::string from = Elements(ny * nx, width);
        std::string want((begin + ny * to_pitch) * width, 'x'), got = want;
        for (int64_t j = 0; j < ny; ++j) {
          std::copy_n(&from[j * nx * width], nx * width,
                      &want[(begin + j * to_pitch) * width]);
        }
        Loops(width).stream(from.data(), ny, nx, &got[begin * width], to_pitch);
        ASSERT_EQ(got, want) << width << " bytes, " << nx << " from " << begin;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sets, MovesTest, ::testing::Values(Isa::kSse4, Isa::kAvx2, Isa::kAvx512),
    [](const auto& info) { return std::string(IsaName(info.param)); });

}  // namespace
}  // namespace hawser::cpu
