// hawser ls, stat, rm, and rows by get.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/cli/datasets/dataset_text.h"
#include "client/formats/numpy/npy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/cli/command_run.h"
#include "tests/client/cli/files.h"
#include "tests/client/cli/keeping_client.h"
#include "tests/testing/matchers.h"

namespace hawser::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Put(CommandRun& hawser, const std::vector<std::string>& files) {
  std::vector<std::string> words = {"put", "--as-one"};
  words.insert(words.end(), files.begin(), files.end());
  EXPECT_EQ(hawser.Run(words), kOk) << hawser.err();
  return std::string(absl::StripSuffix(hawser.out(), "\n"));
}

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

class DatasetCommands : public ::testing::Test {
 protected:
  DatasetCommands() { near_->durable = false; }

  std::shared_ptr<KeepingClient> near_ = std::make_shared<KeepingClient>();
  CommandRun hawser_{near_};
  const std::string x_ =
      NpyFile("ds_x.npy", Literal::Of<float>({1, 2, 3, 4, 5, 6}, {3, 2}));
  const std::string y_ = NpyFile("ds_y.npy", Literal::Vector<uint8_t>({7}));
  const std::string unknown_ = "hw1-" + std::string(52, 'a');
};

TEST_F(DatasetCommands, LsNamesWhatIsThereInOrder) {
  EXPECT_EQ(hawser_.Run({"ls"}), kOk);
  EXPECT_EQ(hawser_.out(), "");
  EXPECT_EQ(hawser_.Run({"ls", "--json"}), kOk);
  EXPECT_EQ(hawser_.out(), "{\"datasets\": []}\n");
  std::vector<std::string> tokens = {Put(hawser_, {x_}), Put(hawser_, {y_}),
                                     Put(hawser_, {x_, y_})};
  const std::string both = tokens[2];
  std::sort(tokens.begin(), tokens.end());
  ASSERT_EQ(hawser_.Run({"ls"}), kOk);
  EXPECT_EQ(Lines(hawser_.out()), tokens);
  ASSERT_EQ(hawser_.Run({"ls", both.substr(0, 20)}), kOk);
  EXPECT_THAT(Lines(hawser_.out()), ElementsAre(both));
  ASSERT_EQ(hawser_.Run({"ls", both, "-l"}), kOk);
  EXPECT_EQ(hawser_.out(),
            both + "        25 B  memory   2023-11-14T22:13Z  -"
                   "                  ds_x f32[3,2], ds_y u8[1]\n");
  ASSERT_EQ(hawser_.Run({"ls", both, "--json"}), kOk);
  EXPECT_EQ(hawser_.out(),
            absl::StrCat("{\"datasets\": [{\"token\": \"", both,
                         "\", \"arrays\": [{\"name\": \"ds_x\", \"dtype\": "
                         "\"f32\", \"dims\": [3, 2]}, {\"name\": \"ds_y\", "
                         "\"dtype\": \"u8\", \"dims\": [1]}], \"bytes\": 25, "
                         "\"durable\": false, \"last_used\": "
                         "\"2023-11-14T22:13:20Z\", "
                         "\"pinned_until\": null, \"tags\": []}]}\n"));
}

TEST_F(DatasetCommands, StatDescribesOne) {
  const std::string token = Put(hawser_, {x_, y_});
  ASSERT_EQ(hawser_.Run({"stat", token}), kOk);
  EXPECT_EQ(hawser_.out(),
            token +
                "\n  bytes    25 (25 B)\n  durable  no, in memory only\n"
                "  used     2023-11-14T22:13Z\n"
                "  array    f32[3,2]  ds_x\n  array    u8[1]  ds_y\n");
  ASSERT_EQ(hawser_.Run({"stat", token, "--json"}), kOk);
  EXPECT_THAT(hawser_.out(),
              StartsWith(absl::StrCat("{\"token\": \"", token, "\"")));
  EXPECT_EQ(hawser_.Run({"stat", unknown_}), kFailed);
  EXPECT_THAT(hawser_.err(), HasSubstr(unknown_));
  EXPECT_EQ(hawser_.Run({"stat", "nothing"}), kFailed);
  EXPECT_EQ(hawser_.Run({"stat", token, "-s", "far:1"}), kUnreachable);
}

