#include "client/digests/hashed_file.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "client/formats/numpy/npy.h"
#include "client/formats/numpy/npy_header.h"
#include "client/formats/safetensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/formats/zip_writer.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Whether a file is opened, by inotify.
class OpenWatch {
 public:
  explicit OpenWatch(const std::string& path)
      : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    EXPECT_GE(::inotify_add_watch(fd_, path.c_str(), IN_OPEN), 0) << path;
  }
  ~OpenWatch() { ::close(fd_); }
  OpenWatch(const OpenWatch&) = delete;
  OpenWatch& operator=(const OpenWatch&) = delete;

  // Since the last call.
  bool Opened() {
    bool opened = false;
    char events[4096];
    while (::read(fd_, events, sizeof(events)) > 0) opened = true;
    return opened;
  }

 private:
  const int fd_;
};

class HashedFileTest : public ::testing::Test {
 protected:
  absl::StatusOr<HashedFile> Read(const std::string& path,
                                  const ReadOptions& read = {}) {
    return ReadHashed(path, read, {&cache_, 2, [this] { return now_; }});
  }
  int64_t Hashed(const std::string& path, const ReadOptions& read = {}) {
    const auto file = Read(path, read);
    EXPECT_OK(file);
    return file.ok() ? file->new_bytes : -1;
  }

  TemporaryFolder folder_;
  DigestCache cache_{folder_.Path("cache")};
  // Files written now have not changed for a minute.
  absl::Time now_ = absl::Now() + absl::Minutes(1);
};

TEST_F(HashedFileTest, IsHashedOnce) {
  const Literal x = Literal::Of<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  const Literal y = Literal::Vector<uint8_t>({1, 2, 3});
  const std::string path = folder_.Path("xy");
  ASSERT_OK(WriteSafetensors(path, {{"x", x}, {"y", y}}));
  EXPECT_FALSE(IsRemembered(path, {}, &cache_));
  EXPECT_EQ(Hashed(path), 27);
  ASSERT_OK_AND_ASSIGN(const HashedFile again, Read(path));
  EXPECT_EQ(again.new_bytes, 0);
  ASSERT_EQ(again.arrays.size(), 2u);
  ASSERT_OK_AND_ASSIGN(const Literal first, again.arrays[0].Value());
  EXPECT_THAT(first, LiteralBitEquals(x));
  const DatasetSource plain{{{"x", x}, {"y", y}}};
  EXPECT_EQ(TokenOf(ManifestOf({again.arrays}, 1)),
            TokenOf(ManifestOf(plain, 1)));
  EXPECT_TRUE(IsRemembered(path, {}, &cache_));
}

// Parts of arrays and arrays together: the digests are those of the whole.
TEST_F(HashedFileTest, HashingReportsHowFarItIs) {
  std::vector<uint8_t> many(size_t{70} << 20);
  for (size_t i = 0; i < many.size(); ++i) many[i] = (i * 2654435761u) >> 24;
  const Literal x = Literal::Of<uint8_t>(
      many, {static_cast<int64_t>(many.size())});
  const Literal y = Literal::Vector<uint8_t>({1, 2, 3});
  const Literal none = Literal::Zeros(Shape::Of(DType::kF32, {0}));
  const std::string path = folder_.Path("xy");
  ASSERT_OK(WriteSafetensors(path, {{"none", none}, {"x", x}, {"y", y}}));
  const int64_t all = x.shape().byte_size() + 3;
  std::vector<int64_t> reported;
  HashOptions hash{&cache_, 2, [this] { return now_; }};
  hash.progress = [&](int64_t done, int64_t total) {
    EXPECT_EQ(total, all);
    reported.push_back(done);
  };
  ASSERT_OK_AND_ASSIGN(const HashedFile file, ReadHashed(path, {}, hash));
  EXPECT_THAT(reported, ElementsAre(int64_t{64} << 20, all));
  const DatasetSource plain{{{"none", none}, {"x", x}, {"y", y}}};
  EXPECT_EQ(TokenOf(ManifestOf({file.arrays}, 1)),
            TokenOf(ManifestOf(plain, 1)));
  reported.clear();
  ASSERT_OK(ReadHashed(path, {}, hash));
  EXPECT_THAT(reported, IsEmpty()) << "nothing is hashed";
}

