// Datasets: put once, found by token, used as arguments, on every target.
#include "core/runtime/datasets.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "core/base/values/dtype.h"
#include "gmock/gmock.h"
#include "tests/conformance/programs.h"
#include "tests/conformance/target.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;
using runtime::BufferPtr;

class DatasetsTest : public TargetTest {
 protected:
  // An empty array, a scalar, one chunk, and two and a bit.
  const DatasetSource source_ = {
      {{"empty", RandomBits(Shape::Of(DType::kF32, {0, 3}), 1)},
       {"scalar", RandomBits(Shape::Scalar(DType::kC64), 2)},
       {"small", RandomBits(Shape::Of(DType::kS64, {5, 7}), 3)},
       {"large", RandomBits(Shape::Of(DType::kU8, {2 * kChunkBytes + 9}), 4)}}};
};

TEST_P(DatasetsTest, PutFindAndFetch) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().datasets().Put(source_, Patient()));
  DatasetSource sorted = source_;
  ASSERT_OK(NormalizeSource(&sorted));
  EXPECT_EQ(put.token, TokenOf(ManifestOf(sorted, 1)));
  const auto other = target_->another();
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo found,
      other->datasets().Ask(StatDataset{put.token}, Patient()));
  EXPECT_EQ(found.token, put.token);
  EXPECT_EQ(found.bytes, put.bytes);
  EXPECT_EQ(found.arrays.size(), 4u);
  for (const DatasetSource::Array& array : source_.arrays) {
    ASSERT_NE(found.Find(array.name), nullptr) << array.name;
    EXPECT_EQ(found.Find(array.name)->shape, array.value.shape());
    ASSERT_OK_AND_ASSIGN(
        const BufferPtr there,
        other->datasets().Open({put.token, array.name}, Patient()));
    ASSERT_OK_AND_ASSIGN(const Literal back, Get(there));
    EXPECT_TRUE(back.BitEquals(array.value)) << array.name;
  }
}

TEST_P(DatasetsTest, ArraysAreArguments) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().datasets().Put(source_, Patient()));
  ASSERT_OK_AND_ASSIGN(
      const BufferPtr small,
      client().datasets().Open({put.token, "small"}, Patient()));
  const Shape shape = Shape::Of(DType::kS64, {5, 7});
  const auto negate = Compile(client(), NegateModule(shape));
  ASSERT_OK_AND_ASSIGN(const Literal once, Get(Execute(negate, {small})[1]));
  // Donated or not, the dataset stays what it is.
  const BufferPtr negated = Execute(negate, {small}, {.donated = {0}})[1];
  EXPECT_THAT(*Get(negated), LiteralBitEquals(once));
  ASSERT_OK_AND_ASSIGN(
      const BufferPtr again,
      client().datasets().Open({put.token, "small"}, Patient()));
  ASSERT_OK_AND_ASSIGN(const Literal twice,
                       Get(Execute(negate, {Execute(negate, {again})[1]})[1]));
  EXPECT_THAT(twice, LiteralBitEquals(*Get(again)));
}

TEST_P(DatasetsTest, TheSameBytesAreSentOnceAndHaveOneName) {
  const Literal value = source_.arrays[3].value;
  ASSERT_OK_AND_ASSIGN(const DatasetInfo first,
                       client().datasets().Put({{{"", value}}}, Patient()));
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo second,
      target_->another()->datasets().Put({{{"", value}}}, Patient()));
  EXPECT_EQ(second.token, first.token);
  EXPECT_EQ(second.sent_bytes, 0);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo named,
                       client().datasets().Put({{{"x", value}}}, Patient()));
  EXPECT_NE(named.token, first.token);
  EXPECT_EQ(named.sent_bytes, 0);
}

