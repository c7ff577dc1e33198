// This machine as a gpu::Device: kernels run by g++ and fibers, products by
// their definition, and every rule of device_api.h is enforced.
#ifndef HAWSER_KERNELS_EMU_EMU_DEVICE_H_
#define HAWSER_KERNELS_EMU_EMU_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/gpu/device/device_api.h"

namespace hawser::emu {

struct EmuOptions {
  // Draws the order of everything that has none.
  uint64_t seed = 0;
  // Runs every launch in each order of threads; else in one, drawn by `seed`.
  bool every_schedule = false;
  int64_t memory_bytes = int64_t{4} << 30;
  int multiprocessors = 4;
  // The number, from 1, of the queued step that is made a fault; 0: none.
  int64_t fault_at_step = 0;
  // The folder in which compiled kernels are kept; "": hawser-emu-<user> in the
  // folder of temporary files.
  std::string folder;
  std::string compiler = "g++";
};

// A device. An error of a kernel, or in the use of memory and streams, is
// kInternal and ends the device.
std::unique_ptr<gpu::Device> MakeEmuDevice(const EmuOptions& options);

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_EMU_DEVICE_H_
