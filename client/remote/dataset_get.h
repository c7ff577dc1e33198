// Reading an array of a dataset from a server to where it is to lie.
#ifndef HAWSER_CLIENT_REMOTE_DATASET_GET_H_
#define HAWSER_CLIENT_REMOTE_DATASET_GET_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/remote/transport.h"
#include "core/base/shape.h"
#include "core/runtime/client.h"
#include "proto/datasets.pb.h"

namespace hawser {

// What `request` asks for, which is of `shape`, into as many bytes. A large
// array comes by rows, on up to `streams` streams. Blocks; once it returns
// nobody writes to `into` any more. The first stream that fails ends the
// others. Errors: those of Transport::Get; kInternal when the server sends
// another shape.
absl::Status GetDataset(Transport* transport, int streams,
                        const v1::GetRequest& request, const Shape& shape,
                        absl::Span<char> into,
                        const runtime::CallOptions& call);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_DATASET_GET_H_
