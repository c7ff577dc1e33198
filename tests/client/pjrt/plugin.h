// The plugin as a program meets it: opened by dlopen, called by the C ABI.
#ifndef HAWSER_TESTS_CLIENT_PJRT_PLUGIN_H_
#define HAWSER_TESTS_CLIENT_PJRT_PLUGIN_H_

#include <dlfcn.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/pjrt/abi/args.h"
#include "client/pjrt/abi/extension.h"
#include "core/base/status.h"
#include "gtest/gtest.h"

namespace hawser::pjrt {

// Numbers of the ABI.
enum { kS32 = 4, kU8 = 6, kF32 = 11, kF64 = 12 };
enum { kInvalidArgument = 3, kUnimplemented = 12 };

enum class EntryId : size_t {
#define HAWSER_PJRT_HAS(Name) k##Name,
#define HAWSER_PJRT_LACKS(Name) k##Name,
#include "client/pjrt/abi/entries.def"
#undef HAWSER_PJRT_HAS
#undef HAWSER_PJRT_LACKS
};

// From the folder in which Bazel runs tests.
inline constexpr char kPluginPath[] = "client/pjrt/libhawser_pjrt.so";

// The plugin that is called.
inline const Api*& OpenedApi() {
  static const Api* api = [] {
    setenv("HAWSER_SERVERS", "", 1);
    void* plugin = dlopen(kPluginPath, RTLD_NOW);
    if (plugin == nullptr) ADD_FAILURE() << dlerror();
    auto* get = reinterpret_cast<const void* (*)()>(
        plugin == nullptr ? nullptr : dlsym(plugin, "GetPjrtApi"));
    HAWSER_CHECK(get != nullptr);
    return static_cast<const Api*>(get());
  }();
  return api;
}
inline const Api& TheApi() { return *OpenedApi(); }

inline Error* CallRaw(EntryId id, void* args) {
  return TheApi().entries[static_cast<size_t>(id)](args);
}

// What an error says, which is then destroyed: "" and 0 of none.
struct Said {
  int code = 0;
  std::string text;
};
inline Said Take(Error* error) {
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

// A client of these servers: "127.0.0.1:7070,127.0.0.1:7071".
inline Client* ClientOf(const std::string& servers) {
  NamedValue option = {};
  option.header.struct_size = sizeof(option);
  option.name = "servers";
  option.name_size = 7;
  option.string = servers.data();
  option.size = servers.size();
  return MUST(Client_Create, &option, 1).client;
}

// A second of work, of 1024 x 1024 products.
inline constexpr char kLong[] =
    "(%a: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {\n"
    "  %i = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %n = stablehlo.constant dense<1000> : tensor<i32>\n"
    "  %o = stablehlo.constant dense<1> : tensor<i32>\n"
    "  %0:2 = stablehlo.while(%k = %i, %x = %a) : tensor<i32>, "
    "tensor<1024x1024xf32>\n"
    "  cond {\n"
    "    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> "
    "tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n"
    "  } do {\n"
    "    %p = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : "
    "(tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> "
    "tensor<1024x1024xf32>\n"
    "    %m = stablehlo.add %k, %o : tensor<i32>\n"
    "    stablehlo.return %m, %p : tensor<i32>, tensor<1024x1024xf32>\n"
    "  }\n"
    "  return %0#1 : tensor<1024x1024xf32>\n}\n";

// Returns a program of that code, which outlives it, as the format does.
inline Program ProgramOf(absl::string_view code,
                         absl::string_view format = "mlir") {
  Program program = {};
  program.header.struct_size = sizeof(program);
  program.code = code.data();
  program.code_size = code.size();
  program.format = format.data();
  program.format_size = format.size();
  return program;
}

// Returns what the extension is asked with; all of it outlives the call.
inline AskArgs AskOf(absl::string_view request,
                     const std::vector<Buffer*>& buffers,
                     const std::vector<ExtensionArray>& arrays) {
  return {{sizeof(AskArgs), nullptr},
          request.data(),
          request.size(),
          buffers.data(),
          buffers.size(),
          arrays.data(),
          arrays.size(),
          nullptr,
          0,
          nullptr};
}

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
    const Program program = ProgramOf(text);
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

inline constexpr char kSum[] =
    "(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
    "  %0 = stablehlo.add %a, %b : tensor<2x3xf32>\n"
    "  return %0 : tensor<2x3xf32>\n}\n";

// Waits for a child, at most 20 s: its exit code, or 128 and the signal.
inline int ExitOf(pid_t child) {
  const absl::Time end = absl::Now() + absl::Seconds(20);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (absl::Now() > end) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return -1;
    }
    absl::SleepFor(absl::Milliseconds(2));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace hawser::pjrt
#endif  // HAWSER_TESTS_CLIENT_PJRT_PLUGIN_H_
