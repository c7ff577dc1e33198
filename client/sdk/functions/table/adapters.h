// Adapters: how calls by name become calls of SDK functions.
#ifndef HAWSER_CLIENT_SDK_FUNCTIONS_TABLE_ADAPTERS_H_
#define HAWSER_CLIENT_SDK_FUNCTIONS_TABLE_ADAPTERS_H_

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/sdk/functions/control_flow.h"
#include "client/sdk/functions/grad.h"
#include "client/sdk/functions/table/function_table.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/ops.h"
#include "core/base/status.h"

namespace hawser::by_name {

using Call = FunctionCall;
using Results = std::vector<Tensor>;

template <Tensor (*F)(const Operand&)>
Results Of1(Call& c) {
  return {F(c[0])};
}
template <Tensor (*F)(const Operand&, const Operand&)>
Results Of2(Call& c) {
  return {F(c[0], c[1])};
}
template <Tensor (*F)(const Operand&, const Operand&, const Operand&)>
Results Of3(Call& c) {
  return {F(c[0], c[1], c[2])};
}

inline Over OverOf(Call& c) {
  return {.axes = c.Ints("axes", {}), .keep_axes = c.Bool("keep_axes", false)};
}
inline Outside OutsideOf(Call& c) { return {.clamp = c.Bool("clamp", false)}; }
template <Tensor (*F)(const Operand&, const Over&)>
Results Reduced(Call& c) {
  return {F(c[0], OverOf(c))};
}
template <Tensor (*F)(const Operand&, const Along&)>
Results Running(Call& c) {
  return {
      F(c[0], {.axis = c.Int("axis", 0), .reverse = c.Bool("reverse", false)})};
}
inline SortOptions SortOptionsOf(Call& c) {
  return {.axis = c.Int("axis", 0), .descending = c.Bool("descending", false)};
}
// Random numbers of a key alone, and of a key and two parameters.
template <Tensor (*F)(const Operand&, absl::Span<const int64_t>, DType),
          DType kDType>
Results Drawn(Call& c) {
  return {F(c[0], c.Ints("dims"), c.Type("dtype", kDType))};
}
template <Tensor (*F)(const Operand&, absl::Span<const int64_t>, DType,
                      const Operand&, const Operand&)>
Results DrawnBy(Call& c) {
  return {F(c[0], c.Ints("dims"), c.Type("dtype", DType::kF32), c[1], c[2])};
}
inline Results ChoiceByName(Call& c) {
  ChoiceOptions options{.axis = c.Int("axis", 0),
                        .replace = c.Bool("replace", true)};
  const std::vector<Tensor> weights = c.Tensors(2);
  if (!weights.empty()) options.weights = weights[0];
  return {RandomChoice(c[0], c[1], c.Int("samples"), options)};
}
template <Tensor (*F)(const Operand&, const ArgOptions&)>
Results Arg(Call& c) {
  ArgOptions options;
  if (c.Has("axis")) options.axis = c.Int("axis");
  options.keep_axis = c.Bool("keep_axis", false);
  options.last_of_equals = c.Bool("last_of_equals", false);
  options.dtype = c.Type("dtype", DType::kS32);
  return {F(c[0], options)};
}

inline std::vector<Padding> PaddingOf(Call& c) {
  const Dims low = c.Ints("low", {}), high = c.Ints("high", {});
  std::vector<Padding> paddings;
  for (size_t i = 0; i < std::min(low.size(), high.size()); ++i) {
    paddings.push_back({low[i], high[i]});
  }
  return paddings;
}
inline WindowOptions WindowOptionsOf(Call& c) {
  return {.strides = c.Ints("strides", {}),
          .padding = PaddingOf(c),
          .same_size = c.Bool("same_size", false),
          .dilations = c.Ints("dilations", {})};
}
template <Tensor (*F)(const Operand&, const Dims&, const WindowOptions&)>
Results Windowed(Call& c) {
  return {F(c[0], c.Ints("window"), WindowOptionsOf(c))};
}
template <Tensor (*F)(const Operand&, const Operand&, const Operand&,
                      const Dims&, const WindowOptions&)>
Results WindowScattered(Call& c) {
  return {F(c[0], c[1], c[2], c.Ints("window"), WindowOptionsOf(c))};
}
inline Results ConvByName(Call& c) {
  return {Conv(
      c[0], c[1],
      {.strides = c.Ints("strides", {}),
       .padding = PaddingOf(c),
       .same_size = c.Bool("same_size", false),
       .input_dilations = c.Ints("input_dilations", {}),
       .kernel_dilations = c.Ints("kernel_dilations", {}),
       .groups = c.Int("groups", 1),
       .batch_groups = c.Int("batch_groups", 1),
       .layout = c.Bool("features_last", false) ? ConvLayout::kFeaturesLast
                                                : ConvLayout::kFeaturesFirst})};
}

inline DotOptions DotOptionsOf(Call& c) {
  DotOptions options;
  if (c.Has("dtype")) options.dtype = c.Type("dtype");
  return options;
}
inline Results DotByName(Call& c) {
  const DotOptions options = DotOptionsOf(c);
  if (!c.Has("contract_a")) return {Dot(c[0], c[1], options)};
  return {Dot(c[0], c[1],
              {c.Ints("contract_a"), c.Ints("contract_b"),
               c.Ints("batch_a", {}), c.Ints("batch_b", {})},
              options)};
}

inline Results PadByName(Call& c) {
  const Dims low = c.Ints("low"), high = c.Ints("high");
  const Dims interior = c.Ints("interior", Dims(low.size(), 0));
  std::vector<Padding> paddings;
  for (size_t i = 0; i < std::min({low.size(), high.size(), interior.size()});
       ++i) {
    paddings.push_back({low[i], high[i], interior[i]});
  }
  return {Pad(c[0], c[1], paddings)};
}

inline Results PadOuterByName(Call& c) {
  const Dims low = c.Ints("low"), high = c.Ints("high");
  std::vector<Padding> paddings;
  for (size_t i = 0; i < std::min(low.size(), high.size()); ++i) {
    paddings.push_back({low[i], high[i]});
  }
  const std::string edge = c.Text("edge");
  constexpr std::pair<absl::string_view, Edge> kEdges[] = {
      {"cyclic", Edge::kCyclic},
      {"mirror", Edge::kMirror},
      {"reflect", Edge::kReflect},
      {"replicate", Edge::kReplicate}};
  for (const auto& [name, value] : kEdges) {
    if (name == edge) return {PadOuter(c[0], value, paddings)};
  }
  return {sdk::MakeFailed(
      InvalidArgument("edge is \"", edge,
                      "\", must be cyclic, mirror, reflect or replicate"),
      c.where())};
}

template <Tensor (*F)(const Operand&, const FftOptions&)>
Results Transformed(Call& c) {
  FftOptions options{.axis = c.Int("axis", -1)};
  if (c.Has("length")) options.length = c.Int("length");
  return {F(c[0], options)};
}
template <Tensor (*F)(const Operand&, const Fft2Options&)>
Results Transformed2(Call& c) {
  return {
      F(c[0], {.lengths = c.Ints("lengths", {}), .axes = c.Ints("axes", {})})};
}

inline Results IotaByName(Call& c) {
  std::optional<int64_t> axis;
  if (c.Has("axis")) axis = c.Int("axis");
  return {Iota(c.Type("dtype", DType::kS32), c.Ints("dims"), axis, c.where())};
}

// While and Cond have no arguments that a name could carry; they stand here
// through the smallest program of each.
inline Results CountUp(Call& c) {
  const Tensor limit = c.Tensors()[0];
  if (!limit.status().ok()) return {limit};
  return {While(
      Scalar(limit.dtype(), 0, c.where()),
      [&](Tensor i) { return Lt(i, limit); }, [](Tensor i) { return i + 1; },
      c.where())};
}
inline Results ChooseByName(Call& c) {
  const std::vector<Tensor> t = c.Tensors();
  return {Cond(
      Operand(t[0], c.where()), [&] { return t[1]; }, [&] { return t[2]; })};
}

inline Results AttentionByName(Call& c) {
  AttentionOptions options{.causal = c.Bool("causal", false)};
  if (c.Has("scale")) options.scale = c.Float("scale", 1);
  for (const Tensor& given : c.Tensors(3)) {
    (given.dtype() == DType::kBool ? options.mask : options.bias) = given;
  }
  return {Attention(c[0], c[1], c[2], options)};
}

inline RankOptions RankOptionsOf(Call& c) {
  RankOptions options;
  if (c.Has("tolerance")) options.tolerance = c.Float("tolerance", 0);
  return options;
}

inline Results MatrixNormByName(Call& c) {
  const auto of = ParseMatrixNorm(c.Has("of") ? c.Text("of") : "elements");
  if (!of.ok()) return {sdk::MakeFailed(of.status(), c.where())};
  return {MatrixNorm(c[0], *of)};
}

}  // namespace hawser::by_name
#endif  // HAWSER_CLIENT_SDK_FUNCTIONS_TABLE_ADAPTERS_H_
