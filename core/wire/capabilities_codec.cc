#include <algorithm>
#include <limits>

#include "core/base/status.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

v1::ModuleLimitsProto LimitsToProto(const ModuleLimits& limits) {
  v1::ModuleLimitsProto proto;
  proto.set_bytes(limits.bytes);
  proto.set_instructions(limits.instructions);
  proto.set_computations(limits.computations);
  proto.set_operands(limits.operands);
  proto.set_nesting(limits.nesting);
  proto.set_elements(limits.elements);
  proto.set_constant_bytes(limits.constant_bytes);
  return proto;
}

ModuleLimits LimitsFromProto(const v1::ModuleLimitsProto& proto) {
  ModuleLimits limits;
  limits.bytes = proto.bytes();
  limits.instructions = proto.instructions();
  limits.computations = proto.computations();
  limits.operands = proto.operands();
  limits.nesting = static_cast<int>(
      std::clamp<int64_t>(proto.nesting(), 0, std::numeric_limits<int>::max()));
  limits.elements = proto.elements();
  limits.constant_bytes = proto.constant_bytes();
  return limits;
}

}  // namespace

v1::CapabilitiesProto ToProto(const runtime::Capabilities& capabilities) {
  v1::CapabilitiesProto proto;
  proto.set_opset(capabilities.opset);
  for (const DType dtype : AllDTypes()) {
    if (capabilities.dtypes.Has(dtype)) {
      proto.add_dtypes(static_cast<uint32_t>(dtype));
    }
  }
  proto.mutable_ops()->Add(capabilities.ops.begin(), capabilities.ops.end());
  proto.set_platform(capabilities.platform);
  proto.set_device(capabilities.device);
  proto.set_engine_id(capabilities.engine_id);
  proto.set_memory_bytes(capabilities.memory_bytes);
  *proto.mutable_limits() = LimitsToProto(capabilities.limits);
  return proto;
}

runtime::Capabilities FromProto(const v1::CapabilitiesProto& proto) {
  runtime::Capabilities capabilities;
  capabilities.opset = static_cast<int>(
      std::min<uint32_t>(proto.opset(), std::numeric_limits<int>::max()));
  // A newer end may know dtypes this one does not; those it cannot use anyway.
  capabilities.dtypes = DTypeSet();
  for (const uint32_t number : proto.dtypes()) {
    if (number < kNumDTypes && IsSupported(static_cast<DType>(number))) {
      capabilities.dtypes =
          capabilities.dtypes | DTypeSet::Of(static_cast<DType>(number));
    }
  }
  capabilities.ops.assign(proto.ops().begin(), proto.ops().end());
  capabilities.platform = proto.platform();
  capabilities.device = proto.device();
  capabilities.engine_id = proto.engine_id();
  capabilities.memory_bytes = proto.memory_bytes();
  if (proto.has_limits()) capabilities.limits = LimitsFromProto(proto.limits());
  return capabilities;
}

v1::CompileOptionsProto ToProto(const runtime::CompileOptions& options) {
  v1::CompileOptionsProto proto;
  proto.set_numerics(static_cast<uint32_t>(options.numerics));
  return proto;
}

absl::StatusOr<runtime::CompileOptions> FromProto(
    const v1::CompileOptionsProto& proto) {
  if (proto.numerics() > static_cast<uint32_t>(runtime::Numerics::kTf32)) {
    return Unimplemented("numerics ", proto.numerics(),
                         " is not known to this end");
  }
  return runtime::CompileOptions{
      .numerics = static_cast<runtime::Numerics>(proto.numerics())};
}

Digest Fingerprint(absl::string_view module_bytes,
                   const runtime::CompileOptions& options) {
  Hasher h;
  h.Text("hawser executable 1")
      .Integer(static_cast<uint64_t>(options.numerics))
      .Text(module_bytes);
  return h.Finish();
}

}  // namespace hawser
