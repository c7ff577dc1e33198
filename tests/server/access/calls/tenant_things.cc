#include "tests/server/access/calls/tenant_things.h"

#include <utility>

#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/runtime/datasets.h"
#include "core/wire/codec.h"
#include "gtest/gtest.h"

namespace hawser::testing {
namespace {

constexpr uint64_t kArgument = 11, kExecutable = 5, kResult = 12;
const Dims kDims = {2};

v1::ClientMessage CompileOf(uint64_t executable, const EncodedModule& module,
                            bool with_body) {
  v1::ClientMessage message;
  v1::CompileRequest* compile = message.mutable_compile();
  compile->set_executable(executable);
  compile->set_fingerprint(std::string(module.fingerprint.bytes()));
  if (with_body) compile->set_module(module.bytes);
  *compile->mutable_options() = ToProto(runtime::CompileOptions());
  return message;
}

v1::ClientMessage UploadOf(uint64_t handle, const Literal& value) {
  v1::ClientMessage message;
  v1::UploadRequest* upload = message.mutable_upload();
  upload->set_handle(handle);
  *upload->mutable_shape() = ToProto(value.shape());
  upload->set_data(value.bytes().data(), value.bytes().size());
  return message;
}

void Put(RawClient& client, const DatasetManifest& manifest,
         const Literal& value) {
  const auto context = client.Context();
  v1::PutReply reply;
  const auto writer = client.datasets().Put(context.get());
  v1::PutChunk chunk;
  chunk.set_upload(1);
  chunk.set_digest(std::string(manifest.arrays[0].chunks[0].bytes()));
  chunk.set_chunk_bytes(value.bytes().size());
  chunk.set_data(value.bytes().data(), value.bytes().size());
  writer->Write(chunk);
  writer->WritesDone();
  while (writer->Read(&reply)) {
  }
  const grpc::Status status = writer->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

void Commit(RawClient& client, const DatasetManifest& manifest) {
  v1::CommitRequest request;
  request.set_upload(1);
  *request.mutable_manifest() = ToProto(manifest);
  v1::DatasetInfoProto info;
  const auto context = client.Context();
  const grpc::Status status =
      client.datasets().Commit(context.get(), request, &info);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

// A request of the session that has to succeed.
v1::ServerMessage Must(RawSession& session, const v1::ClientMessage& request) {
  v1::ServerMessage answer = session.Ask(request);
  EXPECT_EQ(answer.status().code(), 0)
      << request.ShortDebugString() << ": " << answer.status().message();
  return answer;
}

DatasetManifest ManifestOf(const Literal& value) {
  return hawser::ManifestOf(DatasetSource{{{"", value}}}, 1);
}

}  // namespace

EncodedModule NegateModule(absl::string_view name) {
  Module module{std::string(name)};
  ComputationBuilder builder(&module, "entry");
  const ValueId x = builder.Parameter(Shape::Of(DType::kF32, {2}));
  HAWSER_CHECK(builder.Finish({builder.Add(kNegate, {x})}).ok());
  EncodedModule out;
  out.bytes = EncodeModule(module);
  out.fingerprint = Fingerprint(out.bytes, {});
  return out;
}

Things MakeThings(RawClient& client, RawSession& session, float value) {
  Things things;
  things.value = Literal::Vector<float>({value, value});
  things.manifest = ManifestOf(things.value);
  Put(client, things.manifest, things.value);
  Commit(client, things.manifest);
  const v1::ServerMessage opened = session.Open();
  things.session_id = opened.open().session_id();
  things.secret = opened.open().secret();
  EXPECT_NE(things.session_id, 0) << opened.status().message();
  const EncodedModule module = NegateModule(things.token());
  things.fingerprint = module.fingerprint;
  things.executable = kExecutable;
  things.handle = kResult;
  Must(session, UploadOf(kArgument, things.value));
  Must(session, CompileOf(kExecutable, module, true));
  for (const bool from_dataset : {false, true}) {
    v1::ClientMessage run;
    v1::ExecuteRequest* execute = run.mutable_execute();
    execute->set_executable(kExecutable);
    execute->set_first_result(kResult + (from_dataset ? 1 : 0));
    v1::ArgumentProto* argument = execute->add_arguments();
    if (from_dataset) {
      argument->mutable_dataset()->set_token(things.token());
    } else {
      argument->set_handle(kArgument);
    }
    Must(session, run);
  }
  return things;
}

Things UnknownThings() {
  Things things;
  things.session_id = 0x1234567890abcdef;
  things.secret = std::string(32, 'x');
  things.handle = 99;
  things.executable = 77;
  things.value = Literal::Vector<float>({-123, -456});
  things.manifest = ManifestOf(things.value);
  things.fingerprint = NegateModule("nobody has this").fingerprint;
  return things;
}

}  // namespace hawser::testing
