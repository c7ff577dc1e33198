#include "client/formats/numpy/npz.h"

#include <string>

#include "absl/strings/escaping.h"
#include "client/formats/numpy/npy_header.h"
#include "client/formats/zip/zip.h"
#include "gtest/gtest.h"
#include "tests/client/formats/numpy/numpy_archives.h"
#include "tests/client/formats/zip_writer.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

absl::StatusOr<NamedArrays> NpzOf(const std::string& bytes) {
  return ParseNpz(FileBytes::Of(bytes));
}

std::string Npy(const Literal& value) {
  return *NpyHeaderOf(value.shape()) +
         std::string(value.bytes().begin(), value.bytes().end());
}

const Literal& X() {
  static const Literal x = Literal::Of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  return x;
}
const Literal& Y() {
  static const Literal y = Literal::Vector<uint8_t>({7, 8});
  return y;
}

void ExpectXAndY(const absl::StatusOr<NamedArrays>& got) {
  ASSERT_OK(got);
  ASSERT_EQ(got->size(), 2u);
  EXPECT_EQ((*got)[0].name, "x");
  EXPECT_THAT((*got)[0].value, LiteralBitEquals(X()));
  EXPECT_EQ((*got)[1].name, "y");
  EXPECT_THAT((*got)[1].value, LiteralBitEquals(Y()));
}

std::string XAndY(bool deflated, const ZipOptions& options = {}) {
  return MakeZip({{"x.npy", Npy(X()), deflated}, {"y.npy", Npy(Y()), deflated}},
                 options);
}

// ---- good ones ------------------------------------------------------------

TEST(Npz, ReadsWhatNumpyWrote) {
  for (const NumpyArchive& archive : kNumpyArchives) {
    SCOPED_TRACE(archive.name);
    ExpectXAndY(NpzOf(absl::HexStringToBytes(archive.file)));
  }
}

TEST(Npz, StoredDeflatedAndZip64) {
  for (const bool deflated : {false, true}) {
    for (const bool zip64 : {false, true}) {
      for (const char* comment : {"", "made by hand"}) {
        ExpectXAndY(NpzOf(XAndY(deflated, {zip64, comment})));
      }
    }
  }
}

TEST(Npz, AStoredMemberIsMappedWhereItLiesWell) {
  // 30 bytes of local header and a name of 34 keep the alignment of 64.
  const std::string name(30, 'n');
  const std::string bytes = MakeZip({{name + ".npy", Npy(X())}});
  const FileBytes file = FileBytes::Of(bytes);
  ASSERT_OK_AND_ASSIGN(const NamedArrays arrays, ParseNpz(file));
  EXPECT_EQ(arrays[0].value.bytes().data(), file.data.get() + 64 + 128);
}

TEST(Npz, AnArrayOfSizeZeroAndAScalar) {
  const Literal empty = Literal::Of<double>({}, {0, 3});
  const Literal scalar = Literal::Scalar<int16_t>(-5);
  ASSERT_OK_AND_ASSIGN(
      const NamedArrays arrays,
      NpzOf(MakeZip({{"a/b.npy", Npy(empty), true}, {"s.npy", Npy(scalar)}})));
  EXPECT_EQ(arrays[0].name, "a/b");
  EXPECT_THAT(arrays[0].value, LiteralBitEquals(empty));
  EXPECT_THAT(arrays[1].value, LiteralBitEquals(scalar));
}

// ---- hostile ones ---------------------------------------------------------

TEST(Npz, RefusesEveryCut) {
  for (const bool zip64 : {false, true}) {
    const std::string bytes = XAndY(true, {zip64});
    for (size_t n = 0; n < bytes.size(); ++n) {
      EXPECT_THAT(NpzOf(bytes.substr(0, n)),
                  StatusIs(StatusCode::kInvalidArgument, ""))
          << "cut to " << n;
    }
    EXPECT_THAT(NpzOf(bytes + "x"), StatusIs(StatusCode::kInvalidArgument, ""));
  }
}

// A changed byte gives an error or, in a time or a version, the same arrays.
TEST(Npz, NoChangedByteChangesAnArrayUnnoticed) {
  for (const bool deflated : {false, true}) {
    const std::string bytes = XAndY(deflated, {.zip64 = !deflated});
    for (size_t n = 0; n < bytes.size(); ++n) {
      std::string changed = bytes;
      changed[n] = static_cast<char>(changed[n] ^ 0x55);
      const auto got = NpzOf(changed);
      if (got.ok()) {
        ExpectXAndY(got);
      } else {
        EXPECT_EQ(got.status().code(), StatusCode::kInvalidArgument) << n;
      }
    }
  }
}

struct BadArchive {
  const char* name;
  std::string bytes;
  const char* error;
};

const std::string& YFile() {
  static const std::string bytes = Npy(Y());
  return bytes;
}

