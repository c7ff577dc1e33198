#include "client/remote/dataset_get.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "client/remote/call_limits.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/runtime/dataset.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

// What is worth a stream of its own.
constexpr int64_t kPartBytes = int64_t{8} << 20;

class DatasetGet {
 public:
  DatasetGet(Transport* transport, const v1::GetRequest& request,
             const Shape& shape, absl::Span<char> into,
             const runtime::CallOptions& call)
      : transport_(transport),
        request_(request),
        shape_(shape),
        into_(into),
        progress_(call.progress),
        cancel_(CallLimits(call).Token()) {}

  absl::Status Run(int streams) {
    const int64_t rows = shape_.rank() == 0 ? 1 : shape_.dim(0);
    const int64_t parts =
        std::clamp<int64_t>(shape_.byte_size() / kPartBytes, 1,
                            std::clamp<int64_t>(rows, 1, streams));
    if (parts == 1) return Get(request_, shape_, into_);
    std::vector<std::thread> others;
    for (int64_t i = 1; i < parts; ++i) {
      others.emplace_back([this, rows, parts, i] {
        GetRows(rows * i / parts, rows * (i + 1) / parts);
      });
    }
    GetRows(0, rows / parts);
    for (std::thread& thread : others) thread.join();
    MutexLock lock(&mu_);
    return first_error_;
  }

 private:
  void GetRows(int64_t begin, int64_t end) {
    const absl::Status status = GetPart(begin, end);
    if (status.ok()) return;
    MutexLock lock(&mu_);
    if (!first_error_.ok()) return;
    first_error_ = status;
    cancel_.Cancel();
  }

  // Some of the rows, to their place.
  absl::Status GetPart(int64_t begin, int64_t end) {
    HAWSER_ASSIGN_OR_RETURN(const RowBytes part,
                            FindRows(shape_, {begin, end - begin}));
    v1::GetRequest request = request_;
    request.set_row_begin(request_.row_begin() + begin);
    request.set_row_count(end - begin);
    return Get(request, part.shape,
               into_.subspan(part.begin, part.end - part.begin));
  }

  absl::Status Get(const v1::GetRequest& request, const Shape& expected,
                   absl::Span<char> into) {
    runtime::CallOptions call{.cancel = cancel_};
    int64_t reported = 0;
    if (progress_) {
      call.progress = [&](int64_t done, int64_t) {
        const int64_t more = done - std::exchange(reported, done);
        progress_(done_bytes_.fetch_add(more) + more, shape_.byte_size());
      };
    }
    return transport_->Get(
        request,
        [&](const v1::ShapeProto& proto) -> absl::StatusOr<absl::Span<char>> {
          HAWSER_ASSIGN_OR_RETURN(const Shape shape, FromProto(proto));
          if (shape == expected) return into;
          return Internal(transport_->address(), " sends ", shape.ToString(),
                          " for ", expected.ToString(), " of dataset ",
                          request.token());
        },
        call);
  }

  Transport* const transport_;
  const v1::GetRequest& request_;
  const Shape& shape_;
  const absl::Span<char> into_;
  const std::function<void(int64_t, int64_t)> progress_;
  const CancelToken cancel_;
  std::atomic<int64_t> done_bytes_{0};
  Mutex mu_;
  absl::Status first_error_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

absl::Status GetDataset(Transport* transport, int streams,
                        const v1::GetRequest& request, const Shape& shape,
                        absl::Span<char> into,
                        const runtime::CallOptions& call) {
  return DatasetGet(transport, request, shape, into, call).Run(streams);
}

}  // namespace hawser
