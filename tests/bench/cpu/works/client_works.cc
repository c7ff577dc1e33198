// Loops, small calls, compiling and memory.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/sdk/functions/control_flow.h"
#include "client/sdk/functions/function.h"
#include "client/sdk/ops.h"
#include "core/base/memory_account.h"
#include "core/wire/codec.h"
#include "tests/bench/cpu/floors.h"
#include "tests/bench/cpu/work.h"
#include "tests/kernels/plan/graphs.h"

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
    return absl::OkStatus();
  };
  HAWSER_ASSIGN_OR_RETURN(const Resident loop, Resident::Make(s, body, {x}));
  const auto units = static_cast<double>(turns);
  return Race{.ours = Timed([loop] { return loop.Run(); }, units),
              .floor = Timed(floor, units),
              .check = [=]() -> absl::Status {
                HAWSER_RETURN_IF_ERROR(floor());
                HAWSER_ASSIGN_OR_RETURN(const auto got, loop.Values());
                HAWSER_RETURN_IF_ERROR(Near<float>(got[0], {root.get(), kSize},
                                                   {.relative = 1e-6}));
                return Near<float>(got[1], {change.get(), 1},
                                   {.absolute = 1e-3, .relative = 1e-5});
              }};
}

// ---- a small call ---------------------------------------------------------

class Callee {
 public:
  virtual ~Callee() = default;
  virtual std::shared_ptr<float[]> Call() const = 0;
};

class Allocates : public Callee {
 public:
  std::shared_ptr<float[]> Call() const override {
    return std::shared_ptr<float[]>(new float[16]);
  }
};

absl::StatusOr<Race> RaceTinyCall(const Setting& s) {
  const Literal x = RandomFloats({16}, -1, 1);
  const auto sum = Room<float>(16);
  std::unique_ptr<const Callee> made = std::make_unique<Allocates>();
  const std::shared_ptr<const Callee> callee = std::move(made);
  return RaceOf(s,
                {.body = [](const Tensors& p) { return Tensors{p[0] + p[1]}; },
                 .arguments = {x, x},
                 .floor =
                     [=] {
                       const auto result = callee->Call();
                       for (int i = 0; i < 16; ++i) {
                         result[i] = x.data<float>()[i] + x.data<float>()[i];
                       }
                       sum[0] = result[0];
                     },
                 .check =
                     [=](absl::Span<const Literal> got) {
                       std::vector<float> want;
                       for (float v : x.data<float>()) want.push_back(v + v);
                       return Near<float>(got[0], want);
                     }});
}

// The same as a user has it: from tensors on the client to a value here.
absl::StatusOr<Race> RaceTinyJit(const Setting& s) {
  HAWSER_ASSIGN_OR_RETURN(Race race, RaceTinyCall(s));
  const Client client(s.client);
  const Literal x = RandomFloats({16}, -1, 1);
  HAWSER_ASSIGN_OR_RETURN(const Tensor there, Constant(x).To(client));
  const auto call = [there, add = Jit([](Tensor a, Tensor b) {
                                    return a + b;
                                  }).With({.client = client})] {
    return KeepError(add(there, there)).Fetch();
  };
  race.ours = Timed([call] { return call().status(); });
  race.check = [call, x]() -> absl::Status {
    HAWSER_ASSIGN_OR_RETURN(const Literal got, call());
    std::vector<float> want;
    for (float v : x.data<float>()) want.push_back(v + v);
    return Near<float>(got, want);
  };
  return race;
}

// ---- compiling ------------------------------------------------------------

constexpr ModuleLimits kLimits = {.bytes = int64_t{1} << 30,
                                  .instructions = int64_t{1} << 20,
                                  .operands = int64_t{1} << 24};

struct Graph {
  std::shared_ptr<const Module> module;
  std::shared_ptr<cpu::CpuClient> client;  // that takes as large ones

  explicit Graph(int instructions)
      : module(std::make_shared<const Module>(plan::MixedGraph(instructions))),
        client(cpu::MakeCpuClient({.threads = 1, .limits = kLimits})) {}

