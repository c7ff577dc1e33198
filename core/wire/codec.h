// Module, Literal, Shape, Status and manifests <-> protobuf, under limits.
// Protobuf types stop here and in the two gRPC folders.
#ifndef HAWSER_CORE_WIRE_CODEC_H_
#define HAWSER_CORE_WIRE_CODEC_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "core/ir/module.h"
#include "core/ir/verifier.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"
#include "proto/datasets.pb.h"
#include "proto/executor.pb.h"
#include "proto/graph.pb.h"

namespace hawser {

// The serialized ModuleProto: deterministic, the same module gives the same
// bytes. Source locations are not in it.
std::string EncodeModule(const Module& module);

// Decodes and verifies: nothing is believed, every shape is inferred again and
// compared with the claim, nothing recurses on wire data, and memory stays in
// proportion to the bytes. Errors: kInvalidArgument naming computation,
// instruction and constraint; kResourceExhausted naming the limit;
// kUnimplemented for an unknown op (with this end's opset) or dtype.
absl::StatusOr<Module> DecodeModule(absl::string_view bytes,
                                    const ModuleLimits& limits = {});

// SHA-256(tag, compile options, module bytes).
Digest Fingerprint(absl::string_view module_bytes,
                   const runtime::CompileOptions& options);

v1::ShapeProto ToProto(const Shape& shape);
void ToProto(const Shape& shape, v1::ShapeProto* proto);
absl::StatusOr<Shape> FromProto(const v1::ShapeProto& proto);

void ToProto(const Literal& literal, v1::LiteralProto* proto);
// Errors: kInvalidArgument when data is not the shape's size.
absl::StatusOr<Literal> FromProto(const v1::LiteralProto& proto);
// Takes the bytes out of `proto` instead of copying them.
absl::StatusOr<Literal> FromProto(v1::LiteralProto&& proto);

// Messages are cut to 8 KiB.
void ToProto(const absl::Status& status, v1::StatusProto* proto);
absl::Status FromProto(const v1::StatusProto& proto);

v1::CapabilitiesProto ToProto(const runtime::Capabilities& capabilities);
runtime::Capabilities FromProto(const v1::CapabilitiesProto& proto);

v1::CompileOptionsProto ToProto(const runtime::CompileOptions& options);
absl::StatusOr<runtime::CompileOptions> FromProto(
    const v1::CompileOptionsProto& proto);

v1::DatasetManifestProto ToProto(const DatasetManifest& manifest);
// Checks what CheckManifest does, and that there are at most 1,024 arrays and
// 2^62 bytes in sum.
absl::StatusOr<DatasetManifest> FromProto(
    const v1::DatasetManifestProto& proto);
v1::DatasetInfoProto ToProto(const DatasetInfo& info);
absl::StatusOr<DatasetInfo> FromProto(const v1::DatasetInfoProto& proto);
// The digests of its chunks, besides the rest of what is said of a dataset.
void SetChunks(const DatasetManifest& manifest, v1::DatasetInfoProto* info);
v1::ListReply ToProto(const DatasetPage& page);
absl::StatusOr<DatasetPage> FromProto(const v1::ListReply& proto);
v1::UsageReply ToProto(const DatasetUsage& usage);
DatasetUsage FromProto(const v1::UsageReply& proto);

}  // namespace hawser
#endif  // HAWSER_CORE_WIRE_CODEC_H_
