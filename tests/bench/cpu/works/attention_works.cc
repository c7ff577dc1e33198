// Attention, whose scores are larger than a cache.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "client/sdk/functions/grad.h"
#include "client/sdk/ops.h"
#include "kernels/cpu/libraries/blas.h"
#include "tests/bench/cpu/work.h"

namespace hawser::bench {
namespace {

using cpu::Blas;

// [1, length, heads, width].
struct Sizes {
  int64_t length, heads, width;
  Dims dims() const { return {1, length, heads, width}; }
  int64_t elements() const { return length * heads * width; }
};

// The floor: `scores` and `sums` products a head, into one head's scores that
// stay in a cache.
std::function<void()> Products(const Blas* blas, const Sizes& z, int threads,
                               const Literal& q, int scores, int sums) {
  const auto room = Room<float>(threads * z.length * z.length);
  const auto out = Room<float>(threads * z.length * z.width);
  return [=] {
    Split(threads, z.heads, 1, [&](int64_t begin, int64_t end, int thread) {
      const int n = static_cast<int>(z.length), d = static_cast<int>(z.width);
      float* const s = room.get() + thread * z.length * z.length;
      float* const o = out.get() + thread * z.length * z.width;
      for (int64_t head = begin; head < end; ++head) {
        const float* x = q.data<float>().data() + head * z.length * z.width;
        for (int k = 0; k < scores; ++k) {
          blas->sgemm(Blas::kRowMajor, Blas::kNoTrans, Blas::kTrans, n, n, d, 1,
                      x, d, x, d, 0, s, n);
        }
        for (int k = 0; k < sums; ++k) {
          blas->sgemm(Blas::kRowMajor, Blas::kNoTrans, Blas::kNoTrans, n, d, n,
                      1, s, n, x, d, 0, o, d);
        }
      }
    });
  };
}

// One query's result by its definition.
std::vector<double> ResultOf(const Sizes& z, const Literal& q, const Literal& k,
                             const Literal& v, int64_t query, int64_t head) {
  const auto at = [&](const Literal& x, int64_t row, int64_t j) -> double {
    return x.data<float>()[(row * z.heads + head) * z.width + j];
  };
  std::vector<double> scores(z.length), result(z.width);
  double most = -INFINITY, sum = 0;
  for (int64_t key = 0; key < z.length; ++key) {
    for (int64_t j = 0; j < z.width; ++j) {
      scores[key] += at(q, query, j) * at(k, key, j);
    }
    scores[key] /= std::sqrt(static_cast<double>(z.width));
    most = std::max(most, scores[key]);
  }
  for (double& score : scores) sum += score = std::exp(score - most);
  for (int64_t key = 0; key < z.length; ++key) {
    for (int64_t j = 0; j < z.width; ++j) {
      result[j] += scores[key] / sum * at(v, key, j);
    }
  }
  return result;
}

absl::StatusOr<Race> RaceAttention(const Setting& s, bool gradient) {
  const Blas* const blas = cpu::FindBlas();
  if (blas == nullptr) return FailedPrecondition("no BLAS on this machine");
  const Sizes z = {s.Size(1024, 32), s.Size(8, 2), s.Size(64, 8)};
  const Literal q = RandomFloats(z.dims(), -1, 1);
  const Literal k = RandomFloats(z.dims(), -1, 1, 1);
  const Literal v = RandomFloats(z.dims(), -1, 1, 2);
  const auto forward = [](const Tensors& t) {
    return Tensors{Attention(t[0], t[1], t[2])};
  };
  const auto backward = [](const Tensors& t) -> Tensors {
    const auto loss = [](Tensor q, Tensor k, Tensor v) {
      return Sum(Square(Attention(q, k, v)));
    };
    const auto [by_q, by_k, by_v] = Grad<0, 1, 2>(loss)(t[0], t[1], t[2]);
    return {by_q, by_k, by_v};
  };
  const auto check = [=](absl::Span<const Literal> got) -> absl::Status {
    if (gradient) return absl::OkStatus();  // that of the SDK's own tests
    for (const int64_t query : {int64_t{0}, z.length - 1}) {
      const std::vector<double> want = ResultOf(z, q, k, v, query, z.heads - 1);
      for (int64_t j = 0; j < z.width; ++j) {
        const double is =
            got[0].data<float>()[(query * z.heads + z.heads - 1) * z.width + j];
        if (std::abs(is - want[j]) > 1e-5) {
          return DataLoss("query ", query, ": ", is, " for ", want[j]);
        }
      }
    }
    return absl::OkStatus();
  };
  return RaceOf(
      s, {.body = gradient ? std::function<Tensors(const Tensors&)>(backward)
                           : forward,
          .arguments = {q, k, v},
          .floor = gradient ? Products(blas, z, s.threads, q, 3, 4)
                            : Products(blas, z, s.threads, q, 1, 1),
          .check = check});
}

}  // namespace

std::vector<Work> AttentionWorks() {
  return {
      {.name = "attention",
       .floor = "its two products alone, by BLAS",
       .targets = {.floor = 2},
       .prepare = [](const Setting& s) { return RaceAttention(s, false); },
       .has_peers = false},
      {.name = "attention_gradient",
       .floor = "its seven products alone, by BLAS",
       .targets = {.floor = 2},
       .prepare = [](const Setting& s) { return RaceAttention(s, true); },
       .has_peers = false},
  };
}

}  // namespace hawser::bench
