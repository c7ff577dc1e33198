// Kernels compiled once, by the first thread that asks: in memory, on disk.
#include "kernels/gpu/compile/kernel_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "tests/kernels/gpu/failing_device.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/testing/matchers.h"

namespace hawser::gpu {
namespace {

namespace fs = std::filesystem;

// A device whose compiler only counts, so that a test may compile hundreds.
class CountingCompiler : public FailingDevice {
 public:
  CountingCompiler() : FailingDevice(emu::MakeEmuDevice({.seed = 1})) {}

  std::string compiler_id() const override { return id; }
  absl::StatusOr<KernelBinary> Compile(absl::string_view name,
                                       absl::string_view text,
                                       const CompileOptions&) override {
    ++compiles;
    if (text.find("bad") != text.npos) return InvalidArgument("bad text");
    return KernelBinary{.bytes = std::string(text)};
  }
  absl::StatusOr<KernelModule> LoadModule(absl::string_view) override {
    return KernelModule{static_cast<uint64_t>(++loads)};
  }
  absl::StatusOr<Kernel> FindKernel(KernelModule module,
                                    absl::string_view name) override {
    return Kernel{module.value};
  }
  absl::Status UnloadModule(KernelModule) override {
    ++unloaded;
    return absl::OkStatus();
  }

