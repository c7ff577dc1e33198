#include "client/sdk/graph/region.h"

#include <bit>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/ir/builder.h"

namespace hawser::sdk {
namespace {

// `from` with its called computations renumbered.
Computation Renumbered(const Computation& from, const Module& into,
                       absl::Span<const int> numbers) {
  Computation to(from.name());
  for (const Instruction& i : from.instructions()) {
    absl::InlinedVector<int, 2> called;
    for (int c : i.called) called.push_back(numbers[c]);
    HAWSER_CHECK(to.Append(into, *i.op, i.operands, i.attributes, called).ok());
  }
  HAWSER_CHECK(to.SetResults(from.results()).ok());
  return to;
}

}  // namespace

struct AttributeToKey {
  StructureKey* key;
  void operator()(bool v) const { key->Integer(v); }
  void operator()(int64_t v) const { key->Integer(v); }
  void operator()(double v) const { key->Integer(std::bit_cast<uint64_t>(v)); }
  void operator()(const std::string& v) const {
    key->Integer(v.size()).Append(v);
  }
  void operator()(const Dims& v) const {
    key->Integer(v.size());
    for (int64_t d : v) key->Integer(d);
  }
  void operator()(DType v) const { key->Integer(static_cast<uint64_t>(v)); }
  void operator()(const Literal& v) const {
    key->Add(v.shape()).Append({v.bytes().data(), v.bytes().size()});
  }
};

StructureKey& StructureKey::Integer(uint64_t value) {
  Append({reinterpret_cast<const char*>(&value), sizeof(value)});
  return *this;
}

StructureKey& StructureKey::Op(const OpDef& op) {
  return Integer(reinterpret_cast<uintptr_t>(&op));
}

StructureKey& StructureKey::Add(const Digest& digest) {
  Append(digest.bytes());
  return *this;
}

StructureKey& StructureKey::Add(const Shape& shape) {
  Integer(static_cast<uint64_t>(shape.dtype())).Integer(shape.rank());
  for (int64_t d : shape.dims()) Integer(d);
  return *this;
}

StructureKey& StructureKey::Add(const Attributes& attributes) {
  Integer(attributes.size());
  for (const auto& [name, value] : attributes) {
    Integer(name.size()).Append(name);
    Integer(value.index());
    std::visit(AttributeToKey{this}, value);
  }
  return *this;
}

Digest DigestOf(const Module& module) {
  StructureKey key;
  for (const Computation& c : module.computations()) {
    key.Integer(c.instructions().size());
    for (const Instruction& i : c.instructions()) {
      key.Op(*i.op).Integer(i.operands.size());
      for (ValueId v : i.operands) key.Integer(v);
      key.Add(i.attributes).Integer(i.called.size());
      for (int called : i.called) key.Integer(called);
    }
    key.Integer(c.results().size());
    for (ValueId v : c.results()) key.Integer(v);
  }
  return key.Finish();
}

Region MakeRegion(Module module, std::shared_ptr<const Places> places) {
  const Digest digest = DigestOf(module);
  return std::make_shared<RegionDef>(
      RegionDef{std::move(module), digest, std::move(places)});
}

Region ExtractRegion(const Module& module, int computation,
                     std::shared_ptr<const Places> places) {
  std::vector<bool> needed(computation + 1, false);
  needed[computation] = true;
  for (int c = computation; c >= 0; --c) {  // callers before callees
    if (!needed[c]) continue;
    for (const Instruction& i : module.computation(c).instructions()) {
      for (int called : i.called) needed[called] = true;
    }
  }
  Module region;
  std::vector<int> numbers(needed.size(), -1);
  for (int c = 0; c <= computation; ++c) {
    if (!needed[c]) continue;
    numbers[c] = region.Add(Renumbered(module.computation(c), region, numbers));
  }
  return MakeRegion(std::move(region), std::move(places));
}

Region Monoid(const OpDef& op, DType dtype) {
  static Mutex mu;
  static auto& known =
      *new absl::flat_hash_map<std::pair<const OpDef*, DType>, Region>();
  MutexLock lock(&mu);
  Region& region = known[{&op, dtype}];
  if (region == nullptr) {
    Module module;
    ComputationBuilder b(&module, std::string(op.name));
    const ValueId x = b.Parameter(Shape::Scalar(dtype));
    const ValueId y = b.Parameter(Shape::Scalar(dtype));
    HAWSER_CHECK(b.Finish({b.Add(op, {x, y})}).ok());
    region = MakeRegion(std::move(module));
  }
  return region;
}

int AddRegion(const RegionDef& region, Module* module, RegionIndex* index) {
  const auto [at, added] = index->try_emplace(region.digest, 0);
  if (!added) return at->second;
  std::vector<int> numbers;
  for (const Computation& c : region.module.computations()) {
    numbers.push_back(module->Add(Renumbered(c, *module, numbers)));
  }
  return at->second = numbers.back();
}

}  // namespace hawser::sdk
