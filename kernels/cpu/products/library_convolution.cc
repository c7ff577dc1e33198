#include "kernels/cpu/products/library_convolution.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/base/trace/trace.h"
#include "kernels/cpu/libraries/dnnl_convolution.h"
#include "kernels/cpu/products/gemm.h"

namespace hawser::cpu {
namespace {

using Sizes = DnnlConvolutionSizes;

// Products of a box, about: 2 ms of f32 on one thread. Images are cut into rows
// where they are larger by far, as the library's calls have a start each.
constexpr double kBoxProducts = 1 << 26;
constexpr double kWholeImage = 4 * kBoxProducts;
// Results of a box, about: a tail finds them in the second cache.
constexpr double kBoxResults = 1 << 18;
// bf16 is given to the library as it is where so many features meet; of fewer
// it has no fast kernels.
constexpr int64_t kFeaturesOfHalves = 16;
constexpr int64_t kF32 = sizeof(float);

// Images, and rows of their results.
struct Box {
  int64_t image, images, row, rows;
};

double Product(absl::Span<const int64_t> sizes) {
  double product = 1;
  for (const int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

// The whole convolution as one call. False: the library has no such.
bool FindSizes(const KernelContext& c, const ConvolutionSpec& spec,
               Sizes* sizes) {
  const Dims& x = c.shape(0).dims();
  const Dims& kernel = c.shape(1).dims();
  const Dims& result = c.result_shape().dims();
  const size_t k = spec.strides.size();
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto fits = [](int64_t n) { return n >= 0 && n <= kMost; };
  if (k < 1 || k > 3) return false;
  for (const Dims* dims : {&x, &kernel, &result, &spec.strides,
                           &spec.kernel_dilations, &spec.low}) {
    if (!std::all_of(dims->begin(), dims->end(), fits)) return false;
  }
  if (c.shape(0).num_elements() == 0 || c.shape(1).num_elements() == 0) {
    return false;
  }
  sizes->batch = x[0];
  sizes->features = x.back();
  sizes->out = kernel.back();
  sizes->groups = spec.groups;
  sizes->x.assign(x.begin() + 1, x.end() - 1);
  sizes->kernel.assign(kernel.begin(), kernel.end() - 2);
  sizes->result.assign(result.begin() + 1, result.end() - 1);
  sizes->strides.assign(spec.strides.begin(), spec.strides.end());
  sizes->dilations.assign(spec.kernel_dilations.begin(),
                          spec.kernel_dilations.end());
  sizes->low.assign(spec.low.begin(), spec.low.end());
  const Dims ones(k, 1);
  if (spec.x_dilations != ones) {
    if (spec.strides != ones || spec.groups != 1) return false;
    sizes->is_transposed = true;
    sizes->strides.assign(spec.x_dilations.begin(), spec.x_dilations.end());
    for (size_t a = 0; a < k; ++a) {
      sizes->low[a] = (kernel[a] - 1) * spec.kernel_dilations[a] - spec.low[a];
    }
  }
  // Such are gradients by a kernel, of few and long sums.
  return Product(sizes->kernel) <= Product(sizes->result);
}

// A convolution cut into boxes, by its sizes alone.
class Boxes {
 public:
  explicit Boxes(Sizes whole) : whole_(std::move(whole)) {
    products_of_a_row_ = Product(whole_.result) / RowsOf(whole_.result) *
                         Product(whole_.kernel) *
                         static_cast<double>(whole_.features / whole_.groups) *
                         static_cast<double>(whole_.out);
    Cut();
  }

  const Sizes& whole() const { return whole_; }
  const std::vector<Box>& boxes() const { return boxes_; }
  double ProductsOf(const Box& box) const {
    return products_of_a_row_ * static_cast<double>(box.rows * box.images);
  }

  // The rows of x that rows of results are made of, which may be none.
  std::pair<int64_t, int64_t> RowsOfX(const Box& box) const {
    if (whole_.is_transposed || box.images > 1) return {0, whole_.x[0]};
    const int64_t first = box.row * whole_.strides[0] - whole_.low[0];
    const int64_t last = first + (box.rows - 1) * whole_.strides[0] +
                         (whole_.kernel[0] - 1) * whole_.dilations[0];
    return {std::clamp<int64_t>(first, 0, whole_.x[0] - 1),
            std::clamp<int64_t>(last, 0, whole_.x[0] - 1) + 1};
  }

  Sizes SizesOf(const Box& box) const {
    Sizes sizes = whole_;
    sizes.batch = box.images;
    if (whole_.is_transposed) return sizes;
    sizes.result[0] = box.rows;
    const auto [begin, end] = RowsOfX(box);
    sizes.x[0] = end - begin;
    sizes.low[0] = begin + whole_.low[0] - box.row * whole_.strides[0];
    return sizes;
  }

  // The box of a matrix whose rows are the places of all images.
  GemmBox MatrixBox(const Box& box) const {
    const auto row =
        static_cast<int64_t>(Product(whole_.result) / RowsOf(whole_.result));
    return {.row = (box.image * whole_.result[0] + box.row) * row,
            .rows = box.images * box.rows * row,
            .columns = whole_.out};
  }

 private:
  static double RowsOf(const Sizes::Sizes& sizes) {
    return static_cast<double>(sizes[0]);
  }

  void Cut() {
    const int64_t rows = whole_.result[0];
    const double image = products_of_a_row_ * static_cast<double>(rows);
    const double results =
        Product(whole_.result) * static_cast<double>(whole_.out);
    const bool is_whole =
        image <= kWholeImage && whole_.batch > 1 && results <= 2 * kBoxResults;
    if (is_whole || whole_.is_transposed) {
      const double steps = image * (GemmSteps(DType::kF32) +
                                    1 / static_cast<double>(whole_.out)) +
                           results;
      const double images = std::min(kBoxProducts / std::max(image, 1.0),
                                     kLookSteps / std::max(steps, 1.0));
      const auto most = std::max<int64_t>(static_cast<int64_t>(images), 1);
      for (int64_t i = 0; i < whole_.batch; i += most) {
        boxes_.push_back({i, std::min(most, whole_.batch - i), 0, rows});
      }
      return;
    }
    const auto pieces =
        std::clamp<int64_t>(static_cast<int64_t>(std::max(
                                image / kBoxProducts, results / kBoxResults)) +
                                1,
                            1, rows);
    const int64_t most = (rows + pieces - 1) / pieces;
    for (int64_t i = 0; i < whole_.batch; ++i) {
      for (int64_t row = 0; row < rows; row += most) {
        boxes_.push_back({i, 1, row, std::min(most, rows - row)});
      }
    }
  }

  const Sizes whole_;
  double products_of_a_row_ = 0;
  std::vector<Box> boxes_;
};

// The library leaves zeros between and around elements out, which would make
// NaN of an infinite kernel.
bool IsFinite(DType dtype, const char* kernel, int64_t n) {
  const auto is_below = [&](auto zero, uint32_t infinite) {
    using Bits = decltype(zero);
    const Bits* bits = reinterpret_cast<const Bits*>(kernel);
    constexpr Bits kMagnitude = std::numeric_limits<Bits>::max() >> 1;
    Bits largest = 0;
    for (int64_t i = 0; i < n; ++i) {
      largest = std::max<Bits>(largest, bits[i] & kMagnitude);
    }
    return largest < infinite;
  };
  if (dtype == DType::kF32) return is_below(uint32_t{0}, 0x7F800000);
  return is_below(uint16_t{0}, dtype == DType::kBF16 ? 0x7F80 : 0x7C00);
}

// Halves as f32, and back.
void Widen(DType dtype, const char* from, int64_t n, char* to) {
  VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsHalf<T>) {
      const T* in = reinterpret_cast<const T*>(from);
      float* out = reinterpret_cast<float*>(to);
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(in[i]);
    }
  });
}
void Round(DType dtype, const char* from, int64_t n, char* to) {
  VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsHalf<T>) {
      const float* in = reinterpret_cast<const float*>(from);
      T* out = reinterpret_cast<T*>(to);
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(in[i]);
    }
  });
}

