// Loops.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "client/sdk/functions/control_flow.h"
#include "client/sdk/ops.h"
#include "tests/bench/cpu/floors.h"
#include "tests/bench/cpu/work.h"

namespace hawser::bench {
namespace {

// ---- a loop ---------------------------------------------------------------

// (c_re, c_im) -> how many turns each point of them stays.
Body MandelbrotOf(int turns) {
  return [turns](const Tensors& p) -> Tensors {
    const Tensor zero = Zeros(DType::kF32, p[0].shape().dims());
    const auto done = While(
        std::tuple<Tensor, Tensor, Tensor, Tensor>(Scalar(0), zero, zero,
                                                   Convert(zero, DType::kS32)),
        [turns](Tensor turn, Tensor, Tensor, Tensor) { return turn < turns; },
        [&](Tensor turn, Tensor re, Tensor im, Tensor stays) {
          const Tensor re2 = re * re, im2 = im * im;
          const Tensor inside = re2 + im2 <= 4.0f;
          return std::tuple<Tensor, Tensor, Tensor, Tensor>(
              turn + 1, Select(inside, re2 - im2 + p[0], re),
              Select(inside, (re + re) * im + p[1], im),
              stays + Convert(inside, DType::kS32));
        });
    return {std::get<3>(done)};
  };
}

// Points of a square grid, as [side, side].
Literal Grid(int64_t side, float low, float high, bool is_row) {
  Literal grid = Literal::Uninitialized(Shape::Of(DType::kF32, {side, side}));
  auto to = grid.mutable_data<float>();
  for (int64_t i = 0; i < side * side; ++i) {
    const auto at = static_cast<float>(is_row ? i % side : i / side);
    to[i] = low + (high - low) * at / static_cast<float>(side);
  }
  return grid;
}

// Strict, so that both sides round alike and count the same turns.
absl::StatusOr<Race> RaceMandelbrot(const Setting& s) {
  const int64_t side = s.Size(1024, 16), n = side * side;
  const int turns = static_cast<int>(s.Size(100, 10));
  const Literal c_re = Grid(side, -2, 0.5, true);
  const Literal c_im = Grid(side, -1.25, 1.25, false);
  const auto re = Room<float>(n), im = Room<float>(n);
  const auto stays = Room<int32_t>(n);
  // A pass over everything in each turn, as a loop of arrays means it.
  const auto floor = [=, threads = s.threads] {
    Split(threads, n, 64, [&](int64_t begin, int64_t end, int) {
      std::fill(re.get() + begin, re.get() + end, 0.0f);
      std::fill(im.get() + begin, im.get() + end, 0.0f);
      std::fill(stays.get() + begin, stays.get() + end, 0);
      for (int t = 0; t < turns; ++t) {
        BestLoops().mandelbrot(c_re.data<float>().data() + begin,
                               c_im.data<float>().data() + begin,
                               re.get() + begin, im.get() + begin,
                               stays.get() + begin, end - begin);
      }
    });
  };
  return RaceOf(s, {.body = MandelbrotOf(turns),
                    .arguments = {c_re, c_im},
                    .floor = floor,
                    .check =
                        [=](absl::Span<const Literal> got) {
                          return Near<int32_t>(
                              got[0], {stays.get(), static_cast<size_t>(n)});
                        },
                    .numerics = runtime::Numerics::kStrict});
}

// A turn of a loop, beside one of `floor`. `check` compares with what that
// left.
struct TurnRace {
  int turns;
  Body body;
  std::vector<Literal> arguments;
  std::function<void()> floor;
  std::function<absl::Status(absl::Span<const Literal>)> check;
};

absl::StatusOr<Race> RaceTurns(const Setting& s, TurnRace race) {
  HAWSER_ASSIGN_OR_RETURN(const Resident loop,
                          Resident::Make(s, race.body, race.arguments));
  const auto floor = [run = std::move(race.floor)] {
    run();
    return absl::OkStatus();
  };
  const auto units = static_cast<double>(race.turns);
  return Race{.ours = Timed([loop] { return loop.Run(); }, units),
              .floor = Timed(floor, units),
              .check = [loop, floor, check = std::move(race.check)] {
                HAWSER_RETURN_IF_ERROR(floor());
                const auto got = loop.Values();
                return got.ok() ? check(*got) : got.status();
              }};
}

// A counted loop of small bodies: Newton's method for square roots, and what it
// still changes. A turn of it.
absl::StatusOr<Race> RaceSmallTurn(const Setting& s) {
  constexpr int64_t kSize = 64;
  const int turns = static_cast<int>(s.Size(1000, 10));
  const Literal x = RandomFloats({kSize}, 1, 100);
  const auto body = [turns](const Tensors& p) -> Tensors {
    const auto done = While(
        std::tuple<Tensor, Tensor, Tensor>(Scalar(0), p[0], Scalar(0.0f)),
        [turns](Tensor turn, Tensor, Tensor) { return turn < turns; },
        [&](Tensor turn, Tensor root, Tensor) {
          const Tensor next = (root + p[0] / root) * 0.5f;
          return std::tuple<Tensor, Tensor, Tensor>(turn + 1, next,
                                                    Sum(Abs(next - root)));
        });
    return {std::get<1>(done), std::get<2>(done)};
  };
  const auto root = Room<float>(kSize), change = Room<float>(1);
  const auto floor = [=] {
    const float* const from = x.data<float>().data();
    std::copy_n(from, kSize, root.get());
    for (int t = 0; t < turns; ++t) {
      float sum = 0;
      for (int64_t i = 0; i < kSize; ++i) {
        const float next = (root[i] + from[i] / root[i]) * 0.5f;
        sum += std::abs(next - root[i]);
        root[i] = next;
      }
      change[0] = sum;
    }
  };
  const auto check = [=](absl::Span<const Literal> got) -> absl::Status {
    HAWSER_RETURN_IF_ERROR(
        Near<float>(got[0], {root.get(), kSize}, {.relative = 1e-6}));
    return Near<float>(got[1], {change.get(), 1},
                       {.absolute = 1e-3, .relative = 1e-5});
  };
  return RaceTurns(s, {turns, body, {x}, floor, check});
}

// A loop as solvers of differential equations have it: a product, a table of
// stages, a choice by the largest change, numbers that count.
constexpr int64_t kState = 4, kStages = 7;
constexpr float kStep = 1e-3f, kMost = 1.0f;

Body MixedLoop(int turns) {
  return [turns](const Tensors& p) -> Tensors {
    const auto done = While(
        std::tuple<Tensor, Tensor, Tensor, Tensor>(
            Scalar(0), Scalar(kStep), p[0],
            Zeros(DType::kF32, {kStages, kState})),
        [turns](Tensor turn, Tensor, Tensor, Tensor) { return turn < turns; },
        [&](Tensor turn, Tensor step, Tensor x, Tensor stages) {
          const Tensor change = Tanh(Dot(p[1], x)) * step;
          const Tensor at = Remainder(turn, static_cast<int>(kStages));
          const Tensor accepts = ReduceMax(Abs(change)) < kMost;
          return std::tuple<Tensor, Tensor, Tensor, Tensor>(
              turn + 1, Select(accepts, step, step * 0.5f),
              Select(accepts, x + change, x),
              PutSlice(stages, {at, 0}, Reshape(change, {1, kState})));
        });
    return {std::get<2>(done), std::get<3>(done)};
  };
}

void MixedFloor(int turns, const float* matrix, float* x, float* stages) {
  float step = kStep;
  for (int t = 0; t < turns; ++t) {
    float largest = 0;
    float* const change = stages + t % kStages * kState;
    for (int64_t i = 0; i < kState; ++i) {
      float sum = 0;
      for (int64_t k = 0; k < kState; ++k) sum += matrix[i * kState + k] * x[k];
      change[i] = std::tanh(sum) * step;
      largest = std::max(largest, std::abs(change[i]));
    }
    const bool accepts = largest < kMost;
    for (int64_t i = 0; accepts && i < kState; ++i) x[i] += change[i];
    if (!accepts) step *= 0.5f;
  }
}

// A turn of it.
absl::StatusOr<Race> RaceMixedTurn(const Setting& s) {
  const int turns = static_cast<int>(s.Size(1000, 10));
  const Literal from = RandomFloats({kState}, -1, 1);
  const Literal matrix = RandomFloats({kState, kState}, -1, 1);
  const auto x = Room<float>(kState), stages = Room<float>(kStages * kState);
  const auto floor = [=] {
    std::copy_n(from.data<float>().data(), kState, x.get());
    std::fill_n(stages.get(), kStages * kState, 0.0f);
    MixedFloor(turns, matrix.data<float>().data(), x.get(), stages.get());
  };
  const auto check = [=](absl::Span<const Literal> got) -> absl::Status {
    HAWSER_RETURN_IF_ERROR(
        Near<float>(got[0], {x.get(), kState}, {.absolute = 1e-4}));
    return Near<float>(got[1], {stages.get(), kStages * kState},
                       {.absolute = 1e-6});
  };
  return RaceTurns(s, {turns, MixedLoop(turns), {from, matrix}, floor, check});
}

}  // namespace

std::vector<Work> LoopWorks() {
  return {{.name = "mandelbrot",
           .floor = "a pass of a hand-written loop each turn",
           .targets = {.floor = 1.5},
           .prepare = RaceMandelbrot},
          {.name = "small_turn",
           .floor = "a turn of a hand-written loop",
           .targets = {.ours = 1},
           .prepare = RaceSmallTurn,
           .one_thread = true,
           .has_peers = false,
           .unit = "us"},
          {.name = "mixed_turn",
           .floor = "a turn of a hand-written loop",
           .targets = {.floor = 3},
           .prepare = RaceMixedTurn,
           .one_thread = true,
           .has_peers = false,
           .unit = "us"}};
}

}  // namespace hawser::bench
