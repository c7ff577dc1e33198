#include "kernels/cuda/library_calls/cudnn.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/base/values/dtype.h"
#include "kernels/cuda/library_calls/cudnn_api.h"
#include "kernels/cuda/library_calls/planned/handles.h"
#include "kernels/cuda/library_calls/planned/library_status.h"
#include "kernels/gpu/device/call_check.h"

namespace hawser::cuda {
namespace {

using cudnn::DataType;
using gpu::ConvolutionAxis;
using gpu::ConvolutionSpec;
using Ints = std::vector<int>;

// Version 8 ends the process where a part of it is missing.
constexpr absl::string_view kDnnSonames[] = {"libcudnn.so.9"};

HAWSER_CUDA_FUNCTION_TABLE(CudnnFunctions, HAWSER_CUDNN_FUNCTIONS);

DataType DataTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return DataType::kHalf;
    case DType::kBF16:
      return DataType::kBFloat16;
    case DType::kF64:
      return DataType::kDouble;
    default:
      return DataType::kFloat;
  }
}

// A direction as the library knows it. `algorithms` give the same bits each
// time and sum products as they are: transforms by Fourier and Winograd lose
// digits, and spread an infinity to its neighbours.
struct Direction {
  cudnn::GetAlgorithms* CudnnFunctions::*algorithms_of;
  cudnn::GetWorkspace* CudnnFunctions::*workspace_of;
  cudnn::Convolve* CudnnFunctions::*run;
  absl::Span<const int> algorithms;
};
constexpr int kForward[] = {0, 1, 2};
constexpr int kBackward[] = {1};
// Indexed by gpu::ConvolutionDirection.
constexpr Direction kDirections[] = {
    {&CudnnFunctions::cudnnGetConvolutionForwardAlgorithm_v7,
     &CudnnFunctions::cudnnGetConvolutionForwardWorkspaceSize,
     &CudnnFunctions::cudnnConvolutionForward, kForward},
    {&CudnnFunctions::cudnnGetConvolutionBackwardDataAlgorithm_v7,
     &CudnnFunctions::cudnnGetConvolutionBackwardDataWorkspaceSize,
     &CudnnFunctions::cudnnConvolutionBackwardData, kBackward},
    {&CudnnFunctions::cudnnGetConvolutionBackwardFilterAlgorithm_v7,
     &CudnnFunctions::cudnnGetConvolutionBackwardFilterWorkspaceSize,
     &CudnnFunctions::cudnnConvolutionBackwardFilter, kBackward},
};

// Numbers of each axis; the library has at least two.
template <typename Number>
Ints OfAxes(const ConvolutionSpec& spec, int of_none, const Number& number) {
  Ints numbers;
  if (spec.axes.size() == 1) numbers.push_back(of_none);
  for (const ConvolutionAxis& a : spec.axes) {
    numbers.push_back(static_cast<int>(number(a)));
  }
  return numbers;
}

// [outer, features, axes...]
Ints DimsOf(int64_t outer, int64_t features, const Ints& extents) {
  Ints dims = {static_cast<int>(outer), static_cast<int>(features)};
  dims.insert(dims.end(), extents.begin(), extents.end());
  return dims;
}

// The tensor has no gaps. Errors: kUnimplemented beyond int32.
absl::StatusOr<Ints> StridesOf(const Ints& dims, bool features_first) {
  std::vector<size_t> inner_first;
  if (!features_first) inner_first.push_back(1);
  for (size_t a = dims.size(); a-- > 2;) inner_first.push_back(a);
  if (features_first) inner_first.push_back(1);
  inner_first.push_back(0);
  Ints strides(dims.size());
  int64_t next = 1;
  for (const size_t a : inner_first) {
    strides[a] = static_cast<int>(next);
    next *= dims[a];
    if (next > std::numeric_limits<int>::max()) {
      return Unimplemented("convolution: a tensor of more than 2^31 elements");
    }
  }
  return strides;
}

