#include "client/cli/command/interrupt.h"

#include <atomic>

namespace hawser::cli {
namespace {

std::atomic<const CancelToken*> to_cancel{nullptr};

// Runs on whatever thread the signal interrupts, so it uses atomics only.
void OnSignal(int) {
  if (const CancelToken* token = to_cancel.load()) token->Cancel();
}

}  // namespace

Interrupt::Interrupt() {
  to_cancel.store(&token_);
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
  to_cancel.store(nullptr);
}

}  // namespace hawser::cli
