// A device that is this machine: kernels by g++ and fibers, libraries by their
// definition, and every rule of device_api.h enforced.
#ifndef HAWSER_KERNELS_EMU_EMU_DEVICE_H_
#define HAWSER_KERNELS_EMU_EMU_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/gpu/device/device_api.h"

namespace hawser::emu {

struct EmuOptions {
  // Of everything that may happen in any order.
  uint64_t seed = 0;
  // Every launch with each order of threads; else with one, drawn by `seed`.
  bool every_schedule = false;
  int64_t memory_bytes = int64_t{4} << 30;
  int multiprocessors = 4;
  // The step queued as this one, from 1, is a fault; 0: none is.
  int64_t fault_at_step = 0;
  // Where compiled kernels are kept; "": hawser-emu-<user> where temporary
  // files belong.
  std::string folder;
  std::string compiler = "g++";
};

// What it finds wrong in a kernel, or in how memory and streams are used, is
// kInternal, and the end of the device: take a new one.
std::unique_ptr<gpu::Device> MakeEmuDevice(const EmuOptions& options);

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_EMU_DEVICE_H_
