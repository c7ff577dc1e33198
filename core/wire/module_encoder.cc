// Module -> columns. Tables of strings and shapes fill in the order of first
// use, so the same module always gives the same bytes.
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

class ModuleEncoder {
 public:
  std::string Encode(const Module& module);

 private:
  uint32_t StringIndex(absl::string_view text);
  uint32_t OpIndex(const OpDef* op);
  uint32_t ShapeIndex(const Shape& shape);
  void Reserve(const Module& module);
  void EncodeComputation(const Computation& computation);
  void EncodeInstruction(const Computation& computation, const Instruction& i);
  void EncodeAttribute(const Attributes::Entry& entry);

  v1::ModuleProto proto_;
  // Keys point into the module, which outlives this.
  absl::flat_hash_map<absl::string_view, uint32_t> strings_;
  absl::flat_hash_map<const OpDef*, uint32_t> ops_;
  absl::flat_hash_map<Shape, uint32_t> shapes_;
};

uint32_t ModuleEncoder::StringIndex(absl::string_view text) {
  const auto [at, is_new] = strings_.try_emplace(text, proto_.strings_size());
  if (is_new) proto_.add_strings(text.data(), text.size());
  return at->second;
}

uint32_t ModuleEncoder::OpIndex(const OpDef* op) {
  const auto [at, is_new] = ops_.try_emplace(op, 0);
  if (is_new) at->second = StringIndex(op->name);
  return at->second;
}

uint32_t ModuleEncoder::ShapeIndex(const Shape& shape) {
  const auto [at, is_new] =
      shapes_.try_emplace(shape, proto_.shape_dtype_size());
  if (is_new) {
    proto_.add_shape_dtype(static_cast<uint32_t>(shape.dtype()));
    proto_.add_shape_rank(shape.rank());
    for (const int64_t size : shape.dims()) proto_.add_shape_dims(size);
  }
  return at->second;
}

void ModuleEncoder::EncodeAttribute(const Attributes::Entry& entry) {
  const auto& [name, value] = entry;
  proto_.add_attribute_name(StringIndex(name));
  proto_.add_attribute_kind(static_cast<uint32_t>(KindOf(value)));
  const int before = proto_.attribute_values_size();
  auto add = [this](int64_t v) { proto_.add_attribute_values(v); };
  std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, double>) {
          add(std::bit_cast<int64_t>(v));
        } else if constexpr (std::is_same_v<T, std::string>) {
          add(StringIndex(v));
        } else if constexpr (std::is_same_v<T, Dims>) {
          for (const int64_t i : v) add(i);
        } else if constexpr (std::is_same_v<T, Literal>) {
          add(ShapeIndex(v.shape()));
          add(proto_.blobs_size());
          proto_.add_blobs(v.bytes().data(), v.bytes().size());
        } else {
          add(static_cast<int64_t>(v));
        }
      },
      value);
  proto_.add_attribute_size(proto_.attribute_values_size() - before);
}

void ModuleEncoder::EncodeInstruction(const Computation& computation,
                                      const Instruction& i) {
  proto_.add_op(OpIndex(i.op));
  proto_.add_num_operands(i.operands.size());
  proto_.add_num_results(i.num_results);
  proto_.add_num_called(i.called.size());
  proto_.add_num_attributes(i.attributes.size());
  for (const ValueId v : i.operands) proto_.add_operands(i.first_result - v);
  for (int k = 0; k < i.num_results; ++k) {
    proto_.add_result_shape(ShapeIndex(computation.shape(i.first_result + k)));
  }
  for (const int callee : i.called) proto_.add_called(callee);
  for (const Attributes::Entry& entry : i.attributes) EncodeAttribute(entry);
}

void ModuleEncoder::EncodeComputation(const Computation& computation) {
  proto_.add_computation_name(computation.name());
  proto_.add_computation_instructions(computation.instructions().size());
  proto_.add_computation_results(computation.results().size());
  for (const ValueId r : computation.results()) proto_.add_results(r);
  for (const Instruction& i : computation.instructions()) {
    EncodeInstruction(computation, i);
  }
}

void ModuleEncoder::Reserve(const Module& module) {
  const int n = static_cast<int>(module.num_instructions());
  for (auto* column :
       {proto_.mutable_op(), proto_.mutable_num_operands(),
        proto_.mutable_num_results(), proto_.mutable_num_called(),
        proto_.mutable_num_attributes(), proto_.mutable_result_shape()}) {
    column->Reserve(n);
  }
}

std::string ModuleEncoder::Encode(const Module& module) {
  proto_.set_name(module.name());
  proto_.set_opset(module.opset());
  Reserve(module);
  for (const Computation& computation : module.computations()) {
    EncodeComputation(computation);
  }
  return proto_.SerializeAsString();
}

}  // namespace

std::string EncodeModule(const Module& module) {
  return ModuleEncoder().Encode(module);
}

}  // namespace hawser
