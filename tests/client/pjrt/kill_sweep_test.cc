// A server that dies between any two entries, of whatever a program does with
// it: datasets, serialized programs, programs of two partitions. What it
// fetches is right, or an entry says what is gone.
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/pjrt/plugin.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"

namespace hawser::pjrt {
namespace {

using ::testing::AnyOf;
using Floats = std::vector<float>;

// What a dead server may be an error of.
auto SaysWhatIsGone() {
  enum { kNotFound = 5, kUnavailable = 14, kDataLoss = 15 };
  return AnyOf(kNotFound, kUnavailable, kDataLoss);
}

// One that a server is killed in. After an entry that failed none is called but
// those that end it.
class Talk {
 public:
  // Kills a server after so many calls of the plugin; 0: never.
  Talk(int servers, int victim, int kill_after)
      : victim_(victim), kill_after_(kill_after) {
    std::vector<std::string> addresses(static_cast<size_t>(servers));
    for (std::string& address : addresses) {
      auto server = testing::StartHawserd({"--device=cpu"}, &address);
      EXPECT_OK(server);
      if (server.ok()) servers_.push_back(*std::move(server));
    }
    client_ = ClientOf(absl::StrJoin(addresses, ","));
    Count();
  }

  Client* client() const { return client_; }
  const Said& error() const { return error_; }
  const Floats& fetched() const { return fetched_; }
  int calls() const { return calls_; }

  template <typename Args>
  bool Call(EntryId id, Args* args) {
    args->header.struct_size = sizeof(Args);
    if (error_.code == 0) {
      error_ = Take(CallRaw(id, args));
      Count();
    }
    return error_.code == 0;
  }
  Device* DeviceAt(size_t i) const {
    return MUST(Client_Devices, client_, nullptr, 0).devices[i];
  }

  // Null after an error.
  LoadedExecutable* Compile(const std::string& ops,
                            const std::string& options = "") {
    const std::string text = absl::StrCat("func.func @main", ops);
    const Program program = ProgramOf(text);
    Client_CompileArgs args = {
        {}, client_, &program, options.data(), options.size(), nullptr};
    if (!Call(EntryId::kClient_Compile, &args)) return nullptr;
    return Keep(args.executable);
  }
  // Arguments are those of each device in turn, and so are the results.
  std::vector<Buffer*> Execute(LoadedExecutable* program, size_t devices,
                               const std::vector<Buffer*>& arguments,
                               size_t results) {
    std::vector<Buffer*> made(devices * results);
    std::vector<Buffer* const*> lists;
    std::vector<Buffer**> outputs;
    const size_t each = arguments.size() / devices;
    for (size_t p = 0; p < devices; ++p) {
      lists.push_back(arguments.data() + p * each);
      outputs.push_back(made.data() + p * results);
    }
    LoadedExecutable_ExecuteArgs args = {};
    args.executable = program;
    args.argument_lists = lists.data();
    args.num_devices = devices;
    args.num_args = each;
    args.output_lists = outputs.data();
    if (Call(EntryId::kLoadedExecutable_Execute, &args)) {
      for (Buffer* buffer : made) Keep(buffer);
    }
    return made;
  }
  void Fetch(Buffer* buffer) {
    float values[4] = {};
    Buffer_ToHostBufferArgs args = {{},     buffer,         nullptr,
                                    values, sizeof(values), nullptr};
    if (!Call(EntryId::kBuffer_ToHostBuffer, &args)) return;
    Event_AwaitArgs done = {{}, args.event};
    const bool there = Call(EntryId::kEvent_Await, &done);
    MUST(Event_Destroy, args.event);
    if (there) fetched_.insert(fetched_.end(), values, values + 4);
  }
  // The token in the extension's answer, if one is there. What it cannot say
  // without its server is no reason to end.
  std::string Ask(const std::string& fields, std::vector<Buffer*> buffers = {},
                  std::vector<ExtensionArray> arrays = {}) {
    if (error_.code != 0) return "";
    const auto* attributes = MUST(Device_GetAttributes, DeviceAt(0)).attributes;
    const std::string request =
        absl::StrCat("{\"client\": ", attributes->integer, ", ", fields, "}");
    AskArgs args = AskOf(request, buffers, arrays);
    const auto* extension =
        static_cast<const Extension*>(TheApi().extension_start);
    const Said said = Take(extension->ask(&args));
    Count();
    if (said.code != 0) {
      EXPECT_THAT(said.code, SaysWhatIsGone()) << fields << ": " << said.text;
      return "";
    }
    const std::string answer(args.answer, args.answer_size);
    args.delete_answer(args.answer);
    const size_t begin = answer.find("hw1-");
    return begin == answer.npos ? "" : answer.substr(begin, 56);
  }

