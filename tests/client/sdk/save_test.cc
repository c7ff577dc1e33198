// Tensors and structures of them as files, and back.
#include "client/sdk/save.h"

#include <array>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "client/formats/array_file.h"
#include "client/sdk/or_exit.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {

namespace saved {
struct Layer {
  Tensor w, b;
};
auto HawserFields(Layer& layer) { return std::tie(layer.w, layer.b); }
auto HawserNames(const Layer&) { return std::array{"weight", "bias"}; }
struct Model {
  std::vector<Layer> layers;
  std::pair<Tensor, Tensor> scale;
  std::array<Tensor, 1> rest;
};
auto HawserFields(Model& m) { return std::tie(m.layers, m.scale, m.rest); }
auto HawserNames(const Model&) {
  return std::array<std::string, 3>{"layers", "scale", "rest"};
}
}  // namespace saved

namespace {

using absl::StatusCode;
using saved::Layer;
using saved::Model;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::string Path(const std::string& name) {
  return ::testing::TempDir() + "/save_test_" + name;
}

Model Example() {
  const Tensor x = T1<float>({1, 2});
  return {.layers = {{x * 2, x + 1}, {Zeros(DType::kF64, {2, 3}), Scalar(7)}},
          .scale = {T1<bool>({true, false}), Zeros(DType::kF32, {0})},
          .rest = {T1<uint8_t>({9})}};
}

std::vector<std::string> NamesIn(const std::string& path) {
  const NamedArrays arrays = *ReadArrays(path, {});
  std::vector<std::string> names;
  for (const NamedArray& array : arrays) names.push_back(array.name);
  return names;
}

TEST(Save, AStructureComesBack) {
  for (const char* name : {"model.safetensors", "model.npz"}) {
    SCOPED_TRACE(name);
    const std::string path = Path(name);
    ASSERT_OK(Save(path, Example()));
    EXPECT_THAT(NamesIn(path),
                UnorderedElementsAre("layers.0.weight", "layers.0.bias",
                                     "layers.1.weight", "layers.1.bias",
                                     "scale.0", "scale.1", "rest.0"));
    ASSERT_OK_AND_ASSIGN(const Model back, Load<Model>(path));
    ASSERT_EQ(back.layers.size(), 2u);
    EXPECT_VALUE(back.layers[0].w, F({2, 4}));
    EXPECT_VALUE(back.layers[0].b, F({2, 3}));
    EXPECT_VALUE(back.layers[1].b, Literal::Scalar<int32_t>(7));
    EXPECT_VALUE(back.scale.first, Literal::Vector<bool>({true, false}));
    EXPECT_VALUE(back.scale.second, F({}));
    EXPECT_VALUE(back.rest[0], Literal::Vector<uint8_t>({9}));
  }
}

TEST(Freeze, AStructureComesBackByItsTag) {
  const auto counting = std::make_shared<CountingClient>();
  const Client client{counting};
  const ScopedClient scope(client);
  ASSERT_OK_AND_ASSIGN(const Dataset frozen, Freeze("model", Example()));
  EXPECT_EQ(frozen.info().arrays.size(), 7u);
  EXPECT_NE(frozen.info().Find("layers.1.weight"), nullptr);
  ASSERT_OK_AND_ASSIGN(const Dataset found, client.Dataset("@model"));
  EXPECT_EQ(found.token(), frozen.token());
  ASSERT_OK_AND_ASSIGN(const Model back, Load<Model>(found));
  ASSERT_EQ(back.layers.size(), 2u);
  EXPECT_VALUE(back.layers[0].w, F({2, 4}));
  EXPECT_VALUE(back.layers[0].b, F({2, 3}));
  EXPECT_VALUE(back.scale.first, Literal::Vector<bool>({true, false}));
  EXPECT_VALUE(back.rest[0], Literal::Vector<uint8_t>({9}));

  ASSERT_OK_AND_ASSIGN(const Dataset other, Freeze("@model", back.layers));
  EXPECT_EQ(client.Dataset("@model")->token(), other.token());
  ASSERT_OK_AND_ASSIGN(const auto layers, Load<std::vector<Layer>>(other));
  EXPECT_VALUE(layers[0].w, F({2, 4}));
  EXPECT_THAT(Load<Model>(other),
              StatusIs(StatusCode::kInvalidArgument, "\"scale.0\""));
  EXPECT_THAT(Load<Layer>(Dataset()),
              StatusIs(StatusCode::kInvalidArgument, "\"weight\""));
  EXPECT_THAT(Freeze("no tag", back.scale),
              StatusIs(StatusCode::kInvalidArgument, "no tag"));
  ASSERT_OK(Freeze("", back.scale.first).status());
  EXPECT_THAT(Freeze("lost", Layer{.w = back.layers[0].w, .b = Tensor()}),
              StatusIs(StatusCode::kFailedPrecondition, "\"bias\""));
}

TEST(Save, ALoneTensorHasNoNameOfItsOwn) {
  const Tensor x = T1<float>({1, 2, 3});
  for (const char* name : {"x.npy", "x.npz", "x.safetensors", "X.NPY"}) {
    ASSERT_OK(Save(Path(name), x));
    ASSERT_OK_AND_ASSIGN(const Tensor back, Load<Tensor>(Path(name)));
    EXPECT_VALUE(back, F({1, 2, 3}));
  }
  EXPECT_THAT(NamesIn(Path("x.npz")), ElementsAre("tensor"));
  ASSERT_OK(Save(Path("t.npz"), std::tuple(x, x * 2)));
  EXPECT_THAT(NamesIn(Path("t.npz")), ElementsAre("0", "1"));
  ASSERT_OK_AND_ASSIGN(const auto two,
                       (Load<std::tuple<Tensor, Tensor>>(Path("t.npz"))));
  EXPECT_VALUE(std::get<1>(two), F({2, 4, 6}));
}

TEST(Save, RunsWhatWasRecordedOnce) {
  const auto counting = std::make_shared<CountingClient>();
  const ScopedClient scope{Client(counting)};
  ASSERT_OK(Save(Path("once.npz"), Example()));
  EXPECT_EQ(counting->executions, 1);
  ASSERT_OK_AND_ASSIGN(const auto step, Load<Model>(Path("once.npz")));
  const auto f = Jit([](Model m) { return m.layers[0].w + m.layers[0].b; });
  ASSERT_OK_AND_ASSIGN(const Tensor sum, f(step));
  EXPECT_VALUE(sum, F({4, 7}));
}

TEST(Save, ComplexNumbersComeBack) {
  for (const char* name : {"c.safetensors", "c.npz", "c.npy"}) {
    const std::string path = Path(name);
    const Literal c64 = Literal::Vector<std::complex<float>>({{1, 2}, {3, -4}});
    ASSERT_OK(Save(path, Constant(c64)));
    ASSERT_OK_AND_ASSIGN(const Tensor single, Load<Tensor>(path));
    EXPECT_VALUE(single, c64);
    const Literal c128 = Literal::Vector<std::complex<double>>({{1, 2}});
    ASSERT_OK(Save(path, Constant(c128)));
    ASSERT_OK_AND_ASSIGN(const Tensor twice, Load<Tensor>(path));
    EXPECT_VALUE(twice, c128);
  }
}

TEST(Save, WhatCannotBeWritten) {
  const Tensor x = T1<float>({1});
  EXPECT_THAT(Save(Path("x.txt"), x),
              StatusIs(StatusCode::kInvalidArgument, "is called none of"));
  EXPECT_THAT(Save(Path("x.npy"), std::tuple(x)),
              StatusIs(StatusCode::kInvalidArgument, "without a name"));
  EXPECT_THAT(Save(Path("b.npz"), Convert(x, DType::kBF16)),
              StatusIs(StatusCode::kInvalidArgument, "bf16"));
  EXPECT_THAT(Save(Path("e.npz"), std::vector<Tensor>()),
              StatusIs(StatusCode::kInvalidArgument, "there are no arrays"));
  EXPECT_THAT(Save(Path("f.npz"), std::pair(x, Reshape(x, {7}))),
              StatusIs(StatusCode::kInvalidArgument, "\"1\": Reshape: "));
  EXPECT_THAT(Save(Path("g.npz"), Tensor()),
              StatusIs(StatusCode::kFailedPrecondition, "never given a value"));
  EXPECT_FALSE(Save("/no/such/folder/x.npz", x).ok());
  EXPECT_THAT(
      Save(Path("d.npz"), x * 3, {.call = {.deadline = absl::ZeroDuration()}}),
      StatusIs(StatusCode::kDeadlineExceeded,
               "deadline of 0 passed: Save on cpu; "));
}

TEST(Load, NamesWhatIsMissingAndWhatHasNoPlace) {
  const std::string path = Path("layer.npz");
  ASSERT_OK(Save(path, Layer{T1<float>({1}), T1<float>({2})}));
  EXPECT_THAT(Load<Model>(path),
              StatusIs(StatusCode::kInvalidArgument,
                       "has no array \"rest.0\", \"scale.0\", \"scale.1\"; not "
                       "asked for: \"bias\", \"weight\""));
  EXPECT_THAT(Load<Tensor>(path),
              StatusIs(StatusCode::kInvalidArgument,
                       "has no array \"\", it has \"bias\", \"weight\"; one "
                       "Tensor is loaded from a file of one array"));
  EXPECT_THAT(Load<std::vector<Tensor>>(path),
              StatusIs(StatusCode::kInvalidArgument,
                       "there is no place for \"bias\", \"weight\""));
  EXPECT_THAT(Load<Tensor>(Path("none.npz")),
              StatusIs(StatusCode::kNotFound, "none.npz"));
  std::ofstream(Path("bad.npz")) << "PK";
  EXPECT_THAT(Load<Tensor>(Path("bad.npz")),
              StatusIs(StatusCode::kInvalidArgument, "bad.npz"));
}

TEST(Freeze, KeepsTheLastOfAName) {
  const Client client = Client::Cpu();
  std::vector<std::string> tokens;
  const auto freeze = [&](float value) {
    const auto frozen =
        Freeze("kept", Full(DType::kF32, {3}, value), {.keep = 3});
    EXPECT_OK(frozen);
    tokens.push_back(frozen->token());
  };
  for (const float value : {1.0f, 2.0f, 3.0f}) freeze(value);
  // The oldest is pushed out, and so is the one behind it that another name
  // stands for, which stays.
  ASSERT_OK(client.Tag({.name = "@best", .token = tokens[1]}));
  for (const float value : {4.0f, 5.0f}) freeze(value);
  freeze(5.0f);  // the same once more pushes out none
  const auto token_of = [&](const char* name) {
    const auto dataset = client.Dataset(name);
    return dataset.ok() ? dataset->token() : dataset.status().ToString();
  };
  EXPECT_EQ(token_of("@kept"), tokens[4]);
  EXPECT_EQ(token_of("@kept.1"), tokens[3]);
  EXPECT_EQ(token_of("@kept.2"), tokens[2]);
  EXPECT_THAT(client.Dataset("@kept.3"),
              StatusIs(StatusCode::kNotFound, "kept"));
  EXPECT_EQ(token_of("@best"), tokens[1]);
  EXPECT_THAT(client.Dataset(tokens[0]),
              StatusIs(StatusCode::kNotFound, tokens[0]));
  EXPECT_THAT(Freeze("", Full(DType::kF32, {3}, 1), {.keep = 3}),
              StatusIs(StatusCode::kInvalidArgument, "keep is 3"));
  EXPECT_THAT(Freeze("kept", Full(DType::kF32, {3}, 1), {.keep = -1}),
              StatusIs(StatusCode::kInvalidArgument, "keep is -1"));
}

TEST(Load, NamesTheLineOfItsCall) {
  const auto loaded = Load<Tensor>("nowhere.npy");
  EXPECT_THAT(loaded, StatusIs(StatusCode::kNotFound, "nowhere.npy"));
  EXPECT_THAT(loaded, StatusIs(StatusCode::kNotFound, "save_test.cc:"));
}

TEST(OrExit, PrintsTheErrorAndTheLineOfItsCall) {
  EXPECT_EQ(OrExit(absl::StatusOr<int>(3)), 3);
  OrExit(absl::OkStatus());
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(OrExit(Load<Tensor>("nowhere.npy")), ::testing::ExitedWithCode(1),
              "save_test.cc:[0-9]+: NOT_FOUND: .*nowhere.npy");
  EXPECT_EXIT(OrExit(absl::AbortedError("tag moved")),
              ::testing::ExitedWithCode(1),
              "save_test.cc:[0-9]+: ABORTED: tag moved");
}

}  // namespace
}  // namespace hawser