TEST_P(DatasetsTest, ALazyValueIsMadeForWhoeverLacksIt) {
  std::atomic<int> made{0};
  DatasetSource lazy = source_;
  for (DatasetSource::Array& array : lazy.arrays) {
    array.chunks = ManifestOf({{array}}, 1).arrays[0].chunks;
    const Literal value = std::exchange(array.value, Literal());
    array.lazy = LazyValue{value.shape(), [&made, value] {
                             ++made;
                             return value;
                           }};
  }
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().datasets().Put(lazy, Patient()));
  for (const DatasetSource::Array& array : source_.arrays) {
    ASSERT_OK_AND_ASSIGN(
        const BufferPtr there,
        client().datasets().Open({put.token, array.name}, Patient()));
    ASSERT_OK_AND_ASSIGN(const Literal back, Get(there));
    EXPECT_TRUE(back.BitEquals(array.value)) << array.name;
  }
  const int before = made;
  EXPECT_OK(client().datasets().Put(lazy, Patient()));
  EXPECT_EQ(made, before) << "all of it is there";
}

TEST_P(DatasetsTest, WhatIsNotThereIsNotFound) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().datasets().Put(source_, Patient()));
  EXPECT_THAT(client().datasets().Open({put.token, "medium"}, Patient()),
              StatusIs(StatusCode::kNotFound, "medium"));
  EXPECT_THAT(client().datasets().Open({put.token, ""}, Patient()),
              StatusIs(StatusCode::kNotFound, put.token));
  EXPECT_THAT(client().datasets().Ask(StatDataset{"hw1-short"}, Patient()),
              StatusIs(StatusCode::kInvalidArgument, "hw1-short"));
  EXPECT_THAT(client().datasets().Open({"", "x"}, Patient()),
              StatusIs(StatusCode::kInvalidArgument, ""));
}

TEST_P(DatasetsTest, AnUnknownTokenIsNotFoundOrAway) {
  const std::string unknown = TokenOf(Digest());
  // Without its server a fallback cannot know what that had.
  const bool away = target_->server != nullptr && !target_->server->alive();
  const auto array = client().datasets().Open({unknown, "x"}, Patient());
  EXPECT_THAT(array,
              StatusIs(away ? StatusCode::kUnavailable : StatusCode::kNotFound,
                       unknown));
  const auto info = client().datasets().Ask(StatDataset{unknown}, Patient());
  EXPECT_THAT(info, StatusIs(StatusCode::kNotFound, unknown));
}

TEST_P(DatasetsTest, BadNamesAreRefused) {
  const Literal x = Full(1, 2);
  const std::vector<DatasetSource> sources = {
      {},
      {{{"x", x}, {"x", x}}},
      {{{"", x}, {"x", x}}},
      {{{"line\nbreak", x}}},
      {{{std::string(256, 'n'), x}}},
      {{{"none", Literal()}}},
  };
  for (size_t i = 0; i < sources.size(); ++i) {
    EXPECT_THAT(client().datasets().Put(sources[i], Patient()),
                StatusIs(StatusCode::kInvalidArgument, ""))
        << i;
  }
}

TEST_P(DatasetsTest, RowsAreArguments) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().datasets().Put(source_, Patient()));
  const auto negate =
      Compile(client(), NegateModule(Shape::Of(DType::kS64, {2, 7})));
  const Literal small = source_.arrays[2].value;
  for (const int64_t begin : {0, 1, 3}) {  // one program for all of them
    ASSERT_OK_AND_ASSIGN(
        const BufferPtr rows,
        client().datasets().Open({put.token, "small", RowRange{begin, 2}},
                                 Patient()));
    ASSERT_OK_AND_ASSIGN(const Literal want, SliceRows(small, {begin, 2}));
    EXPECT_THAT(*Get(rows), LiteralBitEquals(want));
    EXPECT_THAT(*Get(Execute(negate, {rows}, {.donated = {0}})[0]),
                LiteralBitEquals(want));
    ASSERT_OK_AND_ASSIGN(const auto called,
                         negate->Call({rows}, Patient()).Await());
    EXPECT_THAT(called.values[0], LiteralBitEquals(want));
  }
  const RowRange kLarge[] = {{0, 0},
                             {kChunkBytes - 3, 6},
                             {kChunkBytes, kChunkBytes},
                             {2 * kChunkBytes + 9, 0},
                             {5, 2 * kChunkBytes}};
  for (const RowRange& range : kLarge) {
    ASSERT_OK_AND_ASSIGN(
        const BufferPtr rows,
        client().datasets().Open({put.token, "large", range}, Patient()));
    EXPECT_THAT(*Get(rows),
                LiteralBitEquals(*SliceRows(source_.arrays[3].value, range)))
        << range.begin;
  }
}

