#include "kernels/cuda/compile/nvrtc.h"

#include <nvrtc.h>

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/status.h"
#include "kernels/cuda/compile/compile_log.h"

namespace hawser::cuda {
namespace {

#define HAWSER_NVRTC_FUNCTIONS(X)                                            \
  X(nvrtcGetErrorString)                                                     \
  X(nvrtcVersion) X(nvrtcGetNumSupportedArchs) X(nvrtcGetSupportedArchs)     \
      X(nvrtcCreateProgram) X(nvrtcDestroyProgram) X(nvrtcCompileProgram)    \
          X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) X(nvrtcGetPTXSize) \
              X(nvrtcGetPTX) X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN)

constexpr absl::string_view kSonames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

// The flags of every compilation, besides the target.
struct FlagRow {
  const char *fast, *strict;
};
constexpr FlagRow kFlags[] = {
    {"-std=c++17", "-std=c++17"},
    {"--ptxas-options=-v", "--ptxas-options=-v"},
    // A comparison x < 0 where x may be unsigned.
    {"--diag-suppress=186", "--diag-suppress=186"},
    {"--fmad=true", "--fmad=false"},
};

using GetSize = nvrtcResult(nvrtcProgram, size_t*);
using GetText = nvrtcResult(nvrtcProgram, char*);

// A text of a program: its length by get_size, its bytes by get_text.
std::string Text(nvrtcProgram program, GetSize* get_size, GetText* get_text) {
  size_t size = 0;
  if (get_size(program, &size) != NVRTC_SUCCESS) return "";
  std::string text(size, '\0');
  if (get_text(program, text.data()) != NVRTC_SUCCESS) return "";
  return text;
}

}  // namespace

HAWSER_CUDA_FUNCTION_TABLE(Nvrtc::Functions, HAWSER_NVRTC_FUNCTIONS);

Nvrtc::Nvrtc() : functions_(std::make_unique<Functions>()) {}
Nvrtc::~Nvrtc() = default;

absl::StatusOr<std::unique_ptr<Nvrtc>> Nvrtc::Open(
    const LibraryPlaces& places) {
  HAWSER_ASSIGN_OR_RETURN(const Library library,
                          Library::Open(places, kSonames));
  auto nvrtc = std::unique_ptr<Nvrtc>(new Nvrtc);
  Functions& f = *nvrtc->functions_;
  HAWSER_RETURN_IF_ERROR(f.Load(library));
  int major = 0, minor = 0, count = 0;
  nvrtcResult result = f.nvrtcVersion(&major, &minor);
  if (result == NVRTC_SUCCESS) result = f.nvrtcGetNumSupportedArchs(&count);
  if (result == NVRTC_SUCCESS) {
    nvrtc->architectures_.resize(count);
    result = f.nvrtcGetSupportedArchs(nvrtc->architectures_.data());
  }
  if (result != NVRTC_SUCCESS) {
    return FailedPrecondition(library.path(), ": ",
                              f.nvrtcGetErrorString(result));
  }
  // NVRTC loads its other half by name alone, which fails when both are outside
  // the loader's folders.
  HAWSER_RETURN_IF_ERROR(library.LoadCompanion(
      absl::StrCat("libnvrtc-builtins.so.", major, ".", minor)));
  nvrtc->path_ = library.path();
  nvrtc->version_ = absl::StrCat("nvrtc ", major, ".", minor, " of ",
                                 library.file_bytes(), " bytes");
  return nvrtc;
}

std::string Nvrtc::flags() {
  std::string fast, strict;
  for (const FlagRow& row : kFlags) {
    absl::StrAppend(&fast, " ", row.fast);
    absl::StrAppend(&strict, " ", row.strict);
  }
  return absl::StrCat("fast", fast, ", strict", strict);
}

absl::StatusOr<gpu::KernelBinary> Nvrtc::Compile(
    absl::string_view name, const std::string& source, absl::string_view target,
    const gpu::CompileOptions& options) const {
  const Functions& f = *functions_;
  nvrtcProgram program = nullptr;
  nvrtcResult result = f.nvrtcCreateProgram(
      &program, source.c_str(), std::string(name).c_str(), 0, nullptr, nullptr);
  if (result != NVRTC_SUCCESS) {
    return Internal("nvrtc, ", name, ": ", f.nvrtcGetErrorString(result));
  }
  const std::string architecture = absl::StrCat("--gpu-architecture=", target);
  std::vector<const char*> flags = {architecture.c_str()};
  for (const FlagRow& row : kFlags) {
    flags.push_back(options.strict ? row.strict : row.fast);
  }
  result = f.nvrtcCompileProgram(program, static_cast<int>(flags.size()),
                                 flags.data());
  CompileLog log = ReadCompileLog(
      Text(program, f.nvrtcGetProgramLogSize, f.nvrtcGetProgramLog));
  gpu::KernelBinary binary;
  if (result == NVRTC_SUCCESS) {
    binary.bytes = absl::StartsWith(target, "sm_")
                       ? Text(program, f.nvrtcGetCUBINSize, f.nvrtcGetCUBIN)
                       : Text(program, f.nvrtcGetPTXSize, f.nvrtcGetPTX);
  }
  f.nvrtcDestroyProgram(&program);
  if (result == NVRTC_ERROR_COMPILATION) {
    return InvalidArgument(name, " does not compile: ", log.rest);
  }
  if (result != NVRTC_SUCCESS || binary.bytes.empty()) {
    return Internal("nvrtc, ", name, ": ", f.nvrtcGetErrorString(result), " ",
                    log.rest);
  }
  binary.kernels = std::move(log.kernels);
  binary.log = std::move(log.rest);
  return binary;
}

}  // namespace hawser::cuda
