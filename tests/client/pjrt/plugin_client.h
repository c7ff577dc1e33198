// PluginClient: the plugin, called by the C ABI, as a runtime::Client, so that
// what every client must do is asked of it.
#ifndef HAWSER_TESTS_CLIENT_PJRT_PLUGIN_CLIENT_H_
#define HAWSER_TESTS_CLIENT_PJRT_PLUGIN_CLIENT_H_

#include <memory>
#include <string>

#include "core/runtime/client.h"

namespace hawser::pjrt {

// On `server`, with this machine behind it. Modules travel in their text form.
// The ABI has no deadlines and no cancels: CallOptions are ignored. Datasets
// are the extension's, which speaks of handles: there are none here.
std::shared_ptr<runtime::Client> MakePluginClient(const std::string& server);

// False where the plugin's library is not beside this program.
bool HasPlugin();

}  // namespace hawser::pjrt
#endif  // HAWSER_TESTS_CLIENT_PJRT_PLUGIN_CLIENT_H_
