// Every way there is to name a session, handle, executable, fingerprint, chunk
// or dataset that is not one's own.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/runtime/datasets.h"
#include "core/wire/codec.h"
#include "proto/grpc_status.h"
#include "tests/server/access/calls/tenant_things.h"

namespace hawser::testing {
namespace {

// Names that differ by what they name, made alike.
std::string Alike(std::string text, const Things& things) {
  const std::pair<std::string, std::string> names[] = {
      {absl::StrCat(things.session_id), "SESSION"},
      {things.fingerprint.ToHex(), "FINGERPRINT"},
      {things.chunk().ToHex(), "CHUNK"},
      {things.token(), "TOKEN"},
      {absl::StrCat("handle ", things.handle), "handle HANDLE"},
      {absl::StrCat("executable ", things.executable), "executable NAME"},
  };
  for (const auto& [name, common] : names) {
    absl::StrReplaceAll({{name, common}}, &text);
  }
  return text;
}

std::string Said(const grpc::Status& status,
                 const google::protobuf::Message& answer,
                 const Things& things) {
  return Alike(absl::StrCat(status.error_code(), " ", status.error_message(),
                            " ", answer.ShortDebugString()),
               things);
}

std::string Said(const v1::ServerMessage& answer, const Things& things) {
  return Said(grpc::Status::OK, answer, things);
}

// ---- Executor -------------------------------------------------------------

std::string Reattach(RawClient& caller, const Things& things) {
  return Said(RawSession(caller).Open(things.session_id, things.secret),
              things);
}

// A request in a session of the caller's own.
std::string AskInOwn(RawClient& caller, const v1::ClientMessage& request,
                     const Things& things) {
  RawSession own(caller);
  own.Open();
  return Said(own.Ask(request), things);
}

std::string CompileByFingerprint(RawClient& caller, const Things& things) {
  v1::ClientMessage message;
  v1::CompileRequest* compile = message.mutable_compile();
  compile->set_executable(1);
  compile->set_fingerprint(std::string(things.fingerprint.bytes()));
  *compile->mutable_options() = ToProto(runtime::CompileOptions());
  return AskInOwn(caller, message, things);
}

std::string FetchHandle(RawClient& caller, const Things& things) {
  v1::ClientMessage message;
  message.mutable_fetch()->set_handle(things.handle);
  message.mutable_fetch()->set_max_inline_bytes(1024);
  return AskInOwn(caller, message, things);
}

std::string ExecuteExecutable(RawClient& caller, const Things& things) {
  v1::ClientMessage message;
  message.mutable_execute()->set_executable(things.executable);
  message.mutable_execute()->set_first_result(1);
  message.mutable_execute()->add_arguments()->set_handle(things.handle);
  return AskInOwn(caller, message, things);
}

std::string ExecuteOn(RawClient& caller, v1::ArgumentProto argument,
                      const Things& things) {
  const EncodedModule module = NegateModule("an outsider's");
  RawSession own(caller);
  own.Open();
  v1::ClientMessage message;
  message.mutable_compile()->set_executable(1);
  message.mutable_compile()->set_fingerprint(
      std::string(module.fingerprint.bytes()));
  message.mutable_compile()->set_module(module.bytes);
  *message.mutable_compile()->mutable_options() =
      ToProto(runtime::CompileOptions());
  own.Ask(message);
  message.mutable_execute()->set_executable(1);
  message.mutable_execute()->set_first_result(1);
  *message.mutable_execute()->add_arguments() = std::move(argument);
  return Said(own.Ask(message), things);
}

std::string ExecuteOnHandle(RawClient& caller, const Things& things) {
  v1::ArgumentProto argument;
  argument.set_handle(things.handle);
  return ExecuteOn(caller, argument, things);
}

std::string ExecuteOnDataset(RawClient& caller, const Things& things) {
  v1::ArgumentProto argument;
  argument.mutable_dataset()->set_token(things.token());
  return ExecuteOn(caller, argument, things);
}

std::string ExecuteOnRows(RawClient& caller, const Things& things) {
  v1::ArgumentProto argument;
  argument.mutable_dataset()->set_token(things.token());
  argument.mutable_dataset()->mutable_rows()->set_count(2);
  return ExecuteOn(caller, argument, things);
}

std::string FreezeOf(RawClient& caller, v1::ArgumentProto value,
                     const Things& things) {
  v1::ClientMessage message;
  message.mutable_freeze()->add_names("");
  *message.mutable_freeze()->add_values() = std::move(value);
  return AskInOwn(caller, message, things);
}

std::string FreezeHandle(RawClient& caller, const Things& things) {
  v1::ArgumentProto value;
  value.set_handle(things.handle);
  return FreezeOf(caller, value, things);
}

std::string AttemptFreezeDataset(RawClient& caller, const Things& things) {
  v1::ArgumentProto value;
  value.mutable_dataset()->set_token(things.token());
  return FreezeOf(caller, value, things);
}

std::string CallByFingerprint(RawClient& caller, const Things& things) {
  v1::CallRequest request;
  request.set_fingerprint(std::string(things.fingerprint.bytes()));
  *request.mutable_options() = ToProto(runtime::CompileOptions());
  ToProto(things.value, request.add_arguments()->mutable_literal());
  v1::CallReply reply;
  const auto context = caller.Context();
  return Said(caller.executor().Call(context.get(), request, &reply), reply,
              things);
}

std::string CallOnDataset(RawClient& caller, const Things& things) {
  const EncodedModule module = NegateModule("an outsider's");
  v1::CallRequest request;
  request.set_fingerprint(std::string(module.fingerprint.bytes()));
  request.set_module(module.bytes);
  *request.mutable_options() = ToProto(runtime::CompileOptions());
  request.add_arguments()->mutable_dataset()->set_token(things.token());
  v1::CallReply reply;
  const auto context = caller.Context();
  return Said(caller.executor().Call(context.get(), request, &reply), reply,
              things);
}

std::string UploadToSession(RawClient& caller, const Things& things) {
  v1::UploadChunk chunk;
  chunk.set_session_id(things.session_id);
  chunk.set_secret(things.secret);
  chunk.set_handle(things.handle);
  chunk.set_data("01234567");
  v1::UploadReply reply;
  const auto context = caller.Context();
  const auto writer = caller.executor().Upload(context.get(), &reply);
  writer->Write(chunk);
  writer->WritesDone();
  return Said(writer->Finish(), reply, things);
}

std::string DownloadFromSession(RawClient& caller, const Things& things) {
  v1::DownloadRequest request;
  request.set_session_id(things.session_id);
  request.set_secret(things.secret);
  request.set_handle(things.handle);
  v1::DownloadChunk chunk;
  const auto context = caller.Context();
  const auto reader = caller.executor().Download(context.get(), request);
  while (reader->Read(&chunk)) {
  }
  return Said(reader->Finish(), chunk, things);
}

// ---- Datasets -------------------------------------------------------------

std::string FindMissingChunk(RawClient& caller, const Things& things) {
  v1::FindMissingRequest request;
  request.set_upload(1);
  request.set_digests(std::string(things.chunk().bytes()));
  v1::FindMissingReply reply;
  const auto context = caller.Context();
  return Said(caller.datasets().FindMissing(context.get(), request, &reply),
              reply, things);
}

// Without having the bytes.
std::string PutOtherBytes(RawClient& caller, const Things& things) {
  v1::PutChunk chunk;
  chunk.set_upload(1);
  chunk.set_digest(std::string(things.chunk().bytes()));
  chunk.set_chunk_bytes(8);
  chunk.set_data("01234567");
  v1::PutReply reply;
  const auto context = caller.Context();
  const auto writer = caller.datasets().Put(context.get());
  writer->Write(chunk);
  writer->WritesDone();
  while (writer->Read(&reply)) {
  }
  return Said(writer->Finish(), reply, things);
}

std::string CommitChunk(RawClient& caller, const Things& things) {
  v1::CommitRequest request;
  request.set_upload(1);
  *request.mutable_manifest() = ToProto(things.manifest);
  v1::DatasetInfoProto info;
  const auto context = caller.Context();
  return Said(caller.datasets().Commit(context.get(), request, &info), info,
              things);
}

std::string GetDataset(RawClient& caller, const Things& things) {
  v1::GetRequest request;
  request.set_token(things.token());
  v1::GetChunk chunk;
  const auto context = caller.Context();
  const auto reader = caller.datasets().Get(context.get(), request);
  while (reader->Read(&chunk)) {
  }
  return Said(reader->Finish(), chunk, things);
}

std::string AttemptStatDataset(RawClient& caller, const Things& things) {
  v1::StatRequest request;
  request.set_token(things.token());
  v1::DatasetInfoProto info;
  const auto context = caller.Context();
  return Said(caller.datasets().Stat(context.get(), request, &info), info,
              things);
}

// One token for each who asks: how many there are is the answer.
std::string ListDataset(RawClient& caller, const Things& things) {
  v1::ListRequest request;
  request.set_prefix(things.token());
  v1::ListReply reply;
  const auto context = caller.Context();
  const grpc::Status status =
      caller.datasets().List(context.get(), request, &reply);
  return absl::StrCat(Said(status, reply, things), " ", reply.datasets_size(),
                      " datasets");
}

std::string AttemptPinDataset(RawClient& caller, const Things& things) {
  v1::PinRequest request;
  request.set_token(things.token());
  v1::DatasetInfoProto info;
  const auto context = caller.Context();
  return Said(caller.datasets().Pin(context.get(), request, &info), info,
              things);
}

std::string AttemptTagDataset(RawClient& caller, const Things& things) {
  v1::TagRequest request;
  request.set_name("@mine");
  request.set_token(things.token());
  v1::TagReply reply;
  const auto context = caller.Context();
  return Said(caller.datasets().Tag(context.get(), request, &reply), reply,
              things);
}

// Names nothing: what it counts is the answer.
std::string AskForUsage(RawClient& caller, const Things& things) {
  v1::UsageReply reply;
  const auto context = caller.Context();
  const grpc::Status status =
      caller.datasets().Usage(context.get(), v1::UsageRequest(), &reply);
  return absl::StrCat(Said(status, reply, things), " ", reply.datasets(),
                      " datasets");
}

std::string AttemptDeleteDataset(RawClient& caller, const Things& things) {
  v1::DeleteRequest request;
  request.set_token(things.token());
  v1::DeleteReply reply;
  const auto context = caller.Context();
  return Said(caller.datasets().Delete(context.get(), request, &reply), reply,
              things);
}

}  // namespace

const std::vector<Attempt>& Attempts() {
  static const auto* attempts = new std::vector<Attempt>{
      {"Executor.Session", "reattach to a session", Reattach},
      {"Executor.Session", "compile a fingerprint", CompileByFingerprint},
      {"Executor.Session", "execute an executable", ExecuteExecutable},
      {"Executor.Session", "execute on a handle", ExecuteOnHandle},
      {"Executor.Session", "execute on a dataset", ExecuteOnDataset},
      {"Executor.Session", "execute on rows", ExecuteOnRows},
      {"Executor.Session", "freeze a handle", FreezeHandle},
      {"Executor.Session", "freeze a dataset", AttemptFreezeDataset},
      {"Executor.Session", "fetch a handle", FetchHandle},
      {"Executor.Call", "call a fingerprint", CallByFingerprint},
      {"Executor.Call", "call on a dataset", CallOnDataset},
      {"Executor.Upload", "fill a handle of a session", UploadToSession},
      {"Executor.Download", "read a handle of a session", DownloadFromSession},
      {"Datasets.FindMissing", "ask for a chunk", FindMissingChunk},
      {"Datasets.Put", "put other bytes as a chunk", PutOtherBytes},
      {"Datasets.Commit", "commit a chunk", CommitChunk},
      {"Datasets.Get", "read a dataset", GetDataset},
      {"Datasets.Stat", "ask for a dataset", AttemptStatDataset},
      {"Datasets.List", "list a dataset", ListDataset},
      {"Datasets.Pin", "unpin a dataset", AttemptPinDataset},
      {"Datasets.Tag", "tag a dataset", AttemptTagDataset},
      {"Datasets.Usage", "ask for what is kept", AskForUsage},
      // Last: what its owner does so is done.
      {"Datasets.Delete", "delete a dataset", AttemptDeleteDataset},
  };
  return *attempts;
}

}  // namespace hawser::testing
