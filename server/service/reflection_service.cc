#include "server/service/reflection_service.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "proto/reflection.grpc.pb.h"
#include "server/service/messages/frames.h"

namespace hawser::server {
namespace {

namespace reflection = grpc::reflection::v1alpha;
using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using reflection::ServerReflectionRequest;
using reflection::ServerReflectionResponse;

// A file after all that it imports.
void AddFile(const FileDescriptor* file, std::set<std::string>* added,
             reflection::FileDescriptorResponse* files) {
  if (!added->insert(file->name()).second) return;
  for (int i = 0; i < file->dependency_count(); ++i) {
    AddFile(file->dependency(i), added, files);
  }
  google::protobuf::FileDescriptorProto proto;
  file->CopyTo(&proto);
  files->add_file_descriptor_proto(proto.SerializeAsString());
}

// The file that the request wants; null: there is none.
const FileDescriptor* FindFile(const ServerReflectionRequest& request) {
  const DescriptorPool* pool = DescriptorPool::generated_pool();
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kFileByFilename:
      return pool->FindFileByName(request.file_by_filename());
    case ServerReflectionRequest::kFileContainingSymbol:
      return pool->FindFileContainingSymbol(request.file_containing_symbol());
    case ServerReflectionRequest::kFileContainingExtension: {
      const auto& extension = request.file_containing_extension();
      const Descriptor* type =
          pool->FindMessageTypeByName(extension.containing_type());
      const FieldDescriptor* field =
          type == nullptr
              ? nullptr
              : pool->FindExtensionByNumber(type, extension.extension_number());
      return field == nullptr ? nullptr : field->file();
    }
    default:
      return nullptr;
  }
}

void NumberExtensions(const std::string& type,
                      ServerReflectionResponse* response) {
  const DescriptorPool* pool = DescriptorPool::generated_pool();
  const Descriptor* descriptor = pool->FindMessageTypeByName(type);
  if (descriptor == nullptr) return;
  auto* numbers = response->mutable_all_extension_numbers_response();
  numbers->set_base_type_name(type);
  std::vector<const FieldDescriptor*> extensions;
  pool->FindAllExtensions(descriptor, &extensions);
  for (const FieldDescriptor* extension : extensions) {
    numbers->add_extension_number(extension->number());
  }
}

ServerReflectionResponse Answer(const ServerReflectionRequest& request,
                                const std::vector<std::string>& services) {
  ServerReflectionResponse response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  if (request.has_list_services()) {
    for (const std::string& name : services) {
      response.mutable_list_services_response()->add_service()->set_name(name);
    }
  } else if (request.has_all_extension_numbers_of_type()) {
    NumberExtensions(request.all_extension_numbers_of_type(), &response);
  } else if (const FileDescriptor* file = FindFile(request)) {
    std::set<std::string> added;
    AddFile(file, &added, response.mutable_file_descriptor_response());
  }
  if (response.message_response_case() ==
      ServerReflectionResponse::MESSAGE_RESPONSE_NOT_SET) {
    auto* error = response.mutable_error_response();
    error->set_error_code(static_cast<int>(grpc::StatusCode::NOT_FOUND));
    error->set_error_message(
        absl::StrCat("not found: ", request.ShortDebugString()));
  }
  return response;
}

class ReflectionReactor final : public Reactor {
 public:
  ReflectionReactor(Rpc* rpc, std::vector<std::string> services)
      : Reactor(rpc), services_(std::move(services)) {
    rpc->Read(&buffer_);
  }
  void OnRead(bool ok) override {
    if (!ok) return rpc().Finish(absl::OkStatus());
    ServerReflectionRequest request;
    const absl::Status parsed = ParseBuffer(buffer_, &request);
    if (!parsed.ok()) return rpc().Finish(parsed);
    FillBuffer(Answer(request, services_), &buffer_);
    rpc().Write(buffer_);
  }
  void OnWritten(bool ok) override {
    if (!ok) return rpc().Finish(Cancelled("the client is gone"));
    buffer_.Clear();
    rpc().Read(&buffer_);
  }

 private:
  const std::vector<std::string> services_;
  grpc::ByteBuffer buffer_;
};

}  // namespace

void AddReflectionMethods(RpcServer* server) {
  server->AddOpen(reflection::ServerReflection::service_full_name(),
                  "ServerReflectionInfo", [server](Rpc* rpc) {
                    return std::make_unique<ReflectionReactor>(
                        rpc, server->services());
                  });
}

}  // namespace hawser::server
