#include "server/service/execution/arguments.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/threads/all_of.h"
#include "core/wire/codec.h"

namespace hawser::server {
namespace {

// Arrays that the session has used stay known to it, also when they were
// deleted since.
absl::StatusOr<std::shared_ptr<const StoredArray>> FindArray(
    const ArgumentScope& scope, DeviceArrays& arrays,
    const v1::DatasetReference& reference) {
  if (scope.handles == nullptr) {
    return arrays.Find(scope.tenant, reference.token(), reference.array());
  }
  // A token has no ':'.
  std::string name = absl::StrCat(reference.token(), ":", reference.array());
  if (auto used = scope.handles->FindUsed(name)) {
    return std::static_pointer_cast<const StoredArray>(std::move(used));
  }
  HAWSER_ASSIGN_OR_RETURN(
      std::shared_ptr<const StoredArray> array,
      arrays.Find(scope.tenant, reference.token(), reference.array()));
  scope.handles->KeepUsed(std::move(name), array);
  return array;
}

absl::StatusOr<Value> ArrayValue(const ArgumentScope& scope,
                                 DeviceArrays& arrays,
                                 const v1::DatasetReference& reference) {
  HAWSER_ASSIGN_OR_RETURN(auto array, FindArray(scope, arrays, reference));
  std::optional<RowRange> rows;
  if (reference.has_rows()) {
    rows = RowRange{reference.rows().begin(), reference.rows().count()};
  }
  Value value = arrays.Get(std::move(array), rows);
  // Not made by a request, so its error is this request's own.
  if (!value.later.valid() && !value.now.ok()) {
    return Annotate(value.now.status(),
                    DescribeArray(reference.token(), reference.array()));
  }
  return value;
}

// The value of one argument that is no literal.
absl::StatusOr<Value> ValueOf(const ArgumentScope& scope, DeviceArrays& arrays,
                              const v1::ArgumentProto& proto) {
  switch (proto.argument_case()) {
    case v1::ArgumentProto::kHandle:
      if (scope.handles == nullptr) {
        return InvalidArgument("a handle; a call takes literals and datasets");
      }
      return scope.handles->Find(proto.handle());
    case v1::ArgumentProto::kDataset:
      return ArrayValue(scope, arrays, proto.dataset());
    case v1::ArgumentProto::kPeer:
      return Unimplemented("values of other servers");
    default:
      return InvalidArgument("no kind of argument is set");
  }
}

absl::Status Resolve(const ArgumentScope& scope, DeviceArrays& arrays,
                     v1::ArgumentProto& proto, Arguments* out,
                     absl::Status* inherited) {
  if (proto.argument_case() == v1::ArgumentProto::kLiteral) {
    HAWSER_ASSIGN_OR_RETURN(Literal literal,
                            FromProto(std::move(*proto.mutable_literal())));
    out->values.emplace_back(std::move(literal));
    return absl::OkStatus();
  }
  HAWSER_ASSIGN_OR_RETURN(Value value, ValueOf(scope, arrays, proto));
  if (value.outcome.valid()) out->outcomes.push_back(std::move(value.outcome));
  if (value.wanted != nullptr) out->wanted.push_back(std::move(value.wanted));
  if (value.later.valid()) {
    out->waiting.push_back(
        {out->values.size(), std::move(value.later), proto.has_dataset()});
    out->values.emplace_back(runtime::BufferPtr());
  } else if (value.now.ok()) {
    out->values.emplace_back(*std::move(value.now));
  } else {
    *inherited = value.now.status();
  }
  return absl::OkStatus();
}

}  // namespace

void WhenArrived(Arguments* arguments, uint64_t sequence,
                 std::function<void(const absl::Status&)> done) {
  std::vector<Future<runtime::BufferPtr>> awaited;
  for (const Arguments::Waiting& value : arguments->waiting) {
    awaited.push_back(value.later);
  }
  WhenAll<runtime::BufferPtr>(
      std::move(awaited), [arguments, sequence, done = std::move(done)](
                              const absl::Status& status, size_t at) {
        if (!status.ok()) {
          const Arguments::Waiting& value = arguments->waiting[at];
          return done(value.dataset ? OfArgument(sequence, value.index, status)
                                    : status);
        }
        for (const Arguments::Waiting& value : arguments->waiting) {
          arguments->values[value.index] = *value.later.Await();
        }
        done(absl::OkStatus());
      });
}

absl::Status InSequence(uint64_t sequence, const absl::Status& status) {
  if (sequence == 0 || status.ok()) return status;
  return Annotate(status, absl::StrCat("sequence ", sequence));
}

absl::Status OfArgument(uint64_t sequence, size_t index,
                        const absl::Status& status) {
  return InSequence(sequence,
                    Annotate(status, absl::StrCat("argument ", index)));
}

absl::Status ResolveArguments(const ArgumentScope& scope, DeviceArrays& arrays,
                              ArgumentProtos& protos, Arguments* out) {
  out->values.reserve(protos.size());
  absl::Status inherited;
  for (int i = 0; i < protos.size(); ++i) {
    const absl::Status status =
        Resolve(scope, arrays, protos[i], out, &inherited);
    if (!status.ok()) {
      return OfArgument(scope.sequence, i, status);
    }
    if (!inherited.ok()) return inherited;
  }
  return absl::OkStatus();
}

}  // namespace hawser::server
