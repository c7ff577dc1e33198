// dot_general: both operands, converted to the result's dtype where no library
// takes them as they are, seen as batches
// of matrices, by strides where they allow it and by a transposed copy where
// not, then RunGemm.
#include "core/ops/contraction/dot.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/status.h"
#include "core/ops/elementwise/convert.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/movement/strided.h"
#include "kernels/cpu/products/dot.h"

namespace hawser::cpu {
namespace {

using Axes = Dims;

// One operand's axes by their part in the product.
struct OperandAxes {
  OperandAxes(const KernelContext& c, int operand)
      : operand(operand),
        shape(c.shape(operand)),
        batch(ToAxes(c.attributes().GetInts(operand == 0
                                                ? "lhs_batching_dimensions"
                                                : "rhs_batching_dimensions"))),
        contracting(ToAxes(c.attributes().GetInts(
            operand == 0 ? "lhs_contracting_dimensions"
                         : "rhs_contracting_dimensions"))) {
    for (int i = 0; i < shape.rank(); ++i) {
      if (!Contains(batch, i) && !Contains(contracting, i)) free.push_back(i);
    }
  }
  static Axes ToAxes(absl::Span<const int64_t> axes) {
    return Axes(axes.begin(), axes.end());
  }
  int64_t Size(const Axes& axes) const {
    int64_t size = 1;
    for (int64_t axis : axes) size *= shape.dim(axis);
    return size;
  }

  const int operand;
  const Shape& shape;
  Axes batch, contracting, free;
};

// The stride of these axes taken as one, the last one fastest; nothing when
// they do not run into each other.
std::optional<int64_t> StrideOf(const OperandAxes& side, const Axes& axes) {
  const Dims strides = side.shape.Strides();
  int64_t stride = 1;
  int64_t next = 0;  // what the stride of the axis before must be
  for (size_t i = axes.size(); i-- > 0;) {
    const int64_t size = side.shape.dim(axes[i]);
    if (size == 1) continue;
    if (next == 0) {
      stride = strides[axes[i]];
    } else if (strides[axes[i]] != next) {
      return std::nullopt;
    }
    next = strides[axes[i]] * size;
  }
  return stride;
}

// The operand as matrices of free x contracting, if strides can say so.
std::optional<Matrix> ViewOf(const OperandAxes& side) {
  const auto batch = StrideOf(side, side.batch);
  const auto free = StrideOf(side, side.free);
  const auto contracting = StrideOf(side, side.contracting);
  if (!batch || !free || !contracting) return std::nullopt;
  if (*free != 1 && *contracting != 1) return std::nullopt;
  return Matrix{nullptr, *batch, *free, *contracting};
}

void Reorder(Axes* axes, absl::Span<const int> order) {
  Axes moved;
  for (int i : order) moved.push_back((*axes)[i]);
  *axes = std::move(moved);
}

// The contracting axes may be taken in any order, the same on both sides. There
// are two orders, those of either operand's memory; the one that leaves fewer
// elements to copy is taken.
void ChooseOrder(OperandAxes* lhs, OperandAxes* rhs) {
  auto sorted_by = [](const Axes& axes) {
    std::vector<int> order(axes.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return axes[a] < axes[b]; });
    return order;
  };
  auto copied = [](const OperandAxes& side) {
    return ViewOf(side).has_value() ? 0 : side.shape.num_elements();
  };
  OperandAxes by_rhs[] = {*lhs, *rhs};
  const std::vector<int> order = sorted_by(rhs->contracting);
  for (OperandAxes& side : by_rhs) Reorder(&side.contracting, order);
  const std::vector<int> other = sorted_by(lhs->contracting);
  Reorder(&lhs->contracting, other);
  Reorder(&rhs->contracting, other);
  if (copied(by_rhs[0]) + copied(by_rhs[1]) < copied(*lhs) + copied(*rhs)) {
    lhs->contracting = by_rhs[0].contracting;
    rhs->contracting = by_rhs[1].contracting;
  }
}

int ConvertSteps(DType from, DType to) {
  const ElementSteps& steps = FindCpuKernel(kConvert)->steps;
  return std::max(steps.Of(from), steps.Of(to));
}

// The operand's elements in that dtype.
absl::StatusOr<Literal> Converted(const KernelContext& c, int operand,
                                  DType to) {
  const DType from = c.shape(operand).dtype();
  if (from == to) return c.operands[operand];
  const ElementFn convert =
      FindCpuKernel(kConvert)->element({{&from, 1}, to, c.attributes()});
  HAWSER_ASSIGN_OR_RETURN(Literal out,
                          c.Allocate(Shape::Of(to, c.shape(operand).dims())));
  const char* in = c.data(operand);
  char* const all = out.mutable_bytes().data();
  HAWSER_RETURN_IF_ERROR(
      c.ForRanges(out.shape().num_elements(), ConvertSteps(from, to),
                  [&](int64_t begin, int64_t end) {
                    const char* const first = in + begin * ByteWidth(from);
                    convert(&first, all + begin * ByteWidth(to), end - begin);
                    return absl::OkStatus();
                  }));
  return out;
}

// The same as ViewOf, in that dtype. `storage` holds the elements.
absl::StatusOr<Matrix> MatrixOf(const KernelContext& c, const OperandAxes& side,
                                DType dtype, Literal* storage) {
  HAWSER_ASSIGN_OR_RETURN(*storage, Converted(c, side.operand, dtype));
  if (auto view = ViewOf(side)) {
    view->data = storage->bytes().data();
    return *view;
  }
  const Literal stored = std::move(*storage);
  const Dims strides = side.shape.Strides();
  Dims dims, from;
  for (const Axes* axes : {&side.batch, &side.free, &side.contracting}) {
    for (int64_t axis : *axes) {
      dims.push_back(side.shape.dim(axis));
      from.push_back(strides[axis]);
    }
  }
  HAWSER_ASSIGN_OR_RETURN(*storage, c.Allocate(Shape::Of(dtype, dims)));
  const StridedCopy copy(ByteWidth(dtype), dims, storage->shape().Strides(),
                         from);
  HAWSER_RETURN_IF_ERROR(
      copy.Run(c, storage->mutable_bytes().data(), stored.bytes().data()));
  const int64_t k = side.Size(side.contracting);
  return Matrix{storage->bytes().data(), side.Size(side.free) * k, k, 1};
}

absl::StatusOr<Literals> RunDotGeneral(const KernelContext& c) {
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(c.result_shape()));
  HAWSER_RETURN_IF_ERROR(RunProduct(c, out.mutable_bytes().data(), nullptr));
  return Literals{std::move(out)};
}