  // Per instruction.
  Sample Compiling() const {
    return Timed(
        [self = *this] {
          return self.client->Compile(self.module, {}, {}).status();
        },
        static_cast<double>(module->num_instructions()));
  }
  Sample Decoding() const {
    return Timed(
        [bytes = EncodeModule(*module)] {
          return DecodeModule(bytes, kLimits).status();
        },
        static_cast<double>(module->num_instructions()));
  }
  Once Check() const {
    return [self = *this] {
      return self.client->Compile(self.module, {}, {}).status();
    };
  }
};

Work CompileWork(int instructions) {
  return {.name = absl::StrCat("compile_", instructions),
          .floor = "decoding the module; of an instruction",
          .targets = {.floor = 10},
          .prepare = [=](const Setting& s) -> absl::StatusOr<Race> {
            const Graph graph(static_cast<int>(s.Size(instructions, 100)));
            return Race{graph.Compiling(), graph.Decoding(), graph.Check()};
          },
          .one_thread = true,
          .has_peers = false,
          .unit = "us"};
}

Work FlatWork(int instructions) {
  return {
      .name = absl::StrCat("compile_flat_", instructions),
      .floor = "an instruction of 100",
      .targets = {.floor = 1.5},
      .prepare = [=](const Setting& s) -> absl::StatusOr<Race> {
        const Graph graph(static_cast<int>(s.Size(instructions, 200)));
        return Race{graph.Compiling(), Graph(100).Compiling(), graph.Check()};
      },
      .one_thread = true,
      .has_peers = false,
      .unit = "us"};
}

// ---- memory ---------------------------------------------------------------

// The most memory that a client's account held for a chain, beside argument and
// result.
absl::StatusOr<Race> RaceMemory(const Setting& s) {
  const int64_t side = s.Size(4096, 64);
  const Literal x = RandomFloats({side, side}, -1, 1);
  const auto body = [](const Tensors& p) {
    Tensor v = p[0];
    for (int k = 0; k < kSteps; ++k) v = Tanh(v * kScale + kShift);
    return Tensors{v};
  };
  const Sample ours = [=]() -> absl::StatusOr<double> {
    const auto account = MemoryAccount::Make(int64_t{1} << 34);
    Setting own = s;
    own.client = cpu::MakeCpuClient({.threads = s.threads, .memory = account});
    HAWSER_ASSIGN_OR_RETURN(const Resident chain,
                            Resident::Make(own, body, {x}));
    const int64_t before = account->held();
    HAWSER_RETURN_IF_ERROR(chain.Run());
    const int64_t beyond = account->peak() - before - x.shape().byte_size();
    return static_cast<double>(std::max<int64_t>(beyond, 0)) / (1 << 20);
  };
  return Race{.ours = ours,
              .floor = []() -> absl::StatusOr<double> { return 1; },
              .check = [ours] { return ours().status(); }};
}

}  // namespace

std::vector<Work> ClientWorks() {
  std::vector<Work> works = {
      {.name = "mandelbrot",
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
      {.name = "tiny_call",
       .floor = "a virtual call, malloc, 16 additions",
       .targets = {.ours = 4},
       .prepare = RaceTinyCall,
       .unit = "us"},
      {.name = "tiny_jit",
       .floor = "a virtual call, malloc, 16 additions",
       .targets = {.ours = 4},
       .prepare = RaceTinyJit,
       .unit = "us"},
  };
  for (const int n : {100, 1000, 10000, 100000}) {
    works.push_back(CompileWork(n));
  }
  for (const int n : {1000, 10000, 100000}) works.push_back(FlatWork(n));
  works.push_back({.name = "chain_memory",
                   .floor = "1 MiB beside argument and result",
                   .targets = {.floor = 1},
                   .prepare = RaceMemory,
                   .has_peers = false,
                   .unit = "MiB"});
  return works;
}

}  // namespace hawser::bench