TEST_P(DatasetsTest, RowsThatAreNotThereAreRefused) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().datasets().Put(source_, Patient()));
  const struct {
    const char* array;
    RowRange rows;
    const char* part;
  } refused[] = {{"small", {-1, 2}, "rows -1 and up, 2 of them, of s64[5,7]"},
                 {"small", {0, -1}, "rows 0 and up, -1 of them"},
                 {"small", {4, 2}, "rows 4 and up, 2 of them"},
                 {"small", {6, 0}, "rows 6 and up"},
                 {"small", {5, INT64_MAX}, "rows 5 and up"},
                 {"empty", {0, 1}, "of f32[0,3]"},
                 {"scalar", {0, 1}, "a scalar has no rows"}};
  for (const auto& row : refused) {
    const auto rows =
        client().datasets().Open({put.token, row.array, row.rows}, Patient());
    EXPECT_THAT(rows, StatusIs(StatusCode::kInvalidArgument, row.part));
    EXPECT_THAT(rows, StatusIs(StatusCode::kInvalidArgument, put.token));
  }
  EXPECT_THAT(client().datasets().Open({put.token, "medium", RowRange{0, 1}},
                                       Patient()),
              StatusIs(StatusCode::kNotFound, "medium"));
}

TEST_P(DatasetsTest, ArraysAndRowsAreFetchedIntoTheCallersMemory) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().datasets().Put(source_, Patient()));
  const auto expect = [&](const std::string& array,
                          const std::optional<RowRange>& rows,
                          const Literal& want) {
    std::string room(want.bytes().size(), '?');
    EXPECT_OK(client().datasets().FetchInto({put.token, array, rows},
                                            absl::MakeSpan(room), Patient()));
    EXPECT_TRUE(absl::MakeConstSpan(room) == want.bytes()) << array;
  };
  for (const DatasetSource::Array& array : source_.arrays) {
    expect(array.name, std::nullopt, array.value);
    if (array.shape().rank() == 0) continue;
    const int64_t rows = array.shape().dim(0);
    for (const RowRange& range : {RowRange{0, rows}, RowRange{rows, 0},
                                  RowRange{rows / 3, rows - rows / 3}}) {
      expect(array.name, range, *SliceRows(array.value, range));
    }
  }
}

TEST_P(DatasetsTest, MemoryThatDoesNotFitIsRefused) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().datasets().Put(source_, Patient()));
  std::string room(300, '?');
  const struct {
    const char* array;
    std::optional<RowRange> rows;
    size_t bytes;
    StatusCode code;
    const char* part;
  } refused[] = {
      {"small", {}, 279, StatusCode::kInvalidArgument,
       "array \"small\": s64[5,7] takes 280 bytes, there is room for 279"},
      {"small", {{1, 2}}, 113, StatusCode::kInvalidArgument,
       "s64[2,7] takes 112 bytes, there is room for 113"},
      {"empty", {}, 1, StatusCode::kInvalidArgument, "takes 0 bytes"},
      {"small", {{4, 2}}, 112, StatusCode::kInvalidArgument, "rows 4 and up"},
      {"scalar", {{0, 1}}, 8, StatusCode::kInvalidArgument, "has no rows"},
      {"medium", {}, 8, StatusCode::kNotFound, "medium"}};
  for (const auto& row : refused) {
    EXPECT_THAT(client().datasets().FetchInto(
                    {put.token, row.array, row.rows},
                    absl::MakeSpan(room).subspan(0, row.bytes), Patient()),
                StatusIs(row.code, row.part));
  }
  EXPECT_EQ(room, std::string(300, '?'));
}

