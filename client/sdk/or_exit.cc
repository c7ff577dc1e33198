#include "client/sdk/or_exit.h"

#include <cstdlib>
#include <iostream>

namespace hawser::sdk {

void ExitFor(const absl::Status& error, SourceLocation where) {
  std::cerr << where.file << ":" << where.line << ": " << error << std::endl;
  std::exit(1);
}

}  // namespace hawser::sdk
