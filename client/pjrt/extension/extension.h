// Ask: what the extension is asked, and what it answers.
#ifndef HAWSER_CLIENT_PJRT_EXTENSION_EXTENSION_H_
#define HAWSER_CLIENT_PJRT_EXTENSION_EXTENSION_H_

#include "absl/status/status.h"
#include "client/pjrt/abi/extension.h"

namespace hawser::pjrt {

// `args` are not null. May block, but for "ran_on". Errors: kInvalidArgument
// for what is no request, naming what is wrong; kFailedPrecondition where
// the client that it names is gone; those of the verb.
absl::Status Ask(AskArgs* args);

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_EXTENSION_EXTENSION_H_
