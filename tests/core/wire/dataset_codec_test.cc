#include <string>

#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/status_words.h"

namespace hawser {
namespace {

using absl::StatusCode;

// Two arrays: a of 4 MiB + 4 bytes, b empty.
DatasetManifest TwoArrays() {
  const Digest one = Sha256("one");
  return {.arrays = {
              {"a", Shape::Of(DType::kF32, {(1 << 20) + 1}), {one, Sha256("")}},
              {"b", Shape::Of(DType::kU8, {0, 7}), {}}}};
}

TEST(ManifestCodec, ComesBack) {
  const DatasetManifest manifest = TwoArrays();
  ASSERT_OK_AND_ASSIGN(const DatasetManifest back,
                       FromProto(ToProto(manifest)));
  ASSERT_EQ(back.arrays.size(), 2u);
  EXPECT_EQ(back.arrays[0].name, "a");
  EXPECT_EQ(back.arrays[0].shape, manifest.arrays[0].shape);
  EXPECT_EQ(back.arrays[0].chunks, manifest.arrays[0].chunks);
  EXPECT_EQ(TokenOf(back), TokenOf(manifest));
}

TEST(ManifestCodec, RefusesWhatIsNoManifest) {
  const struct {
    void (*damage)(v1::DatasetManifestProto& p);
    StatusCode code;
    const char* part;
  } rows[] = {
      {[](auto& p) { p.Clear(); }, kInvalid, "a dataset has no array"},
      {[](auto& p) { p.mutable_arrays(0)->mutable_chunks()->pop_back(); },
       kInvalid, "array \"a\" has 63 bytes of digests, no multiple of 32"},
      {[](auto& p) { p.mutable_arrays(0)->mutable_chunks()->resize(32); },
       kInvalid, "has 1 chunk digests, needs 2"},
      {[](auto& p) { p.mutable_arrays(1)->mutable_chunks()->resize(32); },
       kInvalid, "has 1 chunk digests, needs 0"},
      {[](auto& p) { p.mutable_arrays(0)->clear_shape(); }, kInvalid,
       "array \"a\": the dtype is missing"},
      {[](auto& p) { p.mutable_arrays(1)->mutable_shape()->set_dtype(99); },
       StatusCode::kUnimplemented, "array \"b\": dtype number 99"},
      {[](auto& p) { p.mutable_arrays()->SwapElements(0, 1); }, kInvalid,
       "not sorted"},
      {[](auto& p) { p.mutable_arrays(1)->set_name("a"); }, kInvalid,
       "two arrays are called \"a\""},
      {[](auto& p) { p.mutable_arrays(0)->set_name(""); }, kInvalid,
       "must name each"},
      {[](auto& p) { p.mutable_arrays(0)->set_name("\n"); }, kInvalid,
       "not printable"},
      {[](auto& p) {
         for (int i = 0; i < 1023; ++i) *p.add_arrays() = p.arrays(1);
       },
       StatusCode::kResourceExhausted, "has 1025 arrays, the limit is 1024"},
      {[](auto& p) {
         for (int i : {0, 1}) {
           p.mutable_arrays(i)->mutable_shape()->set_dtype(4);
           p.mutable_arrays(i)->mutable_shape()->clear_dims();
           p.mutable_arrays(i)->mutable_shape()->add_dims((int64_t{1} << 62) -
                                                          1);
         }
         p.mutable_arrays(0)->mutable_chunks()->clear();
       },
       kInvalid, "larger than 2^62 bytes"},
  };
  for (const auto& row : rows) {
    v1::DatasetManifestProto proto = ToProto(TwoArrays());
    row.damage(proto);
    EXPECT_THAT(FromProto(proto), StatusIs(row.code, row.part));
  }
}

TEST(DatasetInfoCodec, ComesBack) {
  DatasetInfo info = InfoOf(TwoArrays());
  info.durable = true;
  ASSERT_OK_AND_ASSIGN(const DatasetInfo back, FromProto(ToProto(info)));
  EXPECT_EQ(back.token, info.token);
  EXPECT_EQ(back.bytes, (int64_t{4} << 20) + 4);
  EXPECT_TRUE(back.durable);
  ASSERT_NE(back.Find("b"), nullptr);
  EXPECT_EQ(back.Find("b")->shape, Shape::Of(DType::kU8, {0, 7}));
  EXPECT_EQ(back.Find("c"), nullptr);
}

TEST(DatasetInfoCodec, RefusesWhatIsNoInfo) {
  const v1::DatasetInfoProto good = ToProto(InfoOf(TwoArrays()));
  v1::DatasetInfoProto proto = good;
  proto.set_token("hw1-nothing");
  EXPECT_THAT(FromProto(proto),
              StatusIs(kInvalid, "\"hw1-nothing\" is not a dataset token"));
  proto = good;
  proto.set_bytes(proto.bytes() + 1);
  EXPECT_THAT(FromProto(proto), StatusIs(kInvalid, "dataset claims"));
  proto = good;
  proto.mutable_arrays(0)->mutable_shape()->clear_dtype();
  EXPECT_THAT(FromProto(proto), StatusIs(kInvalid, "array \"a\""));
}

TEST(DatasetUsageCodec, EveryNumberComesBack) {
  const DatasetUsage usage{1, 2, 3, 4, 5, 6, 7, 8};
  const DatasetUsage back = FromProto(ToProto(usage));
  EXPECT_EQ(back.datasets, 1);
  EXPECT_EQ(back.bytes, 2);
  EXPECT_EQ(back.upload_bytes, 3);
  EXPECT_EQ(back.pinned_bytes, 4);
  EXPECT_EQ(back.max_datasets, 5);
  EXPECT_EQ(back.max_bytes, 6);
  EXPECT_EQ(back.bad_files, 7);
  EXPECT_EQ(back.lost_bytes, 8);
}

}  // namespace
}  // namespace hawser
