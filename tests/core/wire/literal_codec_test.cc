#include <string>
#include <utility>

#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {
namespace {

using absl::StatusCode;

TEST(ShapeCodec, ComesBack) {
  Random random(7);
  for (const DType dtype : AllDTypes()) {
    for (int i = 0; i < 20; ++i) {
      const Shape shape = Shape::Of(dtype, random.PickDims(kMaxRank, 1 << 20));
      ASSERT_OK_AND_ASSIGN(const Shape back, FromProto(ToProto(shape)));
      EXPECT_EQ(back, shape);
    }
  }
}

TEST(ShapeCodec, RefusesWhatIsNoShape) {
  v1::ShapeProto proto;
  EXPECT_THAT(FromProto(proto),
              StatusIs(StatusCode::kInvalidArgument, "the dtype is missing"));
  proto.set_dtype(255);
  EXPECT_THAT(FromProto(proto), StatusIs(StatusCode::kUnimplemented,
                                         "dtype number 255 is not in opset"));
  proto.set_dtype(256 + static_cast<uint32_t>(DType::kF32));
  EXPECT_THAT(FromProto(proto),
              StatusIs(StatusCode::kUnimplemented, "dtype number 274"));
  proto.set_dtype(static_cast<uint32_t>(DType::kU4));
  EXPECT_THAT(FromProto(proto),
              StatusIs(StatusCode::kUnimplemented, "dtype u4"));
  proto.set_dtype(static_cast<uint32_t>(DType::kF32));
  proto.add_dims(-1);
  EXPECT_THAT(FromProto(proto),
              StatusIs(StatusCode::kInvalidArgument, "negative size -1"));
  proto.set_dims(0, INT64_MAX);
  EXPECT_THAT(FromProto(proto),
              StatusIs(StatusCode::kInvalidArgument, "larger than 2^62"));
  proto.mutable_dims()->Resize(17, 1);
  EXPECT_THAT(FromProto(proto),
              StatusIs(StatusCode::kInvalidArgument, "rank 17"));
}

TEST(LiteralCodec, ComesBackCopiedOrMoved) {
  Random random(8);
  for (const DType dtype : AllDTypes()) {
    for (const Dims& dims : {Dims{}, Dims{0}, Dims{3}, Dims{5, 41}}) {
      const Literal literal = RandomLiteral(Shape::Of(dtype, dims), random);
      v1::LiteralProto proto;
      ToProto(literal, &proto);
      EXPECT_THAT(*FromProto(proto), LiteralBitEquals(literal));
      EXPECT_THAT(*FromProto(std::move(proto)), LiteralBitEquals(literal));
    }
  }
}

TEST(LiteralCodec, MovingDoesNotCopy) {
  v1::LiteralProto proto;
  ToProto(Literal::Zeros(Shape::Of(DType::kF32, {1000})), &proto);
  const char* const before = proto.data().data();
  ASSERT_OK_AND_ASSIGN(const Literal literal, FromProto(std::move(proto)));
  EXPECT_EQ(literal.bytes().data(), before);
}

// A float that straddled its alignment would trap or tear on some machines.
TEST(LiteralCodec, MovedBytesAreAligned) {
  for (const int64_t n : {0, 1, 2, 1000}) {
    v1::LiteralProto proto;
    ToProto(Literal::Zeros(Shape::Of(DType::kC128, {n})), &proto);
    ASSERT_OK_AND_ASSIGN(const Literal literal, FromProto(std::move(proto)));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(literal.bytes().data()) % 8, 0u);
  }
}

TEST(LiteralCodec, RefusesTheWrongSize) {
  v1::LiteralProto proto;
  ToProto(Literal::Vector<float>({1, 2, 3}), &proto);
  for (const size_t size : {0, 11, 13, 24}) {
    proto.set_data(std::string(size, 'x'));
    const std::string part = "f32[3] takes 12 bytes, got ";
    EXPECT_THAT(FromProto(proto), StatusIs(StatusCode::kInvalidArgument, part));
    EXPECT_THAT(FromProto(v1::LiteralProto(proto)),
                StatusIs(StatusCode::kInvalidArgument, part));
  }
}

TEST(LiteralCodec, RefusesWhatIsNoBool) {
  v1::LiteralProto proto;
  ToProto(Literal::Vector<bool>({true, false, true}), &proto);
  (*proto.mutable_data())[2] = '\x80';
  const char* const part = "element 2 of bool[3] is the byte 128";
  EXPECT_THAT(FromProto(proto), StatusIs(StatusCode::kInvalidArgument, part));
  EXPECT_THAT(FromProto(std::move(proto)),
              StatusIs(StatusCode::kInvalidArgument, part));
}

}  // namespace
}  // namespace hawser