// The places of a kernel of `bytes`, from the last to the first.
void TurnAround(const char* kernel, int64_t places, int64_t bytes, char* to) {
  const int64_t size = bytes / places;
  for (int64_t p = 0; p < places; ++p) {
    std::memcpy(to + p * size, kernel + (places - 1 - p) * size, size);
  }
}

class LibraryConvolution {
 public:
  LibraryConvolution(const KernelContext& c, const Dnnl& dnnl, Sizes whole,
                     bool widens)
      : c_(c),
        dnnl_(dnnl),
        dtype_(c.shape(0).dtype()),
        widens_(widens),
        cut_(std::move(whole)),
        whole_(cut_.whole()) {}

  // Makes the library's kernels ready. Errors: kUnimplemented.
  absl::Status Begin() {
    for (const Box& box : cut_.boxes()) {
      HAWSER_RETURN_IF_ERROR(AddCall(cut_.SizesOf(box)));
    }
    return PackKernels();
  }

  absl::Status Run(char* result, const GemmTail* tail) const {
    TraceSpan span("run", "library convolution");
    double products = 0;
    for (const Box& box : cut_.boxes()) products += cut_.ProductsOf(box);
    span.Add("lanes", static_cast<int64_t>(2 * products));
    const std::vector<Box>& boxes = cut_.boxes();
    return ForEachBlock(c_.environment.pool, static_cast<int64_t>(boxes.size()),
                        c_.environment.cancel, [&](int64_t b) -> absl::Status {
                          HAWSER_RETURN_IF_ERROR(RunBox(boxes[b], result));
                          if (tail == nullptr) return absl::OkStatus();
                          return (*tail)(cut_.MatrixBox(boxes[b]));
                        });
  }

