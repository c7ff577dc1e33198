// The prelude and the sample kernels through NVRTC, where there is one. Needs
// no GPU: the result is machine code that is not run.
#include "kernels/cuda/compile/nvrtc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernels/dialect/dialect.h"
#include "tests/kernels/dialect/sample_kernels.h"

namespace hawser::testing {
namespace {

class NvrtcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto nvrtc = cuda::Nvrtc::Open(cuda::LibraryPlaces::FromEnvironment());
    if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status();
    nvrtc_ = *std::move(nvrtc);
  }
  absl::StatusOr<gpu::KernelBinary> Compile(
      absl::string_view name, absl::string_view text,
      const gpu::CompileOptions& options = {}) {
    return nvrtc_->Compile(name, dialect::DeviceSource(name, text), "sm_90",
                           options);
  }
  void ExpectCompilesWithoutSpills(absl::string_view name,
                                   absl::string_view text) {
    const auto binary = Compile(name, text);
    ASSERT_EQ(binary.status(), absl::OkStatus());
    EXPECT_EQ(binary->bytes.substr(1, 3), "ELF");
    EXPECT_EQ(binary->log, "");
    EXPECT_EQ(binary->kernels.size(), dialect::FindKernels(text).size());
    for (const gpu::KernelResources& kernel : binary->kernels) {
      EXPECT_EQ(kernel.spill_bytes, 0) << kernel.name;
      EXPECT_GT(kernel.registers, 0) << kernel.name;
      EXPECT_GE(kernel.shared_bytes, 0) << kernel.name;
    }
  }

  std::unique_ptr<cuda::Nvrtc> nvrtc_;
};

TEST_F(NvrtcTest, CompilesElementwise) {
  ExpectCompilesWithoutSpills("elementwise.cu", kElementwiseText);
}
TEST_F(NvrtcTest, CompilesSoftmax) {
  ExpectCompilesWithoutSpills("softmax.cu", kSoftmaxText);
}
TEST_F(NvrtcTest, CompilesLayerNorm) {
  ExpectCompilesWithoutSpills("layernorm.cu", kLayerNormText);
}
TEST_F(NvrtcTest, CompilesColumnSum) {
  ExpectCompilesWithoutSpills("column_sum.cu", kColumnSumText);
}

TEST_F(NvrtcTest, SaysWhatItIs) {
  EXPECT_TRUE(absl::StartsWith(nvrtc_->version(), "nvrtc 1"));
  EXPECT_TRUE(absl::StrContains(nvrtc_->path(), "libnvrtc.so.1"));
  EXPECT_THAT(nvrtc_->architectures(), ::testing::Contains(90));
}

TEST_F(NvrtcTest, AnErrorHasNameAndLine) {
  const absl::Status status =
      Compile("bad.cu", "HK_GLOBAL k() {\n  oops;\n}").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_TRUE(absl::StrContains(status.message(), "bad.cu(2)")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "oops")) << status;
}

TEST_F(NvrtcTest, AnArchitectureItDoesNotKnowIsNoErrorOfTheText) {
  const absl::Status status =
      nvrtc_->Compile("k.cu", dialect::DeviceSource("k.cu", ""), "sm_1", {})
          .status();
  EXPECT_TRUE(absl::IsInternal(status)) << status;
}

TEST_F(NvrtcTest, StrictKernelsContractNothing) {
  constexpr char kText[] =
      "HK_GLOBAL k(float* y, float a, float b) {\n"
      "  Store(y, a * b + Load(y));\n}";
  auto ptx = [&](bool strict) {
    const auto binary =
        nvrtc_->Compile("k.cu", dialect::DeviceSource("k.cu", kText),
                        "compute_90", {.strict = strict});
    EXPECT_EQ(binary.status(), absl::OkStatus());
    return binary.ok() ? binary->bytes : std::string();
  };
  EXPECT_TRUE(absl::StrContains(ptx(false), "fma.rn.f32"));
  EXPECT_FALSE(absl::StrContains(ptx(true), "fma.rn.f32"));
}

