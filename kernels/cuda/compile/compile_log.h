// The resources of each kernel, read out of a compile log.
#ifndef HAWSER_KERNELS_CUDA_COMPILE_COMPILE_LOG_H_
#define HAWSER_KERNELS_CUDA_COMPILE_COMPILE_LOG_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::cuda {

struct CompileLog {
  std::vector<gpu::KernelResources> kernels;  // in the order of the log
  std::string rest;  // warnings and errors: every other line
};

// Reads a log that was made with --ptxas-options=-v.
CompileLog ReadCompileLog(absl::string_view log);

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_COMPILE_COMPILE_LOG_H_