// A put that read the 64 GiB of the file would not be back.
TEST_F(HashedFileTest, WhatIsRememberedIsNotRead) {
  const Shape shape = Shape::Of(DType::kF32, {int64_t{1} << 34});
  ASSERT_OK_AND_ASSIGN(const std::string header, NpyHeaderOf(shape));
  const std::string path = folder_.Write("sparse.npy", header);
  std::error_code error;
  std::filesystem::resize_file(path, header.size() + shape.byte_size(), error);
  if (error) GTEST_SKIP() << "no sparse files here: " << error.message();
  ArrayManifest array{"", shape, {}};
  array.chunks.resize(array.num_chunks(), Sha256("zeros"));
  ASSERT_OK_AND_ASSIGN(const FileVersion version, VersionOf(path));
  cache_.Remember({version, ReadingOf(path, {}), {array}});
  ASSERT_OK_AND_ASSIGN(const HashedFile file, Read(path));
  EXPECT_EQ(file.new_bytes, 0);
  EXPECT_EQ(file.arrays[0].chunks, array.chunks);
  EXPECT_EQ(file.arrays[0].shape(), shape);
}

// Its sender hashes it while it sends. A hashing here would not be back.
TEST_F(HashedFileTest, ALargeMappedFileThatIsFreshIsNotHashedHere) {
  const Shape shape = Shape::Of(DType::kF32, {int64_t{1} << 34});
  ASSERT_OK_AND_ASSIGN(const std::string header, NpyHeaderOf(shape));
  const std::string path = folder_.Write("sparse.npy", header);
  std::error_code error;
  std::filesystem::resize_file(path, header.size() + shape.byte_size(), error);
  if (error) GTEST_SKIP() << "no sparse files here: " << error.message();
  now_ = absl::Now();
  ASSERT_OK_AND_ASSIGN(const HashedFile file, Read(path));
  EXPECT_EQ(file.new_bytes, shape.byte_size());
  EXPECT_EQ(file.arrays[0].value.shape(), shape);
  EXPECT_TRUE(file.arrays[0].chunks.empty());
}

TEST_F(HashedFileTest, AChangedFileIsHashedAgain) {
  const std::string path = folder_.Path("x.npy");
  ASSERT_OK(WriteNpy(path, Literal::Vector<float>({1, 2})));
  EXPECT_EQ(Hashed(path), 8);
  EXPECT_EQ(Hashed(path), 0);
  // In place, of the same length, with the old mtime: the ctime tells.
  struct stat before;
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  absl::StatusOr<FileVersion> was = VersionOf(path);
  do {
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(-1, std::ios::end)
        .put('\x41');
    const timespec times[] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  } while (VersionOf(path)->changed_ns == was->changed_ns);
  EXPECT_EQ(VersionOf(path)->modified_ns, was->modified_ns);
  EXPECT_EQ(Hashed(path), 8);
  // Replaced by another file of the same length.
  ASSERT_OK(WriteNpy(path, Literal::Vector<float>({3, 4})));
  EXPECT_EQ(Hashed(path), 8);
  EXPECT_EQ(Hashed(path), 0);
}