std::vector<BadArchive> BadArchives() {
  return {
      {"NoMembers", MakeZip({}), "holds no arrays"},
      {"NoNpy", MakeZip({{"readme.txt", "hello"}}),
       "member \"readme.txt\" is no npy file"},
      {"Folder", MakeZip({{"a/", ""}}), "member \"a/\" is no npy file"},
      {"BadNpy", MakeZip({{"y.npy", "no array", true}}),
       "member \"y.npy\": magic"},
      {"Twice", MakeZip({{"y.npy", YFile()}, {"y.npy", YFile()}}),
       "two members are called \"y.npy\""},
      {"Absolute", MakeZip({{"/y.npy", YFile()}}), "has no relative path"},
      {"Upwards", MakeZip({{"a/../../y.npy", YFile()}}),
       "has no relative path"},
      {"Backslash", MakeZip({{"c:\\y.npy", YFile()}}), "has no relative path"},
      {"NoName", MakeZip({{"", YFile()}}), "has no relative path"},
      {"Control", MakeZip({{std::string("a\0.npy", 6), YFile()}}),
       "\"a\\x00.npy\" has no relative path"},
      {"Crc", MakeZip({{.name = "y.npy", .data = YFile(), .crc = 5}}),
       "the directory says 00000005"},
      {"CrcDeflated",
       MakeZip(
           {{.name = "y.npy", .data = YFile(), .deflated = true, .crc = 5}}),
       "the directory says 00000005"},
      {"Encrypted", MakeZip({{.name = "y.npy", .data = YFile(), .flags = 1}}),
       "is encrypted"},
      {"Method", MakeZip({{.name = "y.npy", .data = YFile(), .method = 12}}),
       "is packed by method 12"},
      {"StoredSize",
       MakeZip({{.name = "y.npy", .data = YFile(), .size = 1000}}),
       "cannot hold 1000"},
      {"TooSmall",
       MakeZip(
           {{.name = "y.npy", .data = YFile(), .deflated = true, .size = 100}}),
       "member \"y.npy\": goes on after"},
      {"TooLarge",
       MakeZip(
           {{.name = "y.npy", .data = YFile(), .deflated = true, .size = 900}}),
       "needs 770 more"},
      {"Bomb",
       MakeZip({{.name = "y.npy",
                 .data = YFile(),
                 .deflated = true,
                 .size = uint64_t{1} << 60}},
               {.zip64 = true}),
       "cannot hold 1152921504606846976"},
      {"PackedBeyond",
       MakeZip({{.name = "y.npy",
                 .data = YFile(),
                 .size = 1u << 20,
                 .packed = 1u << 20}}),
       "of 1048576 packed bytes is not at 0"},
      {"PackedOverflow",
       MakeZip({{.name = "y.npy",
                 .data = YFile(),
                 .size = ~uint64_t{0},
                 .packed = ~uint64_t{0}}},
               {.zip64 = true}),
       "packed bytes is not at 0"},
      {"LocalBeyond",
       MakeZip({{.name = "y.npy", .data = YFile(), .local = 1u << 30}}),
       "begins at 1073741824, behind all members"},
      {"LocalElsewhere",
       MakeZip({{.name = "y.npy", .data = YFile(), .local = 3}}),
       "is not at 3"},
      {"OtherName",
       MakeZip({{.name = "y.npy", .data = YFile(), .local_name = "z.npy"}}),
       "is not at 0"},
      {"MoreMembers", MakeZip({{"y.npy", YFile()}}, {.members = 2}),
       "has 1 members, its end says 2"},
      {"DirectoryBeyond", MakeZip({{"y.npy", YFile()}}, {.offset = 1u << 30}),
       "does not end at"},
      {"DirectorySize", MakeZip({{"y.npy", YFile()}}, {.size = 7}),
       "does not end at"},
      {"NoEnd", std::string("PK\3\4") + std::string(100, '\0'),
       "no end of a zip directory"},
  };
}

TEST(Npz, NamesWhatIsWrong) {
  for (const BadArchive& bad : BadArchives()) {
    EXPECT_THAT(NpzOf(bad.bytes),
                StatusIs(StatusCode::kInvalidArgument, bad.error))
        << bad.name;
  }
}

// The quadratic bomb: many names for one packed member.
TEST(Npz, MembersShareNoBytes) {
  const std::string inner = Npy(Y());
  ZipWriter writer({});
  writer.Add({"x.npy", inner, true});
  writer.Add({.name = "x2.npy",
              .data = inner,
              .deflated = true,
              .local = 0,
              .local_name = "x.npy"});
  EXPECT_THAT(NpzOf(writer.Finish()),
              StatusIs(StatusCode::kInvalidArgument, ""));
  // A member whose data is another whole member.
  const std::string whole = MakeZip({{"y.npy", inner}});
  const std::string local = whole.substr(0, 30 + 5 + inner.size());
  EXPECT_THAT(
      NpzOf(MakeZip({{"outer.npy", local},
                     {.name = "y.npy", .data = inner, .local = 30 + 9}})),
      StatusIs(StatusCode::kInvalidArgument, "two members share bytes"));
}

TEST(Npz, BombsCostNoMoreThanTheyClaim) {
  // 16 MiB of zeros in 16 KiB, of which the directory claims 200 bytes.
  EXPECT_THAT(NpzOf(MakeZip({{.name = "y.npy",
                              .data = std::string(16 << 20, '\0'),
                              .deflated = true,
                              .size = 200}})),
              StatusIs(StatusCode::kInvalidArgument, "goes on after"));
}

TEST(Npz, MalformedExtraFields) {
  const std::string zip64 = MakeZip({{"y.npy", Npy(Y())}}, {.zip64 = true});
  const size_t extra = zip64.find(Little(1, 2) + Little(24, 2));
  ASSERT_NE(extra, std::string::npos);
  for (const uint64_t length : {0, 8, 23, 25, 65535}) {
    std::string changed = zip64;
    changed.replace(extra + 2, 2, Little(length, 2));
    EXPECT_THAT(NpzOf(changed),
                StatusIs(StatusCode::kInvalidArgument, "malformed extra field"))
        << length;
  }
}

}  // namespace
}  // namespace hawser