 private:
  // One call of the library, for boxes of these sizes.
  struct Call {
    Sizes sizes;
    DnnlConvolution::Ptr convolution;
    int kernel = -1;  // of kernels_
  };

  const Call* CallOf(const Sizes& sizes) const {
    const auto call =
        std::find_if(calls_.begin(), calls_.end(),
                     [&](const Call& known) { return known.sizes == sizes; });
    return call == calls_.end() ? nullptr : &*call;
  }

  absl::Status AddCall(const Sizes& sizes) {
    if (CallOf(sizes) != nullptr) return absl::OkStatus();
    if (*std::min_element(sizes.low.begin(), sizes.low.end()) < 0) {
      return Unimplemented("windows that begin behind their rows");
    }
    HAWSER_ASSIGN_OR_RETURN(DnnlConvolution::Ptr convolution,
                            DnnlConvolution::Find(dnnl_, sizes));
    calls_.push_back({sizes, std::move(convolution)});
    return absl::OkStatus();
  }

  absl::StatusOr<Literal> Allocate(int64_t bytes) const {
    return c_.environment.allocator->Allocate(
        Shape::Of(DType::kU8, {std::max<int64_t>(bytes, 1)}),
        c_.environment.memory);
  }

  absl::Status PackKernels() {
    const char* kernel = c_.data(1);
    const int64_t n = c_.shape(1).num_elements();
    Literal wide, turned;
    if (widens_) {
      HAWSER_ASSIGN_OR_RETURN(wide, Allocate(n * kF32));
      Widen(dtype_, kernel, n, wide.mutable_bytes().data());
      kernel = wide.bytes().data();
    }
    if (whole_.is_transposed) {
      const int64_t bytes = n * ByteWidth(whole_.dtype);
      HAWSER_ASSIGN_OR_RETURN(turned, Allocate(bytes));
      TurnAround(kernel, static_cast<int64_t>(Product(whole_.kernel)), bytes,
                 turned.mutable_bytes().data());
      kernel = turned.bytes().data();
    }
    for (size_t k = 0; k < calls_.size(); ++k) {
      const auto same = std::find_if(
          calls_.begin(), calls_.begin() + static_cast<int64_t>(k),
          [&](const Call& other) {
            return other.convolution->HasOrderOf(*calls_[k].convolution);
          });
      if (same->kernel >= 0) {
        calls_[k].kernel = same->kernel;
        continue;
      }
      HAWSER_ASSIGN_OR_RETURN(Literal packed,
                              Allocate(calls_[k].convolution->kernel_bytes()));
      HAWSER_RETURN_IF_ERROR(
          calls_[k].convolution->Pack(kernel, packed.mutable_bytes().data()));
      calls_[k].kernel = static_cast<int>(kernels_.size());
      kernels_.push_back(std::move(packed));
    }
    return absl::OkStatus();
  }