TEST_P(DatasetsTest, ListAndDelete) {
  std::vector<std::string> tokens;
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK_AND_ASSIGN(
        const DatasetInfo put,
        client().datasets().Put({{{"", Full(i, 3)}}}, Patient()));
    tokens.push_back(put.token);
  }
  std::sort(tokens.begin(), tokens.end());
  const auto sdk = target_->sdk();
  ASSERT_OK_AND_ASSIGN(const auto all, sdk.List());
  ASSERT_EQ(all.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(all[i].token, tokens[i]);
  ASSERT_OK_AND_ASSIGN(const auto one, sdk.List(tokens[1]));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].bytes, 24);
  ASSERT_OK_AND_ASSIGN(
      const DatasetPage page,
      client().datasets().Ask(DatasetQuery{.after = tokens[0], .limit = 1},
                              Patient()));
  ASSERT_EQ(page.datasets.size(), 1u);
  EXPECT_EQ(page.datasets[0].token, tokens[1]);
  EXPECT_TRUE(page.more);

  ASSERT_OK(sdk.Delete(tokens[1]));
  EXPECT_THAT(client().datasets().Ask(StatDataset{tokens[1]}, Patient()),
              StatusIs(StatusCode::kNotFound, tokens[1]));
  ASSERT_OK_AND_ASSIGN(const auto rest, sdk.List());
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[1].token, tokens[2]);
  const bool away = target_->server != nullptr && !target_->server->alive();
  EXPECT_EQ(sdk.Delete(tokens[1]).code(),
            away ? StatusCode::kUnavailable : StatusCode::kNotFound);
  EXPECT_THAT(sdk.Delete("hw1-short"),
              StatusIs(StatusCode::kInvalidArgument, "hw1-short"));
}

TEST_P(DatasetsTest, AProgramKeepsTheDeletedDatasetItRunsOn) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().datasets().Put(source_, Patient()));
  ASSERT_OK_AND_ASSIGN(
      const BufferPtr small,
      client().datasets().Open({put.token, "small"}, Patient()));
  const auto negate =
      Compile(client(), NegateModule(Shape::Of(DType::kS64, {5, 7})));
  ASSERT_OK_AND_ASSIGN(const Literal before, Get(Execute(negate, {small})[1]));
  ASSERT_OK(client().datasets().Ask(DeleteDataset{put.token}, Patient()));
  EXPECT_THAT(*Get(Execute(negate, {small})[1]), LiteralBitEquals(before));
}

TEST_P(DatasetsTest, FrozenValuesAreWhatPutWouldMakeOfThem) {
  const Literal x = RandomBits(Shape::Of(DType::kS64, {700, 1000}), 5);
  const Shape shape = x.shape();  // 5.3 MiB: two chunks
  ASSERT_OK_AND_ASSIGN(const BufferPtr there, client().Upload(x, Patient()));
  const auto negate = Compile(client(), NegateModule(shape));
  const auto results = Execute(negate, {there});
  ASSERT_OK_AND_ASSIGN(const Literal negated, Get(results[1]));
  const Literal empty = RandomBits(Shape::Of(DType::kF32, {0, 3}), 1);
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo frozen,
      client().datasets().Freeze(
          {{"x", there}, {"negated", results[1]}, {"empty", empty}},
          Patient()));
  const DatasetSource source{
      {{"empty", empty}, {"negated", negated}, {"x", x}}};
  EXPECT_EQ(frozen.token, TokenOf(ManifestOf(source, 1)));
  EXPECT_EQ(frozen.bytes, 2 * shape.byte_size());
  ASSERT_OK_AND_ASSIGN(
      const BufferPtr array,
      client().datasets().Open({frozen.token, "negated"}, Patient()));
  EXPECT_THAT(*Get(array), LiteralBitEquals(negated));
  EXPECT_THAT(*Get(Execute(negate, {array})[1]), LiteralBitEquals(x));
  // All is there already.
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().datasets().Put(source, Patient()));
  EXPECT_EQ(put.token, frozen.token);
  EXPECT_EQ(put.sent_bytes, 0);
}

TEST_P(DatasetsTest, WhatCannotBeFrozenIsRefused) {
  const Literal x = Full(1, 2);
  ASSERT_OK_AND_ASSIGN(const BufferPtr own, client().Upload(x, Patient()));
  ASSERT_OK_AND_ASSIGN(const BufferPtr foreign,
                       cpu::MakeCpuClient({.threads = 1})->Upload(x, {}));
  EXPECT_THAT(client().datasets().Freeze({{"x", foreign}}, Patient()),
              StatusIs(StatusCode::kFailedPrecondition, "array \"x\""));
  EXPECT_THAT(client().datasets().Freeze({{"x", own}, {"x", own}}, Patient()),
              StatusIs(StatusCode::kInvalidArgument, "two arrays are called"));
  EXPECT_THAT(client().datasets().Freeze({{"x", own}, {"", own}}, Patient()),
              StatusIs(StatusCode::kInvalidArgument, "must name each"));
  EXPECT_THAT(client().datasets().Freeze({{"x", Literal()}}, Patient()),
              StatusIs(StatusCode::kInvalidArgument, "has no value"));
}

