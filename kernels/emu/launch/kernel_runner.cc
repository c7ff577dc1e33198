#include "kernels/emu/launch/kernel_runner.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "kernels/emu/launch/block_runner.h"
#include "kernels/emu/launch/checked_memory.h"
#include "kernels/emu/launch/thread_context.h"

namespace hawser::emu {
namespace {

using gpu::KernelArgument;
using gpu::LaunchShape;

// A module holds one running thread, so one kernel runs at a time.
Mutex& RunMutex() {
  static Mutex* const mutex = new Mutex();
  return *mutex;
}

absl::Status CheckArgument(const HostKernel& kernel, size_t i,
                           const KernelArgument& argument) {
  const hk::HostParameter& parameter = kernel.info.parameters[i];
  if (argument.is_range() != parameter.is_pointer) {
    return InvalidArgument("kernel ", kernel.name, ": parameter ", i, " is ",
                           parameter.is_pointer ? "a pointer" : "a number",
                           ", its argument is not");
  }
  if (static_cast<int>(parameter.bytes) != argument.value_bytes()) {
    return InvalidArgument("kernel ", kernel.name, ": parameter ", i, " has ",
                           parameter.bytes, " bytes, its argument ",
                           argument.value_bytes());
  }
  if (!argument.is_range()) return absl::OkStatus();
  if (argument.access() != gpu::Access::kRead && !parameter.is_writable) {
    return InvalidArgument("kernel ", kernel.name, ": parameter ", i,
                           " is const, its argument is to be written");
  }
  if (argument.bytes() < 0 ||
      (argument.bytes() > 0 && !argument.address())) {
    return InvalidArgument("kernel ", kernel.name, ": argument ", i, " is ",
                           argument.bytes(), " bytes at address ",
                           argument.address().value);
  }
  if (argument.address().value % parameter.align != 0) {
    return InvalidArgument("kernel ", kernel.name, ": argument ", i,
                           " is at address ", argument.address().value,
                           ", not aligned to ", parameter.align);
  }
  return absl::OkStatus();
}

// The blocks of a grid in a schedule's order.
std::vector<uint64_t> BlockOrder(uint64_t n, Schedule schedule,
                                 uint64_t seed) {
  std::vector<uint64_t> order(n);
  std::iota(order.begin(), order.end(), uint64_t{0});
  if (schedule == Schedule::kReverse || schedule == Schedule::kGreedyDown) {
    std::reverse(order.begin(), order.end());
  } else if (schedule == Schedule::kShuffled) {
    std::mt19937_64 random(seed);
    std::shuffle(order.begin(), order.end(), random);
  }
  return order;
}

// Returns what went wrong, or an empty text.
std::string RunBlocks(const HostKernel& kernel, const LaunchShape& shape,
                      absl::Span<const KernelArgument> arguments,
                      Schedule schedule, uint64_t seed,
                      const gpu::DeviceFacts& facts, CheckedMemory* memory) {
  static BlockRunner* const runner = new BlockRunner();  // under RunMutex
  ThreadContext context(runner, memory, shape.threads,
                        shape.dynamic_shared_bytes,
                        facts.max_shared_bytes_per_block);
  context.grid[0] = shape.grid.x;
  context.grid[1] = shape.grid.y;
  context.grid[2] = shape.grid.z;
  std::vector<uint64_t> addresses(arguments.size());
  std::vector<void*> values(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    addresses[i] = memory->AddressOf(static_cast<int>(i));
    values[i] = arguments[i].is_range()
                    ? static_cast<void*>(&addresses[i])
                    : const_cast<void*>(arguments[i].value());
  }
  kernel.module->Enter(&context);
  const uint64_t x = shape.grid.x, y = shape.grid.y;
  for (const uint64_t b : BlockOrder(x * y * shape.grid.z, schedule, seed)) {
    context.StartBlock({static_cast<unsigned>(b % x),
                        static_cast<unsigned>(b / x % y),
                        static_cast<unsigned>(b / x / y)},
                       b);
    std::string what =
        runner->Run(shape.threads, schedule, seed + b,
                    [&](unsigned) { kernel.info.call(values.data()); });
    if (!what.empty()) return what;
  }
  return memory->Finish();
}

}  // namespace

absl::Status CheckLaunch(const HostKernel& kernel, const LaunchShape& shape,
                         absl::Span<const KernelArgument> arguments,
                         const gpu::DeviceFacts& facts) {
  if (arguments.size() != kernel.info.num_parameters) {
    return InvalidArgument("kernel ", kernel.name, " has ",
                           kernel.info.num_parameters, " parameters, not ",
                           arguments.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    HAWSER_RETURN_IF_ERROR(CheckArgument(kernel, i, arguments[i]));
  }
  const uint32_t threads = shape.threads;
  if (threads == 0 || threads % BlockRunner::kWarp != 0 ||
      threads > static_cast<uint32_t>(facts.max_threads_per_block)) {
    return InvalidArgument("kernel ", kernel.name, ": ", threads,
                           " threads a block, not a multiple of 32 up to ",
                           facts.max_threads_per_block);
  }
  if (kernel.info.max_threads != 0 && threads > kernel.info.max_threads) {
    return InvalidArgument("kernel ", kernel.name, ": ", threads,
                           " threads a block, its bounds are ",
                           kernel.info.max_threads);
  }
  const int64_t grid[] = {shape.grid.x, shape.grid.y, shape.grid.z};
  for (int i = 0; i < 3; ++i) {
    if (grid[i] > facts.max_grid[i]) {
      return InvalidArgument("kernel ", kernel.name, ": ", grid[i],
                             " blocks along axis ", i, ", at most ",
                             facts.max_grid[i]);
    }
  }
  if (shape.dynamic_shared_bytes < 0 ||
      shape.dynamic_shared_bytes > facts.max_shared_bytes_per_block) {
    return InvalidArgument("kernel ", kernel.name, ": ",
                           shape.dynamic_shared_bytes,
                           " bytes of shared memory, at most ",
                           facts.max_shared_bytes_per_block);
  }
  return absl::OkStatus();
}

absl::Status RunLaunch(const HostKernel& kernel, const LaunchShape& shape,
                       absl::Span<const KernelArgument> arguments,
                       absl::Span<const Schedule> schedules, uint64_t seed,
                       const gpu::DeviceFacts& facts) {
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0) {
    return absl::OkStatus();
  }
  MutexLock lock(&RunMutex());
  std::unique_ptr<CheckedMemory> first;
  for (const Schedule schedule : schedules) {
    auto memory = std::make_unique<CheckedMemory>(arguments);
    const std::string what = RunBlocks(kernel, shape, arguments, schedule,
                                       seed, facts, memory.get());
    if (!what.empty()) {
      return Internal("kernel ", kernel.name, ", threads ",
                      ScheduleName(schedule), ": ", what);
    }
    if (first == nullptr) {
      first = std::move(memory);
    } else if (!first->SameResults(*memory)) {
      return Internal("kernel ", kernel.name, ": results differ with threads ",
                      ScheduleName(schedules[0]), " and ",
                      ScheduleName(schedule));
    }
  }
  if (first != nullptr) first->WriteBack();
  return absl::OkStatus();
}

}  // namespace hawser::emu