  absl::Status RunBox(const Box& box, char* result) const {
    const Call& call = *CallOf(cut_.SizesOf(box));
    const int64_t row_of_x =
        static_cast<int64_t>(Product(whole_.x) /
                             static_cast<double>(whole_.x[0])) *
        whole_.features;
    const int64_t row =
        static_cast<int64_t>(Product(whole_.result) /
                             static_cast<double>(whole_.result[0])) *
        whole_.out;
    const auto [begin, end] = cut_.RowsOfX(box);
    const int64_t width = ByteWidth(dtype_);
    const int64_t first = (box.image * whole_.x[0] + begin) * row_of_x;
    const char* x = c_.data(0) + first * width;
    char* const to =
        result + (box.image * whole_.result[0] + box.row) * row * width;
    HAWSER_ASSIGN_OR_RETURN(Literal scratch,
                            Allocate(call.convolution->scratch_bytes()));
    const char* const kernel = kernels_[call.kernel].bytes().data();
    char* const room = scratch.mutable_bytes().data();
    const int64_t from_n = box.images * (end - begin) * row_of_x;
    const int64_t to_n = box.images * box.rows * row;
    if (widens_) {
      HAWSER_ASSIGN_OR_RETURN(Literal wide, Allocate((from_n + to_n) * kF32));
      char* const wide_x = wide.mutable_bytes().data();
      char* const wide_result = wide_x + from_n * kF32;
      Widen(dtype_, x, from_n, wide_x);
      HAWSER_RETURN_IF_ERROR(
          call.convolution->Run(wide_x, kernel, wide_result, room));
      Round(dtype_, wide_result, to_n, to);
    } else {
      HAWSER_RETURN_IF_ERROR(call.convolution->Run(x, kernel, to, room));
    }
    // As the row's cost counts it, with windows that are read.
    const double products = cut_.ProductsOf(box);
    return c_.environment.Look(GemmSteps(DType::kF32) * products +
                               products / static_cast<double>(whole_.out) +
                               static_cast<double>(to_n));
  }

  const KernelContext& c_;
  const Dnnl& dnnl_;
  const DType dtype_;
  const bool widens_;  // to f32, box by box
  const Boxes cut_;
  const Sizes& whole_;
  std::vector<Call> calls_;
  std::vector<Literal> kernels_;
};

}  // namespace

absl::Status RunLibraryConvolution(const KernelContext& c,
                                   const ConvolutionSpec& spec,
                                   const Dnnl& dnnl, char* result,
                                   const GemmTail* tail) {
  const DType dtype = c.shape(0).dtype();
  Sizes whole;
  const bool is_of_floats =
      dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
  if (!is_of_floats || !FindSizes(c, spec, &whole) ||
      !IsFinite(dtype, c.data(1), c.shape(1).num_elements())) {
    return Unimplemented("no convolution of oneDNN");
  }
  const bool takes_halves =
      dtype == DType::kBF16 && dnnl.is_fast() && whole.groups == 1 &&
      whole.features >= kFeaturesOfHalves && whole.out >= kFeaturesOfHalves;
  const bool widens = dtype != DType::kF32 && !takes_halves;
  whole.dtype = widens ? DType::kF32 : dtype;
  LibraryConvolution convolution(c, dnnl, std::move(whole), widens);
  HAWSER_RETURN_IF_ERROR(convolution.Begin());
  return convolution.Run(result, tail);
}

}  // namespace hawser::cpu
