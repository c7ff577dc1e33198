#include "kernels/cpu/client/cpu_buffer.h"

#include "core/base/threads/or_expired.h"
#include "core/runtime/attempt.h"

namespace hawser::cpu {

Future<Literal> CpuBuffer::Fetch(const runtime::CallOptions& options) {
  return OrExpired(value_, runtime::AttemptToken(options));
}

}  // namespace hawser::cpu