  Buffer* Keep(Buffer* buffer) {
    buffers_.push_back(buffer);
    return buffer;
  }
  LoadedExecutable* Keep(LoadedExecutable* program) {
    programs_.push_back(program);
    return program;
  }
  // Destroys all that it made.
  void End() {
    for (Buffer* buffer : buffers_) {
      MUST(Buffer_Destroy, buffer);
      Count();
    }
    for (LoadedExecutable* program : programs_) {
      MUST(LoadedExecutable_Destroy, program);
      Count();
    }
    MUST(Client_Destroy, client_);
  }

 private:
  void Count() {
    if (++calls_ != kill_after_) return;
    servers_.erase(servers_.begin() + victim_);
  }

  const int victim_;
  const int kill_after_;
  std::vector<testing::Process> servers_;
  Client* client_ = nullptr;
  std::vector<Buffer*> buffers_;
  std::vector<LoadedExecutable*> programs_;
  int calls_ = 0;
  Said error_;
  Floats fetched_;
};

// Null after an error.
Buffer* Put(Talk* talk, const Floats& values, Device* device) {
  const int64_t dims[] = {2, 2};
  Client_BufferFromHostBufferArgs args = {};
  args.client = talk->client();
  args.data = values.data();
  args.type = kF32;
  args.dims = dims;
  args.num_dims = 2;
  args.device = device;
  if (!talk->Call(EntryId::kClient_BufferFromHostBuffer, &args)) return nullptr;
  MUST(Event_Destroy, args.done_with_host_buffer);
  return talk->Keep(args.buffer);
}

// ---- datasets ---------------------------------------------------------------

std::string Quoted(const std::string& name, const std::string& value) {
  return absl::StrCat("\"", name, "\": \"", value, "\"");
}

void TalkOfDatasets(Talk* talk) {
  const Floats values = {1, 2, 3, 4};
  const int64_t dims[] = {2, 2};
  const std::string token = talk->Ask(R"("verb": "put", "names": ["x"])", {},
                                      {{kF32, dims, 2, values.data()}});
  const std::string named = Quoted("token", token);
  talk->Ask(absl::StrCat(R"("verb": "tag", "name": "@swept", )", named));
  talk->Ask(absl::StrCat(R"("verb": "stat", )", named));
  LoadedExecutable* const twice = talk->Compile(
      absl::StrCat("() -> tensor<2x2xf32> {\n"
                   "  %x = stablehlo.custom_call @hawser.dataset() "
                   "{mhlo.backend_config = {name = \"x\", token = \"",
                   token,
                   "\"}} : () -> tensor<2x2xf32>\n"
                   "  %0 = stablehlo.add %x, %x : tensor<2x2xf32>\n"
                   "  return %0 : tensor<2x2xf32>\n}\n"));
  Buffer* const doubled = talk->Execute(twice, 1, {}, 1)[0];
  talk->Fetch(doubled);
  const std::string frozen =
      talk->Ask(R"("verb": "freeze", "names": ["y"])", {doubled});
  if (!frozen.empty()) {
    talk->Ask(absl::StrCat(R"("verb": "stat", )", Quoted("token", frozen)));
  }
  talk->Ask(R"("verb": "ran_on")", {doubled});
  talk->Ask(R"("verb": "list", "prefix": "hw1-")");
  talk->Ask(absl::StrCat(R"("verb": "pin", "seconds": 1, )", named));
  talk->Ask(R"("verb": "tag", "name": "@swept", "token": "")");
  talk->Ask(R"("verb": "status")");
  talk->Fetch(talk->Execute(twice, 1, {}, 1)[0]);
  talk->Ask(absl::StrCat(R"("verb": "delete", )", named));
  talk->Fetch(doubled);
}

// ---- serialized programs ----------------------------------------------------

// w + x @ x; w is donated.
constexpr char kStep[] =
    "(%w: tensor<2x2xf32> {tf.aliasing_output = 0 : i32}, "
    "%x: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
    "  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : "
    "(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>\n"
    "  %1 = stablehlo.add %w, %0 : tensor<2x2xf32>\n"
    "  return %1 : tensor<2x2xf32>\n}\n";

// Loads what a program is serialized to; null after an error.
LoadedExecutable* LoadAgain(Talk* talk, LoadedExecutable* program) {
  LoadedExecutable_GetExecutableArgs got = {{}, program, nullptr};
  if (!talk->Call(EntryId::kLoadedExecutable_GetExecutable, &got)) {
    return nullptr;
  }
  Executable_SerializeArgs bytes = {};
  bytes.executable = got.executable;
  const bool serialized = talk->Call(EntryId::kExecutable_Serialize, &bytes);
  MUST(Executable_Destroy, got.executable);
  if (!serialized) return nullptr;
  Executable_DeserializeAndLoadArgs load = {};
  load.client = talk->client();
  load.serialized_executable = bytes.serialized_bytes;
  load.serialized_executable_size = bytes.serialized_bytes_size;
  const bool loaded =
      talk->Call(EntryId::kExecutable_DeserializeAndLoad, &load);
  bytes.serialized_executable_deleter(bytes.serialized_executable);
  return loaded ? talk->Keep(load.loaded_executable) : nullptr;
}

void TalkOfSerializedPrograms(Talk* talk) {
  Device* const device = talk->DeviceAt(0);
  Buffer* w = Put(talk, {1, 1, 1, 1}, device);
  Buffer* const x = Put(talk, {1, 2, 3, 4}, device);
  LoadedExecutable* step = talk->Compile(kStep);
  for (int i = 0; i < 3; ++i) {
    w = talk->Execute(step, 1, {w, x}, 1)[0];
    if (i < 2) step = LoadAgain(talk, step);
  }
  const int64_t dims[] = {4};
  Buffer_BitcastArgs flat = {{}, w, kF32, dims, 1, nullptr, nullptr};
  if (talk->Call(EntryId::kBuffer_Bitcast, &flat)) talk->Keep(flat.result);
  Device_MemoryStatsArgs stats = {};
  stats.device = device;
  talk->Call(EntryId::kDevice_MemoryStats, &stats);
  talk->Fetch(flat.result);
  talk->Fetch(w);
}

// ---- programs of two partitions ---------------------------------------------

// w + transposed(x) @ x, of which each partition has two rows; w is donated.
constexpr char kCut[] =
    "(%w: tensor<2x2xf32> {tf.aliasing_output = 0 : i32}, "
    "%x: tensor<4x2xf32> {mhlo.sharding = \"{devices=[2,1]0,1}\"}) -> "
    "tensor<2x2xf32> {\n"
    "  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : "
    "(tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>\n"
    "  %1 = stablehlo.add %w, %0 : tensor<2x2xf32>\n"
    "  return %1 : tensor<2x2xf32>\n}\n";
// XLA's CompileOptionsProto: one replica (4) of two partitions (5).
constexpr char kTwoPartitions[] = "\x1a\x04\x20\x01\x28\x02";

void TalkOfTwoPartitions(Talk* talk) {
  std::vector<Buffer*> w, x;
  for (size_t p = 0; p < 2; ++p) {
    w.push_back(Put(talk, {0, 0, 0, 0}, talk->DeviceAt(p)));
    const auto first = static_cast<float>(4 * p);
    x.push_back(Put(talk, {first + 1, first + 2, first + 3, first + 4},
                    talk->DeviceAt(p)));
  }
  LoadedExecutable* const step = talk->Compile(kCut, kTwoPartitions);
  for (int i = 0; i < 3; ++i) {
    w = talk->Execute(step, 2, {w[0], x[0], w[1], x[1]}, 1);
    if (i == 1) talk->Fetch(w[0]);
  }
  // Of one device alone.
  LoadedExecutable* const own = talk->Compile(kStep);
  Buffer* const on_first = talk->Execute(own, 1, {w[0], x[0]}, 1)[0];
  talk->Fetch(w[1]);
  talk->Fetch(on_first);
}

// ---- the sweep --------------------------------------------------------------

struct Subject {
  const char* name;
  void (*talk)(Talk*);
  int servers;
  Floats fetched;  // by hand
};
void PrintTo(const Subject& subject, std::ostream* os) { *os << subject.name; }

class KillSweepTest : public ::testing::TestWithParam<Subject> {};

TEST_P(KillSweepTest, GivesNoWrongValueAndDoesNotHang) {
  const Subject& subject = GetParam();
  Talk whole(subject.servers, 0, 0);
  subject.talk(&whole);
  whole.End();
  ASSERT_EQ(whole.error().text, "");
  ASSERT_EQ(whole.fetched(), subject.fetched);
  int right = 0;
  for (int victim = 0; victim < subject.servers; ++victim) {
    for (int k = 1; k <= whole.calls(); ++k) {
      SCOPED_TRACE(absl::StrCat("server ", victim, " killed after call ", k));
      const absl::Time begin = absl::Now();
      Talk killed(subject.servers, victim, k);
      subject.talk(&killed);
      killed.End();
      EXPECT_LT(absl::Now() - begin, absl::Seconds(20));
      const Said& error = killed.error();
      if (error.code == 0) {
        EXPECT_EQ(killed.fetched(), subject.fetched);
        ++right;
        continue;
      }
      EXPECT_THAT(error.code, SaysWhatIsGone()) << error.text;
      std::cout << k << ": " << error.text << "\n";
    }
  }
  EXPECT_GT(right, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Of, KillSweepTest,
    ::testing::Values(Subject{"Datasets",
                              TalkOfDatasets,
                              1,
                              {2, 4, 6, 8, 2, 4, 6, 8, 2, 4, 6, 8}},
                      Subject{"SerializedPrograms",
                              TalkOfSerializedPrograms,
                              1,
                              {22, 31, 46, 67, 22, 31, 46, 67}},
                      Subject{"TwoPartitions",
                              TalkOfTwoPartitions,
                              2,
                              {168, 200, 200, 240, 252, 300, 300, 360, 259, 310,
                               315, 382}}),
    [](const auto& subject) { return std::string(subject.param.name); });

}  // namespace
}  // namespace hawser::pjrt
