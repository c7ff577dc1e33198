// Bytes and times as people read them.
#ifndef HAWSER_CLIENT_CLI_COMMAND_QUANTITY_H_
#define HAWSER_CLIENT_CLI_COMMAND_QUANTITY_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace hawser::cli {

// "17 B", "1.5 KiB", "139.8 GiB".
std::string ReadableBytes(int64_t bytes);
// "85 us", "1.25 ms", "2.3 s", "4:05", "1:02:03": two or three digits' worth.
std::string ReadableDuration(absl::Duration duration);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_COMMAND_QUANTITY_H_
