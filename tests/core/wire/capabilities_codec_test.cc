#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

TEST(CapabilitiesCodec, EverythingComesBack) {
  runtime::Capabilities c;
  c.opset = 7;
  c.dtypes = kFloats | kBoolOnly;
  c.limits = {.bytes = 1,
              .instructions = 2,
              .computations = 3,
              .operands = 4,
              .nesting = 5,
              .elements = 6,
              .constant_bytes = 7};
  c.platform = "emu";
  c.device = "a device";
  c.engine_id = "an engine";
  c.memory_bytes = int64_t{1} << 40;
  c.ops = {"add", "negate"};
  const runtime::Capabilities back = FromProto(ToProto(c));
  EXPECT_EQ(back.opset, 7);
  EXPECT_EQ(back.dtypes, c.dtypes);
  EXPECT_EQ(back.limits.bytes, 1);
  EXPECT_EQ(back.limits.instructions, 2);
  EXPECT_EQ(back.limits.computations, 3);
  EXPECT_EQ(back.limits.operands, 4);
  EXPECT_EQ(back.limits.nesting, 5);
  EXPECT_EQ(back.limits.elements, 6);
  EXPECT_EQ(back.limits.constant_bytes, 7);
  EXPECT_EQ(back.platform, "emu");
  EXPECT_EQ(back.device, "a device");
  EXPECT_EQ(back.engine_id, "an engine");
  EXPECT_EQ(back.memory_bytes, int64_t{1} << 40);
  EXPECT_EQ(back.ops, c.ops);
}

TEST(CapabilitiesCodec, IgnoresDTypesOfALaterVersion) {
  v1::CapabilitiesProto proto;
  for (const uint32_t number : {0u, 14u, 18u, 22u, 50u, 274u, 0xFFFFFFFFu}) {
    proto.add_dtypes(number);
  }
  EXPECT_EQ(FromProto(proto).dtypes, DTypeSet::Of(DType::kF32));
}

TEST(CapabilitiesCodec, AbsentLimitsAreTheDefaultsAndWildOnesAreCut) {
  v1::CapabilitiesProto proto;
  EXPECT_EQ(FromProto(proto).limits.nesting, ModuleLimits().nesting);
  EXPECT_EQ(FromProto(proto).limits.bytes, ModuleLimits().bytes);
  proto.set_opset(0xFFFFFFFFu);
  proto.mutable_limits()->set_nesting(int64_t{1} << 40);
  EXPECT_EQ(FromProto(proto).opset, INT32_MAX);
  EXPECT_EQ(FromProto(proto).limits.nesting, INT32_MAX);
  proto.mutable_limits()->set_nesting(-5);
  EXPECT_EQ(FromProto(proto).limits.nesting, 0);
}

TEST(CompileOptionsCodec, ComeBackOrAreUnknown) {
  for (const auto numerics :
       {runtime::Numerics::kFast, runtime::Numerics::kStrict,
        runtime::Numerics::kTf32}) {
    ASSERT_OK_AND_ASSIGN(const runtime::CompileOptions back,
                         FromProto(ToProto(runtime::CompileOptions{numerics})));
    EXPECT_EQ(back.numerics, numerics);
  }
  v1::CompileOptionsProto proto;
  proto.set_numerics(3);
  EXPECT_THAT(FromProto(proto), StatusIs(absl::StatusCode::kUnimplemented,
                                         "numerics 3 is not known"));
  proto.set_numerics(256);
  EXPECT_THAT(FromProto(proto),
              StatusIs(absl::StatusCode::kUnimplemented, "numerics 256"));
}

}  // namespace
}  // namespace hawser
