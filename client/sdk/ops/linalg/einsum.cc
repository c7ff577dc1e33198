#include "client/sdk/ops/linalg/einsum.h"

#include <algorithm>
#include <utility>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/indexing/diagonal.h"
#include "client/sdk/ops/linalg/einsum_spec.h"
#include "client/sdk/ops/reduce.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using sdk::EinsumPair;
using sdk::EinsumSpec;
using sdk::HasLabel;
using sdk::Label;
using sdk::Labels;
using sdk::OpScope;

// A tensor and the label of each of its axes.
struct Labelled {
  Tensor x;
  Labels labels;
};

int64_t PlaceOf(const Labels& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) - labels.begin();
}

// A label that an operand has twice becomes one axis, the last one.
Labelled WithoutRepeats(Labelled operand) {
  for (size_t i = 0; i < operand.labels.size(); ++i) {
    const Label label = operand.labels[i];
    const auto again =
        std::find(operand.labels.begin() + i + 1, operand.labels.end(), label);
    if (again == operand.labels.end()) continue;
    const auto second = static_cast<int64_t>(again - operand.labels.begin());
    Dims order;
    for (int64_t k = 0; k < operand.x.rank(); ++k) {
      if (k != static_cast<int64_t>(i) && k != second) order.push_back(k);
    }
    order.push_back(static_cast<int64_t>(i));
    order.push_back(second);
    operand.x = TakeDiagonal(Transpose(operand.x, order));
    operand.labels.erase(operand.labels.begin() + second);
    operand.labels.erase(operand.labels.begin() + i);
    operand.labels.push_back(label);
    return WithoutRepeats(std::move(operand));
  }
  return operand;
}

// Drops the axes that "..." broadcasts, which are 1 here and more elsewhere.
Labelled WithoutBroadcast(const OpScope& s, Labelled operand,
                          const EinsumSpec& spec) {
  Labels labels;
  Dims dims;
  for (size_t i = 0; i < operand.labels.size(); ++i) {
    const int64_t size = operand.x.dim(static_cast<int>(i));
    if (size != spec.sizes.at(operand.labels[i])) continue;
    labels.push_back(operand.labels[i]);
    dims.push_back(size);
  }
  if (labels.size() == operand.labels.size()) return operand;
  return {s.Reshape(operand.x, dims), std::move(labels)};
}

// Sums over labels that neither the result nor another operand has.
Labelled WithoutAlone(Labelled operand, absl::Span<const Labels> others,
                      const Labels& result) {
  const Labels kept = sdk::KeptOf(operand.labels, {}, others, result);
  Dims axes;
  for (size_t i = 0; i < operand.labels.size(); ++i) {
    if (!HasLabel(kept, operand.labels[i])) {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  if (axes.empty()) return operand;
  const DType dtype = operand.x.dtype();
  return {Convert(Sum(operand.x, {.axes = axes}), dtype), kept};
}

// The axes of x so that they have `labels`, those that it lacks of size 1.
Tensor Ordered(const OpScope& s, const Labelled& x, const Labels& labels) {
  Dims order, dims;
  for (const Label label : labels) {
    const int64_t at = PlaceOf(x.labels, label);
    const bool is_there = at < static_cast<int64_t>(x.labels.size());
    if (is_there) order.push_back(at);
    dims.push_back(is_there ? x.x.dim(static_cast<int>(at)) : 1);
  }
  const Tensor turned = Transpose(x.x, order);
  return order.size() == dims.size() ? turned : s.Reshape(turned, dims);
}

// Multiplies two operands: a label that both have is a batch if it is `kept`, and
// is summed if it is not.
Labelled ProductOf(const OpScope& s, const Labelled& a, const Labelled& b,
                   const Labels& kept, const DotOptions& options) {
  DotAxes axes;
  Labels batch, free;
  for (size_t i = 0; i < a.labels.size(); ++i) {
    const Label label = a.labels[i];
    const auto at = static_cast<int64_t>(i);
    if (!HasLabel(b.labels, label)) {
      free.push_back(label);
      continue;
    }
    const bool stays = HasLabel(kept, label);
    (stays ? axes.batch_a : axes.contract_a).push_back(at);
    (stays ? axes.batch_b : axes.contract_b)
        .push_back(PlaceOf(b.labels, label));
    if (stays) batch.push_back(label);
  }
  for (const Label label : b.labels) {
    if (!HasLabel(a.labels, label)) free.push_back(label);
  }
  Labels labels = batch;
  labels.insert(labels.end(), free.begin(), free.end());
  if (axes.contract_a.empty() && !options.dtype.has_value()) {
    return {Ordered(s, a, labels) * Ordered(s, b, labels), std::move(labels)};
  }
  return {Dot(a.x, b.x, axes, options), std::move(labels)};
}

std::vector<Labels> LabelsOf(const std::vector<Labelled>& operands) {
  std::vector<Labels> labels;
  for (const Labelled& operand : operands) labels.push_back(operand.labels);
  return labels;
}

// The operands as they are multiplied, and the order of that.
Tensor Multiplied(const OpScope& s, std::vector<Labelled> left, EinsumSpec spec,
                  const DotOptions& options) {
  for (size_t i = 0; i < left.size(); ++i) {
    std::vector<Labels> others = LabelsOf(left);
    others.erase(others.begin() + i);
    left[i] = WithoutAlone(std::move(left[i]), others, spec.result);
  }
  spec.operands = LabelsOf(left);
  for (const EinsumPair& pair : sdk::EinsumOrder(spec)) {
    const Labelled a = left[pair.left], b = left[pair.right];
    left.erase(left.begin() + pair.right);
    left.erase(left.begin() + pair.left);
    const Labels kept =
        sdk::KeptOf(a.labels, b.labels, LabelsOf(left), spec.result);
    left.push_back(ProductOf(s, a, b, kept, options));
  }
  return Ordered(s, left[0], spec.result);
}

}  // namespace

Tensor Einsum(absl::string_view spec, const std::vector<Tensor>& tensors,
              const DotOptions& options, SourceLocation where) {
  const OpScope s("Einsum", where, tensors);
  if (!s.ok()) return s.error();
  std::vector<Shape> shapes;
  for (const Tensor& x : tensors) shapes.push_back(x.shape());
  const auto parsed = sdk::ParseEinsum(spec, shapes);
  if (!parsed.ok()) return s.Fail(parsed.status());
  DType dtype = sdk::ToNumeric(shapes[0].dtype());
  for (const Shape& shape : shapes) {
    dtype = sdk::Promote(dtype, sdk::ToNumeric(shape.dtype()));
  }
  std::vector<Labelled> operands;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Labelled operand{s.Convert(tensors[i], dtype), parsed->operands[i]};
    operand = WithoutRepeats(std::move(operand));
    operands.push_back(WithoutBroadcast(s, std::move(operand), *parsed));
  }
  const Tensor result = Multiplied(s, std::move(operands), *parsed, options);
  return options.dtype.has_value() ? s.Convert(result, *options.dtype) : result;
}

}  // namespace hawser