  std::string id = "compiler 1";
  std::atomic<int> compiles{0}, loads{0};
};

EmittedKernel Text(int i, absl::string_view more = "") {
  return {.name = absl::StrCat("k", i), .text = absl::StrCat("k", i, more)};
}
std::vector<EmittedKernel> Texts(int first, int count) {
  std::vector<EmittedKernel> kernels;
  for (int i = 0; i < count; ++i) kernels.push_back(Text(first + i));
  return kernels;
}
std::string NewFolder(absl::string_view name) {
  const std::string folder = absl::StrCat(::testing::TempDir(), "/", name);
  fs::remove_all(folder);
  return folder;
}
std::vector<fs::path> FilesOf(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  return files;
}

struct Cache {
  explicit Cache(KernelCacheOptions options = {}) : cache(device, options) {}
  absl::StatusOr<std::vector<LoadedKernel>> Get(
      const std::vector<EmittedKernel>& kernels, bool strict = false) {
    return cache.Get(kernels, {.strict = strict}, CancelToken());
  }
  std::shared_ptr<CountingCompiler> device =
      std::make_shared<CountingCompiler>();
  KernelCache cache;
};

TEST(KernelCache, CompilesABatchAtATimeAndATextOnce) {
  Cache c;
  ASSERT_OK_AND_ASSIGN(const auto kernels, c.Get(Texts(0, 20)));
  EXPECT_EQ(kernels.size(), 20);
  EXPECT_EQ(c.device->compiles, 3);
  ASSERT_OK(c.Get(Texts(5, 20)));
  EXPECT_EQ(c.device->compiles, 4);
  EXPECT_EQ(c.cache.counts().compiled, 25);
  EXPECT_EQ(c.cache.counts().found, 15);
  ASSERT_OK(c.Get({Text(3), Text(3)}, true));  // strict: another binary
  EXPECT_EQ(c.device->compiles, 5);
}

TEST(KernelCache, ConcurrentCallersWaitForOneCompile) {
  Cache c;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] { EXPECT_OK(c.Get(Texts(0, 40))); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(c.cache.counts().compiled, 40);
}

TEST(KernelCache, AFailureIsNotKept) {
  Cache c;
  const EmittedKernel bad = Text(1, "bad");
  EXPECT_THAT(c.Get({Text(0), bad}),
              StatusIs(absl::StatusCode::kInternal, "bad text"));
  EXPECT_THAT(c.Get({bad}), StatusIs(absl::StatusCode::kInternal, "bad"));
  EXPECT_EQ(c.device->compiles, 2);
  EXPECT_OK(c.Get({Text(0)}));
}

TEST(KernelCache, ACancelledCallLeavesNothingHalfMade) {
  Cache c;
  const CancelToken token = CancelToken::WithFlag();
  token.Cancel();
  EXPECT_THAT(c.cache.Get(Texts(0, 3), {}, token),
              StatusIs(absl::StatusCode::kCancelled, ""));
  EXPECT_OK(c.Get(Texts(0, 3)));
}

TEST(KernelCache, ForgetsWhatWasUsedLongestAgo) {
  Cache c({.max_kernels = 4});
  auto held = c.Get({Text(0)});
  for (int i = 1; i < 8; ++i) ASSERT_OK(c.Get({Text(i)}));
  EXPECT_EQ(c.device->unloaded, 3);  // 1 to 3; 0 is still held
  ASSERT_OK(c.Get({Text(7)}));
  EXPECT_EQ(c.device->compiles, 8);
  ASSERT_OK(c.Get({Text(1)}));
  EXPECT_EQ(c.device->compiles, 9);
  held->clear();
  EXPECT_EQ(c.device->unloaded, 5);
}

TEST(KernelCacheFiles, ServeTheNextProcess) {
  const std::string folder = NewFolder("next");
  ASSERT_OK(Cache({.folder = folder}).Get(Texts(0, 10)));
  Cache c({.folder = folder});
  ASSERT_OK(c.Get(Texts(0, 12)));
  EXPECT_EQ(c.cache.counts().loaded, 10);
  EXPECT_EQ(c.cache.counts().compiled, 2);
  EXPECT_EQ(c.cache.counts().files.read, 2);
  // Another compiler has files of its own.
  Cache other({.folder = folder});
  other.device->id = "compiler 2";
  ASSERT_OK(other.Get(Texts(0, 10)));
  EXPECT_EQ(other.cache.counts().compiled, 10);
}

TEST(KernelCacheFiles, ThatAreBrokenAreCompiledAgain) {
  const std::string folder = NewFolder("broken");
  const auto damage = [&](auto change) {
    ASSERT_EQ(FilesOf(folder).size(), 1);
    const fs::path file = FilesOf(folder)[0];
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    std::ofstream(file) << change(text.str());
  };
  const std::vector<std::function<std::string(std::string)>> changes = {
      [](std::string s) { return s.substr(0, s.size() - 1); },
      [](std::string s) { return s + "x"; },
      [](std::string s) {
        s.back() ^= 1;
        return s;
      },
      [](std::string s) { return s.substr(0, 20); },
      [](std::string) { return std::string(); },
  };
  for (const auto& change : changes) {
    ASSERT_OK(Cache({.folder = folder}).Get(Texts(0, 3)));
    damage(change);
    Cache c({.folder = folder});
    ASSERT_OK(c.Get(Texts(0, 3)));
    EXPECT_EQ(c.cache.counts().compiled, 3);
    EXPECT_EQ(c.cache.counts().files.broken, 1);
    EXPECT_EQ(FilesOf(folder).size(), 1);
  }
}

TEST(KernelCacheFiles, ThatAreGoneAreCompiledAgain) {
  const std::string folder = NewFolder("gone");
  ASSERT_OK(Cache({.folder = folder}).Get(Texts(0, 3)));
  Cache c({.folder = folder});
  fs::remove(FilesOf(folder)[0]);
  ASSERT_OK(c.Get(Texts(0, 3)));
  EXPECT_EQ(c.cache.counts().compiled, 3);
  EXPECT_EQ(c.cache.counts().files.broken, 0);
}

TEST(KernelCacheFiles, StayBelowTheirLimit) {
  const std::string folder = NewFolder("limit");
  Cache c({.folder = folder, .max_bytes = 1000});
  for (int i = 0; i < 20; ++i) ASSERT_OK(c.Get({Text(i)}));
  const KernelFiles::Counts counts = c.cache.counts().files;
  EXPECT_EQ(counts.written, 20);
  EXPECT_GT(counts.evicted, 10);
  EXPECT_LE(counts.bytes, 1000);
  EXPECT_EQ(static_cast<int64_t>(FilesOf(folder).size()), 20 - counts.evicted);
  // The last ones are there, the first are not.
  Cache next({.folder = folder, .max_bytes = 1000});
  ASSERT_OK(next.Get({Text(19), Text(0)}));
  EXPECT_EQ(next.cache.counts().loaded, 1);
}

TEST(KernelCacheFiles, AFolderThatCannotBeWrittenIsDoneWithout) {
  Cache c({.folder = "/proc/no-such-folder"});
  EXPECT_OK(c.Get(Texts(0, 3)));
  EXPECT_EQ(c.cache.counts().compiled, 3);
}

TEST(KernelCacheFiles, HoldRealKernels) {
  const std::string folder = NewFolder("real");
  for (const int64_t compiled : {1, 0}) {
    Rig rig({.client = {.kernels = {.folder = folder}}});
    ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig.Compile(kAddText));
    ASSERT_OK_AND_ASSIGN(const Values sum,
                         RunOn(add, {F32({1, 2, 3, 4}), F32({1, 1, 1, 1})}));
    EXPECT_THAT(sum[0], LiteralEquals(F32({2, 3, 4, 5})));
    EXPECT_EQ(rig.client().kernel_counts().compiled, compiled);
  }
}

}  // namespace
}  // namespace hawser::gpu