struct CheckedFunctions : CudnnFunctions {
  absl::Status Check(cudnn::Status status, absl::string_view call) const {
    if (status == cudnn::kSuccess) return absl::OkStatus();
    const std::string what =
        absl::StrCat(call, ": ", cudnnGetErrorString(status));
    if (status == cudnn::kHostMemory || status == cudnn::kDeviceMemory) {
      return ResourceExhausted(what);
    }
    switch (cudnn::FailureOf(status)) {
      case cudnn::Failure::kNotInitialized:
        return FailedPrecondition(what);
      case cudnn::Failure::kBadParameter:
        return InvalidArgument(what);
      case cudnn::Failure::kNotSupported:
        return Unimplemented(what);
    }
    return Internal(what);
  }
};

// The library's descriptors of a convolution and its tensors.
class Descriptors {
 public:
  explicit Descriptors(const CheckedFunctions* library) : library_(*library) {}
  ~Descriptors() {
    if (x_ != nullptr) library_.cudnnDestroyTensorDescriptor(x_);
    if (y_ != nullptr) library_.cudnnDestroyTensorDescriptor(y_);
    if (w_ != nullptr) library_.cudnnDestroyFilterDescriptor(w_);
    if (how_ != nullptr) library_.cudnnDestroyConvolutionDescriptor(how_);
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  // Tensors in the order of the spec's operands.
  struct Roles {
    cudnn::Descriptor first, second, result;
  };
  Roles RolesOf(gpu::ConvolutionDirection direction) const {
    switch (direction) {
      case gpu::ConvolutionDirection::kForward:
        return {x_, w_, y_};
      case gpu::ConvolutionDirection::kData:
        return {w_, y_, x_};
      case gpu::ConvolutionDirection::kFilter:
        break;
    }
    return {x_, y_, w_};
  }

  cudnn::Convolution how() const { return how_; }

  // Call it once.
  absl::Status Describe(const ConvolutionSpec& spec) {
    HAWSER_RETURN_IF_ERROR(
        DescribeTensor(spec, spec.in, &ConvolutionAxis::x, &x_));
    HAWSER_RETURN_IF_ERROR(
        DescribeTensor(spec, spec.out, &ConvolutionAxis::y, &y_));
    HAWSER_RETURN_IF_ERROR(DescribeFilter(spec));
    HAWSER_RETURN_IF_ERROR(
        library_.Check(library_.cudnnCreateConvolutionDescriptor(&how_),
                       "cudnnCreateConvolutionDescriptor"));
    const Ints padding =
        OfAxes(spec, 0, [](const auto& a) { return a.padding; });
    const Ints strides =
        OfAxes(spec, 1, [](const auto& a) { return a.stride; });
    const Ints dilations =
        OfAxes(spec, 1, [](const auto& a) { return a.dilation; });
    const DataType sums =
        spec.dtype == DType::kF64 ? DataType::kDouble : DataType::kFloat;
    HAWSER_RETURN_IF_ERROR(library_.Check(
        library_.cudnnSetConvolutionNdDescriptor(
            how_, static_cast<int>(padding.size()), padding.data(),
            strides.data(), dilations.data(), cudnn::Mode::kCorrelation, sums),
        "cudnnSetConvolutionNdDescriptor"));
    HAWSER_RETURN_IF_ERROR(
        library_.Check(library_.cudnnSetConvolutionGroupCount(
                           how_, static_cast<int>(spec.groups)),
                       "cudnnSetConvolutionGroupCount"));
    const bool half = BitWidth(spec.dtype) < 32;
    return SetMath(spec, half ? cudnn::Math::kTensorOp : cudnn::Math::kDefault);
  }

  // All digits of f32 are kept unless the spec gives them up.
  absl::Status SetMath(const ConvolutionSpec& spec, cudnn::Math math) {
    if (spec.dtype == DType::kF32 &&
        spec.precision == gpu::GemmPrecision::kFull) {
      math = cudnn::Math::kFma;
    }
    return library_.Check(library_.cudnnSetConvolutionMathType(how_, math),
                          "cudnnSetConvolutionMathType");
  }

 private:
  absl::Status DescribeTensor(const ConvolutionSpec& spec, int64_t features,
                              int64_t ConvolutionAxis::*extent,
                              cudnn::Tensor* tensor) {
    const Ints dims =
        DimsOf(spec.batch, features,
               OfAxes(spec, 1, [&](const auto& a) { return a.*extent; }));
    HAWSER_ASSIGN_OR_RETURN(const Ints strides,
                            StridesOf(dims, spec.features_first));
    HAWSER_RETURN_IF_ERROR(
        library_.Check(library_.cudnnCreateTensorDescriptor(tensor),
                       "cudnnCreateTensorDescriptor"));
    return library_.Check(
        library_.cudnnSetTensorNdDescriptor(*tensor, DataTypeOf(spec.dtype),
                                            static_cast<int>(dims.size()),
                                            dims.data(), strides.data()),
        "cudnnSetTensorNdDescriptor");
  }

  absl::Status DescribeFilter(const ConvolutionSpec& spec) {
    const Ints dims =
        DimsOf(spec.out, spec.in / spec.groups,
               OfAxes(spec, 1, [](const auto& a) { return a.w; }));
    HAWSER_RETURN_IF_ERROR(StridesOf(dims, spec.features_first));
    HAWSER_RETURN_IF_ERROR(
        library_.Check(library_.cudnnCreateFilterDescriptor(&w_),
                       "cudnnCreateFilterDescriptor"));
    return library_.Check(
        library_.cudnnSetFilterNdDescriptor(
            w_, DataTypeOf(spec.dtype),
            spec.features_first ? cudnn::Format::kFeaturesFirst
                                : cudnn::Format::kFeaturesLast,
            static_cast<int>(dims.size()), dims.data()),
        "cudnnSetFilterNdDescriptor");
  }

  const CheckedFunctions& library_;
  cudnn::Tensor x_ = nullptr, y_ = nullptr;
  cudnn::Filter w_ = nullptr;
  cudnn::Convolution how_ = nullptr;
};

}  // namespace

