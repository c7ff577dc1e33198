// Datasets and their names: arrays, chunks, ids and tokens.
// The same bytes have the same token on every machine.
#ifndef HAWSER_CORE_RUNTIME_DATASET_H_
#define HAWSER_CORE_RUNTIME_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/digest.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"

namespace hawser {

// Arrays are cut into chunks of 4 MiB of their little-endian row-major bytes;
// the last one may be shorter. An empty array has no chunk.
inline constexpr int64_t kChunkBytes = int64_t{4} << 20;

// One array by content.
struct ArrayManifest {
  std::string name;  // "" for the array of a single-array dataset
  Shape shape;
  std::vector<Digest> chunks;  // SHA-256 of each
  int64_t num_chunks() const {
    return (shape.byte_size() + kChunkBytes - 1) / kChunkBytes;
  }
  int64_t chunk_size(int64_t i) const;
};

struct DatasetManifest {
  std::vector<ArrayManifest> arrays;  // sorted by name, names distinct
};

// A value that is made when its bytes are needed, from a file say.
struct LazyValue {
  Shape shape;
  // It may block; it is called on any thread, more than once.
  std::function<absl::StatusOr<Literal>()> make;
};

// The values that a user puts, by name. A Literal may adopt a mapped file.
struct DatasetSource {
  struct Array {
    std::string name;
    Literal value;
    // SHA-256 of each of its chunks, where the caller knows them; else empty.
    std::vector<Digest> chunks = {};
    // Instead of `value`, where all chunks are known: nothing is made for
    // a receiver that has them already.
    std::optional<LazyValue> lazy = std::nullopt;

    const Shape& shape() const { return lazy ? lazy->shape : value.shape(); }
    // The value; a lazy one is made. Errors: those of making it; kAborted when
    // its shape is another than was said.
    absl::StatusOr<Literal> Value() const;
  };
  std::vector<Array> arrays;
};

struct DatasetInfo {
  std::string token;
  struct Array {
    std::string name;
    Shape shape;
  };
  std::vector<Array> arrays;
  int64_t bytes = 0;
  // The bytes that really crossed the wire in the last PutDataset (0: all was
  // there).
  int64_t sent_bytes = 0;
  bool durable = false;  // survives a restart of its holder
  bool being_written = false;  // so that it will

  // ---- where datasets are evicted; elsewhere as here
  // Put, named or read.
  absl::Time last_used = absl::InfinitePast();
  absl::Time pinned_until = absl::InfinitePast();
  std::vector<std::string> tags;  // sorted