TEST_F(HashedFileTest, AFreshFileIsNotRemembered) {
  const std::string path = folder_.Path("x.npy");
  ASSERT_OK(WriteNpy(path, Literal::Vector<float>({1, 2})));
  const absl::Time written = absl::FromUnixNanos(VersionOf(path)->changed_ns);
  for (const absl::Duration age :
       {absl::ZeroDuration(), absl::Milliseconds(1999), -absl::Hours(1)}) {
    now_ = written + age;
    ASSERT_OK_AND_ASSIGN(const HashedFile file, Read(path));
    EXPECT_EQ(file.new_bytes, 8);
    EXPECT_THAT(file.arrays[0].chunks, IsEmpty()) << "hashed for nothing";
    EXPECT_FALSE(IsRemembered(path, {}, &cache_)) << age;
  }
  now_ = written + absl::Seconds(2);
  EXPECT_EQ(Hashed(path), 8);
  EXPECT_EQ(Hashed(path), 0);
}

TEST_F(HashedFileTest, WhereNothingIsRememberedNothingIsHashed) {
  const std::string path = folder_.Path("x.npy");
  ASSERT_OK(WriteNpy(path, Literal::Vector<float>({1, 2})));
  DigestCache off("");
  ASSERT_OK_AND_ASSIGN(
      const HashedFile file,
      ReadHashed(path, {}, {&off, 1, [this] { return now_; }}));
  EXPECT_EQ(file.new_bytes, 8);
  EXPECT_THAT(file.arrays[0].chunks, IsEmpty());
}

// The clock is asked after the first look at the file and before its bytes.
TEST_F(HashedFileTest, AFileThatChangesMeanwhileIsNotRemembered) {
  const std::string path = folder_.Path("x.npy");
  ASSERT_OK(WriteNpy(path, Literal::Vector<float>({1, 2})));
  const auto change = [&] {
    EXPECT_OK(WriteNpy(path, Literal::Vector<float>({3, 4, 5})));
    return now_;
  };
  ASSERT_OK_AND_ASSIGN(const HashedFile file,
                       ReadHashed(path, {}, {&cache_, 1, change}));
  EXPECT_THAT(file.arrays[0].value,
              LiteralEquals(Literal::Vector<float>({3, 4, 5})));
  EXPECT_EQ(file.arrays[0].chunks[0], Sha256(file.arrays[0].value.bytes()));
  EXPECT_FALSE(IsRemembered(path, {}, &cache_));
  // Remembered before, changed after that was found.
  EXPECT_EQ(Hashed(path), 12);
  ASSERT_OK_AND_ASSIGN(
      const HashedFile other,
      ReadHashed(
          path, {},
          {&cache_, 1, [&] {
             EXPECT_OK(WriteNpy(path, Literal::Vector<float>({6, 7, 8})));
             return now_;
           }}));
  EXPECT_EQ(other.new_bytes, 12);
  EXPECT_EQ(other.arrays[0].chunks[0], Sha256(other.arrays[0].value.bytes()));
}

// A file of each format, as small as it gets.
struct FormatFile {
  std::string name;
  std::string bytes;
  ReadOptions read = {};
};
std::vector<FormatFile> FilesOfAllFormats() {
  const Literal x = Literal::Vector<float>({1, 2, 3});
  const std::string npy =
      *NpyHeaderOf(x.shape()) + std::string(x.bytes().data(), x.bytes().size());
  const std::string idx("\0\0\x08\x01\0\0\0\x03xyz", 11);
  const std::string tensors = R"({"x":{"dtype":"U8","shape":[4],)"
                              R"("data_offsets":[0,4]}})";
  ReadOptions csv, raw;
  csv.csv.dtypes = {DType::kF64};
  raw = {.format = ReadOptions::Format::kRaw,
         .raw = Shape::Of(DType::kU8, {5})};
  return {{"x.npy", npy},
          {"x.npz", MakeZip({{.name = "x.npy", .data = npy, .deflated = true},
                             {.name = "y.npy", .data = npy}})},
          {"x.safetensors", Little(tensors.size(), 8) + tensors + "abcd"},
          {"x-idx", idx},
          {"x-idx.gz", Deflated(idx, 31)},
          {"x.csv", "a,b\n1,2\n3,4\n", csv},
          {"x.raw", "abcde", raw}};
}

