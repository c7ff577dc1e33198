// Region: a finished, closed computation that instructions call: the body of
// a loop, a branch, the function of a reduction.
#ifndef HAWSER_CLIENT_SDK_GRAPH_REGION_H_
#define HAWSER_CLIENT_SDK_GRAPH_REGION_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "client/sdk/graph/places.h"
#include "core/base/digest.h"
#include "core/ir/module.h"

namespace hawser::sdk {

// The module's entry is the computation; the others are what it calls.
struct RegionDef {
  Module module;
  Digest digest;  // of its structure
  std::shared_ptr<const Places> places = nullptr;  // null: not known
};
using Region = std::shared_ptr<const RegionDef>;

Region MakeRegion(Module module,
                  std::shared_ptr<const Places> places = nullptr);
// A computation of `module`, with those it calls.
Region ExtractRegion(const Module& module, int computation,
                     std::shared_ptr<const Places> places = nullptr);
// Equal digests in one process: the same computations.
Digest DigestOf(const Module& module);
// (x, y) -> op(x, y) over scalars; one object per op and dtype in the process.
// `op` must take them (checked).
Region Monoid(const OpDef& op, DType dtype);

// Maps a region's digest to the number that its entry has in one module.
using RegionIndex = absl::flat_hash_map<Digest, int>;
// Copies `region` into `module` unless it is there; returns its number.
int AddRegion(const RegionDef& region, Module* module, RegionIndex* index);

// The bytes that name a structure inside this process: equal bytes, equal
// structure. Hashed once at the end, which is cheaper than field by field.
class StructureKey {
 public:
  StructureKey& Integer(uint64_t value);
  StructureKey& Op(const OpDef& op);
  StructureKey& Add(const Shape& shape);
  StructureKey& Add(const Attributes& attributes);
  StructureKey& Add(const Digest& digest);
  Digest Finish() const { return Sha256(bytes_); }

 private:
  friend struct AttributeToKey;
  void Append(absl::string_view bytes) {
    bytes_.append(bytes.data(), bytes.size());
  }
  std::string bytes_;
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_REGION_H_
