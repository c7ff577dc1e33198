// The plugin as a program meets it: opened by dlopen, called by the C ABI.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/pjrt/abi/args.h"
#include "client/pjrt/abi/extension.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hawser::pjrt {
namespace {

using ::testing::HasSubstr;

// Numbers of the ABI.
enum { kF32 = 11, kS32 = 4 };
enum { kInvalidArgument = 3, kUnimplemented = 12 };

enum class EntryId : size_t {
#define HAWSER_PJRT_HAS(Name) k##Name,
#define HAWSER_PJRT_LACKS(Name) k##Name,
#include "client/pjrt/abi/entries.def"
#undef HAWSER_PJRT_HAS
#undef HAWSER_PJRT_LACKS
};

const Api& TheApi() {
  static const Api& api = *[] {
    setenv("HAWSER_SERVERS", "", 1);
    void* plugin = dlopen("client/pjrt/libhawser_pjrt.so", RTLD_NOW);
    if (plugin == nullptr) ADD_FAILURE() << dlerror();
    auto* get = reinterpret_cast<const Api* (*)()>(dlsym(plugin, "GetPjrtApi"));
    return get();
  }();
  return api;
}

Error* CallRaw(EntryId id, void* args) {
  return TheApi().entries[static_cast<size_t>(id)](args);
}

// What an error says, which is then destroyed: "" and 0 of none.
struct Said {
  int code = 0;
  std::string text;
};
Said Take(Error* error) {
  if (error == nullptr) return {};
  Error_MessageArgs message = {{sizeof(message), nullptr}, error, nullptr, 0};
  CallRaw(EntryId::kError_Message, &message);
  Error_GetCodeArgs code = {{sizeof(code), nullptr}, error, 0};
  CallRaw(EntryId::kError_GetCode, &code);
  const Said said = {code.code,
                     std::string(message.message, message.message_size)};
  Error_DestroyArgs destroy = {{sizeof(destroy), nullptr}, error};
  CallRaw(EntryId::kError_Destroy, &destroy);
  return said;
}

// Calls an entry, which must succeed. `Args` begin with their size.
template <typename Args>
Args Must(EntryId id, Args args) {
  args.header.struct_size = sizeof(Args);
  const Said said = Take(CallRaw(id, &args));
  EXPECT_EQ(said.code, 0) << said.text;
  return args;
}
template <typename Args>
Said Says(EntryId id, Args args) {
  args.header.struct_size = sizeof(Args);
  return Take(CallRaw(id, &args));
}
#define MUST(Name, ...) Must<Name##Args>(EntryId::k##Name, {{}, __VA_ARGS__})
#define SAYS(Name, ...) Says<Name##Args>(EntryId::k##Name, {{}, __VA_ARGS__})

class PjrtTest : public ::testing::Test {
 protected:
  PjrtTest() {
    client_ = Must<Client_CreateArgs>(EntryId::kClient_Create, {}).client;
  }
  ~PjrtTest() override {
    if (client_ != nullptr) MUST(Client_Destroy, client_);
  }

  LoadedExecutable* Compile(const std::string& ops) {
    const std::string text = absl::StrCat("func.func @main", ops);
    Program program = {};
    program.header.struct_size = sizeof(program);
    program.code = text.data();
    program.code_size = text.size();
    program.format = "mlir";
    program.format_size = 4;
    return MUST(Client_Compile, client_, &program, nullptr, 0, nullptr)
        .executable;
  }
  Buffer* Put(const std::vector<float>& values,
              const std::vector<int64_t>& dims,
              const std::vector<int64_t>& strides = {}) {
    Client_BufferFromHostBufferArgs args = {};
    args.client = client_;
    args.data = values.data();
    args.type = kF32;
    args.dims = dims.data();
    args.num_dims = dims.size();
    args.byte_strides = strides.data();
    args.num_byte_strides = strides.size();
    args = Must(EntryId::kClient_BufferFromHostBuffer, args);
    MUST(Event_Await, args.done_with_host_buffer);
    MUST(Event_Destroy, args.done_with_host_buffer);
    return args.buffer;
  }
  // Runs it; `results` are new.
  Said Run(LoadedExecutable* executable, std::vector<Buffer*> arguments,
           std::vector<Buffer*>* results) {
    LoadedExecutable_ExecuteArgs args = {};
    Buffer* const* const lists[] = {arguments.data()};
    Buffer** const outputs[] = {results->data()};
    Event* done[] = {nullptr};
    args.executable = executable;
    args.argument_lists = lists;
    args.num_devices = 1;
    args.num_args = arguments.size();
    args.output_lists = outputs;
    args.device_complete_events = done;
    const Said said = Says(EntryId::kLoadedExecutable_Execute, args);
    if (done[0] != nullptr) {
      MUST(Event_Await, done[0]);
      MUST(Event_Destroy, done[0]);
    }
    return said;
  }
  static std::vector<float> Fetch(Buffer* buffer) {
    const size_t size =
        MUST(Buffer_ToHostBuffer, buffer, nullptr, nullptr, 0, nullptr)
            .dst_size;
    std::vector<float> values(size / sizeof(float));
    Event* done =
        MUST(Buffer_ToHostBuffer, buffer, nullptr, values.data(), size, nullptr)
            .event;
    MUST(Event_Await, done);
    MUST(Event_Destroy, done);
    return values;
  }
  static void Destroy(Buffer* buffer) { MUST(Buffer_Destroy, buffer); }

