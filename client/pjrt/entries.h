// The entries of the table, each as a function that gives a Status; api.cc
// makes the table.
#ifndef HAWSER_CLIENT_PJRT_ENTRIES_H_
#define HAWSER_CLIENT_PJRT_ENTRIES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/pjrt/abi/args.h"

namespace hawser::pjrt {

// The name of the platform, of which JAX_PLATFORMS speaks.
inline constexpr absl::string_view kPlatform = "hawser";

// `args` are not null. A handle in them may be, which is kInvalidArgument; of
// what destroys one it is nothing.
#define HAWSER_PJRT_HAS(Name) absl::Status Name(Name##Args* args);
#define HAWSER_PJRT_LACKS(Name)
#include "client/pjrt/abi/entries.def"  // IWYU pragma: keep
#undef HAWSER_PJRT_HAS
#undef HAWSER_PJRT_LACKS

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_ENTRIES_H_
