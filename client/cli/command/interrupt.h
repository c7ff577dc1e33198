// Interrupt: Ctrl-C as something that a command can tidy up after.
#ifndef HAWSER_CLIENT_CLI_COMMAND_INTERRUPT_H_
#define HAWSER_CLIENT_CLI_COMMAND_INTERRUPT_H_

#include <signal.h>

#include "core/base/cancel.h"

namespace hawser::cli {

// While it lives, the first SIGINT and the first SIGTERM cancel its token; a
// second one ends the process as it always does. One at a time in a process.
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
