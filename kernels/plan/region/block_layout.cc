#include "kernels/plan/region/block_layout.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/movement/sort.h"
#include "kernels/plan/parallel/first_places.h"

namespace hawser::plan {
namespace {

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Blocks that go along parts of runs at once, for each unit of the device, and
// threads of them that do so alone.
constexpr int64_t kPartsPerUnit = 8;
constexpr int64_t kThreadsPerUnit = 1024;
// The shortest part that is worth reading twice.
constexpr int64_t kLeastUnits = 4;
constexpr int64_t kLeastSteps = 64;

// The elements of a tile in shared memory, of which every device has 48 KiB.
constexpr int64_t kTile = 1024;
constexpr int64_t kLeastTile = 64;
constexpr int64_t kTileBytes = int64_t{40} << 10;
// In a sort by digits, which counts them in 9.1 KiB beside its tile, a thread
// has so many elements that a tile has several neighbours of most digits, and
// so few that its registers hold them.
constexpr int64_t kItems = 16;
constexpr int64_t kLeastItems = 4;
constexpr int64_t kDigitTileBytes = int64_t{38} << 10;
// Runs that a network orders in fewer steps than counting takes.
constexpr int64_t kShortSort = 512;
// An operand that is no key is carried if it is no wider than its place.
constexpr int64_t kPlaceBytes = 4;

// The most pairs of values of a comparator that is looked at closely.
constexpr size_t kMostPairs = 256;

// A selection goes over its rows for each digit and twice more, of which most
// reading is of what the caches still have.
constexpr int64_t kSelectReads = 3;

// Arrays of scratch memory begin at multiples of it.
constexpr int64_t kArrayAlignment = 16;

// Returns how many entries of an axis of `size`, from the first on, have all
// that a region reads of its operand.
int64_t EntriesRead(const Region& region, int operand, int64_t axis,
                    int64_t size) {
  if (!IsOfPoints(region.kind)) return size;
  int64_t entries = 0;
  bool is_known = false;
  for (const MemoryAccess& access : region.accesses) {
    if (access.operand != operand || access.point < 0) continue;
    const Point& load = region.points[access.point];
    entries =
        std::max(entries, region.maps[load.map].axes[axis].bounds().max + 1);
    is_known = true;
  }
  return is_known ? std::min(entries, size) : size;
}

}  // namespace

RunsOf::RunsOf(const Shape& shape, int64_t axis) : size(shape.dim(axis)) {
  for (int d = 0; d < shape.rank(); ++d) {
    if (d < axis) outer *= shape.dim(d);
    if (d > axis) inner *= shape.dim(d);
  }
}

ScanLayout::ScanLayout(const Shape& shape, int64_t axis, int64_t most_parts)
    : runs(shape, axis) {
  if (shape.num_elements() == 0) return;
  const int64_t unit = by_thread() ? 1 : kUnit;
  part_size = CeilDivide(CeilDivide(runs.size, most_parts), unit) * unit;
  parts = CeilDivide(runs.size, part_size);
}

int64_t ScanLayout::PartsFor(const Shape& shape, int64_t axis,
                             int64_t parallel_units) {
  const ScanLayout whole(shape, axis, 1);
  if (shape.num_elements() == 0) return 1;
  const bool alone = whole.by_thread();
  const int64_t wanted =
      parallel_units * (alone ? kThreadsPerUnit : kPartsPerUnit);
  const int64_t least = alone ? kLeastSteps : kLeastUnits * kUnit;
  const int64_t most =
      std::clamp<int64_t>(wanted / whole.runs.runs(), 1,
                          std::max<int64_t>(1, whole.runs.size / least));
  return ScanLayout(shape, axis, most).parts;
}

int64_t ScanLayout::ArrayBytes(DType dtype) const {
  // Running values of halves are floats.
  const int64_t width = std::max<int64_t>(
      ByteWidth(dtype), dtype == DType::kF16 || dtype == DType::kBF16 ? 4 : 1);
  return CeilDivide(parts * runs.runs() * width, kArrayAlignment) *
         kArrayAlignment;
}

std::vector<int> KeysOfComparator(const Computation& comparator) {
  std::vector<bool> needed(comparator.num_values(), false);
  for (const ValueId v : comparator.results()) needed[v] = true;
  const auto instructions = comparator.instructions();
  for (size_t k = instructions.size(); k-- > 0;) {
    const Instruction& i = instructions[k];
    if (!needed[i.first_result]) continue;
    for (const ValueId v : i.operands) needed[v] = true;
  }
  std::vector<int> keys;
  for (int p = 0; p < comparator.num_parameters(); p += 2) {
    if (needed[p] || needed[p + 1]) keys.push_back(p / 2);
  }
  return keys;
}

std::optional<SortOrder> OrderOfComparator(const Computation& comparator) {
  const auto last_of = [&](ValueId v) -> const Instruction& {
    return comparator.instructions()[comparator.producer(v)];
  };
  const Instruction& last = last_of(comparator.results()[0]);
  if (last.op != &kCompare) return std::nullopt;
  const CompareDirection direction = CompareDirectionOf(last.attributes);
  if (direction != CompareDirection::kLt &&
      direction != CompareDirection::kGt) {
    return std::nullopt;
  }
  const DType dtype = comparator.shape(last.operands[0]).dtype();
  if (!IsInteger(dtype) && !IsBool(dtype)) return std::nullopt;
  // Pairs that must be the same function of the left and of the right, and
  // which side of the comparison reads the first of a pair of parameters.
  std::vector<std::pair<ValueId, ValueId>> left = {
      {last.operands[0], last.operands[1]}};
  int turned = -1;
  for (size_t n = 0; n < left.size(); ++n) {
    if (n > kMostPairs) return std::nullopt;
    const auto [l, r] = left[n];
    const Instruction &a = last_of(l), &b = last_of(r);
    if (a.op != b.op || !a.called.empty()) return std::nullopt;
    if (a.op == &kParameter) {
      if (l / 2 != r / 2 || l == r) return std::nullopt;
      const int is_turned = l > r ? 1 : 0;
      if (turned >= 0 && turned != is_turned) return std::nullopt;
      turned = is_turned;
      continue;
    }
    if (!SameAttributes(a.attributes, b.attributes) ||
        l - a.first_result != r - b.first_result ||
        a.operands.size() != b.operands.size()) {
      return std::nullopt;
    }
    for (size_t k = 0; k < a.operands.size(); ++k) {
      left.emplace_back(a.operands[k], b.operands[k]);
    }
  }
  const bool greater = direction == CompareDirection::kGt;
  return SortOrder{last.operands[0], greater != (turned == 1)};
}

SortLayout::SortLayout(const Module& module, int computation,
                       const Instruction& sort)
    : runs(module.computation(computation).shape(sort.operands[0]),
           sort.attributes.GetInt("dimension")),
      num_operands(sort.operands.size()),
      keys(KeysOfComparator(module.computation(sort.called[0]))) {
  const Computation& c = module.computation(computation);
  while (padded < runs.size) padded *= 2;
  if (padded > int64_t{1} << 31) return;
  TryDigits(c, sort, module.computation(sort.called[0]));
  if (!by_digits()) {
    carried = keys;
    const int64_t bytes = kPlaceBytes + BytesOfCarried(c, sort);
    int64_t fits = kTile;
    while (fits * bytes > kTileBytes) fits /= 2;
    if (fits < kLeastTile) return;
    tile = fits;
  }
  if (!one_tile()) LayOutScratch(c, sort);
}

int64_t SortLayout::BytesOfCarried(const Computation& c,
                                   const Instruction& sort) const {
  int64_t bytes = 0;
  for (const int k : carried) {
    bytes += ByteWidth(c.shape(sort.operands[k]).dtype());
  }
  return bytes;
}

void SortLayout::TryDigits(const Computation& c, const Instruction& sort,
                           const Computation& comparator) {
  const std::optional<SortOrder> by = OrderOfComparator(comparator);
  const bool is_short = sort.op == &kSort && runs.size <= kShortSort;
  if (!by.has_value() || keys.empty() || is_short) return;
  carried = keys;
  if (keys.size() + 1 == num_operands) {
    int other = 0;
    for (const int k : keys) other += k == other ? 1 : 0;
    if (ByteWidth(c.shape(sort.operands[other]).dtype()) <= kPlaceBytes) {
      carried.push_back(other);
    }
  }
  const int64_t bytes =
      BytesOfCarried(c, sort) + (has_payload() ? kPlaceBytes : 0);
  int64_t items = kItems;
  while (items * kDigits * bytes > kDigitTileBytes) items /= 2;
  if (items < kLeastItems) return;
  tile = items * kDigits;
  order = *by;
  passes = static_cast<int>(ByteWidth(comparator.shape(by->image).dtype()));
}

void SortLayout::LayOutScratch(const Computation& c, const Instruction& sort) {
  const int64_t elements = c.shape(sort.operands[0]).num_elements();
  const auto take = [&](int64_t count, int64_t width) {
    const int64_t begin = scratch_bytes;
    scratch_bytes +=
        CeilDivide(count * width, kArrayAlignment) * kArrayAlignment;
    return begin;
  };
  if (!by_digits()) {
    take(elements, kPlaceBytes);
    return;
  }
  if (passes > 1) {
    if (has_payload()) {
      take(elements, kPlaceBytes);
      places_bytes = scratch_bytes;
      take(elements, kPlaceBytes);
    }
    for (const int k : carried) {
      carried_begin.push_back(
          take(elements, ByteWidth(c.shape(sort.operands[k]).dtype())));
    }
  }
  const int64_t rows = runs.runs() * kDigits;
  counts_begin = take(rows * tiles(), sizeof(uint32_t));
  if (sums_apart()) totals_begin = take(rows, sizeof(uint32_t));
}

int SortLayout::doublings() const {
  int count = 0;
  for (int64_t n = tile; n < padded; n *= 2) ++count;
  return count;
}

int SortLayout::launches() const {
  if (by_digits()) {
    return one_tile() ? 1 : passes * (sums_apart() ? 3 : 2);
  }
  return 1 + doublings() * (doublings() + 3) / 2;
}

void LayOutBlocks(const Module& module, const Instruction& instruction,
                  const Target& target, Region* region) {
  const Computation& c = module.computation(region->computation);
  const Shape& shape = c.shape(instruction.operands[0]);
  if (instruction.op == &kFirstPlaces) {
    region->bytes_read *= kSelectReads;
    return;
  }
  if (instruction.op != &kScan) {
    const SortLayout layout(module, region->computation, instruction);
    region->scratch_bytes = layout.scratch_bytes;
    if (layout.tile == 0) return;
    region->launches = layout.launches();
    if (layout.by_digits() && !layout.one_tile()) {
      region->bytes_read *= 2 * layout.passes;
      region->bytes_written *= layout.passes;
    } else {
      region->bytes_read *= region->launches;
      region->bytes_written *= region->launches;
    }
    return;
  }
  const int64_t axis = instruction.attributes.GetInt("dimension");
  const ScanLayout layout(
      shape, axis, ScanLayout::PartsFor(shape, axis, target.parallel_units));
  region->splits = layout.parts;
  if (layout.parts == 1) return;
  region->launches = 3;
  region->bytes_read *= 2;
  for (const ValueId v : instruction.operands) {
    region->scratch_bytes += 2 * layout.ArrayBytes(c.shape(v).dtype());
  }
}

std::vector<int64_t> FindWanted(const Computation& c, const Regions& regions) {
  const auto instructions = c.instructions();
  const auto is_sort = [](const Instruction& i) { return i.op == &kSort; };
  if (absl::c_none_of(instructions, is_sort)) return {};
  std::vector<int64_t> wanted(instructions.size(), 0);
  for (size_t k = 0; k < instructions.size(); ++k) {
    const auto& operands = instructions[k].operands;
    for (size_t o = 0; o < operands.size(); ++o) {
      const int made = c.producer(operands[o]);
      if (!is_sort(instructions[made])) continue;
      const int64_t axis = instructions[made].attributes.GetInt("dimension");
      wanted[made] = std::max(wanted[made],
                              EntriesRead(regions[k], static_cast<int>(o), axis,
                                          c.shape(operands[o]).dim(axis)));
    }
  }
  for (const ValueId v : c.results()) {
    const int made = c.producer(v);
    if (!is_sort(instructions[made])) continue;
    wanted[made] = std::numeric_limits<int64_t>::max();
  }
  return wanted;
}

}  // namespace hawser::plan