TEST_F(HashedFileTest, WhatIsRememberedIsNotOpenedWhateverItsFormat) {
  for (const auto& [name, bytes, read] : FilesOfAllFormats()) {
    SCOPED_TRACE(name);
    const std::string path = folder_.Write(name, bytes);
    OpenWatch watch(path);
    EXPECT_FALSE(IsRemembered(path, read, &cache_));
    ASSERT_OK_AND_ASSIGN(const HashedFile first, Read(path, read));
    EXPECT_TRUE(watch.Opened());
    EXPECT_GT(first.new_bytes, 0);
    EXPECT_TRUE(IsRemembered(path, read, &cache_));
    ASSERT_OK_AND_ASSIGN(const HashedFile again, Read(path, read));
    EXPECT_FALSE(watch.Opened());
    EXPECT_EQ(again.new_bytes, 0);
    ASSERT_EQ(again.arrays.size(), first.arrays.size());
    for (size_t i = 0; i < first.arrays.size(); ++i) {
      EXPECT_EQ(again.arrays[i].name, first.arrays[i].name);
      EXPECT_EQ(again.arrays[i].chunks, first.arrays[i].chunks);
      ASSERT_OK_AND_ASSIGN(const Literal value, again.arrays[i].Value());
      EXPECT_THAT(value, LiteralBitEquals(first.arrays[i].value));
    }
    EXPECT_TRUE(watch.Opened()) << "for its values";
    ASSERT_OK(again.arrays[0].Value());
    EXPECT_FALSE(watch.Opened()) << "once";
  }
}

// A small file may hold large arrays. Those beyond 256 MiB are read again when
// they are sent, one at a time, instead of being kept until then.
TEST_F(HashedFileTest, LargePackedArraysAreNotKept) {
  const auto zeros = [](int mib) {
    return Literal::Zeros(Shape::Of(DType::kU8, {int64_t{mib} << 20}));
  };
  const Literal first = zeros(200), second = zeros(100);
  std::vector<TestMember> members;
  for (const Literal* array : {&first, &second}) {
    ASSERT_OK_AND_ASSIGN(const std::string header,
                         NpyHeaderOf(array->shape()));
    members.push_back({array == &first ? "a.npy" : "b.npy",
                       header + std::string(array->bytes().size(), '\0'),
                       /*deflated=*/true});
  }
  const std::string path = folder_.Write("x.npz", MakeZip(members));
  const auto chunks = ManifestOf({{{"", second}}}, 2).arrays[0].chunks;
  for (const bool settled : {false, true}) {
    SCOPED_TRACE(settled);
    now_ = absl::Now() + (settled ? absl::Minutes(1) : absl::ZeroDuration());
    ASSERT_OK_AND_ASSIGN(const HashedFile file, Read(path));
    EXPECT_EQ(file.new_bytes, int64_t{300} << 20);
    ASSERT_EQ(file.arrays.size(), 2u);
    EXPECT_EQ(file.arrays[0].name, "a");
    EXPECT_EQ(file.arrays[0].value.shape(), first.shape());
    EXPECT_EQ(file.arrays[0].chunks.empty(), !settled);
    EXPECT_EQ(file.arrays[1].name, "b");
    EXPECT_FALSE(file.arrays[1].value.valid());
    EXPECT_EQ(file.arrays[1].chunks, chunks);
    ASSERT_OK_AND_ASSIGN(const Literal value, file.arrays[1].Value());
    EXPECT_EQ(value.shape(), second.shape());
    EXPECT_EQ(value.bytes(), second.bytes());
  }
  // What is remembered is read one at a time, too.
  ASSERT_OK_AND_ASSIGN(const HashedFile again, Read(path));
  EXPECT_EQ(again.new_bytes, 0);
  ASSERT_OK_AND_ASSIGN(const Literal value, again.arrays[1].Value());
  EXPECT_EQ(value.bytes(), second.bytes());
}