  const Array* Find(absl::string_view name) const;
};

// The answer of a verb that has nothing to say.
struct Acknowledgement {};

// A name that a tenant gives a dataset and may give another one later:
// "@mnist". Changes only if it names what `expected` says: a token, or nothing
// (""). Errors: kInvalidArgument for what is no tag, kNotFound for the token,
// kAborted when it names another dataset than expected, saying which.
struct DatasetTag {
  using Answer = Acknowledgement;
  std::string name;
  std::string token;  // empty: the name goes
  std::optional<std::string> expected;  // nothing: whatever it names now
};
// True if the name asks for a dataset by tag.
bool IsTag(absl::string_view name);
// Errors: kInvalidArgument for what is not "@" and 1 to 128 of A-Z a-z 0-9 . _
// / and -.
absl::Status CheckTag(absl::string_view name);
// A token or a tag. Errors: as ParseToken and CheckTag.
absl::Status CheckDatasetName(absl::string_view name);
// Checks that `tag` may change while its name stands for `now`. Errors:
// kAborted saying what that is.
absl::Status CheckExpected(const DatasetTag& tag, absl::string_view now);

// The usage and the limits of a tenant.
struct DatasetUsage {
  int64_t datasets = 0;
  int64_t bytes = 0;         // of chunks, each once, uploads too
  int64_t upload_bytes = 0;  // of chunks that no dataset names yet
  int64_t pinned_bytes = 0;  // of datasets that are pinned now
  int64_t max_datasets = 0;  // 0: no limit
  int64_t max_bytes = 0;     // 0: no limit
  // ---- where there is a disk
  int64_t bad_files = 0;   // found damaged since its server started
  int64_t lost_bytes = 0;  // of chunks that went with them: put them again
  // ---- memory of the server: what the caller's tenant holds of what it may,
  // and all together of what there is; 0: it keeps no account
  int64_t memory_held = 0;
  int64_t memory_limit = 0;
  int64_t all_memory_held = 0;
  int64_t all_memory_limit = 0;
};

// Selects the datasets to list: in order of their tokens, a page at a time.
struct DatasetPage;
struct DatasetQuery {
  using Answer = DatasetPage;
  std::string prefix;  // of tokens; empty: all
  std::string after;  // only tokens after this one: the last of a page before
  int limit = 0;       // 0: as many as the other end gives at once
};
struct DatasetPage {
  std::vector<DatasetInfo> datasets;
  bool more = false;  // ask again with `after`
};
// The page of `all` that `query` asks for, at most `most` long.
DatasetPage PageOf(std::vector<DatasetInfo> all, const DatasetQuery& query,
                   int most);

// ---- verbs: what those who keep datasets are asked, and what they answer.
// DatasetQuery and DatasetTag are two more.

// `token` may be a tag; the answer has the token. Errors: kNotFound for a name
// that is unknown there or not the caller's.
struct StatDataset {
  using Answer = DatasetInfo;
  std::string token;
};
// Forgets a dataset. Work that uses its arrays goes on. Errors: kNotFound for a
// token that is unknown there or not the caller's.
struct DeleteDataset {
  using Answer = Acknowledgement;
  std::string token;
};
// It is not evicted before `ttl` is over, from now; infinite: before it is
// pinned for less; zero: no longer pinned. Errors: as StatDataset.
struct PinDataset {
  using Answer = DatasetInfo;
  std::string token;
  absl::Duration ttl = absl::InfiniteDuration();
};
// Asks what is kept there for the caller.
struct QueryUsage {
  using Answer = DatasetUsage;
};

using DatasetVerb = std::variant<StatDataset, DatasetQuery, DeleteDataset,
                                 PinDataset, DatasetTag, QueryUsage>;
using DatasetAnswer =
    std::variant<Acknowledgement, DatasetInfo, DatasetPage, DatasetUsage>;

// Rows [begin, begin + count) of an array along its leading axis.
struct RowRange {
  int64_t begin = 0;
  int64_t count = 0;
  friend bool operator==(const RowRange&, const RowRange&) = default;
};
// An array of a dataset, or rows of one. `array` is "" for a dataset of one
// unnamed array.
struct DatasetPart {
  std::string token;
  std::string array;
  std::optional<RowRange> rows = std::nullopt;  // none: all
};
// The shape of those rows, and their bytes [begin, end) of the array.
struct RowBytes {
  Shape shape;
  int64_t begin = 0;
  int64_t end = 0;
};
// Errors: kInvalidArgument naming rows and shape for a scalar, and for rows
// that are not all there.
absl::StatusOr<RowBytes> FindRows(const Shape& shape, const RowRange& rows);
// Returns those rows of a value, sharing its bytes. Errors: as FindRows.
absl::StatusOr<Literal> SliceRows(const Literal& value, const RowRange& rows);
// "dataset hw1-..., array "x"", in front of an error about it.
std::string DescribeArray(absl::string_view token, absl::string_view array);
// Checks that memory of `bytes` has exactly the size of `part`, of `shape`.
// Errors: kInvalidArgument naming array, shape and both sizes.
absl::Status CheckRoom(const DatasetPart& part, const Shape& shape,
                       size_t bytes);

// SHA-256 over (tag, dtype, shape, byte length, chunk digests).
Digest ArrayId(const ArrayManifest& array);
// A dataset of one unnamed array is called by its array id; any other by
// SHA-256 over (tag, sorted (name, array id)).
Digest DatasetId(const DatasetManifest& manifest);

// "hw1-" and 52 characters. A name, not a key: it opens nothing by itself.
std::string TokenOf(const Digest& dataset_id);
std::string TokenOf(const DatasetManifest& manifest);
// Errors: kInvalidArgument naming the text.
absl::StatusOr<Digest> ParseToken(absl::string_view token);

// Names: at most 255 bytes of printable ASCII, distinct, "" only alone;
// at least one array, each with a value, of which a lazy one has its digests.
// Sorts by name. Errors: kInvalidArgument.
absl::Status NormalizeSource(DatasetSource* source);
// The same rules for a manifest from the wire, and that the number of digests
// is the shape's number of chunks.
absl::Status CheckManifest(const DatasetManifest& manifest);

// Hashes every chunk whose digest is not known, on up to `threads` threads.
DatasetManifest ManifestOf(const DatasetSource& source, int threads);
DatasetInfo InfoOf(const DatasetManifest& manifest);

}  // namespace hawser
#endif  // HAWSER_CORE_RUNTIME_DATASET_H_
