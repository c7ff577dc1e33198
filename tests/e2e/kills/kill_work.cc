#include "tests/e2e/kills/kill_work.h"

#include <tuple>
#include <utility>

#include "core/base/status.h"

namespace hawser::testing {
namespace {

constexpr int64_t kVector = 1000;
constexpr int64_t kLarge = 1 << 20;         // 4 MiB, streamed
constexpr int64_t kDataset = (3 << 20) + 5;  // 12 MiB: four chunks
constexpr int kSteps = 25;
constexpr int64_t kTurns = 600;  // within a step

// Whole numbers, so that every engine makes the same ones.
Literal Numbers(int64_t count, uint64_t seed) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kU32, {count}));
  auto data = out.mutable_data<uint32_t>();
  uint32_t x = static_cast<uint32_t>(seed) * 2654435761u + 1;
  for (int64_t i = 0; i < count; ++i) data[i] = x = x * 1664525u + 1013904223u;
  return out;
}

absl::Status Same(const Literal& got, const Literal& want,
                  absl::string_view what) {
  if (got.BitEquals(want)) return absl::OkStatus();
  return Internal("wrong values: ", what);
}

Literal Less(const Literal& x, uint32_t by) {
  Literal out = Literal::Uninitialized(x.shape());
  for (int64_t i = 0; i < x.shape().dim(0); ++i) {
    out.mutable_data<uint32_t>()[i] = x.data<uint32_t>()[i] - by;
  }
  return out;
}

// kTurns times: v = v * 3 + i + d.
Tensor Turn(Tensor v, Tensor i, Tensor d) {
  return std::get<1>(While(
      std::tuple(Scalar(DType::kS64, 0), v, i + d),
      [](Tensor n, Tensor, Tensor) { return Lt(n, kTurns); },
      [](Tensor n, Tensor v, Tensor more) {
        return std::tuple(n + 1, v * 3 + more, more);
      }));
}

Literal PlainTurns(const Literal& d) {
  Literal out = Literal::Uninitialized(d.shape());
  for (int64_t k = 0; k < kVector; ++k) {
    uint32_t v = 0;
    for (int i = 0; i < kSteps; ++i) {
      const uint32_t more = i + d.data<uint32_t>()[k];
      for (int64_t n = 0; n < kTurns; ++n) v = v * 3 + more;
    }
    out.mutable_data<uint32_t>()[k] = v;
  }
  return out;
}

// Steps in a row over a dataset and a state that never leaves the server.
absl::StatusOr<CutOff> PrepareRun(const Client& client, uint64_t seed) {
  const Literal d = Numbers(kVector, 1);
  const Literal want = PlainTurns(d);
  HAWSER_ASSIGN_OR_RETURN(const Dataset data, client.Put({{"", d}}));
  auto step = Jit(Turn).With({.client = client});
  HAWSER_RETURN_IF_ERROR(
      step.Warm(d.shape(), Shape::Of(DType::kU32, {}), d.shape()));
  return CutOff([=](const OnDurable&) -> absl::Status {
    Tensor v = Zeros(DType::kU32, {kVector});
    for (int i = 0; i < kSteps; ++i) {
      HAWSER_ASSIGN_OR_RETURN(
          v, step(Donate(v), Scalar(DType::kU32, i), data()));
    }
    HAWSER_ASSIGN_OR_RETURN(const Literal got, v.Fetch());
    return Same(got, want, "run");
  });
}

// Arguments and results that take side streams.
absl::StatusOr<CutOff> PrepareStream(const Client& client, uint64_t seed) {
  const Literal x = Numbers(kLarge, seed);
  const Literal want = Less(x, -4);
  auto add = Jit([](Tensor v) { return v + 1; }).With({.client = client});
  HAWSER_RETURN_IF_ERROR(add.Warm(x.shape()));
  return CutOff([=](const OnDurable&) -> absl::Status {
    HAWSER_ASSIGN_OR_RETURN(Tensor v, add(x));
    for (int i = 0; i < 3; ++i) {
      HAWSER_ASSIGN_OR_RETURN(v, add(v));
    }
    HAWSER_ASSIGN_OR_RETURN(const Literal got, v.Fetch());
    return Same(got, want, "stream");
  });
}

