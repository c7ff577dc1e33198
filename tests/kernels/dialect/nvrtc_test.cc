// The prelude and the sample kernels through NVRTC, where there is one. Needs
// no GPU: the result is machine code that nobody runs.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernels/dialect/dialect.h"
#include "tests/kernels/dialect/sample_kernels.h"

namespace hawser::testing {
namespace {

// The few functions of NVRTC that compile a text.
class Nvrtc {
 public:
  Nvrtc() {
    for (const char* file : {"libnvrtc.so.13",
                             "/usr/local/cuda/lib64/libnvrtc.so.13"}) {
      library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
      if (library_ != nullptr) break;
    }
    if (library_ == nullptr) return;
    // It looks for its other half by name alone.
    dlopen("/usr/local/cuda/lib64/libnvrtc-builtins.so.13.0",
           RTLD_NOW | RTLD_GLOBAL);
    Find("nvrtcCreateProgram", &create_);
    Find("nvrtcCompileProgram", &compile_);
    Find("nvrtcGetProgramLogSize", &log_size_);
    Find("nvrtcGetProgramLog", &log_);
    Find("nvrtcGetCUBINSize", &cubin_size_);
    Find("nvrtcDestroyProgram", &destroy_);
  }
  bool is_there() const { return library_ != nullptr; }

  struct Result {
    int error = -1;
    std::string log;
    size_t cubin_bytes = 0;
  };
  Result Compile(const std::string& source) {
    Result result;
    Program program = nullptr;
    if (create_(&program, source.c_str(), "test.cu", 0, nullptr, nullptr)) {
      return result;
    }
    const char* options[] = {"--gpu-architecture=sm_90", "-std=c++17",
                             "--ptxas-options=-v"};
    result.error = compile_(program, 3, options);
    size_t size = 0;
    log_size_(program, &size);
    result.log.resize(size);
    log_(program, result.log.data());
    if (result.error == 0) cubin_size_(program, &result.cubin_bytes);
    destroy_(&program);
    return result;
  }

 private:
  using Program = void*;
  template <typename Function>
  void Find(const char* name, Function** function) {
    *function = reinterpret_cast<Function*>(dlsym(library_, name));
    ASSERT_NE(*function, nullptr) << name;
  }

  void* library_ = nullptr;
  int (*create_)(Program*, const char*, const char*, int, const char* const*,
                 const char* const*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  int (*log_size_)(Program, size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*cubin_size_)(Program, size_t*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
};

void ExpectCompiles(absl::string_view name, absl::string_view text) {
  Nvrtc nvrtc;
  if (!nvrtc.is_there()) {
    GTEST_SKIP() << "no libnvrtc.so.13 on this machine";
  }
  const Nvrtc::Result result =
      nvrtc.Compile(dialect::DeviceSource(name, text));
  EXPECT_EQ(result.error, 0) << result.log;
  EXPECT_GT(result.cubin_bytes, 0u);
  EXPECT_FALSE(absl::StrContains(result.log, "warning")) << result.log;
  size_t kernels = 0;
  for (size_t at = 0; (at = result.log.find("spill stores", at)) !=
                      std::string::npos; ++at) {
    ++kernels;
    EXPECT_EQ(result.log.substr(at - 8, 8), "0 bytes ") << result.log;
  }
  EXPECT_EQ(kernels, dialect::FindKernels(text).size());
}

TEST(Nvrtc, CompilesElementwise) {
  ExpectCompiles("elementwise.cu", kElementwiseText);
}
TEST(Nvrtc, CompilesSoftmax) { ExpectCompiles("softmax.cu", kSoftmaxText); }
TEST(Nvrtc, CompilesLayerNorm) {
  ExpectCompiles("layernorm.cu", kLayerNormText);
}
TEST(Nvrtc, CompilesColumnSum) {
  ExpectCompiles("column_sum.cu", kColumnSumText);
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

TEST(Nvrtc, CompilesEveryFunctionOfThePrelude) {
  Nvrtc nvrtc;
  if (!nvrtc.is_there()) {
    GTEST_SKIP() << "no libnvrtc.so.13 on this machine";
  }
  const Nvrtc::Result result =
      nvrtc.Compile(dialect::DeviceSource("all.cu", EveryFunction()));
  EXPECT_EQ(result.error, 0) << result.log;
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