// Steps of an element that a product reads where it is.
constexpr double kReadSteps = 0.25;

double DotCost(const CostContext& c) {
  double products = c.elements(c.result());
  for (int64_t axis :
       c.instruction.attributes.GetInts("lhs_contracting_dimensions")) {
    products *= static_cast<double>(c.operand(0).dim(axis));
  }
  const DType from = c.operand(0).dtype(), to = c.result().dtype();
  const double read = c.elements(c.operand(0)) + c.elements(c.operand(1));
  if (TakesFactors(from, to, Libraries::OfProcess()) &&
      IsWorthConverting(products, read + c.elements(c.result()))) {
    return products * GemmSteps(from, to) + read + 2 * ResultCost(c);
  }
  return products * GemmSteps(to) +
         read * (from == to ? kReadSteps : 1 + ConvertSteps(from, to)) +
         ResultCost(c);
}

constexpr CpuKernel kDotKernels[] = {
    {&kDotGeneral, RunDotGeneral, nullptr, DotCost},
};

}  // namespace

absl::Span<const CpuKernel> DotKernels() { return kDotKernels; }

absl::Status RunProduct(const KernelContext& c, char* to,
                        const GemmTail* tail) {
  OperandAxes lhs(c, 0);
  OperandAxes rhs(c, 1);
  GemmProblem problem{.dtype = c.result_shape().dtype(),
                      .batches = lhs.Size(lhs.batch),
                      .m = lhs.Size(lhs.free),
                      .n = rhs.Size(rhs.free),
                      .k = lhs.Size(lhs.contracting),
                      .c = to,
                      .tail = tail};
  Literal left, right;
  const Libraries libraries = Libraries::OfProcess();
  DType dtype = c.shape(0).dtype();
  if (dtype != problem.dtype) {
    problem.factors = dtype;
    if (!TakesFactors(problem, c.environment, libraries)) {
      problem.factors = dtype = problem.dtype;
    }
  }
  if (problem.k != 0 && c.result_shape().num_elements() != 0) {
    ChooseOrder(&lhs, &rhs);
    HAWSER_ASSIGN_OR_RETURN(problem.a, MatrixOf(c, lhs, dtype, &left));
    HAWSER_ASSIGN_OR_RETURN(problem.b, MatrixOf(c, rhs, dtype, &right));
    std::swap(problem.b.row_stride, problem.b.column_stride);
  }
  return RunGemm(problem, c.environment, libraries);
}

}  // namespace hawser::cpu
