// What of cuDNN 9 is called here, in our own words: its headers are no part of
// the CUDA toolkit. Names, numbers and the order of arguments are those of the
// library. Nothing links with it.
#ifndef HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUDNN_API_H_
#define HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUDNN_API_H_

#include <cuda_runtime_api.h>

#include <cstddef>

namespace hawser::cuda::cudnn {

// cudnnStatus_t: the thousands say which kind of failure it is.
using Status = int;
inline constexpr Status kSuccess = 0;
inline constexpr Status kHostMemory = 4003;
inline constexpr Status kDeviceMemory = 4004;
enum class Failure : int {
  kNotInitialized = 1,
  kBadParameter = 2,
  kNotSupported = 3,
};
constexpr Failure FailureOf(Status status) {
  return static_cast<Failure>(status / 1000);
}

// cudnnDataType_t
enum class DataType : int { kFloat = 0, kDouble = 1, kHalf = 2, kBFloat16 = 9 };
// cudnnTensorFormat_t
enum class Format : int { kFeaturesFirst = 0, kFeaturesLast = 1 };
// cudnnConvolutionMode_t: kCorrelation does not turn the kernel around.
enum class Mode : int { kCorrelation = 1 };
// cudnnMathType_t: kDefault may use TF32 for f32, kFma does not.
enum class Math : int { kDefault = 0, kTensorOp = 1, kFma = 3 };
// cudnnDeterminism_t
enum class Determinism : int { kNo = 0, kYes = 1 };

// cudnnConvolution{Fwd,BwdData,BwdFilter}AlgoPerf_t, which are alike.
struct Performance {
  int algorithm;
  Status status;
  float milliseconds;
  size_t workspace_bytes;
  Determinism determinism;
  Math math;
  int reserved[3];
};

struct Context;
struct TensorStruct;
struct FilterStruct;
struct ConvolutionStruct;
using Handle = Context*;
using Tensor = TensorStruct*;
using Filter = FilterStruct*;
using Convolution = ConvolutionStruct*;
// A Tensor or a Filter.
using Descriptor = void*;

// The three directions of a convolution take their tensors in one order:
// forward x, w, y; by data w, y, x; by filter x, y, w.
using GetAlgorithms = Status(Handle, Descriptor, Descriptor, Convolution,
                             Descriptor, int requested, int* returned,
                             Performance*);
using GetWorkspace = Status(Handle, Descriptor, Descriptor, Convolution,
                            Descriptor, int algorithm, size_t* bytes);
using Convolve = Status(Handle, const void* alpha, Descriptor, const void*,
                        Descriptor, const void*, Convolution, int algorithm,
                        void* workspace, size_t workspace_bytes,
                        const void* beta, Descriptor, void*);

}  // namespace hawser::cuda::cudnn

// clang-format off
#define HAWSER_CUDNN_FUNCTIONS(X) \
  X(cudnnGetVersion) X(cudnnGetErrorString) X(cudnnCreate) X(cudnnDestroy) \
  X(cudnnSetStream) X(cudnnCreateTensorDescriptor) \
  X(cudnnDestroyTensorDescriptor) X(cudnnSetTensorNdDescriptor) \
  X(cudnnCreateFilterDescriptor) X(cudnnDestroyFilterDescriptor) \
  X(cudnnSetFilterNdDescriptor) X(cudnnCreateConvolutionDescriptor) \
  X(cudnnDestroyConvolutionDescriptor) X(cudnnSetConvolutionNdDescriptor) \
  X(cudnnSetConvolutionGroupCount) X(cudnnSetConvolutionMathType) \
  X(cudnnGetConvolutionForwardAlgorithm_v7) \
  X(cudnnGetConvolutionBackwardDataAlgorithm_v7) \
  X(cudnnGetConvolutionBackwardFilterAlgorithm_v7) \
  X(cudnnGetConvolutionForwardWorkspaceSize) \
  X(cudnnGetConvolutionBackwardDataWorkspaceSize) \
  X(cudnnGetConvolutionBackwardFilterWorkspaceSize) \
  X(cudnnConvolutionForward) X(cudnnConvolutionBackwardData) \
  X(cudnnConvolutionBackwardFilter)
// clang-format on

extern "C" {
size_t cudnnGetVersion();
const char* cudnnGetErrorString(hawser::cuda::cudnn::Status);
hawser::cuda::cudnn::Status cudnnCreate(hawser::cuda::cudnn::Handle*);
hawser::cuda::cudnn::Status cudnnDestroy(hawser::cuda::cudnn::Handle);
hawser::cuda::cudnn::Status cudnnSetStream(hawser::cuda::cudnn::Handle,
                                           cudaStream_t);
hawser::cuda::cudnn::Status cudnnCreateTensorDescriptor(
    hawser::cuda::cudnn::Tensor*);
hawser::cuda::cudnn::Status cudnnDestroyTensorDescriptor(
    hawser::cuda::cudnn::Tensor);
hawser::cuda::cudnn::Status cudnnSetTensorNdDescriptor(
    hawser::cuda::cudnn::Tensor, hawser::cuda::cudnn::DataType, int rank,
    const int* dims, const int* strides);
hawser::cuda::cudnn::Status cudnnCreateFilterDescriptor(
    hawser::cuda::cudnn::Filter*);
hawser::cuda::cudnn::Status cudnnDestroyFilterDescriptor(
    hawser::cuda::cudnn::Filter);
hawser::cuda::cudnn::Status cudnnSetFilterNdDescriptor(
    hawser::cuda::cudnn::Filter, hawser::cuda::cudnn::DataType,
    hawser::cuda::cudnn::Format, int rank, const int* dims);
hawser::cuda::cudnn::Status cudnnCreateConvolutionDescriptor(
    hawser::cuda::cudnn::Convolution*);
hawser::cuda::cudnn::Status cudnnDestroyConvolutionDescriptor(
    hawser::cuda::cudnn::Convolution);
hawser::cuda::cudnn::Status cudnnSetConvolutionNdDescriptor(
    hawser::cuda::cudnn::Convolution, int axes, const int* padding,
    const int* strides, const int* dilations, hawser::cuda::cudnn::Mode,
    hawser::cuda::cudnn::DataType sums);
hawser::cuda::cudnn::Status cudnnSetConvolutionGroupCount(
    hawser::cuda::cudnn::Convolution, int groups);
hawser::cuda::cudnn::Status cudnnSetConvolutionMathType(
    hawser::cuda::cudnn::Convolution, hawser::cuda::cudnn::Math);
hawser::cuda::cudnn::GetAlgorithms cudnnGetConvolutionForwardAlgorithm_v7;
hawser::cuda::cudnn::GetAlgorithms cudnnGetConvolutionBackwardDataAlgorithm_v7;
hawser::cuda::cudnn::GetAlgorithms
    cudnnGetConvolutionBackwardFilterAlgorithm_v7;
hawser::cuda::cudnn::GetWorkspace cudnnGetConvolutionForwardWorkspaceSize;
hawser::cuda::cudnn::GetWorkspace cudnnGetConvolutionBackwardDataWorkspaceSize;
hawser::cuda::cudnn::GetWorkspace
    cudnnGetConvolutionBackwardFilterWorkspaceSize;
hawser::cuda::cudnn::Convolve cudnnConvolutionForward;
hawser::cuda::cudnn::Convolve cudnnConvolutionBackwardData;
hawser::cuda::cudnn::Convolve cudnnConvolutionBackwardFilter;
}

#endif  // HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUDNN_API_H_