TEST_F(DatasetCommands, RmDeletesAndGoesOnAfterWhatIsNotThere) {
  const std::string x = Put(hawser_, {x_}), y = Put(hawser_, {y_});
  EXPECT_EQ(hawser_.Run({"rm", x, "hw1-short"}), kFailed);
  EXPECT_EQ(hawser_.Run({"stat", x}), kOk) << "nothing goes with a bad token";
  EXPECT_EQ(hawser_.Run({"rm", unknown_, x, "--json"}), kFailed);
  EXPECT_THAT(hawser_.out(),
              AllOf(StartsWith(absl::StrCat("{\"deleted\": [\"", x,
                                            "\"], \"failed\": [{\"token\": \"",
                                            unknown_)),
                    HasSubstr("\"code\": \"NOT_FOUND\"")));
  EXPECT_THAT(hawser_.err(), HasSubstr(unknown_));
  EXPECT_EQ(hawser_.Run({"stat", x}), kFailed);
  EXPECT_EQ(hawser_.Run({"rm", y}), kOk);
  EXPECT_EQ(hawser_.out(), "");
  EXPECT_EQ(hawser_.err(), "");
  ASSERT_EQ(hawser_.Run({"ls"}), kOk);
  EXPECT_EQ(hawser_.out(), "");
  EXPECT_EQ(hawser_.Run({"rm", y, "-s", "far:1"}), kUnreachable);
}

TEST_F(DatasetCommands, GetTakesRows) {
  const std::string token = Put(hawser_, {x_, y_});
  const std::string path = TempPath("rows.npy");
  const struct {
    const char* rows;
    Literal want;
  } good[] = {{"1:2", Literal::Of<float>({3, 4}, {1, 2})},
              {":2", Literal::Of<float>({1, 2, 3, 4}, {2, 2})},
              {"2:", Literal::Of<float>({5, 6}, {1, 2})},
              {":", Literal::Of<float>({1, 2, 3, 4, 5, 6}, {3, 2})},
              {"3:3", Literal::Of<float>({}, {0, 2})}};
  for (const auto& row : good) {
    ASSERT_EQ(
        hawser_.Run({"get", token + ":ds_x", "--rows", row.rows, "-o", path}),
        kOk)
        << hawser_.err();
    EXPECT_THAT(*ReadNpy(path), LiteralBitEquals(row.want)) << row.rows;
  }
  EXPECT_EQ(hawser_.Run({"get", token + ":ds_x", "-r", "2:4", "-o", path}),
            kFailed);
  EXPECT_THAT(hawser_.err(),
              HasSubstr(absl::StrCat("dataset ", token,
                                     ", array \"ds_x\": "
                                     "rows 2 and up, 2 of them, of f32[3,2]")));
}

TEST(RowSpan, IsTwoNumbersOrFewer) {
  for (const char* bad : {"", "3", "a:b", "1:2:3", "-1:2", "1: 2", "+1:2",
                          "99999999999999999999:", "1:0x4"}) {
    EXPECT_THAT(ParseRowSpan(bad),
                StatusIs(absl::StatusCode::kInvalidArgument, bad));
  }
  const Shape shape = Shape::Of(DType::kF32, {5, 2});
  EXPECT_EQ(RowsOf(*ParseRowSpan("1:4"), shape), (RowRange{1, 3}));
  EXPECT_EQ(RowsOf(*ParseRowSpan("2:"), shape), (RowRange{2, 3}));
  EXPECT_EQ(RowsOf(*ParseRowSpan(":"), shape), (RowRange{0, 5}));
}

}  // namespace
}  // namespace hawser::cli
