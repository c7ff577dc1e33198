#include "core/runtime/client.h"

#include "core/base/status.h"
#include "core/base/threads/all_of.h"

namespace hawser::runtime {

const Shape& ShapeOf(const Argument& argument) {
  if (const auto* literal = std::get_if<Literal>(&argument)) {
    return literal->shape();
  }
  return std::get<BufferPtr>(argument)->shape();
}

absl::Status CheckArguments(const Signature& signature,
                            absl::Span<const Argument> arguments) {
  if (arguments.size() != signature.parameters.size()) {
    return InvalidArgument("takes ", signature.parameters.size(),
                           " arguments, got ", arguments.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto* buffer = std::get_if<BufferPtr>(&arguments[i]);
    if (buffer != nullptr && *buffer == nullptr) {
      return InvalidArgument("argument ", i, " is no buffer");
    }
    if (ShapeOf(arguments[i]) == signature.parameters[i]) continue;
    return InvalidArgument("argument ", i, " is ",
                           ShapeOf(arguments[i]).ToString(), ", must be ",
                           signature.parameters[i].ToString());
  }
  return absl::OkStatus();
}

Future<bool> Buffer::Ready(const CallOptions& options) {
  static const auto& there = *new Future<bool>(true);
  const Future<Literal> fetched = Fetch(options);
  if (fetched.ready()) {
    const absl::Status status = fetched.Await().status();
    return status.ok() ? there : Future<bool>(status);
  }
  auto promise = std::make_shared<Promise<bool>>();
  fetched.OnReady([promise](const absl::StatusOr<Literal>& value) {
    if (value.ok()) {
      promise->Set(true);
    } else {
      promise->Set(value.status());
    }
  });
  return promise->future();
}

Future<Called> Executable::Call(absl::Span<const Argument> arguments,
                                const CallOptions& options) {
  auto results = Execute(arguments, {.call = options, .donated = {}});
  if (!results.ok()) return Future<Called>(results.status());
  std::vector<Future<Literal>> values;
  for (const BufferPtr& result : *results) {
    values.push_back(result->Fetch(options));
  }
  auto promise = std::make_shared<Promise<Called>>();
  AllOf(std::move(values))
      .OnReady([promise, results = *std::move(results)](
                   const absl::StatusOr<std::vector<Literal>>& all) {
        if (!all.ok()) {
          promise->Set(all.status());
          return;
        }
        Called called{*all, {}};
        if (!results.empty()) called.ran_on = results[0]->ran_on();
        promise->Set(std::move(called));
      });
  return promise->future();
}

std::ostream& operator<<(std::ostream& out, const RanOn& ran_on) {
  return out << ran_on.where;
}

}  // namespace hawser::runtime
