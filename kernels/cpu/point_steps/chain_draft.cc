#include "kernels/cpu/point_steps/chain_draft.h"

#include "absl/algorithm/container.h"

namespace hawser::cpu {
namespace {

// Ops; of more the first ones are a chain of their own.
constexpr int kLongestChain = 256;
constexpr int kUsualValues = 16;

}  // namespace

ChainDraft::ChainDraft(LaneShape shape, int scope, int64_t width, TileSteps* to)
    : shape_(shape), scope_(scope), width_(width), to_(to) {
  writer_.Reserve(kUsualValues);
  values_.reserve(kUsualValues);
}

bool ChainDraft::Fits(LaneShape shape, int scope, int64_t width,
                      const TileSteps* to) const {
  return to_ == to && shape_ == shape && scope_ == scope &&
         (width == 0 || width_ == width) && writer_.num_ops() < kLongestChain;
}

bool ChainDraft::HasAsOne(absl::Span<const PointId> points) const {
  for (size_t k = 1; k < points.size(); ++k) {
    const ChainValue value = Find(points[k]);
    for (size_t n = 0; n < k && value >= 0; ++n) {
      if (points[n] != points[k] && Find(points[n]) == value) return true;
    }
  }
  return false;
}

ChainValue ChainDraft::AddRead(PointId id, DType dtype, const Read& read) {
  values_.push_back({.read = read.slot});
  ChainValue value = writer_.AddRead(dtype, read.b);
  if (IsHalfType(dtype)) {
    const ChainRow* row = &kWidenRow;
    values_.emplace_back();
    value = writer_.AddOp({&row, 1}, {&value, 1}, dtype);
  }
  value_of_.emplace(id, value);
  return value;
}

void ChainDraft::AddMade(PointId id, ChainValue value, int uses) {
  values_.push_back({.names = {id}, .uses = uses});
  value_of_.emplace(id, value);
}

void ChainDraft::AddIota(PointId id, DType dtype, LaneIndex index, int uses) {
  AddMade(id, writer_.AddIota(dtype), uses);
  iotas_.push_back(std::move(index));
}

void ChainDraft::AddOp(PointId id, absl::Span<const ChainRow* const> rows,
                       absl::Span<const ChainValue> operands, DType dtype,
                       int uses) {
  for (const ChainValue v : operands) --values_[v].uses;
  AddMade(id, writer_.AddOp(rows, operands, dtype), uses);
}

void ChainDraft::AddName(PointId on, PointId id, int uses) {
  const ChainValue value = Find(on);
  values_[value].names.push_back(id);
  values_[value].uses += uses - 1;
  value_of_.emplace(id, value);
}

std::vector<WrittenLink> ChainDraft::Write(const std::vector<bool>& is_stored) {
  std::vector<Wanted> wanted;
  for (const Value& value : values_) {
    const bool stored = absl::c_any_of(
        value.names, [&](PointId id) { return bool{is_stored[id]}; });
    wanted.push_back(value.names.empty() || value.uses == 0 ? Wanted::kNo
                     : stored ? Wanted::kAfterLoads
                              : Wanted::kYes);
  }
  return writer_.Write(wanted);
}

}  // namespace hawser::cpu
