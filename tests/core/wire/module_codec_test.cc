// decode(encode(m)) is m, and the bytes are always the same.
#include <set>
#include <string>

#include "core/base/values/dtype.h"
#include "core/ir/builder.h"
#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/registry.h"
#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "proto/graph.pb.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_module.h"
#include "tests/testing/sample_modules.h"

namespace hawser {
namespace {

// The text shows everything but the payload of a NaN, which the bytes show.
void ExpectComesBack(const Module& module) {
  const std::string bytes = EncodeModule(module);
  ASSERT_OK_AND_ASSIGN(const Module back, DecodeModule(bytes));
  EXPECT_EQ(Print(back), Print(module));
  EXPECT_EQ(EncodeModule(back), bytes);
  EXPECT_OK(Verify(back));
}

TEST(ModuleCodec, SamplesComeBack) {
  for (const NamedModule& sample : SampleModules()) {
    SCOPED_TRACE(sample.name);
    ExpectComesBack(sample.module);
  }
}

TEST(ModuleCodec, RandomModulesComeBack) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    ExpectComesBack(RandomModule(seed));
  }
}

TEST(ModuleCodec, BytesDoNotDependOnTheObject) {
  EXPECT_EQ(EncodeModule(RegionsModule()), EncodeModule(RegionsModule()));
  const Module copy = RegionsModule();
  const Module copy_of_copy = copy;
  EXPECT_EQ(EncodeModule(copy_of_copy), EncodeModule(copy));
}

// Pinned so that a change of the form is noticed: fingerprints, caches and
// stored modules depend on it.
TEST(ModuleCodec, BytesArePinned) {
  EXPECT_EQ(Sha256(EncodeModule(SmallModule())).ToHex(),
            "662f843282367714647c98087ca9f0348e594b587ccea28d1d2776e3a2d73267");
}

TEST(ModuleCodec, TablesAreInOrderOfFirstUse) {
  v1::ModuleProto proto;
  ASSERT_TRUE(proto.ParseFromString(EncodeModule(SmallModule())));
  ASSERT_GE(proto.strings_size(), 4);
  EXPECT_EQ(proto.strings(0), "parameter");
  EXPECT_EQ(proto.strings(1), "dims");
  EXPECT_EQ(proto.strings(2), "dtype");
  EXPECT_EQ(proto.strings(3), "add");
  EXPECT_EQ(proto.op(0), 0u);
  EXPECT_EQ(proto.result_shape(0), 0u);
  EXPECT_EQ(
      std::set<std::string>(proto.strings().begin(), proto.strings().end())
          .size(),
      static_cast<size_t>(proto.strings_size()));
}

TEST(ModuleCodec, AttributeNamesOutliveTheBytes) {
  std::string bytes = EncodeModule(AttributesModule());
  ASSERT_OK_AND_ASSIGN(const Module back, DecodeModule(bytes));
  bytes.assign(bytes.size(), '\xEE');
  EXPECT_EQ(Print(back), Print(AttributesModule()));
}

TEST(ModuleCodec, AnyNumberOfOperands) {
  Module m("wide");
  ComputationBuilder b(&m, "main");
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {1}));
  const std::vector<ValueId> operands(5000, x);
  const ValueId y =
      b.Add(*FindOp("concatenate"), operands, {{"dimension", int64_t{0}}});
  ASSERT_OK(b.Finish({y}));
  ExpectComesBack(m);
}

// Writers may leave a packed column unpacked, split it, or say a name twice.
TEST(ModuleCodec, AcceptsEveryFormOfTheSameMessage) {
  const std::string bytes = EncodeModule(SmallModule());
  v1::ModuleProto proto;
  ASSERT_TRUE(proto.ParseFromString(bytes));
  const auto* reflection = proto.GetReflection();
  const auto* results = proto.GetDescriptor()->FindFieldByName("results");
  std::string loose;
  for (const uint32_t r : proto.results()) {
    loose.push_back(static_cast<char>(results->number() << 3));
    loose.push_back(static_cast<char>(r));
  }
  reflection->ClearField(&proto, results);
  proto.set_name("another");
  v1::ModuleProto name;
  name.set_name("small");
  ASSERT_OK_AND_ASSIGN(const Module back,
                       DecodeModule(proto.SerializeAsString() + loose +
                                    name.SerializeAsString()));
  EXPECT_EQ(EncodeModule(back), bytes);
}

TEST(ModuleCodec, SkipsFieldsOfALaterVersion) {
  const std::string bytes = EncodeModule(SmallModule());
  const std::string later(
      "\xC0\x3E\x96\x01"  // 1000: varint 150
      "\xC5\x3E"
      "abcd"  // 1000: fixed32
      "\xC1\x3E"
      "abcdefgh"  // 1000: fixed64
      "\xC2\x3E\x03xyz",
      4 + 6 + 10 + 6);
  ASSERT_OK_AND_ASSIGN(const Module back, DecodeModule(bytes + later));
  EXPECT_EQ(EncodeModule(back), bytes);
}

TEST(Fingerprint, IsPinned) {
  EXPECT_EQ(Fingerprint("module", {}).ToHex(),
            "a900aa5b544788d4aa32a3d19b0d5cc1f2a34765fe8fcfdb9edd0d1ff29ad8ec");
  EXPECT_EQ(Fingerprint("module", {runtime::Numerics::kStrict}).ToHex(),
            "3c61f770579c63f5fb44ce39d0095ef966b8745748450b6054edda13e723b383");
}

TEST(Fingerprint, DependsOnEveryByte) {
  const std::string bytes = EncodeModule(SmallModule());
  std::set<Digest> seen = {Fingerprint(bytes, {}), Fingerprint("", {})};
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string other = bytes;
    other[i] ^= 1;
    seen.insert(Fingerprint(other, {}));
  }
  EXPECT_EQ(seen.size(), bytes.size() + 2);
}

}  // namespace
}  // namespace hawser
