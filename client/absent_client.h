// AbsentClient: stands where a client was wanted that cannot be had.
#ifndef HAWSER_CLIENT_ABSENT_CLIENT_H_
#define HAWSER_CLIENT_ABSENT_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "core/runtime/client.h"

namespace hawser {

// Every verb gives `why`. `name` is what was wanted. Thread-safe.
std::shared_ptr<runtime::Client> MakeAbsentClient(std::string name,
                                                  absl::Status why);

}  // namespace hawser
#endif  // HAWSER_CLIENT_ABSENT_CLIENT_H_
