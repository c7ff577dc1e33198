// hawser's extension of the C ABI: what it is asked, and what it answers.
#include "client/pjrt/abi/extension.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/pjrt/plugin.h"

namespace hawser::pjrt {
namespace {

using ::testing::HasSubstr;

// The number by which the extension knows a client.
int64_t NumberOf(Client* client) {
  Device* const device = MUST(Client_Devices, client, nullptr, 0).devices[0];
  const auto got = MUST(Device_GetAttributes, device);
  EXPECT_EQ(got.num_attributes, 1u);
  const NamedValue& value = *got.attributes;
  EXPECT_EQ(std::string(value.name, value.name_size), "hawser_client");
  EXPECT_EQ(value.type, 1);
  return value.integer;
}

// The extension's answer, or what it says.
std::string Asked(const std::string& request, std::vector<Buffer*> buffers = {},
                  std::vector<ExtensionArray> arrays = {}) {
  const auto* extension =
      static_cast<const Extension*>(TheApi().extension_start);
  EXPECT_EQ(extension->type, Extension::kType);
  EXPECT_EQ(extension->struct_size, sizeof(Extension));
  AskArgs args = AskOf(request, buffers, arrays);
  const Said said = Take(extension->ask(&args));
  if (said.code != 0) return said.text;
  std::string answer(args.answer, args.answer_size);
  args.delete_answer(args.answer);
  return answer;
}

class ExtensionTest : public PjrtTest {
 protected:
  // A request about this client.
  std::string OfClient(const std::string& fields) const {
    return absl::StrCat("{\"client\": ", NumberOf(client_), ", ", fields, "}");
  }
};

TEST_F(ExtensionTest, PutsFreezesAndSays) {
  const std::vector<float> values = {1, 2, 3};
  const int64_t dims[] = {3};
  const ExtensionArray array = {kF32, dims, 1, values.data()};
  const std::string put =
      Asked(OfClient(R"("verb": "put", "names": ["x"])"), {}, {array});
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
  EXPECT_THAT(Asked(OfClient(R"("verb": "status")")),
              HasSubstr(R"("reachable":true)"));
  MUST(Buffer_Delete, buffer);
  EXPECT_THAT(Asked(R"({"verb": "freeze", "names": ["x"]})", {buffer}),
              HasSubstr("was deleted or donated"));
  Destroy(buffer);
  EXPECT_EQ(Asked(OfClient(absl::StrCat(R"("verb": "delete", "token": ")",
                                        token_of(put), "\""))),
            "{}");
}

TEST_F(ExtensionTest, RefusesWhatIsNoRequest) {
  for (const auto& [request, what] :
       std::vector<std::pair<const char*, const char*>>{
           {"", "no object"},
           {"[1]", "no object"},
           {"{}", "no number client"},
           {R"({"client": "a"})", "no number client"},
           {R"({"client": 0})", "client 0 is gone"}}) {
    EXPECT_THAT(Asked(request), HasSubstr(what)) << request;
  }
  for (const auto& [fields, what] :
       std::vector<std::pair<const char*, const char*>>{
           {R"("verb": 3)", "no string verb"},
           {R"("verb": "dance")", "verb dance"},
           {R"("verb": "stat")", "no string token"},
           {R"("verb": "stat", "token": "x", "device": 7)", "no device 7"},
           {R"("verb": "stat", "token": "x", "device": "a")", "no number"},
           {R"("verb": "ran_on")", "no buffer"},
           {R"("verb": "put", "names": ["a", "b"])", "2 names for 0 arrays"},
           {R"("verb": "put", "names": 3)", "has no array"}}) {
    EXPECT_THAT(Asked(OfClient(fields)), HasSubstr(what)) << fields;
  }
  EXPECT_THAT(Asked(R"({"verb": "ran_on"})", {nullptr}),
              HasSubstr("no buffer"));
  EXPECT_THAT(Asked(OfClient(R"("verb": "put", "names": ["x"])"), {}, {{kF32}}),
              HasSubstr("no data"));
}

TEST_F(ExtensionTest, IsAboutTheClientThatAsks) {
  const std::string mine = OfClient(R"("verb": "status")");
  Client* other = Must<Client_CreateArgs>(EntryId::kClient_Create, {}).client;
  const int64_t number = NumberOf(other);
  EXPECT_NE(number, NumberOf(client_));
  MUST(Client_Destroy, other);
  other = ClientOf("127.0.0.1:1");
  EXPECT_THAT(Asked(absl::StrCat(R"({"verb": "status", "client": )",
                                 NumberOf(other), "}")),
              HasSubstr(R"("reachable":false,"why":"it does not answer)"));
  MUST(Client_Destroy, other);
  EXPECT_THAT(Asked(mine), HasSubstr(R"("reachable":true)"));
  EXPECT_THAT(
      Asked(absl::StrCat(R"({"verb": "status", "client": )", number, "}")),
      HasSubstr("is gone"));
}

}  // namespace
}  // namespace hawser::pjrt