struct CuDnn::State : CheckedFunctions {
  State()
      : handles([this](cudaStream_t stream) { return Make(stream); },
                [this](cudnn::Handle handle) { cudnnDestroy(handle); }) {}

  absl::StatusOr<cudnn::Handle> Make(cudaStream_t stream) const {
    cudnn::Handle handle = nullptr;
    HAWSER_RETURN_IF_ERROR(Check(cudnnCreate(&handle), "cudnnCreate"));
    const absl::Status set =
        Check(cudnnSetStream(handle, stream), "cudnnSetStream");
    if (!set.ok()) {
      cudnnDestroy(handle);
      return set;
    }
    return handle;
  }

  Handles<cudnn::Handle> handles;
  // A plan asks with the handle of the default stream.
  mutable Mutex asking;
};

class CuDnn::Convolution final : public PlannedCall {
 public:
  Convolution(const State* state, DeviceHealth* health,
              const ConvolutionSpec& spec)
      : state_(*state),
        health_(health),
        spec_(spec),
        direction_(kDirections[static_cast<int>(spec.direction)]),
        descriptors_(state) {}

  absl::Status Make() {
    HAWSER_RETURN_IF_ERROR(descriptors_.Describe(spec_));
    MutexLock lock(&state_.asking);
    HAWSER_ASSIGN_OR_RETURN(const cudnn::Handle handle,
                            state_.handles.Of(nullptr));
    return Choose(handle);
  }

  int64_t workspace_bytes() const override {
    return static_cast<int64_t>(workspace_bytes_);
  }

