// Results put together from operands and padding: concatenate and pad, written
// in pieces that the nearest cache holds.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ops/movement/shape.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/joining/runs.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {
namespace {

// Results of fewer bytes are not worth a row's call within a planned module.
constexpr int64_t kWorthARow = 4096;
// Bytes of a padded piece: its padding is written before its elements are.
constexpr int64_t kPaddedBlock = int64_t{1} << 14;

// The operand's elements, copied where they lie in the result's memory.
absl::StatusOr<const char*> Apart(const KernelContext& c, int operand,
                                  const char* result, Literal* copy) {
  const auto bytes = c.operands[operand].bytes();
  if (bytes.data() != result || bytes.empty()) return bytes.data();
  HAWSER_ASSIGN_OR_RETURN(*copy, c.Allocate(c.shape(operand)));
  std::memcpy(copy->mutable_bytes().data(), bytes.data(), bytes.size());
  return copy->bytes().data();
}

// ---- concatenate ------------------------------------------------------------

// Bytes [begin, end) of the rows of `pitch` bytes that the sources make.
void JoinBytes(absl::Span<const RunSource> sources, int64_t pitch,
               int64_t begin, int64_t end, char* to) {
  for (int64_t row = begin / pitch; row * pitch < end; ++row) {
    int64_t at = row * pitch;
    for (const RunSource& source : sources) {
      const int64_t first = std::max(at, begin);
      const int64_t last = std::min(at + source.bytes, end);
      if (first < last) {
        std::memcpy(to + first, source.data + row * source.bytes + first - at,
                    last - first);
      }
      at += source.bytes;
    }
  }
}

absl::StatusOr<Literals> RunConcatenate(const KernelContext& c) {
  if (c.operands.size() == 1) return Literals{std::move(c.operands[0])};
  const Shape& shape = c.result_shape();
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(shape));
  if (shape.num_elements() == 0) return Literals{std::move(out)};
  char* const to = out.mutable_bytes().data();
  const auto axis = static_cast<int>(c.attributes().GetInt("dimension"));
  const int64_t width = ByteWidth(shape.dtype());
  const int64_t after = shape.Strides()[axis] * width;
  const int64_t pitch = shape.dim(axis) * after;
  std::vector<RunSource> sources;
  Literal copy;
  for (size_t k = 0; k < c.operands.size(); ++k) {
    const int operand = static_cast<int>(k);
    HAWSER_ASSIGN_OR_RETURN(const char* data, Apart(c, operand, to, &copy));
    sources.push_back({data, c.shape(operand).dim(axis) * after});
  }
  if (pitch > kRunsBlock) {
    HAWSER_RETURN_IF_ERROR(
        c.ForRanges(shape.num_elements(), 1, [&](int64_t begin, int64_t end) {
          JoinBytes(sources, pitch, begin * width, end * width, to);
          return absl::OkStatus();
        }));
    return Literals{std::move(out)};
  }
  const int64_t rows = shape.num_elements() * width / pitch;
  const bool past_caches = shape.byte_size() > kPastCaches;
  HAWSER_RETURN_IF_ERROR(c.ForRanges(rows, static_cast<double>(pitch / width),
                                     [&](int64_t begin, int64_t end) {
                                       std::vector<RunSource> part = sources;
                                       for (RunSource& source : part)
                                         source.data += begin * source.bytes;
                                       JoinRows(part, end - begin, past_caches,
                                                to + begin * pitch);
                                       return absl::OkStatus();
                                     }));
  return Literals{std::move(out)};
}

// ---- pad --------------------------------------------------------------------

// Elements of one axis of the operand, and where they stand in the result.
struct Landing {
  int64_t first = 0, count = 0;
  int64_t to = 0;  // where `first` stands
};

struct PaddedAxis {
  int64_t from = 1, to = 1;  // elements of the operand and of the result
  int64_t low = 0, step = 1;

  // Returns the elements that stand in [begin, end) of the result.
  Landing Within(int64_t begin, int64_t end) const {
    const auto from_place = [&](int64_t place) {
      return place <= low ? 0 : std::min(from, (place - low - 1) / step + 1);
    };
    const int64_t first = from_place(begin);
    return {first, from_place(end) - first, low + first * step};
  }
};

class PaddedRuns {
 public:
  PaddedRuns(const KernelContext& c, char* to, const char* from)
      : width_(ByteWidth(c.result_shape().dtype())),
        value_(c.data(1)),
        from_(from),
        to_(to),
        past_caches_(c.result_shape().byte_size() > kPastCaches) {
    const Shape& operand = c.shape(0);
    const Shape& result = c.result_shape();
    const auto low = c.attributes().GetInts("edge_padding_low");
    const auto interior = c.attributes().GetInts("interior_padding");
    for (int a = 0; a < operand.rank(); ++a) {
      axes_.push_back({operand.dim(a), result.dim(a), low[a], interior[a] + 1});
    }
    if (axes_.empty()) axes_.push_back({});
    CutIntoBlocks();
  }

  int64_t blocks() const { return blocks_; }
  double elements_of_a_block() const {
    return static_cast<double>(rows_ * row_ / width_);
  }

