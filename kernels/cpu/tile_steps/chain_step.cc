#include "kernels/cpu/tile_steps/chain_step.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "hwy/cache_control.h"
#include "kernels/cpu/chains/chain_writer.h"

namespace hawser::cpu {
namespace {

constexpr int64_t kLine = 64;  // bytes

bool Differs(const LaneSlot& slot, LaneShape shape) {
  return shape == LaneShape::kFull &&
         (slot.shape == LaneShape::kRows || slot.shape == LaneShape::kColumns);
}

// Bytes from a row's lanes to the next one's; none of what is in no slot.
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

ChainStep::ChainStep(int scope, const Chains& chains,
                     absl::Span<const WrittenLink> links,
                     absl::Span<const LaneSlot> slots, LaneShape shape,
                     std::vector<LaneIndex> iotas)
    : TileStep(scope),
      chains_(chains),
      shape_(shape),
      iotas_(std::move(iotas)),
      by_rows_(!iotas_.empty()) {
  links_.reserve(links.size() + 1);
  addresses_.reserve(links.size());
  for (size_t k = 0; k < links.size(); ++k) {
    const WrittenLink& link = links[k];
    ChainLink& run = links_.emplace_back(chains.find(link.op, link.b));
    run.is_spill = link.spill >= 0;
    run.reloads = !IsStore(link.op) &&
                  absl::c_any_of(outputs_, [&](const OutputSlot& output) {
                    return output.slot().slot == slots[k].slot;
                  });
    AddAddress(static_cast<int>(k), link, slots[k]);
    by_rows_ = by_rows_ || (slots[k].slot >= 0 && Differs(slots[k], shape));
  }
  links_.push_back(chains.find(ChainOp::kEnd, ChainOperand::kNone));
}

void ChainStep::AddAddress(int number, const WrittenLink& link,
                           const LaneSlot& slot) {
  Address address = {Address::kLoad, number, -1, slot};
  if (link.spill >= 0) {
    address.kind = Address::kSpill;
    address.number = link.spill;
  } else if (link.op == ChainOp::kIota) {
    address.kind = Address::kIota;
    address.number = static_cast<int>(absl::c_count_if(
        addresses_, [](const Address& a) { return a.kind == Address::kIota; }));
  } else if (slot.slot < 0) {
    return;
  } else if (link.op == ChainOp::kPrefetch) {
    address.kind = Address::kPrefetch;
  } else if (IsStore(link.op)) {
    address.kind = link.is_last && link.op == ChainOp::kStore
                       ? Address::kLastStore
                       : Address::kStore;
    address.number = static_cast<int>(outputs_.size());
    outputs_.emplace_back(slot);
  }
  addresses_.push_back(address);
}

void ChainStep::Skip(Tile& tile) const {
  for (const OutputSlot& output : outputs_) output.Skip(tile);
}

bool ChainStep::SetAddresses(Tile& tile, char* spill, int64_t* firsts) const {
  tile.links.assign(links_.begin(), links_.end());
  bool any_streamed = false;
  for (const Address& address : addresses_) {
    ChainLink& link = tile.links[address.link];
    switch (address.kind) {
      case Address::kLoad:
        link.at =
            const_cast<char*>(tile.values[address.slot.slot]);  // only read
        break;
      case Address::kPrefetch:
        // The next tile's lanes, if this one's are read from the operand.
        link.at = const_cast<char*>(tile.values[address.slot.slot]) +
                  tile.lanes(address.slot.shape) * address.slot.width;
        break;
      case Address::kStore:
        link.at = outputs_[address.number].Target(tile);
        break;
      case Address::kLastStore: {
        const OutputSlot& output = outputs_[address.number];
        link.at = output.Target(tile);
        if (output.IsStreamed() && link.at != tile.memory[address.slot.slot]) {
          link.is_streamed = any_streamed = true;
        }
        break;
      }
      case Address::kSpill:
        link.at = spill + address.number * kStripBytes;
        break;
      case Address::kIota:
        link.at = reinterpret_cast<char*>(firsts + address.number);
        break;
    }
  }
  return any_streamed;
}

void ChainStep::Run(Tile& tile) const {
  alignas(kLine) char spill[ChainWriter::kSpillSlots * kStripBytes];
  Firsts firsts(iotas_.size());
  const bool any_streamed = SetAddresses(tile, spill, firsts.data());
  if (by_rows_) {
    RunRows(tile, firsts.data());
  } else {
    RunChain(chains_, tile.links, tile.lanes(shape_));
  }
  if (any_streamed) hwy::FlushStream();
}

void ChainStep::RunRows(Tile& tile, int64_t* firsts) const {
  for (int64_t j = 0; j < tile.ny; ++j) {
    for (size_t c = 0; c < iotas_.size(); ++c) {
      firsts[c] = iotas_[c].At(tile, j, 0);
    }
    RunChain(chains_, tile.links, tile.nx);
    for (const Address& address : addresses_) {
      tile.links[address.link].at += BytesOfARow(address.slot, tile);
    }
  }
}

}  // namespace hawser::cpu
