// A FallbackClient over a ScriptedClient and this machine's CPU.
#ifndef HAWSER_TESTS_CLIENT_FALLBACK_FALLBACK_FIXTURE_H_
#define HAWSER_TESTS_CLIENT_FALLBACK_FALLBACK_FIXTURE_H_

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "client/fallback/fallback_client.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/testing/programs.h"
#include "tests/client/fallback/scripted_client.h"
#include "tests/testing/matchers.h"

namespace hawser {

// A caller that would rather fail than hang.
inline runtime::CallOptions Patient() {
  return {.cancel = CancelToken(absl::Now() + absl::Seconds(60))};
}

inline absl::StatusOr<Literal> Fetch(const runtime::BufferPtr& buffer) {
  return buffer->Fetch(Patient()).Await();
}

class FallbackTest : public ::testing::Test {
 protected:
  using Buffers = std::vector<runtime::BufferPtr>;
  using ExecutablePtr = std::shared_ptr<runtime::Executable>;

  // Does not probe unless `policy` says so.
  static FallbackPolicy NoProbes() {
    FallbackPolicy policy;
    policy.probe_first = absl::InfiniteDuration();
    policy.wait_for_primary = absl::ZeroDuration();
    return policy;
  }
  void Start(FallbackPolicy policy = NoProbes()) {
    policy.on_fallback = [this](const absl::Status& why) {
      ++announced_;
    };
    client_ = MakeFallbackClient(server_, cpu_, std::move(policy));
  }
  void StartWithProbes() { Start(ProbingOften()); }
  static FallbackPolicy ProbingOften() {
    FallbackPolicy policy;
    policy.probe_first = absl::Milliseconds(2);
    policy.probe_longest = absl::Milliseconds(10);
    return policy;
  }

  ExecutablePtr Compile(std::shared_ptr<const Module> module = StepModule()) {
    auto compiled = client_->Compile(std::move(module), {}, Patient());
    EXPECT_OK(compiled);
    return compiled.ok() ? *compiled : nullptr;
  }
  // w * a + b, or whatever error; null buffers stand for errors.
  runtime::BufferPtr Step(const ExecutablePtr& step,
                          const runtime::Argument& w,
                          std::vector<int> donated = {}) {
    auto results = step->Execute(
        {w, a_, b_}, {.call = {}, .donated = std::move(donated)});
    EXPECT_OK(results);
    return results.ok() ? (*results)[0] : nullptr;
  }
  // What `steps` steps make of w_.
  Literal Expected(int steps) const {
    std::vector<float> w(w_.data<float>().begin(), w_.data<float>().end());
    for (int i = 0; i < steps; ++i) {
      for (int k = 0; k < kSize; ++k) {
        const volatile float scaled = w[k] * a_.data<float>()[k];
        w[k] = scaled + b_.data<float>()[k];  // rounded twice, as the ops are
      }
    }
    return Literal::Of<float>(w, {kSize});
  }
  // After the server came back: waits for the probe to notice.
  void AwaitReturn() {
    const absl::Time patience = absl::Now() + absl::Seconds(30);
    while (absl::Now() < patience) {
      auto found = client_->capabilities();
      if (found.ok() && found->platform == "scripted") return;
      absl::SleepFor(absl::Milliseconds(1));
    }
    FAIL() << "the fallback client did not notice that the server is back";
  }

  const Literal w_ = Literal::Vector<float>({1, 2, 3, -4});
  const Literal a_ = Literal::Vector<float>({0.5f, -1, 1.25f, 0.999f});
  const Literal b_ = Literal::Vector<float>({1, 0.1f, -0.5f, 3});
  const std::shared_ptr<ScriptedClient> server_ =
      std::make_shared<ScriptedClient>();
  const std::shared_ptr<cpu::CpuClient> cpu_ =
      cpu::MakeCpuClient({.threads = 1});
  std::atomic<int> announced_{0};
  std::shared_ptr<FallbackClient> client_;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_FALLBACK_FALLBACK_FIXTURE_H_