  void Run(int64_t block) const {
    const PaddedAxis& axis = axes_[cut_];
    const int64_t along = (axis.to + rows_ - 1) / rows_;
    const int64_t begin = block % along * rows_;
    const int64_t end = std::min(begin + rows_, axis.to);
    int64_t outer = block / along;
    char* const to = to_ + (outer * axis.to + begin) * row_;
    const char* from = from_;
    const Landing rows = axis.Within(begin, end);
    bool lands = rows.count > 0 && lands_;
    for (int a = cut_ - 1; a >= 0; --a) {
      const int64_t index = outer % axes_[a].to;
      outer /= axes_[a].to;
      const Landing at = axes_[a].Within(index, index + 1);
      lands = lands && at.count > 0;
      from += at.first * strides_[a];
    }
    // The first element that is copied, and where it goes.
    from += rows.first * strides_[cut_] + first_;
    const int64_t at = (rows.to - begin) * row_ + first_to_;
    const int64_t bytes = (end - begin) * row_;
    alignas(64) char room[kPaddedBlock];
    char* const written = past_caches_ && bytes <= kPaddedBlock ? room : to;
    const bool is_all = lands && is_dense_ && rows.count == end - begin;
    if (!is_all) Fill(bytes, written);
    if (lands) Copy(from, written + at, rows.count);
    if (written != to) CopyOut(written, bytes, /*past_caches=*/true, to);
  }

 private:
  // An axis of the elements that are copied, in bytes.
  struct Axis {
    int64_t count, from, to;
  };

  // A block is rows along the axis `cut_`, of all that the axes behind it have.
  void CutIntoBlocks() {
    strides_.resize(axes_.size());
    int64_t stride = width_;
    for (size_t a = axes_.size(); a-- > 0;) {
      strides_[a] = stride;
      stride *= axes_[a].from;
    }
    row_ = run_ = width_;
    cut_ = static_cast<int>(axes_.size()) - 1;
    for (; cut_ > 0 && row_ * axes_[cut_].to <= kPaddedBlock; --cut_) {
      AddInner(axes_[cut_], strides_[cut_]);
    }
    rows_ = std::clamp<int64_t>(kPaddedBlock / std::max<int64_t>(row_, 1), 1,
                                std::max<int64_t>(axes_[cut_].to, 1));
    blocks_ = row_ == 0 ? 0 : (axes_[cut_].to + rows_ - 1) / rows_;
    for (int a = 0; a < cut_; ++a) blocks_ *= axes_[a].to;
  }

  void AddInner(const PaddedAxis& axis, int64_t stride) {
    const Landing all = axis.Within(0, axis.to);
    const int64_t to = axis.step * row_;
    lands_ = lands_ && all.count > 0;
    is_dense_ = is_dense_ && all.count == axis.to;
    first_ += all.first * stride;
    first_to_ += all.to * row_;
    row_ *= axis.to;
    if (all.count == 1) return;
    if (inner_.empty() && stride == run_ && to == run_) {
      run_ *= all.count;
    } else {
      inner_.push_back({all.count, stride, to});
    }
  }

  void Fill(int64_t bytes, char* to) const {
    VisitWidth(width_, [&](auto tag) {
      using W = typename decltype(tag)::type;
      std::fill_n(reinterpret_cast<W*>(to), bytes / width_,
                  *reinterpret_cast<const W*>(value_));
    });
  }

  // `rows` along the axis that is cut.
  void Copy(const char* from, char* to, int64_t rows) const {
    const PaddedAxis& cut = axes_[cut_];
    absl::InlinedVector<Axis, 6> axes(inner_.begin(), inner_.end());
    if (rows > 1) axes.push_back({rows, strides_[cut_], cut.step * row_});
    if (axes.empty()) {
      std::memcpy(to, from, run_);
      return;
    }
    const auto longest = std::max_element(
        axes.begin(), axes.end(),
        [](const Axis& a, const Axis& b) { return a.count < b.count; });
    std::swap(axes.front(), *longest);
    CopyAxes(axes, from, to);
  }

  // The first one is the innermost loop.
  void CopyAxes(absl::Span<const Axis> axes, const char* from, char* to) const {
    const Axis& axis = axes.back();
    if (axes.size() == 1) {
      return CopyRuns(from, axis.from, run_, axis.count, to, axis.to);
    }
    axes.remove_suffix(1);
    for (int64_t i = 0; i < axis.count; ++i) {
      CopyAxes(axes, from + i * axis.from, to + i * axis.to);
    }
  }

  const int64_t width_;
  const char* const value_;
  const char* const from_;
  char* const to_;
  const bool past_caches_;
  absl::InlinedVector<PaddedAxis, 6> axes_;
  absl::InlinedVector<int64_t, 6> strides_;  // of the operand, in bytes
  int cut_ = 0;
  int64_t rows_ = 1, row_ = 0, blocks_ = 0;
  // One row has these runs of the operand, along axes, innermost first.
  int64_t run_ = 0;
  absl::InlinedVector<Axis, 6> inner_;
  int64_t first_ = 0, first_to_ = 0;
  bool lands_ = true, is_dense_ = true;
};

absl::StatusOr<Literals> RunPad(const KernelContext& c) {
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(c.result_shape()));
  if (c.result_shape().num_elements() == 0) return Literals{std::move(out)};
  char* const to = out.mutable_bytes().data();
  Literal copy;
  HAWSER_ASSIGN_OR_RETURN(const char* from, Apart(c, 0, to, &copy));
  const PaddedRuns padding(c, to, from);
  HAWSER_RETURN_IF_ERROR(c.ForRanges(padding.blocks(),
                                     2 * padding.elements_of_a_block(),
                                     [&](int64_t begin, int64_t end) {
                                       for (int64_t b = begin; b < end; ++b)
                                         padding.Run(b);
                                       return absl::OkStatus();
                                     }));
  return Literals{std::move(out)};
}

constexpr CpuKernel kKernels[] = {
    {.op = &kConcatenate,
     .run = RunConcatenate,
     .cost = ResultCost,
     .alone_from = kWorthARow},
    {.op = &kPad, .run = RunPad, .alone_from = kWorthARow},
};

}  // namespace

absl::Span<const CpuKernel> JoinedKernels() { return kKernels; }

}  // namespace hawser::cpu
