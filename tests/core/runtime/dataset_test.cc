#include "core/runtime/dataset.h"

#include <limits>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;
constexpr StatusCode kInvalid = StatusCode::kInvalidArgument;

// Byte i is i * 31 + i / 256, so that no two chunks are alike.
Literal Pattern(int64_t n) {
  Literal out = Literal::Uninitialized(Shape::Of(DType::kU8, {n}));
  auto to = out.mutable_data<uint8_t>();
  for (int64_t i = 0; i < n; ++i)
    to[i] = static_cast<uint8_t>(i * 31 + i / 256);
  return out;
}

DatasetSource Source(std::vector<DatasetSource::Array> arrays) {
  DatasetSource source{std::move(arrays)};
  EXPECT_OK(NormalizeSource(&source));
  return source;
}

std::string TokenOfArray(const Literal& value) {
  return TokenOf(ManifestOf(Source({{"", value}}), 2));
}

Literal OneToSix(const Dims& dims) {
  return Literal::Of<float>({1, 2, 3, 4, 5, 6}, dims);
}

// Tokens are names for ever: stored ones must open the same data after any
// change of this code. Computed with Python's hashlib, by the text in
// dataset.h.
TEST(DatasetToken, IsPinnedAtTheEdgesOfChunks) {
  const struct {
    int64_t bytes;
    const char* token;
  } rows[] = {
      {0, "hw1-gvwxz77lln62i3qeneba5xmi4hxg3rh72ezskudqsmu5benu77sq"},
      {1, "hw1-pz7vmgpkyckjvh4cfyszha57lnum45a2au7pjrdkukdwo46vke6q"},
      {kChunkBytes - 1,
       "hw1-65qui6dbiinn2xtjkuu5zjlv5heok3q2ya6kjywgdc566jsjaqmq"},
      {kChunkBytes, "hw1-qezdd7siiesx7klhpvdd5tpjrg5pjkdytr772ioa6de3qfcn347a"},
      {kChunkBytes + 1,
       "hw1-e3df7ejqvtcrhe6dabla4zpi44wlpqdvjcrngqcsnwaisu6kzo6a"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(TokenOfArray(Pattern(row.bytes)), row.token) << row.bytes;
  }
}

TEST(DatasetToken, IsPinnedForShapesAndComposites) {
  EXPECT_EQ(TokenOfArray(OneToSix({2, 3})),
            "hw1-jxkszzqfogkowjz3vwocqmqq3lx7fod2sfjzohxa26kpidgmalga");
  EXPECT_EQ(TokenOfArray(OneToSix({3, 2})),
            "hw1-w2bvdrrobwfuatfncg2ojqcvqgvgpqvkijlidgjs6rsxlroqt4da");
  EXPECT_EQ(TokenOfArray(Literal::Scalar<int64_t>(7)),
            "hw1-dqspxteahmurjcxh45hw4jxtbfjlihcps5gqrvxjqr3abiewiylq");
  const Literal y = Literal::Vector<int32_t>({7, -7});
  EXPECT_EQ(TokenOf(ManifestOf(Source({{"y", y}, {"x", OneToSix({2, 3})}}), 1)),
            "hw1-joqma2voglsqqsh6glgi6mmjzdqplq6hcxrthhy6fb2jrxnkoekq");
  EXPECT_EQ(TokenOf(ManifestOf(Source({{"x", OneToSix({2, 3})}}), 1)),
            "hw1-i66psxfbcvvwuy5oyqhislhudm4zeyqt37runbkehtfcbvexvvia");
}

TEST(DatasetToken, DependsOnEverythingThatMatters) {
  const Literal f = OneToSix({6});
  const std::set<std::string> tokens = {
      TokenOfArray(f),
      TokenOfArray(OneToSix({6, 1})),
      TokenOfArray(f.Reinterpret(Shape::Of(DType::kS32, {6}))),
      TokenOfArray(f.Reinterpret(Shape::Of(DType::kU32, {6}))),
      TokenOfArray(Literal::Of<float>({1, 2, 3, 4, 5, -6}, {6})),
      TokenOfArray(Literal::Zeros(Shape::Of(DType::kF32, {0}))),
      TokenOfArray(Literal::Zeros(Shape::Of(DType::kF32, {0, 6}))),
      TokenOf(ManifestOf(Source({{"a", f}}), 1)),
      TokenOf(ManifestOf(Source({{"b", f}}), 1)),
      TokenOf(ManifestOf(Source({{"a", f}, {"b", f}}), 1))};
  EXPECT_EQ(tokens.size(), 10u);
}

TEST(DatasetToken, ComesBackAsItsDigest) {
  const Digest id = Sha256("any");
  EXPECT_EQ(TokenOf(id).size(), 56u);
  EXPECT_EQ(*ParseToken(TokenOf(id)), id);
}

TEST(DatasetToken, RefusesWhatIsNoToken) {
  const std::string good = TokenOf(Sha256("any"));
  std::string upper = good;
  upper[10] = 'A';
  std::string spare_bits = good;  // the last character carries one bit
  spare_bits.back() = spare_bits.back() == 'b' ? 'c' : 'b';
  for (const std::string& text :
       {std::string(), std::string("hw1-"), good.substr(1), good + "a",
        good.substr(0, good.size() - 1), "hw2-" + good.substr(4), upper,
        spare_bits, good + std::string(1, '\0'), good.substr(4)}) {
    EXPECT_THAT(ParseToken(text), StatusIs(kInvalid, "is not a dataset token"))
        << text;
  }
  EXPECT_LT(ParseToken(std::string(1 << 20, 'a')).status().message().size(),
            200u);
}

TEST(ManifestOf, CutsIntoChunksOfFourMebibytes) {
  const struct {
    int64_t bytes, chunks, last;
  } rows[] = {{0, 0, 0},
              {1, 1, 1},
              {kChunkBytes - 1, 1, kChunkBytes - 1},
              {kChunkBytes, 1, kChunkBytes},
              {kChunkBytes + 1, 2, 1}};
  for (const auto& row : rows) {
    const Literal value = Pattern(row.bytes);
    const DatasetManifest m = ManifestOf(Source({{"", value}}), 1);
    const ArrayManifest& array = m.arrays[0];
    EXPECT_EQ(array.num_chunks(), row.chunks);
    ASSERT_EQ(static_cast<int64_t>(array.chunks.size()), row.chunks);
    EXPECT_OK(CheckManifest(m));
    if (row.chunks == 0) continue;
    EXPECT_EQ(array.chunk_size(row.chunks - 1), row.last);
    EXPECT_EQ(array.chunks.back(),
              Sha256(value.bytes().last(static_cast<size_t>(row.last))));
  }
}

TEST(ManifestOf, DoesNotDependOnTheNumberOfThreads) {
  const DatasetSource source = Source({{"a", Pattern(3 * kChunkBytes + 5)},
                                       {"b", Pattern(0)},
                                       {"c", Pattern(kChunkBytes)}});
  const std::string token = TokenOf(ManifestOf(source, 1));
  for (const int threads : {0, 2, 16}) {
    EXPECT_EQ(TokenOf(ManifestOf(source, threads)), token);
  }
}

TEST(DatasetInfo, CountsBytesAndFindsArrays) {
  const DatasetManifest m =
      ManifestOf(Source({{"y", Pattern(3)}, {"x", OneToSix({2, 3})}}), 1);
  const DatasetInfo info = InfoOf(m);
  EXPECT_EQ(info.token, TokenOf(m));
  EXPECT_EQ(info.bytes, 27);
  ASSERT_NE(info.Find("x"), nullptr);
  EXPECT_EQ(info.Find("x")->shape, Shape::Of(DType::kF32, {2, 3}));
  EXPECT_EQ(info.Find(""), nullptr);
}

TEST(NormalizeSource, SortsByName) {
  const DatasetSource source =
      Source({{"b", Pattern(1)}, {"a", Pattern(2)}, {"B", Pattern(3)}});
  EXPECT_EQ(source.arrays[0].name, "B");
  EXPECT_EQ(source.arrays[1].name, "a");
  EXPECT_EQ(source.arrays[2].name, "b");
}

TEST(DatasetSource, ALazyValueIsMadeWhenItIsWanted) {
  int made = 0;
  const Literal v = Pattern(5);
  DatasetSource::Array array{
      .name = "x",
      .chunks = {Sha256(v.bytes())},
      .lazy = LazyValue{v.shape(), [&]() -> absl::StatusOr<Literal> {
                          if (++made > 1) return NotFound("no more");
                          return v;
                        }}};
  EXPECT_EQ(array.shape(), v.shape());
  DatasetSource source{{array}};
  EXPECT_OK(NormalizeSource(&source));
  EXPECT_EQ(TokenOf(ManifestOf(source, 1)),
            TokenOf(ManifestOf(Source({{"x", v}}), 1)));
  EXPECT_EQ(made, 0);
  EXPECT_THAT(*array.Value(), LiteralBitEquals(v));
  EXPECT_THAT(array.Value(), StatusIs(absl::StatusCode::kNotFound, "no more"));
  array.lazy->make = [&] { return Pattern(6); };
  EXPECT_THAT(array.Value(), StatusIs(absl::StatusCode::kAborted,
                                      "array \"x\" is now u8[6], was u8[5]"));
}

TEST(NormalizeSource, RefusesWhatIsNoDataset) {
  const Literal v = Pattern(1);
  const Digest d = Sha256("chunk");
  const LazyValue lazy{Shape::Of(DType::kU8, {kChunkBytes + 1}),
                       [] { return Literal(); }};
  const struct {
    DatasetSource source;
    const char* part;
  } rows[] = {
      {{}, "a dataset has no array"},
      {{{{"a", v}, {"a", v}}}, "two arrays are called \"a\""},
      {{{{"", v}, {"a", v}}}, "a dataset of several arrays must name each"},
      {{{{"", v}, {"", v}}}, "must name each"},
      {{{{"a", v}, {"b", Literal()}}}, "array \"b\" has no value"},
      {{{{"a", v, {d}, lazy}}}, "array \"a\" has two values"},
      {{{{"a", {}, {d}, lazy}}}, "has 1 chunk digests, needs 2"},
      {{{{"a", {}, {}, lazy}}}, "to be made later, has 0 chunk digests"},
      {{{{"tab\t", v}}}, "not printable ASCII"},
      {{{{"\xC3\xA9", v}}}, "not printable ASCII"},
      {{{{std::string("a\0b", 3), v}}}, "not printable ASCII"},
      {{{{std::string(256, 'n'), v}}}, "has 256 bytes, the most is 255"},
  };
  for (const auto& row : rows) {
    DatasetSource source = row.source;
    EXPECT_THAT(NormalizeSource(&source), StatusIs(kInvalid, row.part));
  }
  DatasetSource longest{{{std::string(255, 'n'), v}}};
  EXPECT_OK(NormalizeSource(&longest));
}

TEST(CheckManifest, RefusesWhatIsNoManifest) {
  const Digest d = Sha256("chunk");
  const Shape u8 = Shape::Of(DType::kU8, {kChunkBytes + 1});
  const struct {
    DatasetManifest manifest;
    const char* part;
  } rows[] = {
      {{}, "a dataset has no array"},
      {{{{"b", u8, {d, d}}, {"a", u8, {d, d}}}}, "not sorted by name"},
      {{{{"a", u8, {d, d}}, {"a", u8, {d, d}}}}, "two arrays are called"},
      {{{{"", u8, {d, d}}, {"a", u8, {d, d}}}}, "must name each"},
      {{{{"a", u8, {d}}}}, "has 1 chunk digests, needs 2"},
      {{{{"a", u8, {d, d, d}}}}, "has 3 chunk digests, needs 2"},
      {{{{"a", Shape::Of(DType::kF64, {7, 0}), {d}}}},
       "array \"a\" of f64[7,0] has 1 chunk digests, needs 0"},
      {{{{"a\x7F", u8, {d, d}}}}, "not printable ASCII"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(CheckManifest(row.manifest), StatusIs(kInvalid, row.part));
  }
  EXPECT_OK(CheckManifest({{{"", u8, {d, d}}}}));
}

std::vector<DatasetInfo> InfosOf(std::vector<std::string> tokens) {
  std::vector<DatasetInfo> infos;
  for (std::string& token : tokens) infos.push_back({std::move(token)});
  return infos;
}

TEST(PageOf, GivesTokensInOrderBehindTheLastPage) {
  const struct {
    DatasetQuery query;
    int most;
    const char* tokens;
    bool more;
  } rows[] = {
      {{}, 9, "a ab b ba c ", false},
      {{}, 5, "a ab b ba c ", false},
      {{}, 4, "a ab b ba ", true},
      {{.limit = 2}, 9, "a ab ", true},
      {{.limit = 20}, 3, "a ab b ", true},
      {{.limit = -1}, 9, "a ab b ba c ", false},
      {{.after = "ab"}, 9, "b ba c ", false},
      {{.after = "aa", .limit = 1}, 9, "ab ", true},
      {{.after = "c"}, 9, "", false},
      {{.prefix = "b"}, 9, "b ba ", false},
      {{.prefix = "b", .after = "b"}, 9, "ba ", false},
      {{.prefix = "b", .limit = 1}, 9, "b ", true},
      {{.prefix = "x"}, 9, "", false},
  };
  for (const auto& row : rows) {
    const DatasetPage page =
        PageOf(InfosOf({"c", "a", "ba", "b", "ab"}), row.query, row.most);
    std::string tokens;
    for (const DatasetInfo& info : page.datasets) tokens += info.token + " ";
    EXPECT_EQ(tokens, row.tokens);
    EXPECT_EQ(page.more, row.more) << row.tokens;
  }
}

// Pages until none is left name everything once.
TEST(PageOf, PagesTogetherAreEverything) {
  for (int most = 1; most <= 6; ++most) {
    DatasetQuery query;
    std::string tokens;
    for (bool more = true; more;) {
      const DatasetPage page =
          PageOf(InfosOf({"e", "d", "c", "b", "a"}), query, most);
      for (const DatasetInfo& info : page.datasets) tokens += info.token;
      query.after = page.datasets.back().token;
      more = page.more;
    }
    EXPECT_EQ(tokens, "abcde") << most;
  }
}

TEST(SliceRows, GivesTheRowsOfAnyShape) {
  const Literal value = OneToSix({3, 2});
  EXPECT_THAT(*SliceRows(value, {1, 2}),
              LiteralEquals(Literal::Of<float>({3, 4, 5, 6}, {2, 2})));
  EXPECT_THAT(*SliceRows(value, {0, 3}), LiteralEquals(value));
  EXPECT_EQ(SliceRows(value, {3, 0})->shape(), Shape::Of(DType::kF32, {0, 2}));
  const Literal empty = Literal::Zeros(Shape::Of(DType::kF32, {0, 2}));
  EXPECT_THAT(*SliceRows(empty, {0, 0}), LiteralEquals(empty));
  const Literal thin = Literal::Zeros(Shape::Of(DType::kF32, {4, 0}));
  EXPECT_EQ(SliceRows(thin, {1, 2})->shape(), Shape::Of(DType::kF32, {2, 0}));
}

TEST(SliceRows, RefusesRowsThatAreNotThere) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  const RowRange rows[] = {{-1, 1}, {0, -1}, {0, 4}, {3, 1}, {4, 0},
                           {1, kLargest}, {kLargest, 1}};
  for (const RowRange& range : rows) {
    EXPECT_THAT(SliceRows(OneToSix({3, 2}), range),
                StatusIs(kInvalid, "of f32[3,2]"));
  }
  EXPECT_THAT(SliceRows(Literal::Scalar(1.0f), {0, 0}),
              StatusIs(kInvalid, "a scalar has no rows"));
  EXPECT_EQ(DescribeArray("hw1-x", "labels"),
            "dataset hw1-x, array \"labels\"");
}

// The largest array there may be: the number of chunks must not overflow.
TEST(ArrayManifest, CountsTheChunksOfTheLargestArray) {
  const ArrayManifest array{
      "", Shape::Of(DType::kU8, {(int64_t{1} << 62) - 1}), {}};
  EXPECT_EQ(array.num_chunks(), int64_t{1} << 40);
  EXPECT_EQ(array.chunk_size((int64_t{1} << 40) - 1), kChunkBytes - 1);
}

}  // namespace
}  // namespace hawser
