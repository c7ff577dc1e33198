// The libraries of transforms, linear algebra and convolutions open here,
// without a GPU, or say what they looked for.
#include "kernels/cuda/library_calls/libraries.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernels/gpu/device/library_call.h"

namespace hawser::cuda {
namespace {

template <typename T>
class LibraryTest : public ::testing::Test {};

struct Transforms {
  using Library = CuFft;
  static constexpr const char* kSoname = "libcufft.so.12";
  static gpu::LibraryCall Call() { return gpu::FftSpec{.lengths = {8}}; }
};
struct Factorizations {
  using Library = CuSolver;
  static constexpr const char* kSoname = "libcusolver.so.12";
  static gpu::LibraryCall Call() { return gpu::FactorizationSpec{.size = 2}; }
};
struct Solves {
  using Library = CuBlas;
  static constexpr const char* kSoname = "libcublas.so.13";
  static gpu::LibraryCall Call() {
    return gpu::TriangularSolveSpec{.rows = 2, .columns = 2};
  }
};
struct Convolutions {
  using Library = CuDnn;
  static constexpr const char* kSoname = "libcudnn.so.9";
  static gpu::LibraryCall Call() {
    return gpu::ConvolutionSpec{.axes = {{.x = 3, .w = 2, .y = 2}}};
  }
};
using Kinds =
    ::testing::Types<Transforms, Factorizations, Solves, Convolutions>;
TYPED_TEST_SUITE(LibraryTest, Kinds);

// A toolkit that has the library has all its functions in it.
TYPED_TEST(LibraryTest, HasEveryFunction) {
  DeviceHealth health;
  const auto library =
      TypeParam::Library::Open(LibraryPlaces::FromEnvironment(), &health);
  if (library.ok()) return;
  EXPECT_TRUE(absl::StrContains(library.status().message(), "no library "))
      << library.status();
}

// A file of the right name that lacks the functions, as an older one would.
TYPED_TEST(LibraryTest, SaysWhichFunctionIsMissing) {
  const std::string folder = ::testing::TempDir();
  const std::string file = absl::StrCat(folder, "/", TypeParam::kSoname);
  std::ofstream(file, std::ios::binary)
      << std::ifstream(absl::StrCat(std::getenv("TEST_SRCDIR"), "/",
                                    std::getenv("TEST_WORKSPACE"),
                                    "/tests/kernels/cuda/runtime/libfake.so"),
                       std::ios::binary)
             .rdbuf();
  DeviceHealth health;
  const Libraries libraries({.listed = {folder}}, &health);
  const absl::Status status = libraries.Plan(TypeParam::Call()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(),
                                absl::StrCat(file, " has no function cu")))
      << status;
}

TYPED_TEST(LibraryTest, SaysWhatItLookedFor) {
  DeviceHealth health;
  const auto library =
      TypeParam::Library::Open({.listed = {"/nowhere/at/all"}}, &health);
  if (library.ok()) GTEST_SKIP() << "the loader finds it";
  EXPECT_TRUE(absl::IsFailedPrecondition(library.status()));
  const std::string file = std::string("/nowhere/at/all/") + TypeParam::kSoname;
  EXPECT_TRUE(absl::StrContains(library.status().message(), file))
      << library.status();
}

// Without a GPU a plan is an error of the library, and not the end of the
// process; nonsense is refused before the library sees it.
TYPED_TEST(LibraryTest, PlansWithoutADeviceAreErrors) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) {
    GTEST_SKIP() << devices << " devices";
  }
  DeviceHealth health;
  const Libraries libraries(LibraryPlaces::FromEnvironment(), &health);
  const auto plan = libraries.Plan(TypeParam::Call());
  if (plan.ok()) return;  // it needs no device yet
  EXPECT_FALSE(absl::IsInvalidArgument(plan.status())) << plan.status();
}

}  // namespace
}  // namespace hawser::cuda
