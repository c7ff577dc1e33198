// hawser: tensors computed on a machine elsewhere, or here, as if it were all
// one. The SDK without servers; client/hawser.h adds Connect.
#ifndef HAWSER_CLIENT_SDK_HAWSER_H_
#define HAWSER_CLIENT_SDK_HAWSER_H_

#include "client/sdk/client/client.h"
#include "client/sdk/client/dataset.h"
#include "client/sdk/client/options.h"
#include "client/sdk/functions/batch/jacobian.h"
#include "client/sdk/functions/batch/vmap.h"
#include "client/sdk/functions/control_flow.h"
#include "client/sdk/functions/function.h"
#include "client/sdk/functions/custom_grad.h"
#include "client/sdk/functions/derivatives.h"
#include "client/sdk/functions/grad.h"
#include "client/sdk/functions/shard.h"
#include "client/sdk/ops.h"
#include "client/sdk/or_exit.h"
#include "client/sdk/probes/print.h"
#include "client/sdk/save.h"
#include "client/sdk/tensor.h"

#endif  // HAWSER_CLIENT_SDK_HAWSER_H_
