#include "kernels/cpu/movement/combiner.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"

namespace hawser::cpu {
namespace {

// Elements of a dense row combined at once.
constexpr int64_t kPiece = int64_t{1} << 16;

// Rows that are asked for before they are combined, and how much of each.
constexpr int64_t kRowsAhead = 16;
constexpr int64_t kAskedBytes = 256, kLine = 64;

void Ask(const char* row, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(row + at);
}

// Puts the second operand in the first one's place.
template <int64_t kBytes>
void TakeSecond(const char* const* in, char* out, int64_t n) {
  std::memmove(out, in[1], n * kBytes);
}

template <typename W>
void TakeEach(const int32_t* offsets, int64_t n, int32_t size, const char* from,
              int64_t step, char* to, int64_t) {
  const W* x = reinterpret_cast<const W*>(from);
  W* y = reinterpret_cast<W*>(to);
  const auto end = static_cast<uint32_t>(size);
  for (int64_t k = 0; k < n; ++k) {
    const auto offset = static_cast<uint32_t>(offsets[k]);
    if (offset < end) y[offset] = x[k * step];
  }
}

// Copies n elements; strides are in elements.
void CopyRow(int64_t width, int64_t n, char* to, int64_t to_stride,
             const char* from, int64_t from_stride) {
  VisitWidth(width, [&](auto tag) {
    using W = typename decltype(tag)::type;
    const W* x = reinterpret_cast<const W*>(from);
    W* y = reinterpret_cast<W*>(to);
    for (int64_t i = 0; i < n; ++i) y[i * to_stride] = x[i * from_stride];
  });
}

}  // namespace

Combiner::Combiner(const KernelContext& context, const CombinedTensors& tensors)
    : c_(context),
      tensors_(tensors),
      n_(static_cast<int>(tensors.dtypes.size())),
      program_(context.lanes[0]) {
  if (program_ == nullptr || n_ != 1) return;
  direct_ = program_->OnlyStep();
  if (program_->result_value(0) == 1) {
    VisitWidth(width(0), [&](auto tag) {
      using W = typename decltype(tag)::type;
      direct_ = TakeSecond<sizeof(W)>;
      combine_ = TakeEach<W>;
    });
    return;
  }
  const OpDef* monoid =
      MonoidOf(context.module.computation(context.instruction.called[0]));
  const CpuKernel* kernel = direct_ == nullptr || monoid == nullptr
                                ? nullptr
                                : FindCpuKernel(*monoid);
  if (kernel != nullptr && kernel->combine != nullptr) {
    combine_ = kernel->combine(tensors.dtypes[0]);
  }
}

void Combiner::Run(const PlacedRows& rows) const {
  const int64_t n = static_cast<int64_t>(rows.offsets.size());
  const int64_t bytes = width(0);
  char* const to = tensors_.to[0];
  const char* const from = tensors_.from[0] + rows.from * bytes;
  if (rows.size == 1 && combine_ != nullptr) {
    return combine_(rows.offsets.data(), n, rows.end, from, rows.step, to,
                    tensors_.apart);
  }
  const int64_t asked = std::min(rows.size * bytes, kAskedBytes);
  const auto end = static_cast<uint32_t>(rows.end);
  for (int64_t k = 0; k < n; ++k) {
    const int64_t ahead = std::min(k + kRowsAhead, n - 1);
    const auto next = static_cast<uint32_t>(rows.offsets[ahead]);
    if (next < end) {
      Ask(to + next * bytes, asked);
      Ask(from + ahead * rows.step * bytes, asked);
    }
    const auto offset = static_cast<uint32_t>(rows.offsets[k]);
    if (offset >= end) continue;
    char* const row = to + offset * bytes;
    const char* const in[] = {row, from + k * rows.step * bytes};
    direct_(in, row, rows.size);
  }
}

absl::Status Combiner::Run(const CombinedRow& row, WorkMeter* meter) {
  const bool dense = row.to_stride == 1 && row.from_stride == 1;
  if (direct_ != nullptr && (dense || row.size == 1)) {
    return RunDense(row, meter);
  }
  return program_ != nullptr ? RunLanes(row, meter) : RunCalls(row, meter);
}

absl::Status Combiner::RunDense(const CombinedRow& row, WorkMeter* meter) {
  for (int64_t begin = 0; begin < row.size; begin += kPiece) {
    const int64_t n = std::min(kPiece, row.size - begin);
    HAWSER_RETURN_IF_ERROR(
        meter->Begin(program_->cost() * static_cast<double>(n)));
    char* to = tensors_.to[0] + (row.to + begin) * width(0);
    const char* from = tensors_.from[0] + (row.from + begin) * width(0);
    const char* const in[] = {to, from};
    direct_(in, to, n);
  }
  return absl::OkStatus();
}

absl::Status Combiner::RunLanes(const CombinedRow& row, WorkMeter* meter) {
  if (!std::exchange(prepared_, true)) program_->Prepare(columns_);
  for (int64_t begin = 0; begin < row.size; begin += program_->lanes()) {
    const int64_t n = std::min(program_->lanes(), row.size - begin);
    const int64_t to = row.to + begin * row.to_stride;
    const int64_t from = row.from + begin * row.from_stride;
    for (int k = 0; k < n_; ++k) {
      CopyRow(width(k), n, columns_.own(k), 1, tensors_.to[k] + to * width(k),
              row.to_stride);
      CopyRow(width(k), n, columns_.own(n_ + k), 1,
              tensors_.from[k] + from * width(k), row.from_stride);
    }
    HAWSER_RETURN_IF_ERROR(meter->Begin(2.0 * n_ * static_cast<double>(n)));
    HAWSER_RETURN_IF_ERROR(program_->Run(n, columns_, meter));
    for (int k = 0; k < n_; ++k) {
      CopyRow(width(k), n, tensors_.to[k] + to * width(k), row.to_stride,
              columns_.own(program_->result_value(k)), 1);
    }
  }
  return absl::OkStatus();
}

absl::Status Combiner::RunCalls(const CombinedRow& row, WorkMeter* meter) {
  for (int64_t i = 0; i < row.size; ++i) {
    HAWSER_RETURN_IF_ERROR(meter->Begin(n_ * kScalarSteps));
    const int64_t to = row.to + i * row.to_stride;
    const int64_t from = row.from + i * row.from_stride;
    std::vector<Literal> values(2 * n_);
    for (int k = 0; k < n_; ++k) {
      const DType dtype = tensors_.dtypes[k];
      HAWSER_ASSIGN_OR_RETURN(
          values[k], c_.ScalarAt(dtype, tensors_.to[k] + to * width(k)));
      HAWSER_ASSIGN_OR_RETURN(
          values[n_ + k],
          c_.ScalarAt(dtype, tensors_.from[k] + from * width(k)));
    }
    HAWSER_ASSIGN_OR_RETURN(values, c_.call(0, std::move(values)));
    for (int k = 0; k < n_; ++k) {
      std::memcpy(tensors_.to[k] + to * width(k), values[k].bytes().data(),
                  width(k));
    }
  }
  return absl::OkStatus();
}

}  // namespace hawser::cpu