// Every template of the prelude, for every dtype it takes.
std::string EveryFunction() {
  std::string text = "HK_GLOBAL all(u64* __restrict__ out, u64 seed) {\n"
                     "  u64 sum = 0;\n";
  const char* const types[] = {"bool", "u8",  "u16", "u32",  "u64",   "s8",
                               "s16",  "s32", "s64", "f16",  "bf16",  "float",
                               "double"};
  for (const char* from : types) {
    for (const char* to : types) {
      absl::StrAppend(&text, "  sum += Convert<u64>(Convert<", to,
                      ">(Convert<", from, ">(seed++)));\n");
    }
  }
  for (const char* type : {"u8", "u16", "u32", "u64", "s8", "s16", "s32",
                           "s64", "float", "double"}) {
    for (const char* f : {"Add", "Subtract", "Multiply", "Divide", "Remainder",
                          "Power", "Max", "Min"}) {
      absl::StrAppend(&text, "  sum += Convert<u64>(", f, "((", type,
                      ")seed++, (", type, ")sum));\n");
    }
    for (const char* op : {"Sum", "Product", "Maximum", "Minimum"}) {
      absl::StrAppend(&text, "  sum += Convert<u64>(WarpReduce<", op, "<",
                      type, ">>((", type, ")seed++));\n");
    }
  }
  for (const char* f : {"ShiftLeft", "ShiftRightLogical",
                        "ShiftRightArithmetic"}) {
    absl::StrAppend(&text, "  sum += ", f, "(seed++, sum) + ", f,
                    "((s32)seed++, (s32)sum);\n");
  }
  return text +
         "  AtomicAdd(out, sum);\n  AtomicMax((s32*)out, (s32)sum);\n}\n";
}

TEST_F(NvrtcTest, CompilesEveryFunctionOfThePrelude) {
  EXPECT_EQ(Compile("all.cu", EveryFunction()).status(), absl::OkStatus());
}

// A device before sm_80 has no matrix instructions; the text of others is taken.
TEST_F(NvrtcTest, MatrixInstructionsNeedSm80) {
  std::string uses;
  for (const char* type : {"bf16", "f16", "tf32", "double"}) {
    const std::string mma = absl::StrCat("Mma<", type, ">::");
    absl::StrAppend(&uses, "  {\n    ", mma, "Word a[", mma, "kLeft] = {}, b[",
                    mma, "kRight] = {};\n    ", mma, "Sum d[", mma,
                    "kSums] = {};\n    WarpMma<", type,
                    ">(d, a, b);\n    Store(y, (float)d[0]);\n  }\n");
  }
  const std::string text =
      absl::StrCat("HK_GLOBAL k(float* y) {\n", uses, "}\n");
  const auto status = [&](const std::string& text, const char* target) {
    return nvrtc_->Compile("k.cu", dialect::DeviceSource("k.cu", text), target,
                           {})
        .status();
  };
  EXPECT_EQ(status(text, "sm_80"), absl::OkStatus());
  EXPECT_EQ(status(text, "sm_90"), absl::OkStatus());
  EXPECT_TRUE(absl::IsInvalidArgument(status(text, "sm_75")));
  EXPECT_EQ(status("HK_GLOBAL k(float* y) { Store(y, 1.0f); }", "sm_75"),
            absl::OkStatus());
}

TEST(Dialect, KernelsAreFoundByTheirMark) {
  const auto kernels = dialect::FindKernels(
      "HK_GLOBAL a(int x) {}\nHK_GLOBAL HK_BOUNDS(2 * (kT + 1))\n  b_2 (u32 n) "
      "{}\n#define MY_HK_GLOBAL HK_GLOBALS no(\n");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "a");
  EXPECT_EQ(kernels[0].bounds, "");
  EXPECT_EQ(kernels[1].name, "b_2");
  EXPECT_EQ(kernels[1].bounds, "2 * (kT + 1)");
}

}  // namespace
}  // namespace hawser::testing