TEST_P(DatasetsTest, NamesAndPinsAreKeptWhereTheDatasetIs) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().datasets().Put(source_, Patient()));
  const DatasetTag tag{"@set/" + target_->where.substr(0, 3), put.token, {}};
  if (absl::StartsWith(target_->where, "cpu (fallback")) {
    // A name of what was put here waits for the server, like what it names.
    EXPECT_OK(client().datasets().Ask(tag, Patient()));
    const auto named =
        client().datasets().Ask(StatDataset{tag.name}, Patient());
    EXPECT_EQ(named->token, put.token);
    // The rest is kept by the server, which is away: not a thing to say yes to.
    EXPECT_THAT(client().datasets().Ask(PinDataset{put.token, absl::Hours(1)},
                                        Patient()),
                StatusIs(StatusCode::kUnavailable, ""));
    EXPECT_THAT(client().datasets().Ask(QueryUsage{}, Patient()),
                StatusIs(StatusCode::kUnavailable, ""));
    return;
  }
  ASSERT_OK(client().datasets().Ask(tag, Patient()));
  const auto other = target_->another();
  ASSERT_OK_AND_ASSIGN(DatasetInfo found,
                       other->datasets().Ask(StatDataset{tag.name}, Patient()));
  EXPECT_EQ(found.token, put.token);
  EXPECT_THAT(found.tags, ::testing::ElementsAre(tag.name));
  EXPECT_EQ(found.pinned_until, absl::InfinitePast());
  EXPECT_GT(found.last_used, absl::Now() - absl::Hours(1));

  ASSERT_OK_AND_ASSIGN(
      found,
      client().datasets().Ask(PinDataset{tag.name, absl::Hours(1)}, Patient()));
  EXPECT_GT(found.pinned_until, absl::Now() + absl::Minutes(59));
  EXPECT_LT(found.pinned_until, absl::Now() + absl::Minutes(61));
  ASSERT_OK_AND_ASSIGN(DatasetUsage usage,
                       client().datasets().Ask(QueryUsage{}, Patient()));
  EXPECT_GE(usage.datasets, 1);
  EXPECT_GE(usage.bytes, put.bytes);
  EXPECT_GE(usage.pinned_bytes, put.bytes);
  ASSERT_OK_AND_ASSIGN(
      found, client().datasets().Ask(
                 PinDataset{put.token, absl::InfiniteDuration()}, Patient()));
  EXPECT_EQ(found.pinned_until, absl::InfiniteFuture());
  ASSERT_OK_AND_ASSIGN(
      found, client().datasets().Ask(
                 PinDataset{put.token, absl::ZeroDuration()}, Patient()));
  EXPECT_EQ(found.pinned_until, absl::InfinitePast());

  EXPECT_THAT(
      client().datasets().Ask(DatasetTag{tag.name, put.token, ""}, Patient()),
      StatusIs(StatusCode::kAborted, put.token));
  EXPECT_THAT(
      client().datasets().Ask(DatasetTag{"no tag", put.token, {}}, Patient()),
      StatusIs(StatusCode::kInvalidArgument, "is no tag"));
  EXPECT_OK(
      client().datasets().Ask(DatasetTag{tag.name, "", put.token}, Patient()));
  EXPECT_THAT(client().datasets().Ask(StatDataset{tag.name}, Patient()),
              StatusIs(StatusCode::kNotFound, tag.name));
  EXPECT_THAT(client().datasets().Ask(
                  PinDataset{TokenOf(Digest()), absl::Hours(1)}, Patient()),
              StatusIs(StatusCode::kNotFound, TokenOf(Digest())));
}

INSTANTIATE_TEST_SUITE_P(
    All, DatasetsTest,
    ::testing::ValuesIn(TargetsThat(&TargetRow::has_datasets)), TargetName);

}  // namespace
}  // namespace hawser
