// hawser's extension of the PJRT C ABI: datasets, and where values are.
#ifndef HAWSER_CLIENT_PJRT_ABI_EXTENSION_H_
#define HAWSER_CLIENT_PJRT_ABI_EXTENSION_H_

#include <cstddef>
#include <cstdint>

#include "client/pjrt/abi/abi.h"

namespace hawser::pjrt {

// A dense array in the caller's memory.
struct ExtensionArray {
  int type;  // PJRT_Buffer_Type
  const int64_t* dims;
  size_t num_dims;
  const void* data;
};

struct AskArgs {
  Header header;
  const char* request;  // JSON: an object with a "verb" (extension.cc)
  size_t request_size;
  Buffer* const* buffers;
  size_t num_buffers;
  const ExtensionArray* arrays;
  size_t num_arrays;
  char* answer;  // out: JSON, until it is deleted
  size_t answer_size;
  void (*delete_answer)(char* answer);
};

// A member of the list that Api::extension_start begins. The ABI's own types
// are small numbers.
struct Extension {
  static constexpr int kType = 0x48575352;
  size_t struct_size;
  int type;
  const Extension* next;
  Entry ask;  // with AskArgs
};

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_ABI_EXTENSION_H_
