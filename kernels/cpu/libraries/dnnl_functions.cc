#include "kernels/cpu/libraries/dnnl_functions.h"

#include "kernels/cpu/libraries/resolve.h"

namespace hawser::cpu {

DnnlCall::DnnlCall(const DnnlFunctions& functions) : f_(functions) {
  if (f_.set_num_threads == nullptr) return;
  before_ = f_.get_max_threads();
  f_.set_num_threads(1);
}

DnnlCall::~DnnlCall() {
  if (f_.set_num_threads != nullptr) f_.set_num_threads(before_);
}

absl::Status StatusOfDnnl(dnnl_status_t status, const char* what) {
  if (status == dnnl_success) return absl::OkStatus();
  if (status == dnnl_out_of_memory) {
    return ResourceExhausted("no memory for oneDNN's ", what);
  }
  if (status == dnnl_unimplemented) {
    return Unimplemented("oneDNN has no such ", what);
  }
  return Internal("oneDNN's ", what, " says ", static_cast<int>(status));
}

bool DnnlFunctions::ResolveFrom(void* library) {
  bool has_all = true;
#define HAWSER_DNNL_FUNCTION(name) \
  has_all = has_all && Resolve(library, "dnnl_" #name, &name);
  HAWSER_DNNL_FUNCTIONS(HAWSER_DNNL_FUNCTION)
#undef HAWSER_DNNL_FUNCTION
  if (!Resolve(library, "omp_get_max_threads", &get_max_threads) ||
      !Resolve(library, "omp_set_num_threads", &set_num_threads)) {
    set_num_threads = nullptr;
  }
  return has_all;
}

absl::Status DnnlFunctions::MakeMemory(const dnnl_memory_desc_t& layout,
                                       const void* data,
                                       OwnedDnnl<dnnl_memory_t>* memory) const {
  return MakeDnnl(
      [&](dnnl_memory_t* made) {
        return memory_create(made, &layout, engine, const_cast<void*>(data));
      },
      memory_destroy, "memory", memory);
}

absl::Status DnnlFunctions::MakePrimitive(
    const_dnnl_primitive_desc_t plan,
    OwnedDnnl<dnnl_primitive_t>* primitive) const {
  return MakeDnnl(
      [&](dnnl_primitive_t* made) { return primitive_create(made, plan); },
      primitive_destroy, "primitive", primitive);
}

absl::Status DnnlFunctions::Run(const_dnnl_primitive_t primitive, int count,
                                const dnnl_exec_arg_t* arguments) const {
  OwnedDnnl<dnnl_stream_t> stream{nullptr, nullptr};
  HAWSER_RETURN_IF_ERROR(MakeDnnl(
      [&](dnnl_stream_t* made) {
        return stream_create(made, engine, dnnl_stream_default_flags);
      },
      stream_destroy, "stream", &stream));
  HAWSER_RETURN_IF_ERROR(StatusOfDnnl(
      primitive_execute(primitive, stream.get(), count, arguments), "run"));
  return StatusOfDnnl(stream_wait(stream.get()), "wait");
}

}  // namespace hawser::cpu
