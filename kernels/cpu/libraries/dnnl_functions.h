// DnnlFunctions: the functions of oneDNN that are used, and its handles.
#ifndef HAWSER_KERNELS_CPU_LIBRARIES_DNNL_FUNCTIONS_H_
#define HAWSER_KERNELS_CPU_LIBRARIES_DNNL_FUNCTIONS_H_

#include <memory>
#include <type_traits>

#include "absl/status/status.h"
#include "core/base/process/library_call.h"
#include "core/base/status.h"
#include "oneapi/dnnl/dnnl.h"

namespace hawser::cpu {

// Owns one of the library's handles, which are pointers.
template <typename Handle>
using OwnedDnnl =
    std::unique_ptr<std::remove_pointer_t<Handle>, dnnl_status_t (*)(Handle)>;

// Errors: kResourceExhausted; kUnimplemented, it has no such primitive;
// kInternal, with the library's number.
absl::Status StatusOfDnnl(dnnl_status_t status, const char* what);

// Returns the handle that `create(&handle)` makes.
template <typename Handle, typename Create>
absl::Status MakeDnnl(Create create, dnnl_status_t (*destroy)(Handle),
                      const char* what, OwnedDnnl<Handle>* made) {
  Handle handle = nullptr;
  HAWSER_RETURN_IF_ERROR(StatusOfDnnl(create(&handle), what));
  *made = OwnedDnnl<Handle>(handle, destroy);
  return absl::OkStatus();
}

// The functions of OpenMP, which may give the library its threads, may be null.
// Immutable once resolved.
struct DnnlFunctions {
#define HAWSER_DNNL_FUNCTIONS(Each)                                           \
  Each(version) Each(get_effective_cpu_isa) Each(engine_create)               \
      Each(stream_create) Each(stream_wait) Each(stream_destroy)              \
          Each(memory_desc_equal) Each(memory_desc_get_size) Each(            \
              memory_desc_init_by_strides) Each(memory_desc_init_by_tag)      \
              Each(memory_create) Each(memory_destroy) Each(matmul_desc_init) \
                  Each(dilated_convolution_forward_desc_init)                 \
                      Each(dilated_deconvolution_forward_desc_init) Each(     \
                          primitive_attr_create) Each(primitive_attr_destroy) \
                          Each(primitive_attr_set_scratchpad_mode)            \
                              Each(primitive_desc_create)                     \
                                  Each(primitive_desc_destroy)                \
                                      Each(primitive_desc_query)              \
                                          Each(primitive_desc_query_md) Each( \
                                              reorder_primitive_desc_create)  \
                                              Each(primitive_create)          \
                                                  Each(primitive_destroy)     \
                                                      Each(primitive_execute)
#define HAWSER_DNNL_FUNCTION(name) decltype(&dnnl_##name) name = nullptr;
  HAWSER_DNNL_FUNCTIONS(HAWSER_DNNL_FUNCTION)
#undef HAWSER_DNNL_FUNCTION
  int (*get_max_threads)() = nullptr;
  void (*set_num_threads)(int) = nullptr;

  dnnl_engine_t engine = nullptr;  // lives as long as the process

  // False: the library lacks some.
  bool ResolveFrom(void* library);

  absl::Status MakeMemory(const dnnl_memory_desc_t& layout, const void* data,
                          OwnedDnnl<dnnl_memory_t>* memory) const;
  // A primitive of what `plan` says.
  absl::Status MakePrimitive(const_dnnl_primitive_desc_t plan,
                             OwnedDnnl<dnnl_primitive_t>* primitive) const;
  // Within a DnnlCall.
  absl::Status Run(const_dnnl_primitive_t primitive, int count,
                   const dnnl_exec_arg_t* arguments) const;
};

// While it lives, the library is called, and its own threads leave calls of
// this thread alone; primitives that are made are for one thread.
class DnnlCall {
 public:
  explicit DnnlCall(const DnnlFunctions& functions);
  ~DnnlCall();
  DnnlCall(const DnnlCall&) = delete;
  DnnlCall& operator=(const DnnlCall&) = delete;

 private:
  const LibraryCall call_;
  const DnnlFunctions& f_;
  int before_ = 1;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LIBRARIES_DNNL_FUNCTIONS_H_
