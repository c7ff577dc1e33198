// hawser: tensors computed on a machine elsewhere, or here, as if it were all
// one. The SDK without servers; client/hawser.h adds Connect.
#ifndef HAWSER_CLIENT_SDK_HAWSER_H_
#define HAWSER_CLIENT_SDK_HAWSER_H_

#include "client/sdk/client.h"
#include "client/sdk/control_flow.h"
#include "client/sdk/dataset.h"
#include "client/sdk/function.h"
#include "client/sdk/grad.h"
#include "client/sdk/ops.h"
#include "client/sdk/options.h"
#include "client/sdk/save.h"
#include "client/sdk/tensor.h"

#endif  // HAWSER_CLIENT_SDK_HAWSER_H_
