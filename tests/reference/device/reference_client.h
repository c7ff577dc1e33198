// ReferenceClient: the reference as a device, for whatever takes a client.
#ifndef HAWSER_TESTS_REFERENCE_DEVICE_REFERENCE_CLIENT_H_
#define HAWSER_TESTS_REFERENCE_DEVICE_REFERENCE_CLIENT_H_

#include <memory>

#include "kernels/cpu/client/cpu_client.h"

namespace hawser::reference {

// Values are kept by the CPU's client; modules are run by the reference, on the
// calling thread, before Execute returns.
class ReferenceClient : public cpu::CpuClient {
 public:
  ReferenceClient() : CpuClient(cpu::CpuClientOptions()) {}

  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override;
};

}  // namespace hawser::reference
#endif  // HAWSER_TESTS_REFERENCE_DEVICE_REFERENCE_CLIENT_H_
