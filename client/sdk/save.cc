#include "client/sdk/save.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "client/formats/array_file.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/graph/run/deadline.h"
#include "client/sdk/graph/run/evaluate.h"
#include "client/sdk/graph/run/fetch.h"
#include "client/sdk/ops/create.h"
#include "core/base/log.h"

namespace hawser::sdk {
namespace {

// The name of a lone tensor when it must have one.
constexpr absl::string_view kLone = "tensor";

std::string Quoted(absl::string_view name) {
  return absl::StrCat("\"", absl::CHexEscape(name), "\"");
}

absl::StatusOr<NamedArrays> FetchAll(absl::Span<const NamedTensor> tensors,
                                     const Execution& execution) {
  std::vector<Tensor> values;
  for (const NamedTensor& tensor : tensors) {
    const absl::Status status = tensor.value.status();
    if (!status.ok()) return Annotate(status, Quoted(tensor.name));
    values.push_back(tensor.value);
  }
  HAWSER_RETURN_IF_ERROR(Evaluate(values, execution));
  NamedArrays arrays;
  for (const NamedTensor& tensor : tensors) {
    auto value = FetchWithin(tensor.value, execution);
    if (!value.ok()) return Annotate(value.status(), Quoted(tensor.name));
    arrays.push_back({tensor.name, *std::move(value)});
  }
  return arrays;
}

bool IsLone(absl::Span<const NamedTensor> tensors) {
  return tensors.size() == 1 && tensors[0].name.empty();
}

// Renames the datasets that a name stood for: "@name" is the newest, "@name.1"
// the one before it. Used once, for one that is to be the newest.
class KeptDatasets {
 public:
  KeptDatasets(const Client& client, const std::string& tag,
               const FreezeOptions& options)
      : client_(client), tag_(tag), options_(options) {}

  // Gives each the next name, the oldest first, so that a dataset has two of
  // the names for a moment and never none.
  absl::Status MakeRoomFor(const std::string& token) {
    std::vector<std::string> tokens;
    for (int i = 0; i < options_.keep; ++i) {
      HAWSER_ASSIGN_OR_RETURN(tokens.emplace_back(), TokenOf(i));
    }
    if (tokens[0] == token) return absl::OkStatus();  // frozen once more
    for (int i = options_.keep - 1; i > 0; --i) {
      if (tokens[i - 1].empty()) continue;
      HAWSER_RETURN_IF_ERROR(client_.Tag(
          {.name = NameOf(i), .token = tokens[i - 1]}, options_.call));
    }
    pushed_out_ = tokens.back();
    return absl::OkStatus();
  }

  // To be called once "@name" stands for the new one.
  absl::Status DeletePushedOut() const {
    if (pushed_out_.empty()) return absl::OkStatus();
    const auto dataset = client_.Dataset(pushed_out_, {.call = options_.call});
    if (absl::IsNotFound(dataset.status())) return absl::OkStatus();
    HAWSER_RETURN_IF_ERROR(dataset);
    const DatasetInfo& info = dataset->info();
    if (!info.tags.empty() || info.pinned_until > absl::Now()) {
      return absl::OkStatus();
    }
    return client_.Delete(pushed_out_, options_.call);
  }

 private:
  std::string NameOf(int i) const {
    return i == 0 ? tag_ : absl::StrCat(tag_, ".", i);
  }
  // Returns "" if the name stands for none.
  absl::StatusOr<std::string> TokenOf(int i) const {
    const auto dataset = client_.Dataset(NameOf(i), {.call = options_.call});
    if (absl::IsNotFound(dataset.status())) return std::string();
    HAWSER_RETURN_IF_ERROR(dataset);
    return dataset->token();
  }

