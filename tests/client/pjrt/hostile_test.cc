// What callers do that they must not, and what they may do though it is odd: an
// error or nothing comes of it, never an abort or a wait without end.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/pjrt/plugin.h"

namespace hawser::pjrt {
namespace {

using ::testing::HasSubstr;

using HostileTest = PjrtTest;

// The size of each entry's arguments as we know them; 64 of those that hawser
// lacks.
constexpr size_t kSizes[] = {
#define HAWSER_PJRT_HAS(Name) sizeof(Name##Args),
#define HAWSER_PJRT_LACKS(Name) 64,
#include "client/pjrt/abi/entries.def"
#undef HAWSER_PJRT_HAS
#undef HAWSER_PJRT_LACKS
};
constexpr const char* kNames[] = {
#define HAWSER_PJRT_HAS(Name) #Name,
#define HAWSER_PJRT_LACKS(Name) #Name,
#include "client/pjrt/abi/entries.def"
#undef HAWSER_PJRT_HAS
#undef HAWSER_PJRT_LACKS
};

// Destroys what an entry made of nothing.
void GiveBack(const std::string& name, const char* bytes) {
  if (name == "Client_Create") {
    Client_CreateArgs args;
    std::memcpy(&args, bytes, sizeof(args));
    MUST(Client_Destroy, args.client);
  }
  if (name == "Event_Create") {
    Event_CreateArgs args;
    std::memcpy(&args, bytes, sizeof(args));
    MUST(Event_Destroy, args.event);
  }
  if (name == "ExecuteContext_Create") {
    ExecuteContext_CreateArgs args;
    std::memcpy(&args, bytes, sizeof(args));
    MUST(ExecuteContext_Destroy, args.context);
  }
}

// Calls an entry with nothing but zeros, of which `said` bytes are said to be
// the caller's. What lies behind these must stay as it is.
Said CallWithZeros(size_t entry, size_t said) {
  std::vector<size_t> words(128, 0);
  char* const bytes = reinterpret_cast<char*>(words.data());
  std::memcpy(bytes, &said, sizeof(said));
  const size_t end = said + sizeof(void*);  // a word is forgiven (api.cc)
  std::memset(bytes + end, 0x5A, sizeof(size_t) * words.size() - end);
  Error* const error = TheApi().entries[entry](bytes);
  for (size_t i = end; i < sizeof(size_t) * words.size(); ++i) {
    if (bytes[i] != 0x5A) {
      ADD_FAILURE() << kNames[entry] << " of " << said << " bytes wrote to "
                    << i;
      break;
    }
  }
  if (error == nullptr) GiveBack(kNames[entry], bytes);
  return Take(error);
}

TEST_F(HostileTest, ZerosAreAnErrorOrNothing) {
  for (size_t i = 0; i < kEntries; ++i) {
    for (const size_t more : {size_t{0}, size_t{8}, size_t{400}}) {
      CallWithZeros(i, kSizes[i] + more);
    }
  }
}

TEST_F(HostileTest, ShortArgumentsAreAnErrorAndNotWritten) {
  for (size_t i = 0; i < kEntries; ++i) {
    for (size_t said = sizeof(Header); said < kSizes[i]; ++said) {
      const Said got = CallWithZeros(i, said);
      if (said + 2 * sizeof(void*) <= kSizes[i] &&
          got.text.find("PJRT_") == std::string::npos && said < 96) {
        EXPECT_EQ(got.code, kInvalidArgument) << kNames[i] << ' ' << said;
      }
    }
  }
}

// Every entry about a value that was deleted, donated or is not there yet.
TEST_F(HostileTest, UseAfterDeletionIsAnError) {
  Buffer* a = Put({1, 2}, {2});
  MUST(Buffer_Delete, a);
  MUST(Buffer_Delete, a);
  float values[2];
  Device* device = MUST(Buffer_Device, a, nullptr).device;
  Memory* memory = MUST(Buffer_Memory, a, nullptr).memory;
  EXPECT_NE(SAYS(Buffer_ToHostBuffer, a, nullptr, values, 8, nullptr).code, 0);
  EXPECT_NE(SAYS(Buffer_CopyRawToHost, a, values, 0, 8, nullptr).code, 0);
  EXPECT_NE(SAYS(Buffer_CopyToDevice, a, device, nullptr).code, 0);
  EXPECT_NE(SAYS(Buffer_CopyToMemory, a, memory, nullptr).code, 0);
  EXPECT_NE(SAYS(Buffer_ReadyEvent, a, nullptr).code, 0);
  EXPECT_NE(SAYS(Buffer_UnsafePointer, a, 0).code, 0);
  EXPECT_EQ(MUST(Buffer_ElementType, a, 0).type, kF32);
  EXPECT_EQ(MUST(Buffer_Dimensions, a, nullptr, 0).num_dims, 1u);
  Destroy(a);
}

constexpr char kDonating[] =
    "(%a: tensor<2xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<2xf32>) -> "
    "tensor<2xf32> {\n"
    "  %0 = stablehlo.add %a, %b : tensor<2xf32>\n"
    "  return %0 : tensor<2xf32>\n}\n";

TEST_F(HostileTest, DonatedValuesAreGone) {
  LoadedExecutable* sum = Compile(kDonating);
  Buffer *a = Put({1, 2}, {2}), *b = Put({10, 20}, {2});
  std::vector<Buffer*> results(1);
  EXPECT_EQ(Run(sum, {a, b}, &results).text, "");
  EXPECT_TRUE(MUST(Buffer_IsDeleted, a, false).is_deleted);
  EXPECT_FALSE(MUST(Buffer_IsDeleted, b, false).is_deleted);
  std::vector<Buffer*> more(1);
  EXPECT_THAT(Run(sum, {a, b}, &more).text, HasSubstr("deleted or donated"));
  // One value in both places.
  EXPECT_EQ(Run(sum, {b, b}, &more).text, "");
  EXPECT_EQ(Fetch(more[0]), std::vector<float>({20, 40}));
  // A call that fails takes nothing.
  Buffer *c = Put({1, 2}, {2}), *wrong = Put({1, 2, 3}, {3});
  std::vector<Buffer*> none(1);
  EXPECT_NE(Run(sum, {c, wrong}, &none).code, 0);
  EXPECT_FALSE(MUST(Buffer_IsDeleted, c, false).is_deleted);
  EXPECT_EQ(Fetch(results[0]), std::vector<float>({11, 22}));
  for (Buffer* buffer : {a, b, c, wrong, results[0], more[0]}) Destroy(buffer);
  MUST(LoadedExecutable_Destroy, sum);
}

TEST_F(HostileTest, OneDonatedInTwoPlacesIsThereAfterACallThatFails) {
  LoadedExecutable* sums = Compile(
      "(%a: tensor<2xf32> {tf.aliasing_output = 0 : i32}, "
      "%b: tensor<2xf32> {tf.aliasing_output = 1 : i32}, %c: tensor<2xf32>) "
      "-> (tensor<2xf32>, tensor<2xf32>) {\n"
      "  %0 = stablehlo.add %a, %c : tensor<2xf32>\n"
      "  %1 = stablehlo.add %b, %c : tensor<2xf32>\n"
      "  return %0, %1 : tensor<2xf32>, tensor<2xf32>\n}\n");
  Buffer *a = Put({1, 2}, {2}), *b = Put({10, 20}, {2});
  Buffer* wrong = Put({1, 2, 3}, {3});
  std::vector<Buffer*> results(2);
  EXPECT_NE(Run(sums, {a, a, wrong}, &results).code, 0);
  EXPECT_FALSE(MUST(Buffer_IsDeleted, a, false).is_deleted);
  EXPECT_EQ(Run(sums, {a, a, b}, &results).text, "");
  EXPECT_EQ(Fetch(results[0]), Fetch(results[1]));
  for (Buffer* buffer : {a, b, wrong, results[0], results[1]}) Destroy(buffer);
  MUST(LoadedExecutable_Destroy, sums);
}

// The bytes behind such a struct are not the caller's.
TEST_F(HostileTest, ShortStructsInArgumentsAreAnError) {
  Program program = {};
  NamedValue option = {};
  for (const size_t size : {size_t{0}, sizeof(Header), size_t{40}}) {
    program.header.struct_size = size;
    option.header.struct_size = size;
    EXPECT_THAT(
        SAYS(Client_Compile, client_, &program, nullptr, 0, nullptr).text,
        HasSubstr("too few"));
    EXPECT_THAT(SAYS(Client_Create, &option, 1).text, HasSubstr("too few"));
  }
  EXPECT_NE(SAYS(Client_Create, nullptr, 1).code, 0);
}

// All six orders, and events last.
TEST_F(HostileTest, ObjectsGoInEveryOrder) {
  std::vector<int> order = {0, 1, 2};
  do {
    Client* const kept = std::exchange(
        client_, Must<Client_CreateArgs>(EntryId::kClient_Create, {}).client);
    LoadedExecutable* sum = Compile(kSum);
    Buffer* a = Put({1, 2, 3, 4, 5, 6}, {2, 3});
    std::vector<Buffer*> results(1);
    EXPECT_EQ(Run(sum, {a, a}, &results).text, "");
    Event* ready = MUST(Buffer_ReadyEvent, results[0], nullptr).event;
    for (const int which : order) {
      if (which == 0) MUST(Client_Destroy, client_);
      if (which == 1) MUST(LoadedExecutable_Destroy, sum);
      if (which == 2) {
        Destroy(a);
        Destroy(results[0]);
      }
    }
    client_ = kept;
    MUST(Event_Await, ready);
    MUST(Event_Destroy, ready);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(HostileTest, ThreadsMayDoEverythingAtOnce) {
  LoadedExecutable* sum = Compile(kDonating);
  Buffer* const shared = Put({1, 2}, {2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 30; ++i) {
        if (t == 0) {
          LoadedExecutable* other = Compile(kSum);
          MUST(LoadedExecutable_Destroy, other);
          continue;
        }
        // All of them donate one value: one of them has it.
        Buffer* own = Put({1, 2}, {2});
        std::vector<Buffer*> results(1);
        if (Run(sum, {t == 1 ? shared : own, own}, &results).code == 0) {
          EXPECT_EQ(Fetch(results[0])[1], 4);
          Destroy(results[0]);
        }
        Destroy(own);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Destroy(shared);
  MUST(LoadedExecutable_Destroy, sum);
}

TEST_F(HostileTest, ChildrenEndAndDoNotHang) {
  LoadedExecutable* sum = Compile(kSum);
  Buffer* a = Put({1, 2, 3, 4, 5, 6}, {2, 3});
  std::vector<Buffer*> results(1);
  EXPECT_EQ(Run(sum, {a, a}, &results).text, "");
  pid_t child = fork();
  if (child == 0) _exit(7);
  EXPECT_EQ(ExitOf(child), 7);
  // One that destroys what it has, and exits as programs do.
  child = fork();
  if (child == 0) {
    Destroy(results[0]);
    MUST(LoadedExecutable_Destroy, sum);
    MUST(Client_Destroy, client_);
    exit(8);
  }
  EXPECT_EQ(ExitOf(child), 8);
  // One that goes on working: whatever comes of it, it comes.
  child = fork();
  if (child == 0) {
    std::vector<Buffer*> more(1);
    Run(sum, {a, a}, &more);
    exit(9);
  }
  EXPECT_EQ(ExitOf(child), 9);
  EXPECT_EQ(Fetch(results[0])[5], 12);
  for (Buffer* buffer : {a, results[0]}) Destroy(buffer);
  MUST(LoadedExecutable_Destroy, sum);
}

TEST_F(HostileTest, ExitWhileWorkRunsIsQuick) {
  // A fresh process, which has threads of its own: not a fork of this one.
  const absl::Time begin = absl::Now();
  LoadedExecutable* const program = Compile(kLong);
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        Buffer* a = Put(std::vector<float>(1 << 20), {1024, 1024});
        std::vector<Buffer*> results(1);
        Run(program, {a}, &results);
        exit(0);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_LT(absl::Now() - begin, absl::Seconds(20));
  MUST(LoadedExecutable_Destroy, program);
}

TEST_F(HostileTest, TwoPluginsShareAProcess) {
  const std::string copy = testing::TempDir() + "/libother_pjrt.so";
  std::filesystem::copy_file("client/pjrt/libhawser_pjrt.so", copy,
                             std::filesystem::copy_options::overwrite_existing);
  void* other = dlopen(copy.c_str(), RTLD_NOW);
  ASSERT_NE(other, nullptr) << dlerror();
  const auto get =
      reinterpret_cast<const void* (*)()>(dlsym(other, "GetPjrtApi"));
  const auto* const api = static_cast<const Api*>(get());
  ASSERT_NE(api, &TheApi());
  const auto run = [&] {
    LoadedExecutable* sum = Compile(kSum);
    Buffer* a = Put({1, 2, 3, 4, 5, 6}, {2, 3});
    std::vector<Buffer*> results(1);
    EXPECT_EQ(Run(sum, {a, a}, &results).text, "");
    EXPECT_EQ(Fetch(results[0])[5], 12);
    for (Buffer* buffer : {a, results[0]}) Destroy(buffer);
    MUST(LoadedExecutable_Destroy, sum);
  };
  run();
  // Entries are called in the other one, and in the first one again.
  const Api* const first = std::exchange(OpenedApi(), api);
  Client* const kept = std::exchange(client_, ClientOf(""));
  run();
  MUST(Client_Destroy, client_);
  client_ = kept;
  OpenedApi() = first;
  run();
  EXPECT_EQ(dlclose(other), 0);
}

}  // namespace
}  // namespace hawser::pjrt
