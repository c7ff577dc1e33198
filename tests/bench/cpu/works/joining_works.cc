// Values joined along an axis, and padded.
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/sdk/ops.h"
#include "tests/bench/cpu/work.h"

namespace hawser::bench {
namespace {

constexpr int64_t kBytes = int64_t{16} << 20, kFewBytes = 16 << 10;

// A dtype, and what stands for its elements.
struct Elements {
  const char* name;
  DType dtype;
};
constexpr Elements kElements[] = {
    {"f32", DType::kF32}, {"u8", DType::kU8}, {"bf16", DType::kBF16}};

// Copies as many bytes as `shape` has.
std::function<void()> Copying(int threads, const Shape& shape) {
  const int64_t bytes = shape.byte_size();
  const auto from = Room<char>(bytes), to = Room<char>(bytes);
  return [=] {
    Split(threads, bytes, 64, [&](int64_t begin, int64_t end, int) {
      std::memcpy(to.get() + begin, from.get() + begin, end - begin);
    });
  };
}

// Any bytes are elements, as they are only moved.
Literal Random(DType dtype, const Dims& dims) {
  Literal value = Literal::Uninitialized(Shape::Of(dtype, dims));
  const Literal bytes = RandomBytes({value.shape().byte_size()});
  std::memcpy(value.mutable_bytes().data(), bytes.bytes().data(),
              bytes.bytes().size());
  return value;
}

absl::Status Same(const Literal& got, const Literal& want) {
  if (!(got.shape() == want.shape())) {
    return DataLoss("a result of shape ", got.shape().ToString());
  }
  if (std::memcmp(got.bytes().data(), want.bytes().data(),
                  want.bytes().size()) != 0) {
    return DataLoss("other elements");
  }
  return absl::OkStatus();
}

// ---- concatenate ------------------------------------------------------------

// Operands [before, size, after], joined along the middle.
struct Join {
  int64_t before, size, after;
};

absl::StatusOr<Race> RaceJoin(const Setting& s, DType dtype, int64_t count,
                              const Join& join) {
  const int64_t width = ByteWidth(dtype);
  const int64_t piece = join.size * join.after * width;
  const Dims dims = {join.before, join.size, join.after};
  std::vector<Literal> operands;
  for (int64_t k = 0; k < count; ++k) operands.push_back(Random(dtype, dims));
  Literal want = Literal::Uninitialized(
      Shape::Of(dtype, {join.before, count * join.size, join.after}));
  for (int64_t b = 0; b < join.before; ++b) {
    for (int64_t k = 0; k < count; ++k) {
      std::memcpy(want.mutable_bytes().data() + (b * count + k) * piece,
                  operands[k].bytes().data() + b * piece, piece);
    }
  }
  return RaceOf(
      s,
      {.body = [](const Tensors& p) { return Tensors{Concatenate(p, 1)}; },
       .arguments = operands,
       .floor = Copying(s.threads, want.shape()),
       .check =
           [=](absl::Span<const Literal> got) { return Same(got[0], want); }});
}

Work JoinWork(std::string name, DType dtype, int64_t count,
              std::function<Join(int64_t elements)> join) {
  return {.name = std::move(name),
          .floor = "memcpy of as many bytes",
          .targets = {.floor = 1.5},
          .prepare =
              [=](const Setting& s) {
                return RaceJoin(
                    s, dtype, count,
                    join(s.Size(kBytes, kFewBytes) / ByteWidth(dtype) / count));
              },
          .has_peers = false};
}

void AddJoins(std::vector<Work>* works) {
  for (const Elements& of : kElements) {
    for (const int64_t count : {2, 8}) {
      const std::string name = absl::StrCat("concat", count, "_", of.name);
      for (const int64_t inner : {1, 3, 16, 1000}) {
        works->push_back(JoinWork(absl::StrCat(name, "_last_", inner), of.dtype,
                                  count, [=](int64_t n) {
                                    return Join{n / inner, inner, 1};
                                  }));
      }
      works->push_back(JoinWork(absl::StrCat(name, "_middle"), of.dtype, count,
                                [=](int64_t n) {
                                  return Join{n / 48, 3, 16};
                                }));
      works->push_back(JoinWork(absl::StrCat(name, "_first"), of.dtype, count,
                                [=](int64_t n) {
                                  return Join{1, n / 16, 16};
                                }));
    }
  }
}

// ---- pad --------------------------------------------------------------------

absl::StatusOr<Race> RacePad(const Setting& s, const Literal& x,
                             const std::vector<Padding>& paddings) {
  const DType dtype = x.shape().dtype();
  const int64_t width = ByteWidth(dtype);
  const Dims& from = x.shape().dims();
  Dims to;
  for (size_t a = 0; a < from.size(); ++a) {
    to.push_back(from[a] + (from[a] - 1) * paddings[a].interior +
                 paddings[a].low + paddings[a].high);
  }
  Literal want = Literal::Zeros(Shape::Of(dtype, to));
  for (int64_t i = 0; i < x.shape().num_elements(); ++i) {
    int64_t rest = i, at = 0, stride = 1;
    bool lands = true;
    for (size_t a = from.size(); a-- > 0;) {
      const int64_t place =
          paddings[a].low + rest % from[a] * (paddings[a].interior + 1);
      rest /= from[a];
      lands = lands && place >= 0 && place < to[a];
      at += place * stride;
      stride *= to[a];
    }
    if (!lands) continue;
    std::memcpy(want.mutable_bytes().data() + at * width,
                x.bytes().data() + i * width, width);
  }
  return RaceOf(s, {.body =
                        [=](const Tensors& p) {
                          return Tensors{Pad(p[0], Scalar(dtype, 0), paddings)};
                        },
                    .arguments = {x},
                    .floor = Copying(s.threads, want.shape()),
                    .check =
                        [=](absl::Span<const Literal> got) {
                          return Same(got[0], want);
                        }});
}

// Padding of [n, 3, inner], whose result has about kBytes.
struct PadCase {
  const char* name;
  int64_t inner;
  Padding first, middle, last;
};
constexpr PadCase kPads[] = {
    {"last_1", 1, {}, {}, {1, 1}},
    {"last_3", 3, {}, {}, {1, 1}},
    {"last_16", 16, {}, {}, {1, 1}},
    {"last_1000", 1000, {}, {}, {1, 1}},
    {"middle", 16, {}, {1, 1}, {}},
    {"first", 16, {3, 5}, {}, {}},
    {"edges", 16, {1, 1}, {1, 1}, {1, 1}},
    {"shift", 16, {}, {}, {1, -1}},
    {"crop", 1000, {-1, -1}, {}, {-1, -1}},
    {"interior", 16, {}, {}, {0, 0, 1}},
    {"interior_middle", 16, {}, {0, 0, 1}, {}},
};

void AddPads(std::vector<Work>* works) {
  for (const Elements& of : kElements) {
    for (const PadCase& pad : kPads) {
      works->push_back(
          {.name = absl::StrCat("pad_", of.name, "_", pad.name),
           .floor = "memcpy of as many bytes as the result has",
           .targets = {.floor = 1.5},
           .prepare =
               [=](const Setting& s) {
                 const auto grown = [](int64_t n, const Padding& p) {
                   return n + (n - 1) * p.interior + p.low + p.high;
                 };
                 const int64_t row =
                     grown(3, pad.middle) * grown(pad.inner, pad.last);
                 const int64_t n =
                     s.Size(kBytes, kFewBytes) / ByteWidth(of.dtype) / row;
                 return RacePad(s, Random(of.dtype, {n + 3, 3, pad.inner}),
                                {pad.first, pad.middle, pad.last});
               },
           .has_peers = false});
    }
  }
}

}  // namespace

std::vector<Work> JoiningWorks() {
  std::vector<Work> works;
  AddJoins(&works);
  AddPads(&works);
  return works;
}

}  // namespace hawser::bench
