// dot_general: both operands, converted to the result's dtype where no library
// takes them as they are, seen as batches
// of matrices, by strides where they allow it and by a transposed copy where
// not, then RunGemm.
#include "core/ops/contraction/dot.h"

#include <algorithm>
#include <memory>
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
  OperandAxes(const Shape& of_operand, const Attributes& attributes,
              int operand)
      : operand(operand),
        shape(of_operand),
        batch(ToAxes(attributes.GetInts(operand == 0
                                            ? "lhs_batching_dimensions"
                                            : "rhs_batching_dimensions"))),
        contracting(ToAxes(
            attributes.GetInts(operand == 0 ? "lhs_contracting_dimensions"
                                            : "rhs_contracting_dimensions"))) {
    for (int i = 0; i < shape.rank(); ++i) {
      if (!Contains(batch, i) && !Contains(contracting, i)) free.push_back(i);
    }
    strides = shape.Strides();
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
  const Shape shape;
  Axes batch, contracting, free;
  Dims strides;
};

// The stride of these axes taken as one, the last one fastest; nothing when
// they do not run into each other.
std::optional<int64_t> StrideOf(const OperandAxes& side, const Axes& axes) {
  int64_t stride = 1;
  int64_t next = 0;  // what the stride of the axis before must be
  for (size_t i = axes.size(); i-- > 0;) {
    const int64_t size = side.shape.dim(axes[i]);
    if (size == 1) continue;
    if (next == 0) {
      stride = side.strides[axes[i]];
    } else if (side.strides[axes[i]] != next) {
      return std::nullopt;
    }
    next = side.strides[axes[i]] * size;
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
  if (lhs->contracting.size() < 2) return;
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

// A dot_general as batches of matrices.
struct ProductForm final : public KernelForm {
  ProductForm(const Computation& c, const Instruction& i)
      : lhs(c.shape(i.operands[0]), i.attributes, 0),
        rhs(c.shape(i.operands[1]), i.attributes, 1) {
    ChooseOrder(&lhs, &rhs);
    left = ViewOf(lhs);
    right = ViewOf(rhs);
    problem = {.dtype = c.shape(i.first_result).dtype(),
               .batches = lhs.Size(lhs.batch),
               .m = lhs.Size(lhs.free),
               .n = rhs.Size(rhs.free),
               .k = lhs.Size(lhs.contracting)};
  }

  OperandAxes lhs, rhs;
  std::optional<Matrix> left, right;  // without data; nullopt: to be copied
  GemmProblem problem;                // without matrices
};

std::unique_ptr<const KernelForm> FormOfDot(const Computation& computation,
                                            const Instruction& dot) {
  return std::make_unique<const ProductForm>(computation, dot);
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

// The operand in that dtype, as `view` sees it or else copied. `storage` holds
// the elements.
absl::StatusOr<Matrix> MatrixOf(const KernelContext& c, const OperandAxes& side,
                                std::optional<Matrix> view, DType dtype,
                                Literal* storage) {
  HAWSER_ASSIGN_OR_RETURN(*storage, Converted(c, side.operand, dtype));
  if (view.has_value()) {
    view->data = storage->bytes().data();
    return *view;
  }
  const Literal stored = std::move(*storage);
  Dims dims, from;
  for (const Axes* axes : {&side.batch, &side.free, &side.contracting}) {
    for (int64_t axis : *axes) {
      dims.push_back(side.shape.dim(axis));
      from.push_back(side.strides[axis]);
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
    {.op = &kDotGeneral,
     .run = RunDotGeneral,
     .cost = DotCost,
     .form = FormOfDot},
};

}  // namespace

absl::Span<const CpuKernel> DotKernels() { return kDotKernels; }

absl::Status RunProduct(const KernelContext& c, char* to,
                        const GemmTail* tail) {
  const auto& form = static_cast<const ProductForm&>(*c.form);
  GemmProblem problem = form.problem;
  problem.c = to;
  problem.tail = tail;
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
    HAWSER_ASSIGN_OR_RETURN(problem.a,
                            MatrixOf(c, form.lhs, form.left, dtype, &left));
    HAWSER_ASSIGN_OR_RETURN(problem.b,
                            MatrixOf(c, form.rhs, form.right, dtype, &right));
    std::swap(problem.b.row_stride, problem.b.column_stride);
  }
  return RunGemm(problem, c.environment, libraries);
}

}  // namespace hawser::cpu
