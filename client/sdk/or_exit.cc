#include "client/sdk/or_exit.h"

#include <cstdlib>
#include <iostream>

#include "core/base/text/terminal_text.h"

namespace hawser::sdk {

void ExitFor(const absl::Status& error, SourceLocation where) {
  std::cerr << where.file << ":" << where.line << ": "
            << TerminalText(error.ToString()) << std::endl;
  std::exit(1);
}

}  // namespace hawser::sdk
