// The plugin as a program meets it: opened by dlopen, called by the C ABI.
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/pjrt/plugin.h"

namespace hawser::pjrt {
namespace {

using ::testing::HasSubstr;

TEST(PjrtTable, HasEveryEntryUpTo112) {
  const Api& api = TheApi();
  EXPECT_EQ(api.version.major_version, 0);
  EXPECT_EQ(api.version.minor_version, 112);
  EXPECT_EQ(kEntries, 138u);
  EXPECT_EQ(api.struct_size, sizeof(Api));
  for (const Entry entry : api.entries) EXPECT_NE(entry, nullptr);
}

TEST(PjrtTable, EntriesThatAreNotThereSayTheirName) {
  Header nothing = {sizeof(nothing), nullptr};
  const Said said = Take(CallRaw(EntryId::kClient_DmaMap, &nothing));
  EXPECT_EQ(said.code, kUnimplemented);
  EXPECT_EQ(said.text, "PJRT_Client_DmaMap");
}

TEST(PjrtTable, NoArgumentsAreAnError) {
  for (size_t i = 0; i < kEntries; ++i) {
    const Said said = Take(TheApi().entries[i](nullptr));
    EXPECT_NE(said.code, 0) << i;
  }
}

TEST_F(PjrtTest, NamesItsDevices) {
  const auto devices = MUST(Client_Devices, client_, nullptr, 0);
  ASSERT_EQ(devices.num_devices, 1u);
  DeviceDescription* description =
      MUST(Device_GetDescription, devices.devices[0], nullptr)
          .device_description;
  EXPECT_EQ(MUST(DeviceDescription_Id, description, -1).id, 0);
  const auto text = MUST(DeviceDescription_ToString, description, nullptr, 0);
  EXPECT_THAT(std::string(text.to_string, text.to_string_size),
              HasSubstr("cpu"));
  const auto platform = MUST(Client_PlatformName, client_, nullptr, 0);
  EXPECT_EQ(std::string(platform.platform_name, platform.platform_name_size),
            "hawser");
  EXPECT_EQ(SAYS(Client_LookupDevice, client_, 7, nullptr).code,
            kInvalidArgument);
}

TEST_F(PjrtTest, RunsAProgram) {
  LoadedExecutable* sum = Compile(kSum);
  Buffer* a = Put({1, 2, 3, 4, 5, 6}, {2, 3});
  // The transposed matrix, by its strides.
  Buffer* b = Put({10, 40, 20, 50, 30, 60}, {2, 3}, {4, 8});
  std::vector<Buffer*> results(1);
  EXPECT_EQ(Run(sum, {a, b}, &results).code, 0);
  EXPECT_EQ(Fetch(results[0]), std::vector<float>({11, 22, 33, 44, 55, 66}));
  EXPECT_EQ(MUST(Buffer_ElementType, results[0], 0).type, kF32);
  const auto dims = MUST(Buffer_Dimensions, results[0], nullptr, 0);
  EXPECT_EQ(std::vector<int64_t>(dims.dims, dims.dims + dims.num_dims),
            std::vector<int64_t>({2, 3}));
  for (Buffer* buffer : {a, b, results[0]}) Destroy(buffer);
  MUST(LoadedExecutable_Destroy, sum);
}

TEST_F(PjrtTest, WrongArgumentsAreErrorsThatNameThem) {
  LoadedExecutable* sum = Compile(kSum);
  Buffer* a = Put({1, 2, 3, 4, 5, 6}, {2, 3});
  std::vector<Buffer*> results(1);
  EXPECT_THAT(Run(sum, {a}, &results).text, HasSubstr("takes 2 arguments"));
  Buffer* other = Put({1}, {1});
  EXPECT_THAT(Run(sum, {a, other}, &results).text, HasSubstr("argument 1"));
  EXPECT_EQ(Run(sum, {a, nullptr}, &results).code, kInvalidArgument);
  MUST(Buffer_Delete, other);
  EXPECT_TRUE(MUST(Buffer_IsDeleted, other, false).is_deleted);
  EXPECT_THAT(Run(sum, {a, other}, &results).text,
              HasSubstr("was deleted or donated"));
  MUST(LoadedExecutable_Delete, sum);
  EXPECT_THAT(Run(sum, {a, a}, &results).text, HasSubstr("was deleted"));
  for (Buffer* buffer : {a, other}) Destroy(buffer);
  MUST(LoadedExecutable_Destroy, sum);
}

TEST_F(PjrtTest, WrongProgramsAreErrorsWithTheirPlace) {
  const auto says = [&](const std::string& code, const std::string& format) {
    const Program program = ProgramOf(code, format);
    return SAYS(Client_Compile, client_, &program, nullptr, 0, nullptr);
  };
  EXPECT_EQ(says("", "hlo").code, kUnimplemented);
  EXPECT_EQ(says("", "").code, kUnimplemented);
  EXPECT_THAT(says("func.func @main( {", "mlir").text, HasSubstr("1:18: "));
  EXPECT_THAT(says(std::string("ML\xEFR\x0D", 5), "mlir").text,
              HasSubstr("byte "));
}

TEST_F(PjrtTest, ModulesOfHawserHaveAFormat) {
  const auto says = [&](const std::string& code, const std::string& options) {
    const Program program = ProgramOf(code, "hawser.text");
    return SAYS(Client_Compile, client_, &program, options.data(),
                options.size(), nullptr);
  };
  EXPECT_THAT(says("module", "").text, HasSubstr("1:7: "));
  EXPECT_THAT(says("module", "quick").text, HasSubstr("\"strict\" or none"));
}

TEST_F(PjrtTest, ShortStructsAreNotWrittenBeyondTheirEnd) {
  LoadedExecutable* sum = Compile(kSum);
  ExecuteOptions options = {};
  options.header.struct_size = offsetof(ExecuteOptions, launch_id);
  // What lies behind the caller's struct is not an index.
  options.num_non_donatable_input_indices = ~size_t{0};
  options.non_donatable_input_indices =
      reinterpret_cast<const int64_t*>(uintptr_t{1});
  Buffer* a = Put({1, 2, 3, 4, 5, 6}, {2, 3});
  LoadedExecutable_ExecuteArgs args = {};
  Buffer* arguments[] = {a, a};
  Buffer* result = nullptr;
  Buffer* const* const lists[] = {arguments};
  Buffer** const outputs[] = {&result};
  args.executable = sum;
  args.options = &options;
  args.argument_lists = lists;
  args.num_devices = 1;
  args.num_args = 2;
  args.output_lists = outputs;
  Must(EntryId::kLoadedExecutable_Execute, args);
  EXPECT_EQ(Fetch(result), std::vector<float>({2, 4, 6, 8, 10, 12}));
  for (Buffer* buffer : {a, result}) Destroy(buffer);
  MUST(LoadedExecutable_Destroy, sum);
}

TEST_F(PjrtTest, ObjectsMayGoInAnyOrder) {
  LoadedExecutable* sum = Compile(kSum);
  Buffer* a = Put({1, 2, 3, 4, 5, 6}, {2, 3});
  std::vector<Buffer*> results(1);
  EXPECT_EQ(Run(sum, {a, a}, &results).code, 0);
  Executable* executable =
      MUST(LoadedExecutable_GetExecutable, sum, nullptr).executable;
  MUST(Client_Destroy, client_);
  client_ = nullptr;
  MUST(LoadedExecutable_Destroy, sum);
  EXPECT_EQ(MUST(Executable_NumOutputs, executable, 0).num_outputs, 1u);
  EXPECT_EQ(Fetch(results[0])[5], 12);
  MUST(Executable_Destroy, executable);
  for (Buffer* buffer : {a, results[0]}) Destroy(buffer);
}

TEST_F(PjrtTest, EventsCallBack) {
  Buffer* a = Put({1, 2}, {2});
  Event* ready = MUST(Buffer_ReadyEvent, a, nullptr).event;
  static int calls = 0;
  MUST(
      Event_OnReady, ready,
      [](Error* error, void* counter) {
        EXPECT_EQ(error, nullptr);
        ++*static_cast<int*>(counter);
      },
      &calls);
  MUST(Event_Await, ready);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(MUST(Event_IsReady, ready, false).is_ready);
  MUST(Event_Destroy, ready);
  Destroy(a);
}

TEST_F(PjrtTest, ProgramsAreSerializedAndLoaded) {
  LoadedExecutable* sum = Compile(kSum);
  Executable* executable =
      MUST(LoadedExecutable_GetExecutable, sum, nullptr).executable;
  MUST(LoadedExecutable_Destroy, sum);
  const auto serialized =
      MUST(Executable_Serialize, executable, nullptr, 0, nullptr, nullptr);
  MUST(Executable_Destroy, executable);
  const std::string bytes(serialized.serialized_bytes,
                          serialized.serialized_bytes_size);
  serialized.serialized_executable_deleter(serialized.serialized_executable);
  // As a caller of minor version 54 has it.
  Executable_DeserializeAndLoadArgs load = {};
  load.header.struct_size = offsetof(Executable_DeserializeAndLoadArgs,
                                     overridden_serialized_compile_options);
  load.client = client_;
  load.serialized_executable = bytes.data();
  load.serialized_executable_size = bytes.size();
  load.overridden_serialized_compile_options =
      reinterpret_cast<const char*>(uintptr_t{1});
  ASSERT_EQ(Take(CallRaw(EntryId::kExecutable_DeserializeAndLoad, &load)).text,
            "");
  Buffer* a = Put({1, 2, 3, 4, 5, 6}, {2, 3});
  std::vector<Buffer*> results(1);
  EXPECT_EQ(Run(load.loaded_executable, {a, a}, &results).text, "");
  EXPECT_EQ(Fetch(results[0]), std::vector<float>({2, 4, 6, 8, 10, 12}));
  for (Buffer* buffer : {a, results[0]}) Destroy(buffer);
  MUST(LoadedExecutable_Destroy, load.loaded_executable);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(SAYS(Executable_DeserializeAndLoad, client_, bytes.data(), size,
                   nullptr, nullptr, 0)
                  .code,
              kInvalidArgument)
        << size;
  }
}

TEST_F(PjrtTest, ProgramsSayWhatTheyTake) {
  LoadedExecutable* sum = Compile(kSum);
  Executable* executable =
      MUST(LoadedExecutable_GetExecutable, sum, nullptr).executable;
  const auto stats = MUST(Executable_GetCompiledMemoryStats, executable);
  EXPECT_EQ(stats.argument_size_in_bytes, 48);
  EXPECT_EQ(stats.output_size_in_bytes, 24);
  EXPECT_EQ(stats.alias_size_in_bytes, 0);
  EXPECT_EQ(stats.peak_memory_in_bytes, 72);
  const auto kinds = MUST(Executable_ParameterMemoryKinds, executable, 0);
  EXPECT_EQ(kinds.num_parameters, 2u);
  EXPECT_EQ(std::string(kinds.memory_kinds[1], kinds.memory_kind_sizes[1]),
            "device");
  EXPECT_EQ(MUST(Executable_OutputMemoryKinds, executable, 0).num_outputs, 1u);
  const auto options = MUST(Executable_GetCompileOptions, executable);
  EXPECT_EQ(options.serialized_bytes_size, 0u);  // it was given none
  options.serialized_compile_options_deleter(
      options.serialized_compile_options);
  MUST(Executable_Destroy, executable);
  MUST(LoadedExecutable_Destroy, sum);
}

TEST_F(PjrtTest, BytesOfABufferAreCopiedOut) {
  Buffer* a = Put({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto layout = MUST(Buffer_GetMemoryLayout, a).layout;
  EXPECT_EQ(layout.type, 0);
  EXPECT_EQ(std::vector<int64_t>(
                layout.tiled.minor_to_major,
                layout.tiled.minor_to_major + layout.tiled.minor_to_major_size),
            std::vector<int64_t>({1, 0}));
  float some[2];
  Event* done =
      MUST(Buffer_CopyRawToHost, a, some, 8, sizeof(some), nullptr).event;
  MUST(Event_Await, done);
  MUST(Event_Destroy, done);
  EXPECT_EQ(some[0], 3);
  EXPECT_EQ(some[1], 4);
  for (const auto& [offset, size] : std::vector<std::pair<int64_t, int64_t>>{
           {-1, 4}, {0, 25}, {25, 0}, {0, -1}, {24, INT64_MAX}}) {
    EXPECT_EQ(SAYS(Buffer_CopyRawToHost, a, some, offset, size, nullptr).code,
              kInvalidArgument);
  }
  Destroy(a);
}

TEST_F(PjrtTest, BytesOfABufferAreThoseOfAnotherShape) {
  const std::vector<float> values = {1, -2, 3.5f, 4e30f, 5, 6};
  Buffer* a = Put(values, {2, 3});
  struct As {
    int type;
    std::vector<int64_t> dims;
  };
  for (const As& as : std::vector<As>{{kS32, {3, 2}},
                                      {kF32, {6}},
                                      {kU8, {4, 1, 6}},
                                      {kF64, {3}},
                                      {kF32, {2, 3}}}) {
    Buffer* other = MUST(Buffer_Bitcast, a, as.type, as.dims.data(),
                         as.dims.size(), nullptr, nullptr)
                        .result;
    EXPECT_EQ(MUST(Buffer_ElementType, other, 0).type, as.type);
    const auto dims = MUST(Buffer_Dimensions, other, nullptr, 0);
    EXPECT_EQ(std::vector<int64_t>(dims.dims, dims.dims + dims.num_dims),
              as.dims);
    // In memory they are the same.
    EXPECT_EQ(Fetch(other), values) << as.type;
    Destroy(other);
  }
  EXPECT_EQ(Fetch(a), values);
  const auto says = [&](int type, std::vector<int64_t> dims) {
    return SAYS(Buffer_Bitcast, a, type, dims.data(), dims.size(), nullptr,
                nullptr);
  };
  EXPECT_THAT(says(kF32, {5}).text, HasSubstr("24 bytes"));
  EXPECT_EQ(says(kF32, {-6}).code, kInvalidArgument);
  EXPECT_EQ(says(1, {24}).code, kUnimplemented);
  Destroy(a);
}

TEST_F(PjrtTest, DevicesSayWhatValuesTakeOfThem) {
  Device* device = MUST(Client_Devices, client_, nullptr, 0).devices[0];
  const auto stats = [&] { return MUST(Device_MemoryStats, device); };
  EXPECT_EQ(stats().bytes_in_use, 0);
  Buffer* a = Put({1, 2, 3, 4, 5, 6}, {2, 3});
  Buffer* same = MUST(Buffer_CopyToDevice, a, device, nullptr).dst_buffer;
  EXPECT_EQ(stats().bytes_in_use, 24);
  LoadedExecutable* sum = Compile(kSum);
  std::vector<Buffer*> results(1);
  EXPECT_EQ(Run(sum, {a, same}, &results).text, "");
  EXPECT_EQ(stats().bytes_in_use, 48);
  MUST(Buffer_Delete, results[0]);
  EXPECT_EQ(stats().bytes_in_use, 24);
  Destroy(a);
  EXPECT_EQ(stats().bytes_in_use, 24);
  Destroy(same);
  const auto last = stats();
  EXPECT_EQ(last.bytes_in_use, 0);
  EXPECT_EQ(last.peak_bytes_in_use.value, 48);
  EXPECT_EQ(last.num_allocs.value, 2);
  EXPECT_EQ(last.largest_alloc_size.value, 24);
  EXPECT_TRUE(last.num_allocs.is_set);
  EXPECT_TRUE(last.bytes_limit.is_set);
  EXPECT_GT(last.bytes_limit.value, 0);
  EXPECT_LE(last.bytes_limit.value,
            sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
  EXPECT_FALSE(last.pool_bytes.is_set);
  MUST(Device_ClearMemoryStats, device);
  EXPECT_EQ(stats().peak_bytes_in_use.value, 0);
  Destroy(results[0]);
  MUST(LoadedExecutable_Destroy, sum);
}

TEST_F(PjrtTest, EventsOfCallersAreSetOnce) {
  Event* event = MUST(Event_Create, nullptr).event;
  EXPECT_FALSE(MUST(Event_IsReady, event, false).is_ready);
  MUST(Event_Set, event, 13, "so it is", 8);
  EXPECT_EQ(SAYS(Event_Await, event).text, "so it is");
  EXPECT_NE(SAYS(Event_Set, event, 0, nullptr, 0).code, 0);
  MUST(Event_Destroy, event);
}

TEST_F(PjrtTest, ManyThreadsMayRunOneProgram) {
  LoadedExecutable* sum = Compile(kSum);
  Buffer* a = Put({1, 2, 3, 4, 5, 6}, {2, 3});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        std::vector<Buffer*> results(1);
        EXPECT_EQ(Run(sum, {a, a}, &results).code, 0);
        EXPECT_EQ(Fetch(results[0])[0], 2);
        Destroy(results[0]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Destroy(a);
  MUST(LoadedExecutable_Destroy, sum);
}

}  // namespace
}  // namespace hawser::pjrt
