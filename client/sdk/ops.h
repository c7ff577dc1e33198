// Every SDK function on tensors.
#ifndef HAWSER_CLIENT_SDK_OPS_H_
#define HAWSER_CLIENT_SDK_OPS_H_

#include "client/sdk/ops/compare.h"
#include "client/sdk/ops/create.h"
#include "client/sdk/ops/diagonal.h"
#include "client/sdk/ops/dot.h"
#include "client/sdk/ops/edge.h"
#include "client/sdk/ops/elementwise.h"
#include "client/sdk/ops/index.h"
#include "client/sdk/ops/logic.h"
#include "client/sdk/ops/math.h"
#include "client/sdk/ops/reduce.h"
#include "client/sdk/ops/shape.h"
#include "client/sdk/ops/statistics.h"
#include "client/sdk/ops/subscript.h"

#endif  // HAWSER_CLIENT_SDK_OPS_H_
