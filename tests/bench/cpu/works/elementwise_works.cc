// Chains of elementwise operations, and of elementary functions.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/sdk/ops.h"
#include "tests/bench/cpu/floors.h"
#include "tests/bench/cpu/work.h"

namespace hawser::bench {
namespace {

// Roundings of ten operations, some of which a fused loop may leave out.
constexpr Within kChain = {.relative = 2e-6};
// Two libraries' functions, of 1 to 4 ulp each.
constexpr Within kFunctions = {.absolute = 1e-6, .relative = 2e-6};

Dims SquareOf(const Setting& s) {
  const int64_t side = s.Size(4096, 64);
  return {side, side};
}

Tensors Chain(const Tensors& p) {
  Tensor v = p[0];
  for (int k = 0; k < kSteps; ++k) v = v * kScale + kShift;
  return {v};
}

Tensors ChainThree(const Tensors& p) {
  Tensor v = p[0];
  for (int k = 0; k < kSteps; ++k) v = v * p[1] + p[2];
  return {v};
}

Tensors GeluOf(const Tensors& p) { return {Gelu(p[0])}; }

Tensors Softplus(const Tensors& p) {
  return {Maximum(p[0], 0.0f) + Log1p(Exp(-Abs(p[0])))};
}

Tensors Silu(const Tensors& p) { return {p[0] / (Exp(-p[0]) + 1.0f)}; }

// One argument, one result of its size.
template <typename T>
Execution OneToOne(const Setting& s, Body body, Literal x,
                   void (*loop)(const T*, T*, int64_t), Within within) {
  const int64_t n = x.shape().num_elements();
  const auto y = Room<T>(n);
  return {
      .body = std::move(body),
      .arguments = {x},
      .floor =
          [=, threads = s.threads] {
            Split(threads, n, kGrain, [&](int64_t begin, int64_t end, int) {
              loop(x.data<T>().data() + begin, y.get() + begin, end - begin);
            });
          },
      .check =
          [=](absl::Span<const Literal> got) {
            return Near<T>(got[0], {y.get(), static_cast<size_t>(n)}, within);
          }};
}

absl::StatusOr<Race> RaceChain(const Setting& s) {
  return RaceOf(s, OneToOne(s, Chain, RandomFloats(SquareOf(s), -1, 1),
                            BestLoops().chain, kChain));
}

// Strict, since halves are rounded once a kernel otherwise.
absl::StatusOr<Race> RaceChainBf16(const Setting& s) {
  Execution execution = OneToOne(s, Chain, RandomBf16(SquareOf(s), -1, 1),
                                 BestLoops().chain_bf16, {});
  execution.numerics = runtime::Numerics::kStrict;
  return RaceOf(s, std::move(execution));
}

absl::StatusOr<Race> RaceChainThree(const Setting& s) {
  const Dims dims = SquareOf(s);
  const int64_t rows = dims[0], columns = dims[1], n = rows * columns;
  const Literal x = RandomFloats(dims, -1, 1);
  const Literal row = RandomFloats({columns}, 0.5, 1);
  const Literal column = RandomFloats({rows, 1}, 0, 1);
  const auto y = Room<float>(n);
  const auto floor = [=, threads = s.threads] {
    Split(threads, rows, 1, [&](int64_t begin, int64_t end, int) {
      BestLoops().chain_three(x.data<float>().data() + begin * columns,
                              row.data<float>().data(),
                              column.data<float>().data() + begin,
                              y.get() + begin * columns, end - begin, columns);
    });
  };
  return RaceOf(
      s,
      {.body = ChainThree,
       .arguments = {x, row, column},
       .floor = floor,
       .check = [=](absl::Span<const Literal> got) {
         return Near<float>(got[0], {y.get(), static_cast<size_t>(n)}, kChain);
       }});
}

// The chain as one module, beside ten modules of one operation each.
absl::StatusOr<Race> RaceOneByOne(const Setting& s) {
  const Literal x = RandomFloats(SquareOf(s), -1, 1);
  HAWSER_ASSIGN_OR_RETURN(Resident whole, Resident::Make(s, Chain, {x}));
  HAWSER_ASSIGN_OR_RETURN(
      Resident scale,
      Resident::Make(s, [](const Tensors& p) { return Tensors{p[0] * kScale}; },
                     {x}));
  HAWSER_ASSIGN_OR_RETURN(
      Resident shift,
      Resident::Make(s, [](const Tensors& p) { return Tensors{p[0] + kShift}; },
                     {x}));
  return Race{.ours = Timed([whole] { return whole.Run(); }),
              .floor = Timed([scale, shift]() -> absl::Status {
                for (int k = 0; k < kSteps; ++k) {
                  HAWSER_RETURN_IF_ERROR(scale.Run());
                  HAWSER_RETURN_IF_ERROR(shift.Run());
                }
                return absl::OkStatus();
              }),
              .check = [whole] { return whole.Run(); }};
}

Work FunctionWork(std::string name, Body body,
                  void (*Loops::*loop)(const float*, float*, int64_t)) {
  return {
      .name = std::move(name),
      .floor = "hand-vectorized loop, Highway's functions",
      .targets = {.floor = 1.5, .numpy_on_1 = 1 / 1.6, .numpy_on_2 = 1 / 3.},
      .prepare = [=](const Setting& s) {
        return RaceOf(s, OneToOne(s, body, RandomFloats(SquareOf(s), -6, 6),
                                  BestLoops().*loop, kFunctions));
      }};
}

}  // namespace

Tensor Gelu(const Tensor& x) {
  const Tensor inner = 0.7978845608f * (x + 0.044715f * (x * x * x));
  return (0.5f * x) * (Tanh(inner) + 1.0f);
}

std::vector<Work> ElementwiseWorks() {
  return {
      {"chain_f32", "hand-fused SIMD loop", {.floor = 1.3}, RaceChain},
      {"chain_bf16",
       "such a loop, rounding each op",
       {.floor = 1.3},
       RaceChainBf16},
      {"chain_three", "hand-fused SIMD loop", {.floor = 1.3}, RaceChainThree},
      {.name = "chain_one_by_one",
       .floor = "ten executions of one op each",
       .targets = {.floor = 1 / 8.},
       .prepare = RaceOneByOne,
       .has_peers = false},
      FunctionWork("gelu", GeluOf, &Loops::gelu),
      FunctionWork("softplus", Softplus, &Loops::softplus),
      FunctionWork("silu", Silu, &Loops::silu),
  };
}

}  // namespace hawser::bench