// Two arrays, different for every seed.
absl::StatusOr<CutOff> PreparePut(const Client& client, uint64_t seed) {
  const auto arrays = ArraysToPut(seed);
  HAWSER_RETURN_IF_ERROR(client.capabilities().status());
  return CutOff([=](const OnDurable& on_durable) -> absl::Status {
    HAWSER_ASSIGN_OR_RETURN(const Dataset put, client.Put(arrays));
    if (put.info().durable) on_durable(put.token());
    HAWSER_ASSIGN_OR_RETURN(const Literal got, put["b"].Fetch());
    return Same(got, arrays[1].value, "put");
  });
}

// The same where all chunks are there already: what is left is to name them.
absl::StatusOr<CutOff> PrepareCommit(const Client& client, uint64_t seed) {
  for (const DatasetSource::Array& array : ArraysToPut(seed)) {
    HAWSER_RETURN_IF_ERROR(client.Put({array}).status());
  }
  return PreparePut(client, seed);
}

// Results become the dataset that PreparePut would have put.
absl::StatusOr<CutOff> PrepareFreeze(const Client& client, uint64_t seed) {
  const Literal want = Numbers(kVector, seed);
  const Literal a = Less(Numbers(kDataset, seed), 5);
  const Literal b = Less(want, 5);
  auto add = Jit([](Tensor v) { return v + 5; }).With({.client = client});
  HAWSER_RETURN_IF_ERROR(add.Warm(a.shape()));
  HAWSER_RETURN_IF_ERROR(add.Warm(b.shape()));
  return CutOff([=](const OnDurable& on_durable) -> absl::Status {
    HAWSER_ASSIGN_OR_RETURN(const Tensor more_a, add(a));
    HAWSER_ASSIGN_OR_RETURN(const Tensor more_b, add(b));
    HAWSER_ASSIGN_OR_RETURN(const Dataset frozen,
                            client.Freeze({{"a", more_a}, {"b", more_b}}));
    if (frozen.info().durable) on_durable(frozen.token());
    HAWSER_ASSIGN_OR_RETURN(const Literal got, frozen["b"].Fetch());
    return Same(got, want, "freeze");
  });
}

// A dataset that is there already, by its token.
absl::StatusOr<CutOff> PrepareGet(const Client& client, uint64_t seed) {
  const Literal want = Numbers(kDataset, 2);
  HAWSER_ASSIGN_OR_RETURN(const Dataset put, client.Put({{"", want}}));
  return CutOff([=, token = put.token()](const OnDurable&) -> absl::Status {
    HAWSER_ASSIGN_OR_RETURN(const Dataset data, client.Dataset(token));
    HAWSER_ASSIGN_OR_RETURN(const Literal got, data().Fetch());
    return Same(got, want, "get");
  });
}

}  // namespace

const std::vector<KillWork>& AllKillWorks() {
  static const auto& works = *new std::vector<KillWork>{
      {"run", PrepareRun},
      {"stream", PrepareStream},
      {.name = "put", .prepare = PreparePut, .puts = true},
      {.name = "commit", .prepare = PrepareCommit, .puts = true},
      {"get", PrepareGet},
      {.name = "freeze",
       .prepare = PrepareFreeze,
       .may_lose = true,
       .puts = true},
  };
  return works;
}

const KillWork* FindKillWork(absl::string_view name) {
  for (const KillWork& work : AllKillWorks()) {
    if (work.name == name) return &work;
  }
  return nullptr;
}

std::vector<DatasetSource::Array> ArraysToPut(uint64_t seed) {
  return {{"a", Numbers(kDataset, seed)}, {"b", Numbers(kVector, seed)}};
}

absl::Status CheckPut(const Client& client, const std::string& token,
                      uint64_t seed) {
  HAWSER_ASSIGN_OR_RETURN(const Dataset data, client.Dataset(token));
  HAWSER_ASSIGN_OR_RETURN(const Literal a, data["a"].Fetch());
  const auto arrays = ArraysToPut(seed);
  HAWSER_RETURN_IF_ERROR(Same(a, arrays[0].value, token));
  HAWSER_ASSIGN_OR_RETURN(const Literal b, data["b"].Fetch());
  return Same(b, arrays[1].value, token);
}

}  // namespace hawser::testing
