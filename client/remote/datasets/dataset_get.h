// Reading an array of a dataset from a server to where it is to lie, and
// making sure that it is what the token says.
#ifndef HAWSER_CLIENT_REMOTE_DATASETS_DATASET_GET_H_
#define HAWSER_CLIENT_REMOTE_DATASETS_DATASET_GET_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/remote/link/transport.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"

namespace hawser {

// The digests of a dataset's chunks, as `name` (a token, or a tag) stands for
// it on the server. A token is a digest of them, so they are checked against
// it; what came otherwise is asked for once more. Errors: those of
// Transport::Stat; kDataLoss when they still do not make the token.
absl::StatusOr<std::shared_ptr<const DatasetManifest>> FetchManifest(
    Transport* transport, absl::string_view name,
    const runtime::CallOptions& call);

// Some bytes of one array of a dataset whose manifest is known.
struct CheckedPart {
  std::shared_ptr<const DatasetManifest> manifest;
  const ArrayManifest* array = nullptr;  // in `manifest`
  std::optional<RowRange> rows;          // absent: all
};

// The part's bytes into as many, by whole chunks, each checked against its
// digest as it comes and asked for once more when it is not what that says;
// a large part on up to `streams` streams. If the link itself makes sure of its
// bytes, a part smaller than a chunk comes alone. Blocks; once it returns
// nothing writes to `into` any more. The first stream that fails ends the
// others. Errors: those of Transport::Get; kInternal when the server sends
// another shape; kDataLoss naming dataset, array and chunk.
absl::Status GetDataset(Transport* transport, int streams,
                        const CheckedPart& part, absl::Span<char> into,
                        const runtime::CallOptions& call);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_DATASETS_DATASET_GET_H_
