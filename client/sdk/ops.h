// Every SDK function on tensors.
#ifndef HAWSER_CLIENT_SDK_OPS_H_
#define HAWSER_CLIENT_SDK_OPS_H_

#include "client/sdk/ops/create.h"
#include "client/sdk/ops/dot.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/logic.h"
#include "client/sdk/ops/elementwise/math.h"
#include "client/sdk/ops/elementwise/special.h"
#include "client/sdk/ops/indexing/diagonal.h"
#include "client/sdk/ops/indexing/edge.h"
#include "client/sdk/ops/indexing/index.h"
#include "client/sdk/ops/indexing/loss.h"
#include "client/sdk/ops/indexing/subscript.h"
#include "client/sdk/ops/linalg/attention.h"
#include "client/sdk/ops/linalg/decompositions.h"
#include "client/sdk/ops/linalg/einsum.h"
#include "client/sdk/ops/linalg/fft.h"
#include "client/sdk/ops/linalg/norms.h"
#include "client/sdk/ops/linalg/solve.h"
#include "client/sdk/ops/random/choices.h"
#include "client/sdk/ops/random/distributions.h"
#include "client/sdk/ops/random/keys.h"
#include "client/sdk/ops/reduce.h"
#include "client/sdk/ops/scan.h"
#include "client/sdk/ops/shape.h"
#include "client/sdk/ops/sorting/sort.h"
#include "client/sdk/ops/statistics.h"
#include "client/sdk/ops/windows/conv.h"
#include "client/sdk/ops/windows/window.h"

#endif  // HAWSER_CLIENT_SDK_OPS_H_