  const Client& client_;
  const std::string& tag_;
  const FreezeOptions& options_;
  std::string pushed_out_;
};

}  // namespace

std::string NameOf(const std::string& whole, const std::string& part) {
  return whole.empty() ? part : absl::StrCat(whole, ".", part);
}

absl::Status SaveTensors(const std::string& path,
                         absl::Span<const NamedTensor> tensors,
                         const RunOptions& options) {
  if (!IsLone(tensors) && absl::EndsWithIgnoreCase(path, ".npy")) {
    return InvalidArgument(path,
                           ": an npy file holds one tensor without a "
                           "name; .npz and .safetensors hold structures");
  }
  const Execution execution = FromNow(options);
  auto arrays = FetchAll(tensors, execution);
  if (!arrays.ok()) {
    const Client client = tensors.empty()
                              ? options.client
                              : HomeOf(tensors[0].value, options.client);
    return NameDeadline(arrays.status(), "Save", client, options.call,
                        execution.call.cancel);
  }
  if (IsLone(tensors)) (*arrays)[0].name = std::string(kLone);
  return WriteArrays(path, *arrays);
}

absl::StatusOr<Dataset> FreezeTensors(const std::string& name,
                                      std::vector<NamedTensor> tensors,
                                      const FreezeOptions& options) {
  if (options.keep < 0 || (options.keep > 0 && name.empty())) {
    return InvalidArgument("Freeze: keep is ", options.keep,
                           name.empty() ? " of datasets without a name" : "");
  }
  Client client = options.client;
  for (const NamedTensor& tensor : tensors) {
    client = HomeOf(tensor.value, client);
  }
  if (!client.valid()) client = Client::Default();
  HAWSER_ASSIGN_OR_RETURN(Dataset frozen,
                          client.Freeze(std::move(tensors), options.call));
  if (name.empty()) return frozen;
  const std::string tag = IsTag(name) ? name : absl::StrCat("@", name);
  const auto name_it = [&] {
    return client.Tag({.name = tag, .token = frozen.token()}, options.call);
  };
  if (options.keep == 0) {
    HAWSER_RETURN_IF_ERROR(name_it());
    return frozen;
  }
  KeptDatasets kept(client, tag, options);
  const absl::Status room = kept.MakeRoomFor(frozen.token());
  // The tag waits for a server that is away; earlier ones are not renamed then.
  if (!room.ok() && !absl::IsUnavailable(room)) return room;
  HAWSER_RETURN_IF_ERROR(name_it());
  // What was asked for is done: that it is there is worth more than that
  // another one is not.
  if (const absl::Status left = kept.DeletePushedOut(); !left.ok()) {
    HAWSER_LOG(kWarning) << "Freeze of " << tag
                         << ": an earlier dataset is left: " << left;
  }
  return frozen;
}

absl::StatusOr<LoadedArrays> LoadedArrays::Read(const std::string& path,
                                                SourceLocation where) {
  absl::StatusOr<NamedArrays> arrays = ReadArrays(path, {});
  if (!arrays.ok()) return At(arrays.status(), where);
  LoadedArrays loaded;
  loaded.source_ = path;
  for (NamedArray& array : *arrays) {
    loaded.arrays_.emplace(std::move(array.name),
                           Constant(std::move(array.value), where));
  }
  return loaded;
}

absl::StatusOr<LoadedArrays> LoadedArrays::Of(const Dataset& dataset) {
  LoadedArrays loaded;
  loaded.source_ = dataset.token();
  for (const DatasetInfo::Array& array : dataset.info().arrays) {
    const Tensor tensor = dataset[array.name];
    HAWSER_RETURN_IF_ERROR(tensor.status());
    loaded.arrays_.emplace(array.name, tensor);
  }
  return loaded;
}

Tensor LoadedArrays::Take(const std::string& name) {
  const auto at = name.empty() && arrays_.size() == 1 ? arrays_.begin()
                                                      : arrays_.find(name);
  if (at == arrays_.end()) {
    missing_.push_back(name);
    return Tensor();
  }
  Tensor tensor = std::move(at->second);
  arrays_.erase(at);
  return tensor;
}

size_t LoadedArrays::CountEntries(const std::string& name) const {
  const auto has = [&](size_t entry) {
    const std::string whole = NameOf(name, entry);
    return std::any_of(arrays_.begin(), arrays_.end(), [&](const auto& array) {
      return array.first == whole ||
             absl::StartsWith(array.first, absl::StrCat(whole, "."));
    });
  };
  size_t entries = 0;
  while (has(entries)) ++entries;
  return entries;
}

absl::Status LoadedArrays::Finish() const {
  const auto join = [](std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    const size_t shown = std::min<size_t>(names.size(), 8);
    return absl::StrCat(
        absl::StrJoin(names.begin(), names.begin() + shown, ", ",
                      [](std::string* out, const auto& name) {
                        out->append(Quoted(name));
                      }),
        shown < names.size() ? ", ..." : "");
  };
  std::vector<std::string> left;
  for (const auto& [name, value] : arrays_) left.push_back(name);
  if (missing_ == std::vector<std::string>{""} && left.size() > 1) {
    return InvalidArgument(source_, ": has no array \"\", it has ", join(left),
                           "; one Tensor is loaded from a file of one array");
  }
  if (!missing_.empty()) {
    return InvalidArgument(source_, ": has no array ", join(missing_),
                           left.empty() ? "" : "; not asked for: ", join(left));
  }
  if (left.empty()) return absl::OkStatus();
  return InvalidArgument(source_, ": there is no place for ", join(left));
}

}  // namespace hawser::sdk
