// Small calls, compiling and memory.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/sdk/functions/function.h"
#include "client/sdk/ops.h"
#include "core/base/memory_account.h"
#include "core/wire/codec.h"
#include "tests/bench/cpu/floors.h"
#include "tests/bench/cpu/work.h"
#include "tests/kernels/plan/graphs.h"

namespace hawser::bench {
namespace {

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
