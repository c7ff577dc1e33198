#include "core/runtime/dataset.h"

#include <algorithm>
#include <atomic>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status.h"
#include "core/base/threads/thread_pool.h"

namespace hawser {
namespace {

constexpr absl::string_view kTokenPrefix = "hw1-";
constexpr size_t kMaxNameBytes = 255;
constexpr size_t kMaxTagBytes = 128;

absl::Status CheckName(absl::string_view name, bool alone) {
  if (name.empty() && !alone) {
    return InvalidArgument("a dataset of several arrays must name each");
  }
  if (name.size() > kMaxNameBytes) {
    return InvalidArgument("an array's name has ", name.size(),
                           " bytes, the most is ", kMaxNameBytes);
  }
  for (char c : name) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) {
      return InvalidArgument("an array's name is not printable ASCII");
    }
  }
  return absl::OkStatus();
}

// Checks names of anything sorted that has `.name`.
template <typename Arrays>
absl::Status CheckNames(const Arrays& arrays) {
  if (arrays.empty()) return InvalidArgument("a dataset has no array");
  for (size_t i = 0; i < arrays.size(); ++i) {
    HAWSER_RETURN_IF_ERROR(CheckName(arrays[i].name, arrays.size() == 1));
    if (i == 0 || arrays[i - 1].name < arrays[i].name) continue;
    if (arrays[i - 1].name == arrays[i].name) {
      return InvalidArgument("two arrays are called \"", arrays[i].name, "\"");
    }
    return InvalidArgument("the arrays are not sorted by name");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Literal> DatasetSource::Array::Value() const {
  if (!lazy.has_value()) return value;
  HAWSER_ASSIGN_OR_RETURN(Literal made, lazy->make());
  if (made.shape() == lazy->shape) return made;
  return Aborted("array \"", name, "\" is now ", made.shape().ToString(),
                 ", was ", lazy->shape.ToString());
}

bool IsTag(absl::string_view name) { return absl::StartsWith(name, "@"); }

absl::Status CheckTag(absl::string_view name) {
  const absl::string_view rest = absl::StripPrefix(name, "@");
  const bool sound =
      IsTag(name) && !rest.empty() && rest.size() <= kMaxTagBytes &&
      std::all_of(rest.begin(), rest.end(), [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
               absl::StrContains("._/-", c);
      });
  if (sound) return absl::OkStatus();
  return InvalidArgument("\"", absl::CHexEscape(name.substr(0, kMaxNameBytes)),
                         "\" is no tag: \"@\" and 1 to ", kMaxTagBytes,
                         " of A-Z a-z 0-9 . _ / -");
}

absl::Status CheckDatasetName(absl::string_view name) {
  return IsTag(name) ? CheckTag(name) : ParseToken(name).status();
}

absl::Status CheckExpected(const DatasetTag& tag, absl::string_view now) {
  if (!tag.expected.has_value() || *tag.expected == now) {
    return absl::OkStatus();
  }
  const auto named = [](absl::string_view token) {
    return token.empty() ? "nothing" : token;
  };
  return Aborted("tag ", tag.name, " names ", named(now), ", not ",
                 named(*tag.expected));
}

int64_t ArrayManifest::chunk_size(int64_t i) const {
  return std::min(kChunkBytes, shape.byte_size() - i * kChunkBytes);
}

const DatasetInfo::Array* DatasetInfo::Find(absl::string_view name) const {
  for (const Array& array : arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

Digest ArrayId(const ArrayManifest& array) {
  Hasher h;
  h.Text("hawser array 1").Text(DTypeName(array.shape.dtype()));
  h.Integer(array.shape.rank());
  for (int64_t d : array.shape.dims()) h.Integer(d);
  h.Integer(array.shape.byte_size());
  for (const Digest& chunk : array.chunks) h.Add(chunk);
  return h.Finish();
}

Digest DatasetId(const DatasetManifest& manifest) {
  if (manifest.arrays.size() == 1 && manifest.arrays[0].name.empty()) {
    return ArrayId(manifest.arrays[0]);
  }
  Hasher h;
  h.Text("hawser dataset 1").Integer(manifest.arrays.size());
  for (const ArrayManifest& array : manifest.arrays) {
    h.Text(array.name).Add(ArrayId(array));
  }
  return h.Finish();
}

std::string TokenOf(const Digest& dataset_id) {
  return absl::StrCat(kTokenPrefix, dataset_id.ToBase32());
}

std::string TokenOf(const DatasetManifest& manifest) {
  return TokenOf(DatasetId(manifest));
}

absl::StatusOr<Digest> ParseToken(absl::string_view token) {
  absl::string_view rest = token;
  if (absl::ConsumePrefix(&rest, kTokenPrefix)) {
    auto digest = Digest::FromBase32(rest);
    if (digest.ok()) return digest;
  }
  return InvalidArgument("\"", token.substr(0, 80),
                         "\" is not a dataset token (hw1-...)");
}

absl::Status NormalizeSource(DatasetSource* source) {
  std::sort(source->arrays.begin(), source->arrays.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  HAWSER_RETURN_IF_ERROR(CheckNames(source->arrays));
  for (const auto& array : source->arrays) {
    if (array.value.valid() == array.lazy.has_value()) {
      return InvalidArgument("array \"", array.name, "\" has ",
                             array.value.valid() ? "two values" : "no value");
    }
    const int64_t digests = array.chunks.size();
    const int64_t wanted = ArrayManifest{"", array.shape(), {}}.num_chunks();
    if (array.lazy.has_value() && digests != wanted) {
      return InvalidArgument("array \"", array.name,
                             "\", to be made later, has ", digests,
                             " chunk digests, needs ", wanted);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckManifest(const DatasetManifest& manifest) {
  HAWSER_RETURN_IF_ERROR(CheckNames(manifest.arrays));
  for (const ArrayManifest& array : manifest.arrays) {
    const int64_t digests = array.chunks.size();
    if (digests == array.num_chunks()) continue;
    return InvalidArgument("array \"", array.name, "\" of ",
                           array.shape.ToString(), " has ", digests,
                           " chunk digests, needs ", array.num_chunks());
  }
  return absl::OkStatus();
}

DatasetManifest ManifestOf(const DatasetSource& source, int threads) {
  DatasetManifest manifest;
  struct Chunk {
    size_t array;
    int64_t index;
  };
  std::vector<Chunk> chunks;
  for (size_t a = 0; a < source.arrays.size(); ++a) {
    ArrayManifest m{source.arrays[a].name, source.arrays[a].shape(), {}};
    m.chunks = source.arrays[a].chunks;
    if (static_cast<int64_t>(m.chunks.size()) != m.num_chunks()) {
      m.chunks.resize(m.num_chunks());
      for (int64_t i = 0; i < m.num_chunks(); ++i) chunks.push_back({a, i});
    }
    manifest.arrays.push_back(std::move(m));
  }
  std::atomic<size_t> next{0};
  const int wanted = std::min<int>(threads, static_cast<int>(chunks.size()));
  const absl::Status hashed = OnThreads(std::max(wanted, 1), [&](int) {
    for (size_t n; (n = next.fetch_add(1)) < chunks.size();) {
      ArrayManifest& m = manifest.arrays[chunks[n].array];
      const int64_t i = chunks[n].index;
      m.chunks[i] = Sha256(source.arrays[chunks[n].array].value.bytes().subspan(
          i * kChunkBytes, m.chunk_size(i)));
    }
    return absl::OkStatus();
  });
  HAWSER_CHECK(hashed.ok());
  return manifest;
}

DatasetPage PageOf(std::vector<DatasetInfo> all, const DatasetQuery& query,
                   int most) {
  const auto unwanted = [&](const DatasetInfo& info) {
    return info.token <= query.after ||
           !absl::StartsWith(info.token, query.prefix);
  };
  all.erase(std::remove_if(all.begin(), all.end(), unwanted), all.end());
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.token < b.token; });
  const int wanted = query.limit > 0 ? std::min(query.limit, most) : most;
  DatasetPage page{std::move(all), false};
  page.more = page.datasets.size() > static_cast<size_t>(wanted);
  if (page.more) page.datasets.resize(wanted);
  return page;
}

absl::StatusOr<RowBytes> FindRows(const Shape& shape, const RowRange& rows) {
  if (shape.rank() == 0) return InvalidArgument("a scalar has no rows");
  const int64_t extent = shape.dim(0);
  if (rows.begin < 0 || rows.count < 0 || rows.begin > extent ||
      rows.count > extent - rows.begin) {
    return InvalidArgument("rows ", rows.begin, " and up, ", rows.count,
                           " of them, of ", shape.ToString());
  }
  Dims dims = shape.dims();
  dims[0] = rows.count;
  HAWSER_ASSIGN_OR_RETURN(Shape part, Shape::Make(shape.dtype(), dims));
  const int64_t row = extent == 0 ? 0 : shape.byte_size() / extent;
  return RowBytes{std::move(part), rows.begin * row,
                  (rows.begin + rows.count) * row};
}

absl::StatusOr<Literal> SliceRows(const Literal& value, const RowRange& rows) {
  HAWSER_ASSIGN_OR_RETURN(const RowBytes part, FindRows(value.shape(), rows));
  auto owner = std::make_shared<const Literal>(value);
  const char* at = owner->bytes().data() + part.begin;
  return Literal::Adopt(part.shape,
                        std::shared_ptr<const char>(std::move(owner), at));
}

std::string DescribeArray(absl::string_view token, absl::string_view array) {
  return absl::StrCat("dataset ", token, ", array \"", array, "\"");
}

absl::Status CheckRoom(const DatasetPart& part, const Shape& shape,
                       size_t bytes) {
  if (static_cast<int64_t>(bytes) == shape.byte_size()) return absl::OkStatus();
  return InvalidArgument(DescribeArray(part.token, part.array), ": ",
                         shape.ToString(), " takes ", shape.byte_size(),
                         " bytes, there is room for ", bytes);
}

DatasetInfo InfoOf(const DatasetManifest& manifest) {
  DatasetInfo info;
  info.token = TokenOf(manifest);
  for (const ArrayManifest& array : manifest.arrays) {
    info.arrays.push_back({array.name, array.shape});
    info.bytes += array.shape.byte_size();
  }
  return info;
}

}  // namespace hawser
