// What a device itself can do, measured through gpu::Device alone: what the
// engine is held against.
#ifndef HAWSER_TESTS_BENCH_GPU_CEILINGS_H_
#define HAWSER_TESTS_BENCH_GPU_CEILINGS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/values/dtype.h"
#include "kernels/gpu/device/device_api.h"
#include "kernels/gpu/gpu_client.h"

namespace hawser::bench {

// Copying `bytes` from one place on the device to another: by the device's own
// clock, median. It reads and writes, so twice the bytes pass.
absl::StatusOr<absl::Duration> TimeCopy(gpu::Device* device, int64_t bytes);

// The library's product of two square matrices of random numbers, likewise.
// `client`: makes them on `device`. Errors: kUnimplemented where the library
// has no such product.
absl::StatusOr<absl::Duration> TimeProduct(gpu::Device* device,
                                           gpu::GpuClient* client, DType dtype,
                                           int64_t size,
                                           gpu::GemmPrecision precision);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_GPU_CEILINGS_H_
