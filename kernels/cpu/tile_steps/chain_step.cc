#include "kernels/cpu/tile_steps/chain_step.h"

#include "absl/container/inlined_vector.h"
#include "hwy/cache_control.h"

namespace hawser::cpu {
namespace {

bool Differs(const LaneSlot& slot, LaneShape shape) {
  return shape == LaneShape::kFull && (slot.shape == LaneShape::kRows ||
                                       slot.shape == LaneShape::kColumns);
}

// Bytes from a row's lanes to the next one's.
int64_t BytesOfARow(const LaneSlot& slot, const Tile& tile) {
  switch (slot.shape) {
    case LaneShape::kRows:
      return slot.width;
    case LaneShape::kFull:
      return slot.width * tile.nx;
    case LaneShape::kOne:
    case LaneShape::kColumns:
      break;
  }
  return 0;
}

}  // namespace

ChainStep::ChainStep(int scope, ChainFn fn, LaneSlot in,
                     std::vector<Link> links, LaneSlot to)
    : ValueStep(scope, to), fn_(fn), in_(in), links_(std::move(links)) {
  by_rows_ = Differs(in_, to.shape);
  for (const Link& link : links_) {
    by_rows_ = by_rows_ || (link.slot.slot >= 0 && Differs(link.slot, to.shape));
  }
}

void ChainStep::Skip(Tile& tile) const {
  ValueStep::Skip(tile);
  for (const Link& link : links_) {
    if (link.op != ChainOp::kKeep) continue;
    tile.values[link.slot.slot] = tile.memory[link.slot.slot];
  }
}

void ChainStep::Run(Tile& tile) const {
  absl::InlinedVector<ChainLink, 16> links;
  for (const Link& link : links_) {
    char* at = nullptr;
    if (link.op == ChainOp::kKeep) {
      at = tile.memory[link.slot.slot];
      tile.values[link.slot.slot] = at;
    } else if (link.slot.slot >= 0) {
      at = const_cast<char*>(tile.values[link.slot.slot]);  // only read
    }
    links.push_back({link.op, link.other, at});
  }
  const char* in = tile.values[in_.slot];
  char* out = Target(tile);
  const bool past = IsStreamed() && out != tile.memory[to_.slot];
  links.push_back({past ? ChainOp::kEndPast : ChainOp::kEnd});
  if (by_rows_) {
    RunRows(tile, in, out, absl::MakeSpan(links));
  } else {
    fn_(in, links.data(), out, tile.lanes(to_.shape));
  }
  if (past) hwy::FlushStream();
}

void ChainStep::RunRows(const Tile& tile, const char* in, char* out,
                        absl::Span<ChainLink> links) const {
  for (int64_t j = 0; j < tile.ny; ++j) {
    fn_(in, links.data(), out, tile.nx);
    in += BytesOfARow(in_, tile);
    out += BytesOfARow(to_, tile);
    for (size_t k = 0; k < links_.size(); ++k) {
      if (links[k].at != nullptr) {
        links[k].at += BytesOfARow(links_[k].slot, tile);
      }
    }
  }
}

}  // namespace hawser::cpu
