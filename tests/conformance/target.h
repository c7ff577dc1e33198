// The ways of computing that must all behave alike. To add one: a row in
// target.cc; every suite of this folder then runs on it.
#ifndef HAWSER_TESTS_CONFORMANCE_TARGET_H_
#define HAWSER_TESTS_CONFORMANCE_TARGET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "client/sdk/client/client.h"
#include "core/runtime/client.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "kernels/gpu/gpu_client.h"
#include "tests/testing/processes/loopback.h"

namespace hawser {

// All values of one target together stay below this, or its `memory`: what needs
// more fails with kResourceExhausted, on every target alike.
inline constexpr int64_t kTargetMemory = int64_t{256} << 20;

// A client and all it stands on, for as long as a test needs it.
struct Target {
  runtime::Client& runtime() const { return *client; }
  Client sdk() const { return Client(client); }
  // Buffers alive wherever this target computes. Releases travel, so this waits
  // a while for `want` and returns what it is then.
  int64_t AwaitLiveBuffers(int64_t want) const;

  std::unique_ptr<LoopbackServer> server;  // null: none
  // Of one that computes on several.
  std::vector<std::unique_ptr<LoopbackServer>> other_servers;
  std::shared_ptr<cpu::CpuClient> local;   // null: none
  std::shared_ptr<gpu::GpuClient> gpu;     // null: none
  std::shared_ptr<runtime::Client> client;
  // One more client of the same store: finds the datasets of the first.
  std::function<std::shared_ptr<runtime::Client>()> another;
  // Whether an uploaded value is where it computes before work takes it.
  bool uploads_at_once = true;
  // What ran_on() says of every result holds this.
  std::string where;
  std::string platform = "cpu";  // of its capabilities
  int64_t memory = kTargetMemory;
};

struct TargetRow {
  const char* name;
  std::unique_ptr<Target> (*make)();
  // Computes with the bits of the reference evaluator.
  bool is_exact = true;
  // A new graph costs it no more than a millisecond or so.
  bool compiles_quickly = true;
  // Calls end by their CallOptions.
  bool has_deadlines = true;
  bool has_datasets = true;
};
const std::vector<TargetRow>& AllTargets();
// Those with a property: TargetsThat(&TargetRow::is_exact).
std::vector<TargetRow> TargetsThat(bool TargetRow::*property);
inline void PrintTo(const TargetRow& row, std::ostream* os) { *os << row.name; }

// For tests that do not disturb their target: one for all of them, as a
// long-lived process has it. It goes at the end of the program.
const Target& SharedTarget(const TargetRow& row);

// A target of its own for every test.
class TargetTest : public ::testing::TestWithParam<TargetRow> {
 protected:
  void SetUp() override {
    target_ = GetParam().make();
    ASSERT_NE(target_, nullptr) << "the server did not start";
  }
  runtime::Client& client() { return target_->runtime(); }

  std::unique_ptr<Target> target_;
};

std::string TargetName(const ::testing::TestParamInfo<TargetRow>& info);

}  // namespace hawser
#endif  // HAWSER_TESTS_CONFORMANCE_TARGET_H_
