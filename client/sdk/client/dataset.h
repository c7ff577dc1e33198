// Dataset: arrays that were put once and are used by name from then on.
#ifndef HAWSER_CLIENT_SDK_CLIENT_DATASET_H_
#define HAWSER_CLIENT_SDK_CLIENT_DATASET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/sdk/client/client.h"
#include "client/sdk/client/options.h"
#include "client/sdk/tensor.h"
#include "core/base/values/dtype.h"
#include "core/runtime/dataset.h"

namespace hawser {

// An array of a dataset to be, for Client::Freeze.
struct NamedTensor {
  std::string name;
  Tensor value;
};

// A copyable handle, made by Client::Put and Client::Dataset. Thread-safe.
// The arrays live where the client computes, also after this handle, the
// session and (where `durable`) the server's process.
class Dataset {
 public:
  Dataset() = default;  // none
  Dataset(Client client, DatasetInfo info);

  // "hw1-...": the name of these bytes on every machine.
  const std::string& token() const { return info().token; }
  // Names, shapes, sizes, and what the Put really sent.
  const DatasetInfo& info() const;
  const Client& client() const;

  // An array, as the argument of a function. The first use of a name may block
  // to ask for it. Errors (sticky): kNotFound naming the arrays there are.
  Tensor operator[](absl::string_view name) const;
  // The array of a dataset of one unnamed array.
  Tensor operator()() const { return (*this)[""]; }

  // Rows [begin, begin + count) of an array, as the argument of a function.
  //   for (int64_t i = 0; i + 256 <= n; i += 256) step(w, d.Rows("x", i, 256));
  // Only the chunks these rows lie in are loaded, so the array may be larger
  // than the memory where it is used. A Jit function sees their shape alone:
  // `count` is part of its signature, `begin` is not, and no begin makes it
  // trace again. If the array fits, taking all of it once and slicing inside
  // the function (hawser::Rows) is faster.
  // name: an array of rank 1 or more. begin, count: from 0 to its rows; no rows
  // are rows too. Result: [count, the array's other sizes], its dtype.
  // The first use of a token may block to ask for it.
  // Errors (sticky): kNotFound naming the arrays there are; kInvalidArgument
  // naming token, rows and shape for rows that are not there, or of a scalar.
  Tensor Rows(absl::string_view name, int64_t begin, int64_t count) const;
  // The same for a dataset of one unnamed array.
  Tensor Rows(int64_t begin, int64_t count) const {
    return Rows("", begin, count);
  }

  // Copies an array into memory of yours.
  //   std::vector<float> x(d.info().Find("x")->shape.num_elements());
  //   absl::Status status = d.FetchInto("x", absl::MakeSpan(x));
  // Where a tensor's Fetch takes new memory each time, this uses yours again,
  // and what comes from a server is put there without another copy.
  // into: as many elements as the array; T is its dtype, or char: its bytes,
  // whatever its dtype. Blocks until all of it is there; `into` is not written
  // to after the call has returned. After an error it may hold anything.
  // Errors: kNotFound naming the arrays there are; kInvalidArgument naming the
  // array and what does not fit; those of the link.
  template <typename T>
  absl::Status FetchInto(absl::string_view name, absl::Span<T> into,
                         const CallOptions& call = {}) const {
    return FetchBytes(name, std::nullopt, Wanted<T>(), BytesOf(into), call);
  }
  // Fetches those rows of the array alone.
  template <typename T>
  absl::Status FetchInto(absl::string_view name, const RowRange& rows,
                         absl::Span<T> into,
                         const CallOptions& call = {}) const {
    return FetchBytes(name, rows, Wanted<T>(), BytesOf(into), call);
  }

 private:
  struct State;
  // kInvalid: any.
  template <typename T>
  static constexpr DType Wanted() {
    if constexpr (std::is_same_v<T, char>) {
      return DType::kInvalid;
    } else {
      return kDTypeOf<T>;
    }
  }
  template <typename T>
  static absl::Span<char> BytesOf(absl::Span<T> values) {
    return {reinterpret_cast<char*>(values.data()), values.size() * sizeof(T)};
  }
  absl::Status FetchBytes(absl::string_view name,
                          const std::optional<RowRange>& rows, DType dtype,
                          absl::Span<char> into, const CallOptions& call) const;
  absl::Status NoArray(absl::string_view name) const;
  std::shared_ptr<State> state_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_CLIENT_DATASET_H_
