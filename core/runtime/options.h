// Capabilities, CallOptions, RanOn, Numerics: what the runtime interface has
// without the graph.
#ifndef HAWSER_CORE_RUNTIME_OPTIONS_H_
#define HAWSER_CORE_RUNTIME_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/threads/cancel.h"
#include "core/base/values/dtype.h"
#include "core/ir/types/limits.h"

namespace hawser {
class MemoryHolder;  // core/base/memory_account.h
}

namespace hawser::runtime {

// The abilities of an end; asked when a session opens and decided upon before
// anything is sent.
struct Capabilities {
  int opset = 1;
  DTypeSet dtypes = kAnyDType;
  ModuleLimits limits;
  std::string platform;  // "cpu", "cuda", "emu"
  std::string device;    // "AMD EPYC, 2 cores", "NVIDIA H200"
  // All that the bits of results depend on: what is alike gives the same bits.
  // "cpu, AVX-512, OpenBLAS 0.3.21 SkylakeX"; "": not known.
  std::string engine_id;
  int64_t memory_bytes = 0;  // of the device; 0: not known
  // Names the process that answers, by whatever address; 0: not known.
  uint64_t instance = 0;
  // The number of places over which it spreads one function;
  // CompileOptions::cuts says how.
  int places = 1;
  // Names of the ops it runs; empty: all of `opset`.
  std::vector<std::string> ops;
};

// Between the iterations of a loop an engine asks whether others wait for the
// device and then makes way for them, on the thread that computes. Thread-safe.
class Sharing {
 public:
  virtual ~Sharing() = default;
  virtual bool others_wait() const = 0;
  // Returns when it is this work's turn again, or its token has expired.
  virtual void MakeWay() = 0;
};

// The limits of a call: how long it may take, who may stop it and who pays.
// Value type.
struct CallOptions {
  CancelToken cancel;  // its deadline is the caller's own
  // The holder that is charged for host memory that the call takes; null: the
  // client.
  std::shared_ptr<MemoryHolder> memory;
  // Whom the device is shared with; null: with none.
  std::shared_ptr<Sharing> sharing;
  // For one attempt on one client; a fallback client tries the next one then.
  absl::Duration attempt_timeout = absl::InfiniteDuration();
  // Called with (bytes done, bytes in all) now and then, on any thread. Only
  // transfers of datasets and large arrays report.
  std::function<void(int64_t, int64_t)> progress;
};

// The place where something was computed.
struct RanOn {
  // Short: "cpu", "gpu-1:7070 cuda", "cpu (fallback: unreachable)".
  std::string where;
  // True if a client computed it that stood in for the one that was asked.
  bool fallback = false;

  friend bool operator==(const RanOn& ran_on, absl::string_view where) {
    return ran_on.where == where;
  }
};
std::ostream& operator<<(std::ostream& out, const RanOn& ran_on);

// kFast: halves are rounded once per fused kernel, not after each op. kStrict:
// after each op, so that every engine gives the same. kTf32: as kFast, and an
// engine that is faster for it may keep 10 of the 23 bits of the fraction of
// each factor of an f32 or c64 product (TF32; sums stay f32).
enum class Numerics : uint8_t { kFast = 0, kStrict = 1, kTf32 = 2 };

}  // namespace hawser::runtime
#endif  // HAWSER_CORE_RUNTIME_OPTIONS_H_