  Client* client_ = nullptr;
};

constexpr char kSum[] =
    "(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
    "  %0 = stablehlo.add %a, %b : tensor<2x3xf32>\n"
    "  return %0 : tensor<2x3xf32>\n}\n";

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
  const Said said = Take(CallRaw(EntryId::kExecutable_Serialize, &nothing));
  EXPECT_EQ(said.code, kUnimplemented);
  EXPECT_EQ(said.text, "PJRT_Executable_Serialize");
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
    Program program = {};
    program.header.struct_size = sizeof(program);
    program.code = code.data();
    program.code_size = code.size();
    program.format = format.data();
    program.format_size = format.size();
    return SAYS(Client_Compile, client_, &program, nullptr, 0, nullptr);
  };
  EXPECT_EQ(says("", "hlo").code, kUnimplemented);
  EXPECT_THAT(says("func.func @main( {", "mlir").text, HasSubstr("1:18: "));
  EXPECT_THAT(says(std::string("ML\xEFR\x0D", 5), "mlir").text,
              HasSubstr("byte "));
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

// The extension's answer, or what it says.
std::string Asked(const std::string& request, std::vector<Buffer*> buffers = {},
                  std::vector<ExtensionArray> arrays = {}) {
  const auto* extension =
      static_cast<const Extension*>(TheApi().extension_start);
  EXPECT_EQ(extension->type, Extension::kType);
  EXPECT_EQ(extension->struct_size, sizeof(Extension));
  AskArgs args = {{sizeof(args), nullptr},
                  request.data(),
                  request.size(),
                  buffers.data(),
                  buffers.size(),
                  arrays.data(),
                  arrays.size(),
                  nullptr,
                  0,
                  nullptr};
  const Said said = Take(extension->ask(&args));
  if (said.code != 0) return said.text;
  std::string answer(args.answer, args.answer_size);
  args.delete_answer(args.answer);
  return answer;
}

TEST_F(PjrtTest, TheExtensionPutsFreezesAndSays) {
  const std::vector<float> values = {1, 2, 3};
  const int64_t dims[] = {3};
  const ExtensionArray array = {kF32, dims, 1, values.data()};
  const std::string put =
      Asked(R"({"verb": "put", "names": ["x"]})", {}, {array});
  EXPECT_THAT(put, HasSubstr(R"({"dtype":"f32","name":"x","shape":[3]})"));
  Buffer* buffer = Put(values, {3});
  const auto handle = MUST(Buffer_UnsafePointer, buffer, 0).buffer_pointer;
  EXPECT_EQ(handle, reinterpret_cast<uintptr_t>(buffer));
  const auto token_of = [](const std::string& info) {
    const size_t begin = info.find("hw1-");
    return begin == info.npos ? info : info.substr(begin, 56);
  };
  EXPECT_EQ(token_of(Asked(R"({"verb": "freeze", "names": ["x"]})", {buffer})),
            token_of(put));
  EXPECT_THAT(Asked(R"({"verb": "ran_on"})", {buffer}),
              HasSubstr(R"("where":"cpu")"));
  EXPECT_THAT(Asked(R"({"verb": "status"})"), HasSubstr(R"("reachable":true)"));
  MUST(Buffer_Delete, buffer);
  EXPECT_THAT(Asked(R"({"verb": "freeze", "names": ["x"]})", {buffer}),
              HasSubstr("was deleted or donated"));
  Destroy(buffer);
  EXPECT_EQ(Asked(absl::StrCat(R"({"verb": "delete", "token": ")",
                               token_of(put), "\"}")),
            "{}");
}

TEST_F(PjrtTest, TheExtensionRefusesWhatIsNoRequest) {
  for (const auto& [request, what] :
       std::vector<std::pair<const char*, const char*>>{
           {"", "no object"},
           {"[1]", "no object"},
           {"{}", "no string verb"},
           {R"({"verb": "dance"})", "verb dance"},
           {R"({"verb": "stat"})", "no string token"},
           {R"({"verb": "stat", "token": "x", "device": 7})", "no device 7"},
           {R"({"verb": "stat", "token": "x", "device": "a"})", "no number"},
           {R"({"verb": "ran_on"})", "no buffer"},
           {R"({"verb": "put", "names": ["a", "b"]})", "2 names for 0 arrays"},
           {R"({"verb": "put", "names": 3})", "has no array"}}) {
    EXPECT_THAT(Asked(request), HasSubstr(what)) << request;
  }
  EXPECT_THAT(Asked(R"({"verb": "ran_on"})", {nullptr}),
              HasSubstr("no buffer"));
  EXPECT_THAT(Asked(R"({"verb": "put", "names": ["x"]})", {}, {{kF32}}),
              HasSubstr("no data"));
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
