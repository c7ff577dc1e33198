#include "client/sdk/ops/indexing/subscript.h"

#include <utility>
#include <vector>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/ops/indexing/index.h"
#include "core/base/status.h"
#include "core/ops/movement/slice.h"

namespace hawser {

// One use of x[...].
class Subscript {
 public:
  Subscript(const Tensor& x, absl::Span<const Index> indices)
      : x_(x),
        indices_(indices),
        scope_("operator[]", Where(indices), Operands(x, indices),
               {Numbers(indices)}) {}

  Tensor Part() {
    if (!scope_.ok()) return scope_.error();
    const absl::Status planned = Plan();
    if (!planned.ok()) return scope_.Fail(planned);
    Tensor part = Sliced();
    // From the back, so that the axes before keep their numbers.
    for (auto take = takes_.rbegin(); take != takes_.rend(); ++take) {
      part = Take(part, *take->entries, take->axis);
    }
    if (part.dtype() == DType::kInvalid) return part;
    return scope_.Reshape(part, Result(part.shape()));
  }

 private:
  using Kind = Index::Kind;
  struct Taking {
    const Tensor* entries;
    int axis;
  };
  // How the axis of the sliced, then taken, tensor ends up in the result.
  enum class Becomes : uint8_t { kNothing, kItself, kNew, kEntries };

  static SourceLocation Where(absl::Span<const Index> indices) {
    return indices.empty() ? SourceLocation{} : indices[0].where_;
  }
  static std::vector<Tensor> Operands(const Tensor& x,
                                      absl::Span<const Index> indices) {
    std::vector<Tensor> operands = {x};
    for (const Index& index : indices) {
      if (index.kind_ == Kind::kEntries) operands.push_back(index.entries_);
    }
    return operands;
  }
  static Dims Numbers(absl::Span<const Index> indices) {
    Dims numbers;
    for (const Index& i : indices) {
      numbers.insert(numbers.end(), {i.begin_, i.end_.value_or(0), i.stride_});
    }
    return numbers;
  }
  static bool UsesAxis(const Index& index) {
    return index.kind_ != Kind::kNewAxis && index.kind_ != Kind::kRest;
  }

  void AddPart(int64_t start, int64_t length, int64_t stride) {
    starts_.push_back(start);
    lengths_.push_back(length);
    strides_.push_back(stride);
  }
  void AddWhole() {
    AddPart(0, x_.shape().dim(lengths_.size()), 1);
    becomes_.push_back(Becomes::kItself);
  }

  absl::Status Plan() {
    int used = 0, rests = 0;
    for (const Index& index : indices_) {
      used += UsesAxis(index);
      rests += index.kind_ == Kind::kRest;
    }
    if (used > x_.rank()) {
      return InvalidArgument(used, " indices for ", x_.rank(), " axes");
    }
    if (rests > 1) return InvalidArgument("Rest stands there twice");
    for (const Index& index : indices_) {
      HAWSER_RETURN_IF_ERROR(PlanOne(index, x_.rank() - used));
    }
    while (static_cast<int>(lengths_.size()) < x_.rank()) AddWhole();
    return absl::OkStatus();
  }

  absl::Status PlanOne(const Index& index, int left) {
    switch (index.kind_) {
      case Kind::kEntry:
        return PlanEntry(index.begin_);
      case Kind::kEntries:
        return PlanEntries(index.entries_);
      case Kind::kRange:
        return PlanRange(index);
      case Kind::kNewAxis:
        becomes_.push_back(Becomes::kNew);
        return absl::OkStatus();
      case Kind::kRest:
        while (left-- > 0) AddWhole();
        return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  absl::Status PlanEntry(int64_t entry) {
    const int64_t axis = lengths_.size(), size = x_.shape().dim(axis);
    if (entry < -size || entry >= size) {
      return InvalidArgument("index ", entry, " of axis ", axis,
                             " is outside its size ", size);
    }
    AddPart(entry < 0 ? entry + size : entry, 1, 1);
    becomes_.push_back(Becomes::kNothing);
    return absl::OkStatus();
  }

  absl::Status PlanRange(const Index& index) {
    const int64_t axis = lengths_.size(), size = x_.shape().dim(axis);
    const auto place = [&](int64_t at) { return at < 0 ? at + size : at; };
    const int64_t begin = place(index.begin_);
    const int64_t end = place(index.end_.value_or(size));
    if (index.stride_ < 1) {
      return InvalidArgument("stride ", index.stride_, " of axis ", axis,
                             " is below 1; Reverse turns an axis round");
    }
    if (begin < 0 || end < begin || end > size) {
      return InvalidArgument("range ", index.begin_, " to ",
                             index.end_.value_or(size), " of axis ", axis,
                             " is not inside its size ", size);
    }
    AddPart(begin, end - begin, index.stride_);
    becomes_.push_back(Becomes::kItself);
    return absl::OkStatus();
  }

  absl::Status PlanEntries(const Tensor& entries) {
    if (IsBool(entries.dtype())) {
      return InvalidArgument(
          "a mask selects as many entries as it has true ones, and shapes do "
          "not depend on values; use Select");
    }
    if (!IsInteger(entries.dtype())) {
      return InvalidArgument("indices are integers, not ",
                             DTypeName(entries.dtype()));
    }
    for (const Taking& other : takes_) {
      if (other.entries->rank() == 0 || entries.rank() == 0) continue;
      return InvalidArgument(
          "at most one index may be a tensor that is no "
          "scalar; use Gather");
    }
    takes_.push_back({&entries, static_cast<int>(lengths_.size())});
    AddWhole();
    becomes_.back() = Becomes::kEntries;
    return absl::OkStatus();
  }

  // The part in the axes of x. In a trace the starts are part of the graph,
  // outside parameters.
  Tensor Sliced() const {
    const bool whole = lengths_ == x_.shape().dims();
    const Dims ones(strides_.size(), 1);
    if (whole && strides_ == ones) return x_;
    if (whole || sdk::Trace::Current() != nullptr) {
      return Slice(x_, starts_, lengths_, strides_);
    }
    const std::vector<Operand> starts(starts_.begin(), starts_.end());
    const Tensor part = DynamicSlice(x_, starts, lengths_);
    if (strides_ == ones) return part;
    return Slice(part, Dims(ones.size(), 0), lengths_, strides_);
  }

  // The sizes of the result, from those of what was sliced and taken.
  Dims Result(const Shape& part) const {
    Dims dims;
    size_t axis = 0, take = 0;
    for (Becomes becomes : becomes_) {
      if (becomes == Becomes::kNew) {
        dims.push_back(1);
        continue;
      }
      const int entries =
          becomes == Becomes::kEntries ? takes_[take++].entries->rank() : 1;
      for (int i = 0; i < entries; ++i, ++axis) {
        if (becomes != Becomes::kNothing) dims.push_back(part.dim(axis));
      }
    }
    return dims;
  }

  const Tensor x_;
  const absl::Span<const Index> indices_;
  const sdk::OpScope scope_;
  Dims starts_, lengths_, strides_;
  std::vector<Taking> takes_;
  std::vector<Becomes> becomes_;
};

Tensor Tensor::operator[](const Index& index) const {
  return Subscript(*this, {&index, 1}).Part();
}

Tensor Tensor::operator[](std::initializer_list<Index> indices) const {
  return Subscript(*this, {indices.begin(), indices.size()}).Part();
}

}  // namespace hawser
