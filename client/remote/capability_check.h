// Requests beyond a server's abilities are found out before anything is sent.
#ifndef HAWSER_CLIENT_REMOTE_CAPABILITY_CHECK_H_
#define HAWSER_CLIENT_REMOTE_CAPABILITY_CHECK_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"

namespace hawser {

// Errors: kUnimplemented naming the op or dtype `server` lacks,
// kResourceExhausted naming the limit.
absl::Status CheckCapabilities(const Module& module,
                               const runtime::Capabilities& capabilities,
                               absl::string_view server);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_CAPABILITY_CHECK_H_
