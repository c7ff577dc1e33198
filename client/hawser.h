// hawser: tensors computed on a machine elsewhere, or here, as if it were all
// one. This is the one header to include; link //client:hawser.
#ifndef HAWSER_CLIENT_HAWSER_H_
#define HAWSER_CLIENT_HAWSER_H_

#include "client/connect.h"
#include "client/formats/array_file.h"
#include "client/formats/numpy/npy.h"
#include "client/sdk/hawser.h"

#endif  // HAWSER_CLIENT_HAWSER_H_
