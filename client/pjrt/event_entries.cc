// Errors, events, and what the plugin says of itself.
#include <memory>

#include "client/pjrt/abi/struct_fields.h"
#include "client/pjrt/entries.h"
#include "client/pjrt/objects/objects.h"
#include "core/base/status.h"

namespace hawser::pjrt {
namespace {

// The versions of StableHLO whose artifacts are read.
constexpr int64_t kCurrent[] = {1, 20, 0}, kOldest[] = {0, 9, 0};

NamedValue ListNamed(absl::string_view name, const int64_t (&list)[3]) {
  NamedValue value = {};
  value.header.struct_size = sizeof(NamedValue);
  value.name = name.data();
  value.name_size = name.size();
  value.type = 2;
  value.integers = list;
  value.size = 3;
  return value;
}

}  // namespace

absl::Status Error_Destroy(Error_DestroyArgs* args) {
  delete args->error;
  return absl::OkStatus();
}

absl::Status Error_Message(Error_MessageArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->error, "error"));
  args->message = args->error->message.data();
  args->message_size = args->error->message.size();
  return absl::OkStatus();
}

absl::Status Error_GetCode(Error_GetCodeArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->error, "error"));
  args->code = static_cast<int>(args->error->status.code());
  return absl::OkStatus();
}

// There are none.
absl::Status Error_ForEachPayload(Error_ForEachPayloadArgs*) {
  return absl::OkStatus();
}

absl::Status Plugin_Initialize(Plugin_InitializeArgs*) {
  return absl::OkStatus();
}

absl::Status Plugin_Attributes(Plugin_AttributesArgs* args) {
  static const NamedValue attributes[] = {
      ListNamed("stablehlo_current_version", kCurrent),
      ListNamed("stablehlo_minimum_version", kOldest)};
  args->attributes = attributes;
  args->num_attributes = std::size(attributes);
  return absl::OkStatus();
}

absl::Status Event_Destroy(Event_DestroyArgs* args) {
  delete args->event;
  return absl::OkStatus();
}

absl::Status Event_Create(Event_CreateArgs* args) {
  args->event = new Event();
  return absl::OkStatus();
}

absl::Status Event_Set(Event_SetArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->event, "event"));
  if (args->event->promise == nullptr) {
    return FailedPrecondition("the event is hawser's to set");
  }
  const absl::Status status(
      static_cast<absl::StatusCode>(args->error_code),
      TextOf(args->error_message, args->error_message_size));
  const bool was_first = status.ok() ? args->event->promise->Set(true)
                                     : args->event->promise->Set(status);
  return was_first ? absl::OkStatus()
                   : FailedPrecondition("the event was set before");
}

absl::Status Event_IsReady(Event_IsReadyArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->event, "event"));
  args->is_ready = args->event->done.ready();
  return absl::OkStatus();
}

absl::Status Event_Error(Event_ErrorArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->event, "event"));
  if (!args->event->done.ready()) {
    return FailedPrecondition("the event is not ready");
  }
  return args->event->done.Await().status();
}

absl::Status Event_Await(Event_AwaitArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->event, "event"));
  return args->event->done.Await().status();
}

absl::Status Event_OnReady(Event_OnReadyArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->event, "event"));
  if (args->callback == nullptr) return InvalidArgument("there is no callback");
  args->event->done.OnReady(
      [callback = args->callback,
       user_arg = args->user_arg](const absl::StatusOr<bool>& done) {
        callback(done.ok() ? nullptr : new Error(done.status()), user_arg);
      });
  return absl::OkStatus();
}

}  // namespace hawser::pjrt
