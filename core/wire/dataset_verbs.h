// The table of how the verbs of dataset.h travel: a row for each, of which both
// ends make what sends, receives and serves it.
#ifndef HAWSER_CORE_WIRE_DATASET_VERBS_H_
#define HAWSER_CORE_WIRE_DATASET_VERBS_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/status.h"
#include "core/runtime/dataset.h"
#include "core/wire/codec.h"
#include "proto/datasets.pb.h"

namespace hawser {

// The messages of a method of service Datasets.
template <typename Request_, typename Reply_>
struct DatasetsMethod {
  using Request = Request_;
  using Reply = Reply_;
};

// A request that is answered once a disk has it, and has a number by which its
// client asks whether it is under way.
template <typename Request>
inline constexpr bool kHasNumber = requires(const Request& request) {
  request.number();
};

// A verb's row: the method `kMethod`; Send makes the request and Receive the
// verb again, at the other end. Errors of both: kInvalidArgument for what no
// server can answer.
template <typename Verb>
struct OnWire;

template <>
struct OnWire<StatDataset>
    : DatasetsMethod<v1::StatRequest, v1::DatasetInfoProto> {
  static constexpr char kMethod[] = "Stat";
  static absl::StatusOr<Request> Send(const StatDataset& stat) {
    HAWSER_RETURN_IF_ERROR(CheckDatasetName(stat.token));
    Request request;
    request.set_token(stat.token);
    return request;
  }
  static absl::StatusOr<StatDataset> Receive(const Request& request) {
    return StatDataset{request.token()};
  }
};

template <>
struct OnWire<DatasetQuery> : DatasetsMethod<v1::ListRequest, v1::ListReply> {
  static constexpr char kMethod[] = "List";
  static absl::StatusOr<Request> Send(const DatasetQuery& query) {
    Request request;
    request.set_prefix(query.prefix);
    request.set_after(query.after);
    request.set_limit(static_cast<uint32_t>(std::max(query.limit, 0)));
    return request;
  }
  static absl::StatusOr<DatasetQuery> Receive(const Request& request) {
    constexpr uint32_t kMost = std::numeric_limits<int>::max();
    return DatasetQuery{request.prefix(), request.after(),
                        static_cast<int>(std::min(request.limit(), kMost))};
  }
};

template <>
struct OnWire<DeleteDataset>
    : DatasetsMethod<v1::DeleteRequest, v1::DeleteReply> {
  static constexpr char kMethod[] = "Delete";
  static absl::StatusOr<Request> Send(const DeleteDataset& order) {
    HAWSER_RETURN_IF_ERROR(ParseToken(order.token));
    Request request;
    request.set_token(order.token);
    return request;
  }
  static absl::StatusOr<DeleteDataset> Receive(const Request& request) {
    return DeleteDataset{request.token()};
  }
};

template <>
struct OnWire<PinDataset>
    : DatasetsMethod<v1::PinRequest, v1::DatasetInfoProto> {
  static constexpr char kMethod[] = "Pin";
  static constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();
  static absl::StatusOr<Request> Send(const PinDataset& pin) {
    HAWSER_RETURN_IF_ERROR(CheckDatasetName(pin.token));
    if (pin.ttl < absl::ZeroDuration()) {
      return InvalidArgument("a pin of ", absl::FormatDuration(pin.ttl));
    }
    Request request;
    request.set_token(pin.token);
    request.set_ttl_ms(absl::ToInt64Milliseconds(pin.ttl));  // infinite: most
    return request;
  }
  static absl::StatusOr<PinDataset> Receive(const Request& request) {
    const int64_t ttl = request.ttl_ms();
    if (ttl < 0) return InvalidArgument("a pin of ", ttl, " ms");
    return PinDataset{request.token(), ttl == kForEver
                                           ? absl::InfiniteDuration()
                                           : absl::Milliseconds(ttl)};
  }
};

template <>
struct OnWire<DatasetTag> : DatasetsMethod<v1::TagRequest, v1::TagReply> {
  static constexpr char kMethod[] = "Tag";
  static absl::StatusOr<Request> Send(const DatasetTag& tag) {
    HAWSER_RETURN_IF_ERROR(CheckTag(tag.name));
    Request request;
    request.set_name(tag.name);
    request.set_token(tag.token);
    if (tag.expected.has_value()) request.set_expected(*tag.expected);
    return request;
  }
  static absl::StatusOr<DatasetTag> Receive(const Request& request) {
    DatasetTag tag{request.name(), request.token(), std::nullopt};
    if (request.has_expected()) tag.expected = request.expected();
    return tag;
  }
};

template <>
struct OnWire<QueryUsage> : DatasetsMethod<v1::UsageRequest, v1::UsageReply> {
  static constexpr char kMethod[] = "Usage";
  static absl::StatusOr<Request> Send(const QueryUsage&) { return Request(); }
  static absl::StatusOr<QueryUsage> Receive(const Request&) {
    return QueryUsage();
  }
};

// The question and the answer of a put besides its streams.
struct FindMissingMethod
    : DatasetsMethod<v1::FindMissingRequest, v1::FindMissingReply> {
  static constexpr char kMethod[] = "FindMissing";
};
struct CommitMethod : DatasetsMethod<v1::CommitRequest, v1::DatasetInfoProto> {
  static constexpr char kMethod[] = "Commit";
};

namespace internal {
template <typename Visit, typename... Verbs>
void VisitMethods(const Visit& visit, const std::variant<Verbs...>*) {
  visit(FindMissingMethod());
  visit(CommitMethod());
  (visit(OnWire<Verbs>()), ...);
}
}  // namespace internal

// Calls `visit` with a value of each method of one request and one answer.
template <typename Visit>
void ForEachDatasetsMethod(const Visit& visit) {
  internal::VisitMethods(visit, static_cast<const DatasetVerb*>(nullptr));
}

// The answer as its method's reply, and back.
template <typename Reply, typename Answer>
Reply ReplyOf(const Answer& answer) {
  if constexpr (std::is_same_v<Answer, Acknowledgement>) {
    return Reply();
  } else {
    return ToProto(answer);
  }
}
template <typename Answer, typename Reply>
absl::StatusOr<Answer> AnswerOf(const Reply& reply) {
  if constexpr (std::is_same_v<Answer, Acknowledgement>) {
    return Answer();
  } else {
    return FromProto(reply);
  }
}

}  // namespace hawser
#endif  // HAWSER_CORE_WIRE_DATASET_VERBS_H_
