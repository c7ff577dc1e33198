// Freezing: values on the server become a dataset there.
#ifndef HAWSER_CLIENT_REMOTE_DATASET_FREEZE_H_
#define HAWSER_CLIENT_REMOTE_DATASET_FREEZE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/remote/session/remote_link.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"

namespace hawser {

// One request on the session that serves, after the uploads of large host
// values. Blocks. Errors: those of runtime::Datasets::Freeze.
absl::StatusOr<DatasetInfo> FreezeDataset(
    const std::shared_ptr<RemoteLink>& link,
    absl::Span<const runtime::NamedArgument> arrays,
    const runtime::CallOptions& call);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_DATASET_FREEZE_H_
