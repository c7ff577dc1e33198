#include "client/sdk/jit/call_arguments.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "client/sdk/graph/trace.h"
#include "core/base/status.h"

namespace hawser::sdk {
namespace {

// A larger request or answer goes through the session, in pieces: servers bound
// single messages.
constexpr int64_t kStatelessBytes = int64_t{1} << 20;

// Makes `client` the one that a leaf asks for; an error if that contradicts the
// leaves before it.
absl::Status AgreeOn(const Leaf& leaf, Client* client)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex) {
  if (leaf.value.valid() || NodeOf(leaf.tensor) == nullptr) {
    if (leaf.shape.dtype() != DType::kInvalid) return absl::OkStatus();
    return NoValueError();
  }
  HAWSER_RETURN_IF_ERROR(Usable(leaf.tensor));
  if (NodeOf(leaf.tensor)->As<Traced>() != nullptr) {
    return LeakedError(leaf.tensor);
  }
  return Agree(ClientOf(leaf.tensor), client);
}

}  // namespace

absl::Status InCall(const absl::Status& status, SourceLocation where) {
  return Annotate(status, absl::StrCat("calling the function of ", where.file,
                                       ":", where.line));
}

absl::Status AgreeOn(const Flat& arguments, SourceLocation where,
                     Client* client) {
  MutexLock lock(&graph_mutex);
  for (size_t i = 0; i < arguments.leaves.size(); ++i) {
    const absl::Status status = AgreeOn(arguments.leaves[i], client);
    if (status.ok()) continue;
    return InCall(Annotate(status, absl::StrCat("argument ", i)), where);
  }
  return absl::OkStatus();
}

absl::Status EvaluateRecorded(const Flat& arguments,
                              const Execution& execution) {
  absl::InlinedVector<Tensor, 4> tensors;
  for (const Leaf& leaf : arguments.leaves) {
    if (NodeOf(leaf.tensor) != nullptr) tensors.push_back(leaf.tensor);
  }
  return Evaluate(tensors, execution);
}

absl::StatusOr<std::vector<runtime::Argument>> ToArguments(
    const Flat& arguments, const Execution& execution) {
  std::vector<runtime::Argument> out;
  out.reserve(arguments.leaves.size());
  for (const Leaf& leaf : arguments.leaves) {
    if (leaf.value.valid()) {
      out.emplace_back(leaf.value);
    } else if (NodeOf(leaf.tensor) != nullptr) {
      HAWSER_ASSIGN_OR_RETURN(
          out.emplace_back(),
          ToArgument(leaf.tensor, execution.client, execution.call));
    } else {
      return InvalidArgument("argument ", out.size(),
                             " is a Shape, which only Warm takes");
    }
  }
  return out;
}

std::optional<std::vector<runtime::Argument>> StatelessArguments(
    const Flat& arguments, const Signature& signature) {
  int64_t bytes = 0, answer = 0;
  for (const Shape& result : signature.results) answer += result.byte_size();
  std::vector<runtime::Argument> out;
  MutexLock lock(&graph_mutex);
  for (const Leaf& leaf : arguments.leaves) {
    Node* node = NodeOf(leaf.tensor);
    const auto* ready = node == nullptr ? nullptr : node->As<Ready>();
    if (ready != nullptr && ready->of_dataset) {
      const runtime::BufferPtr& array =
          ready->buffers[ResultIndex(leaf.tensor)];
      if (array == nullptr) return std::nullopt;  // donated meanwhile
      out.emplace_back(array);
      continue;
    }
    const auto* host = node == nullptr ? nullptr : node->As<Host>();
    const Literal& value = host == nullptr ? leaf.value : host->value;
    if (!value.valid()) return std::nullopt;
    out.emplace_back(value);
    bytes += value.shape().byte_size();
  }
  if (std::max(bytes, answer) > kStatelessBytes) return std::nullopt;
  return out;
}

absl::Status Donations::Take(absl::Span<const runtime::Argument> arguments) {
  MutexLock lock(&graph_mutex);
  for (size_t i = 0; i < flat_.leaves.size(); ++i) {
    const Leaf& leaf = flat_.leaves[i];
    if (!leaf.donated) continue;
    Literal value;
    if (NodeOf(leaf.tensor) != nullptr) {
      const absl::Status taken = Surrender(leaf.tensor, &value);
      if (!taken.ok()) {
        GiveBackLocked(arguments);
        return Annotate(taken, absl::StrCat("argument ", i));
      }
    }
    indices_.push_back(static_cast<int>(i));
    values_.push_back(std::move(value));
  }
  return absl::OkStatus();
}

void Donations::GiveBack(absl::Span<const runtime::Argument> arguments) {
  MutexLock lock(&graph_mutex);
  GiveBackLocked(arguments);
}

void Donations::GiveBackLocked(absl::Span<const runtime::Argument> arguments) {
  for (size_t k = 0; k < indices_.size(); ++k) {
    const Tensor& tensor = flat_.leaves[indices_[k]].tensor;
    if (NodeOf(tensor) == nullptr) continue;
    PutBack(tensor, std::move(values_[k]), arguments[indices_[k]]);
  }
  indices_.clear();
}

}  // namespace hawser::sdk