TEST_F(HashedFileTest, AValueThatIsNoLongerThereIsAnError) {
  const std::string path = folder_.Path("x.npy");
  ASSERT_OK(WriteNpy(path, Literal::Vector<float>({1, 2})));
  EXPECT_EQ(Hashed(path), 8);
  ASSERT_OK_AND_ASSIGN(const HashedFile changed, Read(path));
  ASSERT_OK_AND_ASSIGN(const HashedFile removed, Read(path));
  ASSERT_OK(WriteNpy(path, Literal::Vector<float>({3, 4})));
  EXPECT_THAT(
      changed.arrays[0].Value(),
      StatusIs(absl::StatusCode::kAborted, path + ": changed while it was"));
  std::filesystem::remove(path);
  EXPECT_THAT(removed.arrays[0].Value(),
              StatusIs(absl::StatusCode::kNotFound, path));
}

// As readers that were mended without a new text for their reading would.
TEST_F(HashedFileTest, WhatIsRememberedWronglyIsAnError) {
  const std::string path = folder_.Path("x.npy");
  ASSERT_OK(WriteNpy(path, Literal::Vector<float>({1, 2})));
  const Shape wrong = Shape::Of(DType::kF32, {3});
  const std::vector<Digest> chunks = {Sha256("x")};
  cache_.Remember({*VersionOf(path),
                   ReadingOf(path, {}),
                   {{"x", wrong, chunks}, {"y", wrong, chunks}}});
  ASSERT_OK_AND_ASSIGN(const HashedFile file, Read(path));
  EXPECT_THAT(file.arrays[0].Value(),
              StatusIs(absl::StatusCode::kAborted,
                       "array \"x\" is now f32[2], was f32[3]"));
  EXPECT_THAT(file.arrays[1].Value(),
              StatusIs(absl::StatusCode::kAborted, path + ": holds 1 arrays"));
}

TEST_F(HashedFileTest, ADamagedRecordIsNone) {
  const std::string path = folder_.Write("t.csv", "x\n1\n");
  ReadOptions read;
  read.csv.dtypes = {DType::kF32};
  EXPECT_EQ(Hashed(path, read), 4);
  for (const auto& entry :
       std::filesystem::directory_iterator(folder_.Path("cache/digests"))) {
    std::filesystem::resize_file(entry, entry.file_size() - 1);
  }
  OpenWatch watch(path);
  EXPECT_EQ(Hashed(path, read), 4);
  EXPECT_TRUE(watch.Opened());
  EXPECT_EQ(Hashed(path, read), 0);
}

TEST_F(HashedFileTest, TwoReadingsOfAFileAreTwo) {
  const std::string path = folder_.Write("t.csv", "x\n1\n2\n");
  ReadOptions read;
  for (const DType dtype : {DType::kF32, DType::kS16}) {
    read.csv.dtypes = {dtype};
    EXPECT_EQ(Hashed(path, read), 2 * ByteWidth(dtype));
    EXPECT_EQ(Hashed(path, read), 0);
  }
  read.csv.header = false;
  EXPECT_FALSE(IsRemembered(path, read, &cache_));
  EXPECT_THAT(Read(path, read),
              StatusIs(absl::StatusCode::kInvalidArgument, path));
  read = {.format = ReadOptions::Format::kRaw,
          .raw = Shape::Of(DType::kU8, {6})};
  EXPECT_EQ(Hashed(path, read), 6);
  EXPECT_EQ(Hashed(path, read), 0);
}

TEST_F(HashedFileTest, WhatIsNotThereIsAnError) {
  EXPECT_THAT(Read("/no/such"),
              StatusIs(absl::StatusCode::kNotFound, "/no/such"));
  EXPECT_FALSE(Read(folder_.Path("")).ok());
}

}  // namespace
}  // namespace hawser