  absl::Status Run(cudaStream_t stream,
                   const gpu::CallOperands& operands) const override {
    HAWSER_RETURN_IF_ERROR(gpu::CheckOperands(gpu::BytesOf(spec_), operands));
    HAWSER_ASSIGN_OR_RETURN(const cudnn::Handle handle,
                            state_.handles.Of(stream));
    const bool wide = spec_.dtype == DType::kF64;
    const double one = 1, zero = 0;
    const float one_f32 = 1, zero_f32 = 0;
    const Descriptors::Roles roles = descriptors_.RolesOf(spec_.direction);
    const absl::Status status = state_.Check(
        (state_.*direction_.run)(
            handle, wide ? static_cast<const void*>(&one) : &one_f32,
            roles.first, Pointer(operands.operands[0]), roles.second,
            Pointer(operands.operands[1]), descriptors_.how(), algorithm_,
            Pointer(operands.workspace), workspace_bytes_,
            wide ? static_cast<const void*>(&zero) : &zero_f32, roles.result,
            Pointer(operands.results[0])),
        "cudnnConvolution");
    return status.ok()
               ? status
               : AfterFailure(status, stream, "cudnnConvolution", health_);
  }

 private:
  // Takes the first algorithm, of those the library thinks the fastest, that
  // may be used and has room.
  absl::Status Choose(cudnn::Handle handle) {
    constexpr int kMostAlgorithms = 10;
    cudnn::Performance found[kMostAlgorithms] = {};
    int count = 0;
    const Descriptors::Roles roles = descriptors_.RolesOf(spec_.direction);
    HAWSER_RETURN_IF_ERROR(state_.Check(
        (state_.*direction_.algorithms_of)(handle, roles.first, roles.second,
                                           descriptors_.how(), roles.result,
                                           kMostAlgorithms, &count, found),
        "cudnnGetConvolutionAlgorithm"));
    for (const cudnn::Performance& p : absl::MakeSpan(found).first(count)) {
      if (!MayUse(p) || !descriptors_.SetMath(spec_, p.math).ok()) continue;
      const cudnn::Status status = (state_.*direction_.workspace_of)(
          handle, roles.first, roles.second, descriptors_.how(), roles.result,
          p.algorithm, &workspace_bytes_);
      if (status != cudnn::kSuccess ||
          workspace_bytes() > spec_.max_workspace_bytes) {
        continue;
      }
      algorithm_ = p.algorithm;
      return absl::OkStatus();
    }
    return Unimplemented("convolution: none of ", count,
                         " algorithms of cuDNN may be used");
  }
  bool MayUse(const cudnn::Performance& p) const {
    return p.status == cudnn::kSuccess &&
           p.determinism == cudnn::Determinism::kYes &&
           std::count(direction_.algorithms.begin(),
                      direction_.algorithms.end(), p.algorithm) > 0;
  }

  const State& state_;
  DeviceHealth* const health_;
  const ConvolutionSpec spec_;
  const Direction& direction_;
  Descriptors descriptors_;
  int algorithm_ = 0;
  size_t workspace_bytes_ = 0;
};

CuDnn::CuDnn(DeviceHealth* health)
    : health_(health), state_(std::make_unique<State>()) {}

CuDnn::~CuDnn() = default;

absl::StatusOr<std::unique_ptr<CuDnn>> CuDnn::Open(const LibraryPlaces& places,
                                                   DeviceHealth* health) {
  HAWSER_ASSIGN_OR_RETURN(const Library library,
                          Library::Open(places, kDnnSonames));
  auto dnn = std::unique_ptr<CuDnn>(new CuDnn(health));
  HAWSER_RETURN_IF_ERROR(dnn->state_->Load(library));
  dnn->version_ = absl::StrCat("cuDNN ", dnn->state_->cudnnGetVersion());
  return dnn;
}

absl::StatusOr<std::shared_ptr<const PlannedCall>> CuDnn::Plan(
    const ConvolutionSpec& spec) const {
  HAWSER_RETURN_IF_ERROR(gpu::CheckCall(spec));
  auto convolution = std::make_shared<Convolution>(state_.get(), health_, spec);
  HAWSER_RETURN_IF_ERROR(AsRefusal(convolution->Make()));
  return convolution;
}

}  // namespace hawser::cuda
