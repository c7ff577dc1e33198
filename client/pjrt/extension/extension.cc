#include "client/pjrt/extension/extension.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "client/pjrt/objects/buffer.h"
#include "client/pjrt/objects/connect_devices.h"
#include "client/pjrt/objects/host_value.h"
#include "client/pjrt/objects/objects.h"
#include "core/base/status.h"
#include "core/runtime/datasets.h"
#include "nlohmann/json.hpp"

namespace hawser::pjrt {
namespace {

using Json = nlohmann::json;

// A request, and the device that it is about.
struct Request {
  const Json& json;
  const AskArgs& args;
  DevicesPtr devices;
  Device* device = nullptr;

  runtime::Client& runtime() const { return *device->runtime; }

  // A field that is a string. Errors: kInvalidArgument naming it.
  absl::StatusOr<std::string> Text(const char* name) const {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_string()) {
      return InvalidArgument("the request has no string ", name);
    }
    return found->get<std::string>();
  }
  // The names of arrays, which are `count`.
  absl::StatusOr<std::vector<std::string>> Names(size_t count) const {
    std::vector<std::string> names;
    const auto found = json.find("names");
    if (found != json.end() && found->is_array()) {
      for (const Json& name : *found) {
        if (name.is_string()) names.push_back(name.get<std::string>());
      }
    }
    if (names.size() == count) return names;
    return InvalidArgument("the request has ", names.size(), " names for ",
                           count, " arrays");
  }
};

Json JsonOf(const DatasetInfo& info) {
  Json arrays = Json::array();
  for (const DatasetInfo::Array& array : info.arrays) {
    arrays.push_back({{"name", array.name},
                      {"dtype", DTypeName(array.shape.dtype())},
                      {"shape", Dims(array.shape.dims())}});
  }
  return {{"token", info.token},     {"arrays", std::move(arrays)},
          {"bytes", info.bytes},     {"sent_bytes", info.sent_bytes},
          {"durable", info.durable}, {"tags", info.tags}};
}

// ---- verbs ------------------------------------------------------------------

absl::StatusOr<Json> Put(const Request& request) {
  HAWSER_ASSIGN_OR_RETURN(auto names, request.Names(request.args.num_arrays));
  DatasetSource source;
  for (size_t i = 0; i < names.size(); ++i) {
    const ExtensionArray& array = request.args.arrays[i];
    HAWSER_ASSIGN_OR_RETURN(Literal value,
                            LiteralOf({.type = array.type,
                                       .dims = array.dims,
                                       .num_dims = array.num_dims,
                                       .data = array.data}));
    source.arrays.push_back({std::move(names[i]), std::move(value)});
  }
  HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info,
                          request.runtime().datasets().Put(source, {}));
  return JsonOf(info);
}

absl::StatusOr<Json> Freeze(const Request& request) {
  HAWSER_ASSIGN_OR_RETURN(auto names, request.Names(request.args.num_buffers));
  std::vector<runtime::NamedArgument> arrays;
  for (size_t i = 0; i < names.size(); ++i) {
    Buffer* const buffer = request.args.buffers[i];
    HAWSER_RETURN_IF_ERROR(CheckHandle(buffer, "buffer"));
    HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr value, buffer->OnDevice());
    if (buffer->device != request.device) {
      return InvalidArgument(names[i], " is on another device than the first");
    }
    arrays.push_back({std::move(names[i]), std::move(value)});
  }
  HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info,
                          request.runtime().datasets().Freeze(arrays, {}));
  return JsonOf(info);
}

absl::StatusOr<Json> Stat(const Request& request) {
  HAWSER_ASSIGN_OR_RETURN(std::string token, request.Text("token"));
  HAWSER_ASSIGN_OR_RETURN(
      const DatasetInfo info,
      request.runtime().datasets().Ask(StatDataset{std::move(token)}, {}));
  return JsonOf(info);
}

absl::StatusOr<Json> List(const Request& request) {
  HAWSER_ASSIGN_OR_RETURN(std::string prefix, request.Text("prefix"));
  DatasetQuery query{.prefix = std::move(prefix)};
  Json all = Json::array();
  while (true) {
    HAWSER_ASSIGN_OR_RETURN(const DatasetPage page,
                            request.runtime().datasets().Ask(query, {}));
    for (const DatasetInfo& info : page.datasets) all.push_back(JsonOf(info));
    if (!page.more || page.datasets.empty()) return all;
    query.after = page.datasets.back().token;
  }
}

absl::StatusOr<Json> Delete(const Request& request) {
  HAWSER_ASSIGN_OR_RETURN(std::string token, request.Text("token"));
  HAWSER_RETURN_IF_ERROR(request.runtime()
                             .datasets()
                             .Ask(DeleteDataset{std::move(token)}, {})
                             .status());
  return Json::object();
}

absl::StatusOr<Json> Pin(const Request& request) {
  HAWSER_ASSIGN_OR_RETURN(std::string token, request.Text("token"));
  const auto seconds = request.json.find("seconds");
  const bool for_good = seconds == request.json.end() || !seconds->is_number();
  const absl::Duration ttl = for_good ? absl::InfiniteDuration()
                                      : absl::Seconds(seconds->get<double>());
  HAWSER_ASSIGN_OR_RETURN(
      const DatasetInfo info,
      request.runtime().datasets().Ask(PinDataset{std::move(token), ttl}, {}));
  return JsonOf(info);
}

