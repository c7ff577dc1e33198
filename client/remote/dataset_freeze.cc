#include "client/remote/dataset_freeze.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/remote/remote_buffer.h"
#include "client/remote/session/remote_link.h"
#include "client/remote/session/session.h"
#include "core/base/status.h"
#include "core/base/threads/future.h"
#include "core/base/threads/or_expired.h"
#include "core/runtime/attempt.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

class FreezeCall final : public Request {
 public:
  void OnReply(const absl::Status& status, v1::ServerMessage* reply) override {
    if (status.ok()) {
      promise_.Set(std::move(*reply->mutable_freeze()->mutable_dataset()));
    } else {
      promise_.Set(status);
    }
  }
  Future<v1::DatasetInfoProto> future() const { return promise_.future(); }

 private:
  Promise<v1::DatasetInfoProto> promise_;
};

// The request for these arrays, sorted by name.
absl::Status FillFreeze(const std::shared_ptr<RemoteLink>& link,
                        absl::Span<const runtime::NamedArgument* const> arrays,
                        const std::shared_ptr<RemoteSession>& session,
                        const runtime::CallOptions& call,
                        std::vector<runtime::BufferPtr>* uploads,
                        v1::FreezeRequest* freeze) {
  for (const runtime::NamedArgument* array : arrays) {
    freeze->add_names(array->name);
    v1::ArgumentProto* proto = freeze->add_values();
    const auto* literal = std::get_if<Literal>(&array->value);
    runtime::BufferPtr buffer;
    if (literal == nullptr) {
      buffer = std::get<runtime::BufferPtr>(array->value);
    } else if (literal->shape().byte_size() > kMaxInlineBytes) {
      HAWSER_ASSIGN_OR_RETURN(buffer, UploadIn(link, session, *literal, call));
      uploads->push_back(buffer);
    } else {
      ToProto(*literal, proto->mutable_literal());
      continue;
    }
    const absl::Status status =
        static_cast<RemoteBuffer*>(buffer.get())->ToArgument(*session, proto);
    if (!status.ok()) {
      return Annotate(status, absl::StrCat("array \"", array->name, "\""));
    }
  }
  return absl::OkStatus();
}

Shape ShapeOf(const runtime::NamedArgument& array) {
  const auto* literal = std::get_if<Literal>(&array.value);
  return literal != nullptr
             ? literal->shape()
             : std::get<runtime::BufferPtr>(array.value)->shape();
}

// Errors: kUnavailable, the answer is of other arrays than these, which are
// sorted by name, or has another name than theirs. The name is compared if all
// of their bytes are here.
absl::Status CheckFrozen(
    const RemoteLink& link, const DatasetInfo& info,
    absl::Span<const runtime::NamedArgument* const> arrays) {
  bool same = info.arrays.size() == arrays.size();
  DatasetSource source;
  for (size_t i = 0; same && i < arrays.size(); ++i) {
    same = info.arrays[i].name == arrays[i]->name &&
           info.arrays[i].shape == ShapeOf(*arrays[i]);
    const auto* literal = std::get_if<Literal>(&arrays[i]->value);
    if (literal != nullptr) {
      source.arrays.push_back({arrays[i]->name, *literal});
    }
  }
  if (!same) {
    return BrokenProtocol(link.name(), "the answer to Freeze has other arrays");
  }
  if (source.arrays.size() < arrays.size()) return absl::OkStatus();
  const std::string token = TokenOf(ManifestOf(source, 1));
  if (info.token == token) return absl::OkStatus();
  return BrokenProtocol(link.name(), "it calls the dataset \"", info.token,
                        "\", its name is ", token);
}

}  // namespace

absl::StatusOr<DatasetInfo> FreezeDataset(
    const std::shared_ptr<RemoteLink>& link,
    absl::Span<const runtime::NamedArgument> arrays,
    const runtime::CallOptions& call) {
  std::vector<const runtime::NamedArgument*> sorted;
  for (const runtime::NamedArgument& array : arrays) {
    const auto* buffer = std::get_if<runtime::BufferPtr>(&array.value);
    if (buffer != nullptr &&
        (*buffer == nullptr || (*buffer)->client() != link->client())) {
      return FailedPrecondition("array \"", array.name, "\" does not live on ",
                                link->name());
    }
    if (buffer == nullptr && !std::get<Literal>(array.value).valid()) {
      return InvalidArgument("array \"", array.name, "\" has no value");
    }
    sorted.push_back(&array);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  const CancelToken cancel = runtime::AttemptToken(call);
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  const std::shared_ptr<RemoteSession> session = link->Session();
  auto freeze = std::make_shared<FreezeCall>();
  v1::FreezeRequest* request = freeze->message->mutable_freeze();
  request->set_wait_durable(link->options().wait_durable);
  std::vector<runtime::BufferPtr> uploads;
  HAWSER_RETURN_IF_ERROR(
      FillFreeze(link, sorted, session, call, &uploads, request));
  HAWSER_RETURN_IF_ERROR(session->Submit(freeze, cancel, call.cancel));
  HAWSER_ASSIGN_OR_RETURN(const v1::DatasetInfoProto reply,
                          AwaitWithin(freeze->future(), cancel, link->name()));
  absl::StatusOr<DatasetInfo> info = FromProto(reply);
  if (info.ok()) {
    HAWSER_RETURN_IF_ERROR(CheckFrozen(*link, *info, sorted));
    return info;
  }
  return BrokenProtocol(link->name(),
                        "the answer to Freeze: ", info.status().message());
}

}  // namespace hawser
