// Objects of the CUDA runtime that are destroyed with their owner.
#ifndef HAWSER_KERNELS_CUDA_RUNTIME_OWNED_H_
#define HAWSER_KERNELS_CUDA_RUNTIME_OWNED_H_

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

namespace hawser::cuda {

// Destroys an object by kDestroy. Its error is ignored: a lost device has
// reported it through every other call.
template <auto kDestroy>
struct Destroyer {
  template <typename T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};
template <typename Pointer, auto kDestroy>
using Owned =
    std::unique_ptr<std::remove_pointer_t<Pointer>, Destroyer<kDestroy>>;

using OwnedStream = Owned<cudaStream_t, cudaStreamDestroy>;
using OwnedEvent = Owned<cudaEvent_t, cudaEventDestroy>;
using OwnedGraph = Owned<cudaGraph_t, cudaGraphDestroy>;
using OwnedGraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;
using OwnedLibrary = Owned<cudaLibrary_t, cudaLibraryUnload>;
using OwnedPool = Owned<cudaMemPool_t, cudaMemPoolDestroy>;

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_RUNTIME_OWNED_H_