absl::StatusOr<Json> Tag(const Request& request) {
  DatasetTag tag;
  HAWSER_ASSIGN_OR_RETURN(tag.name, request.Text("name"));
  HAWSER_ASSIGN_OR_RETURN(tag.token, request.Text("token"));
  if (request.json.contains("expected")) {
    HAWSER_ASSIGN_OR_RETURN(tag.expected, request.Text("expected"));
  }
  HAWSER_RETURN_IF_ERROR(request.runtime().datasets().Ask(tag, {}).status());
  return Json::object();
}

// Returns OK if the device is there. This machine answers for a server that is
// away; it has no number of an instance.
absl::Status WhyAway(runtime::Client& device, bool is_server) {
  HAWSER_RETURN_IF_ERROR(device.Ping({}));
  HAWSER_ASSIGN_OR_RETURN(const auto capabilities, device.capabilities());
  if (!is_server || capabilities.instance != 0) return absl::OkStatus();
  return Unavailable("it does not answer, and ", capabilities.device,
                     " computes");
}

absl::StatusOr<Json> Status(const Request& request) {
  Json all = Json::array();
  for (const Device* device : request.devices->list) {
    const absl::Time begin = absl::Now();
    const absl::Status why =
        WhyAway(*device->runtime, !request.devices->servers.empty());
    Json one = {
        {"id", device->description.id},
        {"name", device->runtime->name()},
        {"kind", device->description.kind},
        {"reachable", why.ok()},
        {"milliseconds", absl::ToDoubleMilliseconds(absl::Now() - begin)}};
    if (!why.ok()) one["why"] = why.message();
    all.push_back(std::move(one));
  }
  return all;
}

absl::StatusOr<Json> RanOn(const Request& request) {
  if (request.args.num_buffers != 1) return InvalidArgument("no buffer");
  HAWSER_RETURN_IF_ERROR(CheckHandle(request.args.buffers[0], "buffer"));
  HAWSER_ASSIGN_OR_RETURN(const runtime::RanOn ran_on,
                          request.args.buffers[0]->ran_on());
  return Json{{"where", ran_on.where}, {"fallback", ran_on.fallback}};
}

struct Verb {
  absl::string_view name;
  absl::StatusOr<Json> (*answer)(const Request& request);
};
constexpr Verb kVerbs[] = {
    {"put", Put},       {"freeze", Freeze}, {"stat", Stat},
    {"list", List},     {"pin", Pin},       {"tag", Tag},
    {"delete", Delete}, {"status", Status}, {"ran_on", RanOn},
};

// Returns those of the first buffer, else of the client that is named.
absl::StatusOr<DevicesPtr> DevicesOf(const Json& json, const AskArgs& args) {
  if (args.num_buffers != 0) {
    HAWSER_RETURN_IF_ERROR(CheckHandle(args.buffers, "buffer"));
    HAWSER_RETURN_IF_ERROR(CheckHandle(args.buffers[0], "buffer"));
    return args.buffers[0]->devices;
  }
  const auto number = json.find("client");
  if (number == json.end() || !number->is_number_integer()) {
    return InvalidArgument("the request has no buffer and no number client");
  }
  DevicesPtr devices = DevicesOfNumber(number->get<int64_t>());
  if (devices != nullptr) return devices;
  return FailedPrecondition("client ", number->get<int64_t>(), " is gone");
}

// Returns the device of the first buffer, else the one that is named, else the
// first.
absl::StatusOr<Device*> DeviceOf(const Json& json, const AskArgs& args,
                                 const Devices& devices) {
  if (args.num_buffers != 0) return args.buffers[0]->device;
  const auto id = json.find("device");
  if (id == json.end()) return devices.list[0];
  if (!id->is_number_integer()) return InvalidArgument("device is no number");
  Device* const device = devices.Find(id->get<int>());
  if (device != nullptr) return device;
  return InvalidArgument("there is no device ", id->get<int>());
}

absl::StatusOr<Json> AnswerOf(const AskArgs& args) {
  const Json json = Json::parse(args.request, args.request + args.request_size,
                                nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return InvalidArgument("the request is no object");
  HAWSER_ASSIGN_OR_RETURN(const DevicesPtr devices, DevicesOf(json, args));
  Request request{json, args, devices};
  HAWSER_ASSIGN_OR_RETURN(request.device, DeviceOf(json, args, *devices));
  HAWSER_ASSIGN_OR_RETURN(const std::string name, request.Text("verb"));
  for (const Verb& verb : kVerbs) {
    if (verb.name == name) return verb.answer(request);
  }
  return Unimplemented("verb ", name);
}

}  // namespace

absl::Status Ask(AskArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->request, "request"));
  HAWSER_ASSIGN_OR_RETURN(const Json answer, AnswerOf(*args));
  // What a server says may be no UTF-8.
  const std::string text =
      answer.dump(-1, ' ', false, Json::error_handler_t::replace);
  auto copy = std::make_unique<char[]>(text.size() + 1);
  std::memcpy(copy.get(), text.c_str(), text.size() + 1);
  args->answer = copy.release();
  args->answer_size = text.size();
  args->delete_answer = [](char* answer) { delete[] answer; };
  return absl::OkStatus();
}

}  // namespace hawser::pjrt
