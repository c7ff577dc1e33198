// Settings of what runs: an evaluation, a Jit function.
#ifndef HAWSER_CLIENT_SDK_CLIENT_OPTIONS_H_
#define HAWSER_CLIENT_SDK_CLIENT_OPTIONS_H_

#include <cstdint>
#include <vector>

#include "client/sdk/client/call_options.h"
#include "client/sdk/client/client.h"
#include "core/runtime/options.h"

namespace hawser {

using runtime::Numerics;

// The options of Tensor::Eval and Fetch, and of running a Jit function.
struct RunOptions {
  // The client that computes. Unset: where the arguments are, else the default
  // client.
  Client client;
  CallOptions call;
  // Numerics says what kTf32 may give up, and how kStrict makes engines agree.
  Numerics numerics = Numerics::kFast;
};

// The options of Freeze.
struct FreezeOptions {
  // The client that the dataset is on. Unset: where the tensors are, else the
  // default client.
  Client client;
  CallOptions call;
  // How many datasets of this name are kept: the new one under "@name", those
  // it stood for before under "@name.1", "@name.2" and so on. The one that is
  // pushed out is deleted, unless it is pinned or has another tag. 0: earlier
  // ones stay without a tag, until they are deleted or evicted.
  int keep = 0;
};

// The options of Jit: how a function is compiled.
struct JitOptions {
  // Numbers of rows, ascending. A call with Batched arguments is padded with
  // zero rows to the smallest that holds it, and results whose leading axis is
  // the batch are cut back, so that callers whose batch varies share a few
  // executables. Empty: every number of rows is a signature of its own.
  //
  // Right only where row i of each result depends on row i of the Batched
  // arguments and on no other row: a network in inference is such a function;
  // a mean over the batch, batch normalization in training, a sort of the
  // batch or anything that uses the number of rows as a value is not. Jit
  // checks it: it traces the function for two numbers of rows, follows the
  // batch axis through the graph, and refuses what it cannot see to be row by
  // row. Rows agree with those of an exact call up to rounding: another number
  // of rows may be summed in another order.
  //
  // Host arguments are padded here. For values on a client, padding and
  // cutting back are small programs of their own, one for each number of rows;
  // Call cuts back here.
  std::vector<int64_t> batch_buckets;

  // If true, a call is kInvalidArgument, with the op and line at which the cut
  // ends, when a client of several places would compute all of an axis that an
  // argument marks with Cut. If false, that is one warning in the log, with the
  // same text, when a signature is compiled.
  bool strict_cuts = false;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_CLIENT_OPTIONS_H_
