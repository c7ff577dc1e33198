#include "client/remote/remote_datasets.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/remote/dataset_freeze.h"
#include "client/remote/datasets/dataset_put.h"
#include "client/remote/datasets/numbered_ask.h"
#include "client/remote/remote_buffer.h"
#include "core/base/status.h"
#include "core/runtime/attempt.h"
#include "core/wire/dataset_verbs.h"

namespace hawser {
namespace {

// Infos are small; more tokens than this in one process are asked for again.
constexpr size_t kInfosKept = 1024;
// Some 64 MiB of them: of 8 TiB.
constexpr int64_t kDigestsKept = int64_t{1} << 21;

absl::Status NoSuchArray(const DatasetPart& part, const DatasetInfo& info) {
  return NotFound(
      "dataset ", part.token, " has no array \"", part.array, "\", it has ",
      absl::StrJoin(info.arrays, ", ", [](std::string* out, const auto& a) {
        absl::StrAppend(out, "\"", a.name, "\"");
      }));
}

absl::StatusOr<RowBytes> RowsOf(const Shape& shape, const DatasetPart& part) {
  absl::StatusOr<RowBytes> rows = FindRows(shape, *part.rows);
  if (rows.ok()) return rows;
  return Annotate(rows.status(), DescribeArray(part.token, part.array));
}

}  // namespace

absl::StatusOr<DatasetInfo> RemoteDatasets::Put(
    const DatasetSource& source, const runtime::CallOptions& call) {
  DatasetSource normal = source;
  HAWSER_RETURN_IF_ERROR(NormalizeSource(&normal));
  DatasetPut put(link_, normal, call);
  return put.Run();
}

void RemoteDatasets::Learn(const DatasetInfo& info) {
  MutexLock lock(&mu_);
  if (infos_.size() >= kInfosKept) infos_.clear();
  infos_[info.token] = info;
}

void RemoteDatasets::Forget(absl::string_view token) {
  MutexLock lock(&mu_);
  infos_.erase(token);
  manifests_.erase(token);
}

struct RemoteDatasets::Heard {
  RemoteDatasets& datasets;

