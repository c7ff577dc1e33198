// RemoteClient: a runtime::Client whose device is on another machine.
#ifndef HAWSER_CLIENT_REMOTE_REMOTE_CLIENT_H_
#define HAWSER_CLIENT_REMOTE_REMOTE_CLIENT_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/remote/dataset_get.h"
#include "client/remote/options.h"
#include "client/remote/program.h"
#include "client/remote/session.h"
#include "client/remote/transfers.h"
#include "client/remote/transport.h"
#include "client/remote/watched.h"
#include "core/base/gate.h"
#include "core/base/mutex.h"
#include "core/runtime/client.h"

namespace hawser {

// A client over `transport`. Reaches out at its first use, not before.
std::shared_ptr<runtime::Client> MakeRemoteClient(
    std::unique_ptr<Transport> transport, RemoteOptions options);

// Thread-safe. Owned together by the user and by its buffers and executables;
// futures do not keep it: when the last of those goes, what is outstanding
// completes with kCancelled. What survives a lost session: executables, dataset
// tokens, and values that have come over; other buffers are kUnavailable.
class RemoteClient final : public runtime::Client,
                           public std::enable_shared_from_this<RemoteClient> {
 public:
  RemoteClient(std::unique_ptr<Transport> transport, RemoteOptions options);
  ~RemoteClient() override;  // bounded, whatever the server does

  std::string name() const override { return address_; }
  // Blocks until the server was reached once.
  absl::StatusOr<runtime::Capabilities> capabilities() override;
  // One round trip on the session. Errors: kUnavailable when it is lost or has
  // no stream for the connect timeout; the next Ping asks a new session.
  absl::Status Ping(const runtime::CallOptions& call) override;
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> Upload(
      const Literal& value, const runtime::CallOptions& call) override;

  // datasets.cc
  absl::StatusOr<DatasetInfo> PutDataset(
      const DatasetSource& source, const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetInfo> StatDataset(
      absl::string_view token, const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> DatasetArray(
      absl::string_view token, absl::string_view array,
      const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> DatasetRows(
      absl::string_view token, absl::string_view array, const RowRange& rows,
      const runtime::CallOptions& call) override;
  // Straight from the streams.
  absl::Status FetchDataset(absl::string_view token, absl::string_view array,
                            const std::optional<RowRange>& rows,
                            absl::Span<char> into,
                            const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetPage> ListDatasets(
      const DatasetQuery& query, const runtime::CallOptions& call) override;
  absl::Status DeleteDataset(absl::string_view token,
                             const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetInfo> PinDataset(
      absl::string_view token, absl::Duration ttl,
      const runtime::CallOptions& call) override;
  absl::Status TagDataset(const DatasetTag& tag,
                          const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetUsage> QueryUsage(
      const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetInfo> FreezeDataset(
      absl::Span<const runtime::NamedArgument> arrays,
      const runtime::CallOptions& call) override;

  // For the parts of this client.
  const std::shared_ptr<Transport>& transport() const { return transport_; }
  Transfers* transfers() { return &transfers_; }
  // How many streams one large transfer may use.
  int bulk_streams() const { return std::max(options_.bulk_threads, 1); }
  // Stops `watched` at its limits. Before what it waits for is begun; costs
  // nothing when it has no limits.
  void Watch(const std::shared_ptr<Watched>& watched);
  // The session that serves now; a new one when there is none or it is lost.
  std::shared_ptr<RemoteSession> Session();
  // The digests of a dataset's chunks, kept by token.
  absl::StatusOr<std::shared_ptr<const DatasetManifest>> Manifest(
      absl::string_view name, const runtime::CallOptions& call);
  // Some rows, or all, of an array as it is on the server. Errors: kNotFound,
  // kInvalidArgument for rows that are not there.
  absl::StatusOr<CheckedPart> FindPart(absl::string_view name,
                                       absl::string_view array,
                                       const std::optional<RowRange>& rows,
                                       const runtime::CallOptions& call);
  absl::StatusOr<runtime::BufferPtr> UploadIn(
      const std::shared_ptr<RemoteSession>& session, const Literal& value,
      const runtime::CallOptions& call);

 private:
  // Of an array, asked for when it is not known here.
  absl::StatusOr<Shape> DatasetShape(absl::string_view token,
                                     absl::string_view array,
                                     const runtime::CallOptions& call);
  // dataset_freeze.cc: the request for these arrays, sorted by name.
  absl::Status FillFreeze(
      absl::Span<const runtime::NamedArgument* const> arrays,
      const std::shared_ptr<RemoteSession>& session,
      const runtime::CallOptions& call,
      std::vector<runtime::BufferPtr>* uploads, v1::FreezeRequest* freeze);
  // What an answer says of a dataset, kept.
  // Remembers what the server says of a dataset.
  absl::StatusOr<DatasetInfo> Learn(const v1::DatasetInfoProto& proto);
  // The same, when it was asked for that token or tag.
  absl::StatusOr<DatasetInfo> LearnOf(absl::string_view asked,
                                      const v1::DatasetInfoProto& proto);
  absl::Status CompileOnce(const Module& module, RemoteProgram* program,
                           const CallLimits& limits, bool* lost);

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  const std::shared_ptr<Transport> transport_;
  const RemoteOptions options_;
  const std::string address_;
  ProgramCache programs_;

  Mutex mu_;
  std::shared_ptr<RemoteSession> session_ ABSL_GUARDED_BY(mu_);
  absl::Time session_started_ ABSL_GUARDED_BY(mu_);
  // Lost, their streams not yet taken down.
  std::vector<std::shared_ptr<RemoteSession>> retired_ ABSL_GUARDED_BY(mu_);
  std::optional<runtime::Capabilities> capabilities_ ABSL_GUARDED_BY(mu_);
  // By token: what a token names never changes.
  absl::flat_hash_map<std::string, DatasetInfo> datasets_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::shared_ptr<const DatasetManifest>>
      manifests_ ABSL_GUARDED_BY(mu_);
  int64_t digests_kept_ ABSL_GUARDED_BY(mu_) = 0;  // of manifests_

  Transfers transfers_;  // last: it uses all of the above
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_REMOTE_CLIENT_H_
