// Interrupt: Ctrl-C as something that a command can tidy up after.
#ifndef HAWSER_CLIENT_CLI_COMMAND_INTERRUPT_H_
#define HAWSER_CLIENT_CLI_COMMAND_INTERRUPT_H_

#include <signal.h>

#include "core/base/threads/cancel.h"

namespace hawser::cli {

// While an Interrupt lives, the first SIGINT or SIGTERM cancels its token and a
// second one ends the process. At most one lives in a process at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const CancelToken& token() const { return token_; }

 private:
  const CancelToken token_ = CancelToken::WithFlag();
  struct sigaction old_int_ = {};
  struct sigaction old_term_ = {};
};

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_COMMAND_INTERRUPT_H_
