// Datasets: the part of a Client that keeps named arrays where it computes.
#ifndef HAWSER_CORE_RUNTIME_DATASETS_H_
#define HAWSER_CORE_RUNTIME_DATASETS_H_

#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/status.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"

namespace hawser::runtime {

// Named by what they hold, shared by token. Thread-safe; lives as long as its
// client. Everything but Open blocks, within its CallOptions.
class Datasets {
 public:
  virtual ~Datasets() = default;

  // Sends what the other end lacks and returns the token.
  virtual absl::StatusOr<DatasetInfo> Put(const DatasetSource& source,
                                          const CallOptions& call) = 0;
  // A part as an argument or to be fetched; of rows only their chunks are
  // loaded. May ask for the shape. Errors: kNotFound for a token or an array
  // that is unknown; kInvalidArgument naming token, rows and shape for rows
  // that are not there.
  virtual absl::StatusOr<BufferPtr> Open(const DatasetPart& part,
                                         const CallOptions& call) = 0;
  // A part into memory of the caller's: `into` has as many bytes as the part.
  // After it returns, nothing writes there any more. After an error `into` may
  // hold anything. The default opens, fetches and copies. Errors: as Open and
  // Fetch; kInvalidArgument naming the array and both sizes.
  virtual absl::Status FetchInto(const DatasetPart& part, absl::Span<char> into,
                                 const CallOptions& call);
  // Values become a dataset where they are, the same that Put makes of their
  // bytes. Returns once they are there. Errors: as Put, and the first error of
  // a chain that was to make a value; kFailedPrecondition for a buffer of
  // another client.
  virtual absl::StatusOr<DatasetInfo> Freeze(
      absl::Span<const NamedArgument> arrays, const CallOptions& call) = 0;

  // Copies a dataset, in the background, to where it can be used while its
  // holder is away, for a client that has such a place; the default has none.
  // An error counts as if the copy was not asked for.
  virtual void KeepLocal(const DatasetInfo& info) {}

  // The verbs of dataset.h: Ask(PinDataset{token, ttl}, call) is a
  // StatusOr<DatasetInfo>. Errors: those that dataset.h says of the verb.
  template <typename Verb>
  absl::StatusOr<typename Verb::Answer> Ask(const Verb& verb,
                                            const CallOptions& call) {
    HAWSER_ASSIGN_OR_RETURN(DatasetAnswer answer, Answer(verb, call));
    return std::get<typename Verb::Answer>(std::move(answer));
  }
  // The same where the verb is a value. The answer is of the verb's Answer.
  virtual absl::StatusOr<DatasetAnswer> Answer(const DatasetVerb& verb,
                                               const CallOptions& call) = 0;
};

// The datasets of a client that keeps none: every verb is kUnimplemented,
// naming the client.
class NoDatasets final : public Datasets {
 public:
  // `client` outlives it.
  explicit NoDatasets(const Client* client) : client_(client) {}

  absl::StatusOr<DatasetInfo> Put(const DatasetSource& source,
                                  const CallOptions& call) override;
  absl::StatusOr<BufferPtr> Open(const DatasetPart& part,
                                 const CallOptions& call) override;
  absl::StatusOr<DatasetInfo> Freeze(absl::Span<const NamedArgument> arrays,
                                     const CallOptions& call) override;
  absl::StatusOr<DatasetAnswer> Answer(const DatasetVerb& verb,
                                       const CallOptions& call) override;

 private:
  absl::Status None() const;
  const Client* const client_;
};

}  // namespace hawser::runtime
#endif  // HAWSER_CORE_RUNTIME_DATASETS_H_