  absl::Status OfDataset(absl::string_view asked,
                         const absl::StatusOr<DatasetInfo>& info) {
    HAWSER_RETURN_IF_ERROR(info);
    if (!IsTag(asked) && info->token != asked) {
      return BrokenProtocol(datasets.link_->name(), "asked for ", asked,
                            " it answers with ", info->token);
    }
    datasets.Learn(*info);
    return absl::OkStatus();
  }
  absl::Status operator()(const StatDataset& stat,
                          const absl::StatusOr<DatasetInfo>& info) {
    return OfDataset(stat.token, info);
  }
  absl::Status operator()(const PinDataset& pin,
                          const absl::StatusOr<DatasetInfo>& info) {
    return OfDataset(pin.token, info);
  }
  absl::Status operator()(const DatasetQuery& query,
                          const absl::StatusOr<DatasetPage>& page) {
    HAWSER_RETURN_IF_ERROR(page);
    // Pages go up and have an end, or they would be asked for for ever.
    absl::string_view last = query.after;
    for (const DatasetInfo& info : page->datasets) {
      if (info.token <= last) {
        return BrokenProtocol(datasets.link_->name(), "it lists ", info.token,
                              " behind \"", last, "\"");
      }
      last = info.token;
    }
    if (!page->more || !page->datasets.empty()) return absl::OkStatus();
    return BrokenProtocol(datasets.link_->name(),
                          "it says there are more datasets behind \"",
                          query.after, "\", and names none");
  }
  absl::Status operator()(const DeleteDataset& order,
                          const absl::StatusOr<Acknowledgement>& gone) {
    if (gone.ok() || absl::IsNotFound(gone.status())) {
      datasets.Forget(order.token);
    }
    return gone.status();
  }
  template <typename Verb, typename Answer>
  absl::Status operator()(const Verb&, const absl::StatusOr<Answer>& answer) {
    return answer.status();
  }
};

template <typename Verb>
absl::StatusOr<typename Verb::Answer> RemoteDatasets::AskServer(
    const Verb& verb, const runtime::CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(const auto request, OnWire<Verb>::Send(verb));
  const CancelToken cancel = runtime::AttemptToken(call);
  const auto asked = [&] {
    if constexpr (kHasNumber<typename OnWire<Verb>::Request>) {
      return AskNumbered<OnWire<Verb>>(link_, request, cancel);
    } else {
      return link_->transport()->Ask<OnWire<Verb>>(request, {.cancel = cancel});
    }
  };
  HAWSER_ASSIGN_OR_RETURN(const auto reply, asked());
  auto answer = AnswerOf<typename Verb::Answer>(reply);
  if (answer.ok()) return answer;
  return BrokenProtocol(link_->name(), "the answer to ", OnWire<Verb>::kMethod,
                        ": ", answer.status().message());
}

absl::StatusOr<DatasetAnswer> RemoteDatasets::Answer(
    const DatasetVerb& verb, const runtime::CallOptions& call) {
  return std::visit(
      [&](const auto& one) -> absl::StatusOr<DatasetAnswer> {
        auto answer = AskServer(one, call);
        HAWSER_RETURN_IF_ERROR(Heard{*this}(one, answer));
        return answer;
      },
      verb);
}

absl::StatusOr<Shape> RemoteDatasets::ShapeOf(
    const DatasetPart& part, const runtime::CallOptions& call) {
  DatasetInfo info;
  {
    MutexLock lock(&mu_);
    const auto found = infos_.find(part.token);
    if (found != infos_.end()) info = found->second;
  }
  if (info.token.empty()) {
    HAWSER_ASSIGN_OR_RETURN(info, Ask(StatDataset{part.token}, call));
  }
  const DatasetInfo::Array* found = info.Find(part.array);
  if (found != nullptr) return found->shape;
  return NoSuchArray(part, info);
}

absl::StatusOr<runtime::BufferPtr> RemoteDatasets::Open(
    const DatasetPart& part, const runtime::CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(Shape shape, ShapeOf(part, call));
  if (part.rows.has_value()) {
    HAWSER_ASSIGN_OR_RETURN(RowBytes rows, RowsOf(shape, part));
    shape = std::move(rows.shape);
  }
  return std::make_shared<DatasetBuffer>(link_->Shared(), std::move(shape),
                                         part);
}

absl::Status RemoteDatasets::FetchInto(const DatasetPart& part,
                                       absl::Span<char> into,
                                       const runtime::CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(const CheckedPart checked, Find(part, call));
  Shape shape = checked.array->shape;
  if (part.rows.has_value()) {
    HAWSER_ASSIGN_OR_RETURN(RowBytes rows, RowsOf(shape, part));
    shape = std::move(rows.shape);
  }
  HAWSER_RETURN_IF_ERROR(CheckRoom(part, shape, into.size()));
  return GetDataset(link_->transport().get(), link_->bulk_streams(), checked,
                    into, call);
}

absl::StatusOr<std::shared_ptr<const DatasetManifest>> RemoteDatasets::Manifest(
    absl::string_view name, const runtime::CallOptions& call) {
  {
    MutexLock lock(&mu_);
    const auto found = manifests_.find(name);
    if (found != manifests_.end()) return found->second;
  }
  HAWSER_RETURN_IF_ERROR(CheckDatasetName(name));
  HAWSER_ASSIGN_OR_RETURN(auto manifest,
                          FetchManifest(link_->transport().get(), name, call));
  MutexLock lock(&mu_);
  if (digests_kept_ >= kDigestsKept) {
    manifests_.clear();
    digests_kept_ = 0;
  }
  for (const ArrayManifest& array : manifest->arrays) {
    digests_kept_ += static_cast<int64_t>(array.chunks.size()) + 1;
  }
  manifests_[TokenOf(*manifest)] = manifest;
  return manifest;
}

absl::StatusOr<CheckedPart> RemoteDatasets::Find(
    const DatasetPart& part, const runtime::CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(auto manifest, Manifest(part.token, call));
  CheckedPart checked{.manifest = std::move(manifest), .rows = part.rows};
  for (const ArrayManifest& array : checked.manifest->arrays) {
    if (array.name == part.array) checked.array = &array;
  }
  if (checked.array != nullptr) return checked;
  return NoSuchArray(part, InfoOf(*checked.manifest));
}

absl::StatusOr<DatasetInfo> RemoteDatasets::Freeze(
    absl::Span<const runtime::NamedArgument> arrays,
    const runtime::CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(DatasetInfo info,
                          FreezeDataset(link_->Shared(), arrays, call));
  Learn(info);
  return info;
}

}  // namespace hawser
