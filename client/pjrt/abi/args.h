// The arguments of all entries.
#ifndef HAWSER_CLIENT_PJRT_ABI_ARGS_H_
#define HAWSER_CLIENT_PJRT_ABI_ARGS_H_

#include "client/pjrt/abi/buffer_args.h"   // IWYU pragma: export
#include "client/pjrt/abi/client_args.h"   // IWYU pragma: export
#include "client/pjrt/abi/device_args.h"   // IWYU pragma: export
#include "client/pjrt/abi/program_args.h"  // IWYU pragma: export

#endif  // HAWSER_CLIENT_PJRT_ABI_ARGS_H_
