// Matrix products of complex numbers, of bytes and of halves with wider
// results.
#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/sdk/ops.h"
#include "kernels/cpu/libraries/libraries.h"
#include "tests/bench/cpu/work.h"

namespace hawser::bench {
namespace {

using cpu::Blas;
using cpu::Libraries;

// `count` products [side, side] . [side, side], the right one maybe transposed.
struct Squares {
  int64_t side, count = 1;
  bool transposed = false;
};

// Compares some elements, from all rows and columns, with sums of `product(i,
// k, j)`; each may be off by so much.
template <typename Result, typename Sum, typename Product>
absl::Status CheckSome(const Literal& got, const Squares& of, double within,
                       Product product) {
  for (int64_t n = 0; n < of.side; ++n) {
    const int64_t batch = n % of.count, i = n, j = (7 * n + 3) % of.side;
    Sum want{};
    for (int64_t k = 0; k < of.side; ++k) want += product(batch, i, k, j);
    const Result value =
        got.data<Result>()[(batch * of.side + i) * of.side + j];
    if (std::abs(static_cast<Sum>(value) - want) > within) {
      return DataLoss("element ", i, ", ", j, " is another one");
    }
  }
  return absl::OkStatus();
}

Tensors Multiplied(const Tensors& p, bool transposed,
                   std::optional<DType> result) {
  if (!transposed) return {MatMul(p[0], p[1], {.dtype = result})};
  return {Dot(p[0], p[1], DotAxes{.contract_a = {1}, .contract_b = {1}},
              {.dtype = result})};
}

// ---- complex ----------------------------------------------------------------

using C64 = std::complex<float>;

absl::StatusOr<Race> RaceComplex(const Setting& s, const Squares& of) {
  const Blas* const blas = cpu::FindBlas();
  if (blas == nullptr) return FailedPrecondition("no BLAS");
  const int64_t n = of.count * of.side * of.side;
  Dims dims = {of.count, of.side, of.side};
  if (of.count == 1) dims.erase(dims.begin());
  const auto random = [&](uint64_t seed) {
    const Literal parts = RandomFloats({2 * n}, -1, 1, seed);
    Literal value = Literal::Uninitialized(Shape::Of(DType::kC64, dims));
    for (int64_t i = 0; i < n; ++i) {
      value.mutable_data<C64>()[i] = {parts.data<float>()[2 * i],
                                      parts.data<float>()[2 * i + 1]};
    }
    return value;
  };
  const Literal x = random(1), y = random(2);
  const auto c = Room<float>(2 * n);
  const int side = static_cast<int>(of.side);
  const auto floor = [=, threads = s.threads] {
    const C64 one = 1, zero = 0;
    const int64_t rows = of.count == 1 ? of.side : 1;
    Split(threads, of.count * rows, 1, [&](int64_t begin, int64_t end, int) {
      const int64_t matrix = of.side * of.side;
      const auto call = [&](int64_t batch, int64_t row, int64_t many) {
        const int64_t at = batch * matrix + row * of.side;
        blas->cgemm(Blas::kRowMajor, Blas::kNoTrans,
                    of.transposed ? Blas::kTrans : Blas::kNoTrans,
                    static_cast<int>(many), side, side, &one,
                    x.data<C64>().data() + at, side,
                    y.data<C64>().data() + batch * matrix, side, &zero,
                    reinterpret_cast<C64*>(c.get()) + at, side);
      };
      if (of.count == 1) return call(0, begin, end - begin);
      for (int64_t b = begin; b < end; ++b) call(b, 0, of.side);
    });
  };
  const auto product = [=](int64_t b, int64_t i, int64_t k, int64_t j) {
    const int64_t at = b * of.side;
    return std::complex<double>(x.data<C64>()[(at + i) * of.side + k]) *
           std::complex<double>(
               y.data<C64>()[of.transposed ? (at + j) * of.side + k
                                           : (at + k) * of.side + j]);
  };
  return RaceOf(s, {.body =
                        [=](const Tensors& p) {
                          return Multiplied(p, of.transposed, std::nullopt);
                        },
                    .arguments = {x, y},
                    .floor = floor,
                    .check =
                        [=](absl::Span<const Literal> got) {
                          return CheckSome<C64, std::complex<double>>(
                              got[0], of, 1e-2, product);
                        }});
}

// ---- bytes ------------------------------------------------------------------

template <typename T, typename Wide>
absl::StatusOr<Race> RaceBytes(const Setting& s, int64_t side) {
  const cpu::Dnnl* const dnnl = Libraries::OfProcess().bytes;
  if (dnnl == nullptr) return FailedPrecondition("no exact products of bytes");
  const int64_t n = side * side;
  Literal x = Literal::Uninitialized(Shape::Of(kDTypeOf<T>, {side, side}));
  Literal y = Literal::Uninitialized(x.shape());
  const Literal random = RandomBytes({2 * n});
  for (int64_t i = 0; i < n; ++i) {
    x.mutable_data<T>()[i] = static_cast<T>(random.data<uint8_t>()[i]);
    y.mutable_data<T>()[i] = static_cast<T>(random.data<uint8_t>()[n + i]);
  }
  const auto c = Room<int32_t>(n);
  const auto floor = [=, threads = s.threads] {
    Split(threads, side, 1, [&](int64_t begin, int64_t end, int) {
      (void)dnnl->Multiply(
          {DType::kU8, DType::kS8, DType::kS32}, end - begin, side, side,
          {x.bytes().data() + begin * side, side, 1},
          {y.bytes().data(), side, 1}, c.get() + begin * side, side);
    });
  };
  const auto product = [=](int64_t, int64_t i, int64_t k, int64_t j) {
    return static_cast<Wide>(x.data<T>()[i * side + k]) *
           static_cast<Wide>(y.data<T>()[k * side + j]);
  };
  return RaceOf(s, {.body =
                        [=](const Tensors& p) {
                          return Multiplied(p, false, kDTypeOf<Wide>);
                        },
                    .arguments = {x, y},
                    .floor = floor,
                    .check =
                        [=](absl::Span<const Literal> got) {
                          return CheckSome<Wide, int64_t>(got[0], {side}, 0,
                                                          product);
                        }});
}

// ---- halves with a wider result ---------------------------------------------

absl::StatusOr<Race> RaceWideHalves(const Setting& s, DType dtype) {
  const Blas* const blas = cpu::FindBlas();
  if (blas == nullptr) return FailedPrecondition("no BLAS");
  const int64_t side = s.Size(1024, 64), n = side * side;
  const Literal whole = RandomInts({2 * n}, 17);
  const auto wide = Room<float>(2 * n), c = Room<float>(n);
  const Shape shape = Shape::Of(dtype, {side, side});
  std::vector<Literal> arguments = {Literal::Uninitialized(shape),
                                    Literal::Uninitialized(shape)};
  for (int64_t i = 0; i < 2 * n; ++i) {
    const auto value = static_cast<float>(whole.data<int32_t>()[i] - 8) / 8;
    wide[i] = value;
    Literal& to = arguments[i / n];
    if (dtype == DType::kF16) {
      to.mutable_data<Half>()[i % n] = Half(value);
    } else {
      to.mutable_data<BFloat16>()[i % n] = BFloat16(value);
    }
  }
  const auto floor = [=, threads = s.threads] {
    Split(threads, side, 1, [&](int64_t begin, int64_t end, int) {
      const int k = static_cast<int>(side);
      blas->sgemm(Blas::kRowMajor, Blas::kNoTrans, Blas::kNoTrans,
                  static_cast<int>(end - begin), k, k, 1,
                  wide.get() + begin * side, k, wide.get() + n, k, 0,
                  c.get() + begin * side, k);
    });
  };
  const auto product = [=](int64_t, int64_t i, int64_t k, int64_t j) {
    return static_cast<double>(wide[i * side + k]) *
           static_cast<double>(wide[n + k * side + j]);
  };
  return RaceOf(
      s,
      {.body =
           [](const Tensors& p) { return Multiplied(p, false, DType::kF32); },
       .arguments = arguments,
       .floor = floor,
       .check =
           [=](absl::Span<const Literal> got) {
             return CheckSome<float, double>(got[0], {side}, 1e-3, product);
           }});
}

Work ComplexWork(std::string name, const Squares& full, const Squares& small) {
  return {.name = std::move(name),
          .floor = "the same by BLAS",
          .targets = {.floor = 1.1},
          .prepare =
              [=](const Setting& s) {
                return RaceComplex(s, s.small ? small : full);
              },
          .has_peers = false};
}

}  // namespace

std::vector<Work> DTypeProductWorks() {
  const char* bytes = "oneDNN's product of u8 by s8, of the same bytes";
  return {
      ComplexWork("matmul_c64", {1024}, {64}),
      ComplexWork("matmul_c64_transposed", {1024, 1, true}, {64, 1, true}),
      ComplexWork("matmul_c64_batched", {64, 256}, {16, 8}),
      ComplexWork("matmul_c64_small", {8}, {8}),
      {.name = "matmul_s8",
       .floor = bytes,
       .targets = {.floor = 1.5},
       .prepare =
           [](const Setting& s) {
             return RaceBytes<int8_t, int32_t>(s, s.Size(2048, 64));
           },
       .has_peers = false},
      {.name = "matmul_u8",
       .floor = bytes,
       .targets = {.floor = 1.5},
       .prepare =
           [](const Setting& s) {
             return RaceBytes<uint8_t, uint32_t>(s, s.Size(2048, 64));
           },
       .has_peers = false},
      {.name = "matmul_bf16_f32",
       .floor = "the same in f32, by BLAS",
       .prepare =
           [](const Setting& s) { return RaceWideHalves(s, DType::kBF16); },
       .has_peers = false},
      {.name = "matmul_f16_f32",
       .floor = "the same in f32, by BLAS",
       .prepare =
           [](const Setting& s) { return RaceWideHalves(s, DType::kF16); },
       .has_peers = false},
  };
}

}  // namespace hawser::bench
