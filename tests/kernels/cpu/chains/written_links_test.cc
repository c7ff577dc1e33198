// Which links ChainWriter writes: those of the ops, and as few moves beside
// them as there can be.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/registry.h"
#include "gtest/gtest.h"
#include "kernels/cpu/chains/chain_writer.h"
#include "tests/kernels/cpu/chains/link_names.h"

namespace hawser::cpu {
namespace {

// A chain by its text, of statements that end in ";": "x: f32" reads lanes, "c:
// one f32" one element, "n: count s32" counts; "s = add x y" is an op, whose
// result has the dtype of its last operand, or the one behind ":"; "give s" and
// "late s" say that a value is wanted.
class TextChain {
 public:
  explicit TextChain(const std::string& text) {
    for (const auto statement :
         absl::StrSplit(text, ';', absl::SkipWhitespace())) {
      const std::vector<std::string> words =
          absl::StrSplit(statement, ' ', absl::SkipEmpty());
      if (words[0] == "give" || words[0] == "late") {
        wanted_[values_.at(words[1])] =
            words[0] == "give" ? Wanted::kYes : Wanted::kLate;
      } else if (words[1] == "=") {
        AddOp(words);
      } else {
        AddRead(words);
      }
    }
  }

  // "take x, plus y, give s last": each link with what it is on. "@0" is a
  // place of the strip, "last" a give behind which no link reads.
  std::string Links() {
    std::vector<std::string> links;
    for (const WrittenLink& link : writer_.Write(wanted_)) {
      std::string text = LinkName(link.op, link.other);
      if (link.value >= 0) text += " " + names_[link.value];
      if (link.kept >= 0) absl::StrAppend(&text, "@", link.kept);
      if (link.is_last) text += " last";
      links.push_back(text);
    }
    return absl::StrJoin(links, ", ");
  }

 private:
  static DType DTypeOf(const std::string& name) {
    for (const DType dtype : AllDTypes()) {
      if (DTypeName(dtype) == name) return dtype;
    }
    ADD_FAILURE() << name;
    return DType::kInvalid;
  }

  void Add(const std::string& name, DType dtype, ChainValue value) {
    EXPECT_EQ(value, static_cast<ChainValue>(names_.size()));
    EXPECT_TRUE(values_.emplace(name, value).second) << name;
    names_.push_back(name);
    dtypes_.push_back(dtype);
    wanted_.push_back(Wanted::kNo);
  }
  void AddRead(const std::vector<std::string>& words) {
    const std::string name = words[0].substr(0, words[0].size() - 1);
    const DType dtype = DTypeOf(words.back());
    Add(name, dtype,
        words[1] == "count" ? writer_.AddCount(dtype)
        : words[1] == "one" ? writer_.AddRead(dtype, ChainOther::kOne)
                            : writer_.AddRead(dtype, ChainOther::kLanes));
  }
  void AddOp(const std::vector<std::string>& words) {
    std::vector<ChainValue> operands;
    size_t k = 3;
    for (; k < words.size() && words[k] != ":"; ++k) {
      operands.push_back(values_.at(words[k]));
    }
    const DType result =
        k < words.size() ? DTypeOf(words[k + 1]) : dtypes_[operands.back()];
    if (words[2] == "widen") {
      const ChainRow* widen = &kWidenRow;
      return Add(words[0], result,
                 writer_.AddOp({&widen, 1}, operands, result));
    }
    const OpDef& op = *FindOp(words[2]);
    Attributes attributes;
    if (&op == &kCompare) attributes.Set("direction", std::string("LT"));
    std::vector<const ChainRow*> rows;
    for (const ChainRow& row : ChainRowsOf(op)) {
      const DType on = dtypes_[operands[row.operand]];
      if (IsOf(row, on, result, attributes)) rows.push_back(&row);
    }
    ASSERT_FALSE(rows.empty()) << words[0];
    Add(words[0], result, writer_.AddOp(rows, operands, result));
  }

  ChainWriter writer_;
  std::map<std::string, ChainValue> values_;
  std::vector<std::string> names_;
  std::vector<DType> dtypes_;
  std::vector<Wanted> wanted_;
};

struct LinksRow {
  const char* chain;
  const char* links;
};

constexpr LinksRow kLinks[] = {
    // What lanes, then truths, then h have is used first, whatever was added
    // first.
    {"x: f32; y: f32; m = compare x y : bool; p = sqrt y; q = sqrt x; give m; "
     "give p; give q",
     "take x, below y, give bools m last, root, give q last, take y, root, "
     "give p last"},
    {"t: bool; w: bool; x: f32; y: f32; u = and t w; p = sqrt x; n = not t; v "
     "= ceil y; give u; give p; give n; give v",
     "take bools t, both w, give bools u last, take x, root, give p last, take "
     "bools t, not so, give bools n last, take y, up, give v last"},
    {"n: count s32; x: s32; y: s32; c: one s32; a = add n c; b = add n a; p = "
     "add x y; d = subtract n c; give a; give b; give p; give d",
     "count one n, hold, whole plus one c, give a last, whole plus held, give "
     "b last, take held, whole minus one c, give d last, take x, whole plus y, "
     "give p last"},
    {"x: f32; y: f32; z: f32; u = add x y; v = add x z; w = sqrt u; give v; "
     "give w",
     "take x, plus y, root, give w last, take x, plus z, give v last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; d = subtract a b; give d",
     "take x, root, hold, take y, root, minus from held, give d last"},
    // A late one is given once nothing as wide is read any more, at once if it
    // can.
    {"x: f32; y: f32; c: one f32; a = add x y; b = add a c; late a; late b",
     "take x, plus y, give a last, plus one c, give b last"},
    {"x: f32; y: f32; z: f32; a = add x y; b = add a z; late a; late b",
     "take x, plus y, hold, plus z, give b last, take held, give a last"},
    {"x: f32; t: bool; u: bool; a = sqrt x; m = and t u; p = convert m : f32; "
     "b = add p a; late a; late p; give b",
     "take x, root, give a, take bools t, both u, ones, give p last, plus a, "
     "give b last"},
    {"x: f32; y: f32; a = add x y; b = sqrt a; c = ceil b; late a; late b; "
     "late c",
     "take x, plus y, give a last, root, give b last, up, give c last"},
    {"x: f32; y: f32; z: f32; a = add x y; b = add a z; give a; give b",
     "take x, plus y, give a last, plus z, give b last"},
    {"x: f32; y: f32; z: f32; a = add x y; b = add a z; c = multiply a b; late "
     "a; give b; give c",
     "take x, plus y, hold, plus z, give b last, times held, give c last, take "
     "held, give a last"},
    {"x: f32; y: f32; a = add x y; b = add a y; c = multiply b a; late a; late "
     "b; late c",
     "take x, plus y, hold, plus y, give b last, times held, give c last, take "
     "held, give a last"},
    {"x: f32; y: f32; t: bool; a = sqrt x; b = sqrt y; p = convert t : f32; "
     "late a; give b; give p",
     "take x, root, hold, take y, root, give b last, take held, give a last, "
     "take bools t, ones, give p last"},
    {"n: count s32; give n", "count one n, give n last"},
    {"x: f32; y: f32; a = add x y; b = sqrt y; late a; give b",
     "take x, plus y, hold, take y, root, give b last, take held, give a last"},
    {"x: f32; y: f32; t: bool; m = compare x y : bool; n = and m t; late m; "
     "late n",
     "take x, below y, give bools m@0, both t, give bools n last, take bools "
     "m@0, give bools m last"},
    {"x: f32; t: bool; u: bool; m = and t u; n = not m; p = convert n : f32; "
     "late m; late n; late p",
     "take bools t, both u, give bools m last, not so, give bools n last, "
     "ones, give p last"},
    {"x: f32; y: f32; z: f32; t: bool; u: bool; m = and t u; a = sqrt x; p = "
     "select m a y; q = sqrt z; r = subtract p q; late m; late p; give r",
     "take bools t, both u, give bools m last, take x, root, else y, hold, "
     "take z, root, minus from held, give r last, take held, give p last"},
    {"x: bf16; y: f32; u = widen x; a = sqrt u; b = sqrt y; late a; late b",
     "take bf16 x, root, round bf16, give bf16 a last, take y, root, give b "
     "last"},
    {"x: bf16; y: bf16; u = widen x; v = widen y; a = sqrt u; b = sqrt v; late "
     "a; give b",
     "take bf16 x, root, round bf16, hold, take bf16 y, root, round bf16, give "
     "bf16 b last, take held, give bf16 a last"},
    {"x: f64; y: f64; t: bool; a = add x y; b = select t a y; late a; give b",
     "take x, plus y, take bools t, hold, else y, give b last, take held, give "
     "a last"},
    // What is read again is not given for the last time.
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = ceil y; d = subtract c b; e "
     "= add d a; give a; give b; give e",
     "take x, root, give a, take y, root, give b, take y, up, minus b, plus a, "
     "give e last"},
    {"x: f32; y: f32; a = sqrt x; b = add a y; c = multiply a b; give a; give "
     "c",
     "take x, root, give a, plus y, times a, give c last"},
    {"x: f32; y: f32; t: bool; m = compare x y : bool; n = and m t; o = or n "
     "m; give m; give o",
     "take x, below y, give bools m, both t, either m, give bools o last"},
    // Halves are rounded behind ops that leave none; as halves links do not
    // read them.
    {"x: bf16; y: bf16; u = widen x; v = widen y; a = maximum u v; b = add a "
     "v; give a; give b",
     "take bf16 x, hold, take bf16 y, swap, larger held, give bf16 a last, "
     "plus held, round bf16, give bf16 b last"},
    {"x: f16; u = widen x; a = negate u; b = sqrt a; late a; late b",
     "take f16 x, negative, give f16 a last, root, round f16, give f16 b last"},
    {"x: bf16; u = widen x; a = sqrt u; b = ceil a; c = multiply a b; give a; "
     "give c",
     "take bf16 x, root, round bf16, give bf16 a last, hold, up, times held, "
     "round bf16, give bf16 c last"},
    {"x: f32; h = convert x : bf16; y = convert h : f32; a = sqrt y; give a",
     "take x, round bf16, root, give a last"},
    {"x: u8; a = convert x : f32; b = sqrt a; give b",
     "take bytes x, root, give b last"},
    {"x: u8; a = convert x : bf16; b = sqrt a; give b",
     "take bytes x, root, round bf16, give bf16 b last"},
    {"x: bf16; y: bf16; u = widen x; v = widen y; a = sqrt u; b = sqrt v; d = "
     "subtract a b; e = multiply d b; f = sqrt e; give f",
     "take bf16 x, root, round bf16, hold, take bf16 y, root, round bf16, "
     "swap, minus held, round bf16, times held, round bf16, root, round bf16, "
     "give bf16 f last"},
    {"x: bf16; y: bf16; z: bf16; u = widen x; v = widen y; w = widen z; a = "
     "sqrt u; b = sqrt v; c = sqrt w; m = compare b c : bool; f = select m a "
     "u; g = subtract f b; h = subtract g c; give h",
     "take bf16 x, hold, root, round bf16, give a@0, take bf16 y, root, round "
     "bf16, give b@1, take bf16 z, root, round bf16, above b@1, swap, then "
     "a@0, minus b@1, round bf16, minus held, round bf16, give bf16 h last"},
    // Counts.
    {"x: s32; y: s32; a = add x y; n: count s32; b = subtract a n; give b",
     "take x, whole plus y, hold, count one n, whole minus from held, give b "
     "last"},
    {"x: s32; y: s32; a = add x y; n: count s32; b = subtract n y; give a; "
     "give b",
     "take x, whole plus y, give a last, count one n, whole minus y, give b "
     "last"},
    {"m: count s32; n: count s32; b = subtract m n; give b",
     "count one m, hold, count one n, whole minus from held, give b last"},
    {"x: s32; p = convert x : f32; a = sqrt p; give a",
     "take x, from whole, root, give a last"},
    // On the operand that lanes have, whichever it is.
    {"x: f32; y: f32; a = sqrt x; b = subtract a y; give b",
     "take x, root, minus y, give b last"},
    {"x: f32; y: f32; a = sqrt x; b = subtract y a; give b",
     "take x, root, minus from y, give b last"},
    {"x: f32; a = sqrt x; b = multiply a a; give b",
     "take x, root, times itself, give b last"},
    {"x: s32; c: one s32; a = add x c; b = subtract c a; d = add b c; give d",
     "take x, whole plus one c, whole minus from one c, whole plus one c, give "
     "d last"},
    {"c: one f32; x: f32; a = add c x; b = subtract c x; give a; give b",
     "take one c, plus x, give a last, take one c, minus x, give b last"},
    {"x: f32; lo: one f32; hi: one f32; a = sqrt x; b = clamp lo a hi; give b",
     "take x, root, larger one lo, smaller one hi, give b last"},
    {"x: f32; y: f32; hi: one f32; a = sqrt x; b = sqrt y; d = clamp a b hi; e "
     "= multiply d a; give e",
     "take x, root, hold, take y, root, larger held, smaller one hi, times "
     "held, give e last"},
    // Of lanes and h the one that nothing needs behind.
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = divide a b; give c",
     "take x, root, hold, take y, root, under held, give c last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = divide b a; give c",
     "take x, root, hold, take y, root, over held, give c last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = divide a b; d = subtract b "
     "c; give d",
     "take x, root, hold, take y, root, swap, over held, minus from held, give "
     "d last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = divide b a; d = subtract b "
     "c; e = multiply d a; give e",
     "take x, root, hold, take y, root, give b@0, over held, minus from b@0, "
     "times held, give e last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = add b y; d = multiply c b; e "
     "= multiply d a; give e",
     "take x, root, hold, take y, root, give b@0, plus y, times b@0, times "
     "held, give e last"},
    {"x: f32; y: f32; z: f32; a = sqrt x; b = sqrt y; m = compare b y : bool; "
     "f = select m a z; g = subtract b f; give g",
     "take x, root, hold, take y, root, below y, swap, else z, minus from "
     "held, give g last"},
    {"x: f32; y: f32; z: f32; a = sqrt x; b = sqrt y; m = compare b y : bool; "
     "f = select m z a; g = subtract b f; give g",
     "take x, root, hold, take y, root, below y, swap, then z, minus from "
     "held, give g last"},
    {"x: f32; y: f32; z: f32; a = sqrt x; b = sqrt y; m = compare b y : bool; "
     "f = select m z a; g = subtract b f; h = multiply g a; give h",
     "take x, root, hold, take y, root, below y, swap, give a@0, then z, minus "
     "from held, times a@0, give h last"},
    {"x: f32; y: f32; z: f32; a = sqrt x; b = sqrt y; m = compare b y : bool; "
     "f = select m z a; g = subtract b f; h = multiply g a; give a; give h",
     "take x, root, give a, take y, root, below y, hold, take z, else a, minus "
     "from held, times a, give h last"},
    {"x: f32; y: f32; z: f32; a = sqrt x; b = sqrt y; c = sqrt z; d = subtract "
     "b c; m = compare c d : bool; e = select m a z; f = subtract e b; give f",
     "take x, root, hold, take y, root, give b@0, take z, root, give c@1, "
     "minus from b@0, above c@1, take held, else z, minus b@0, give f last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = maximum b a; d = maximum a "
     "c; e = maximum c d; give e",
     "take x, root, hold, take y, root, larger held, swap, larger held, larger "
     "held, give e last"},
    // To h, by ops that can, where it is needed no more and is not wanted.
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = subtract a b; d = multiply c "
     "b; e = multiply b d; give e",
     "take x, root, hold, take y, root, minus to held, times to held, times "
     "held, give e last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = subtract b a; d = subtract a "
     "c; e = subtract c d; f = subtract d e; g = multiply f e; give g",
     "take x, root, hold, take y, root, minus held, minus to held, minus held, "
     "minus to held, times held, give g last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = subtract a b; d = multiply c "
     "b; give c; give d",
     "take x, root, hold, take y, root, swap, minus held, give c last, times "
     "held, give d last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = subtract a b; d = multiply c "
     "b; e = multiply d a; give e",
     "take x, root, hold, take y, root, give b@0, minus from held, times b@0, "
     "times held, give e last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = maximum a b; d = multiply c "
     "b; give d",
     "take x, root, hold, take y, root, swap, larger held, times held, give d "
     "last"},
    {"x: f32; y: f32; a = sqrt x; c = add a y; m = compare a y : bool; q = "
     "multiply a a; r = select m q c; give r",
     "take x, root, hold, plus y, swap, below y, times itself, else held, give "
     "r last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = subtract a b; d = sqrt c; "
     "give d",
     "take x, root, hold, take y, root, minus from held, root, give d last"},
    {"x: s32; y: s32; a = xor x y; b = subtract y a; c = xor a b; d = add b c; "
     "give d",
     "take x, whole one of two y, hold, whole minus from y, whole one of two "
     "to held, whole plus held, give d last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = subtract b a; d = multiply c "
     "b; e = sqrt d; give e",
     "take x, root, hold, take y, root, minus from to held, times held, root, "
     "give e last"},
    // Truths stay in m; those that are needed are kept.
    {"x: f32; y: f32; m = compare x y : bool; a = select m x y; b = select m a "
     "x; give b",
     "take x, below y, else y, else x, give b last"},
    {"t: bool; x: f32; y: f32; a = select t x y; b = select t y a; give b",
     "take bools t, take x, else y, then y, give b last"},
    {"x: f32; y: f32; m = compare x y : bool; t: bool; a = select t x y; b = "
     "select m a y; give b",
     "take x, below y, give bools m@0, take bools t, else y, take bools m@0, "
     "else y, give b last"},
    {"x: f32; y: f32; m = compare x y : bool; t: bool; n = and m t; o = or m "
     "n; give o",
     "take x, below y, give bools m@0, both t, either m@0, give bools o last"},
    {"x: f32; y: f32; t: bool; m = compare x y : bool; n = and m t; give n",
     "take x, below y, both t, give bools n last"},
    {"x: f32; y: f32; t: bool; m = compare x y : bool; n = and t m; give n",
     "take x, below y, both t, give bools n last"},
    {"x: f32; y: f32; z: f32; m = compare x y : bool; n = compare y z : bool; "
     "o = and m n; give o",
     "take x, below y, take y, give bools m@0, below z, both m@0, give bools o "
     "last"},
    {"x: f32; m = compare x x : bool; y: f32; n = compare x y : bool; o = and "
     "m n; give o",
     "take x, below itself, give bools m@0, below y, both m@0, give bools o "
     "last"},
    {"x: f32; m = compare x x : bool; t: bool; c: one f32; a = select t x c; b "
     "= select m a x; give b",
     "take x, below itself, give bools m@0, take bools t, else one c, take "
     "bools m@0, else x, give b last"},
    {"x: f32; m = compare x x : bool; p = convert m : f32; give p",
     "take x, below itself, ones, give p last"},
    {"x: u32; y: u32; t: bool; a = select t x y; give a",
     "take bools t, take x, else y, give a last"},
    // Tests leave lanes; truths made lanes take their place.
    {"x: f32; y: f32; a = sqrt x; m = compare a y : bool; b = select m a y; "
     "give b",
     "take x, root, below y, else y, give b last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; m = compare a b : bool; c = "
     "select m a b; give c",
     "take x, root, hold, take y, root, above held, then held, give c last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; m = compare b a : bool; c = "
     "select m a b; give c; give m",
     "take x, root, hold, take y, root, below held, give bools m last, then "
     "held, give c last"},
    {"x: f32; y: f32; a = sqrt x; m = compare a y : bool; o = convert m : f32; "
     "p = subtract o a; give p",
     "take x, root, below y, hold, ones, minus held, give p last"},
    {"x: f32; y: f32; m = compare x y : bool; o = convert m : f32; p = "
     "subtract o y; give p",
     "take x, below y, ones, minus y, give p last"},
    {"x: f32; t: bool; a = sqrt x; p = convert t : f32; b = subtract a p; give "
     "b",
     "take x, root, take bools t, hold, ones, minus from held, give b last"},
    {"x: f32; t: bool; y: f32; a = sqrt x; b = sqrt y; p = convert t : f32; c "
     "= subtract p b; d = subtract c a; give d",
     "take x, root, hold, take y, root, take bools t, give b@0, ones, minus "
     "b@0, minus held, give d last"},
    {"x: f32; a = sqrt x; y: f32; b = sqrt y; m = compare a y : bool; p = "
     "select m b y; q = subtract a p; give q",
     "take x, root, below y, hold, take y, root, else y, minus from held, give "
     "q last"},
    // What is needed behind an op is held; where h is taken, kept in a free
    // place.
    {"x: f32; y: f32; a = sqrt x; b = add a y; c = multiply a b; give c",
     "take x, root, hold, plus y, times held, give c last"},
    {"x: f32; y: f32; a = add x y; b = multiply a x; give b",
     "take x, plus y, times x, give b last"},
    {"x: f32; y: f32; a = sqrt x; b = ceil a; c = floor b; d = subtract a c; e "
     "= subtract b d; give e",
     "take x, root, hold, up, give b@0, down, minus from held, minus from b@0, "
     "give e last"},
    {"x: f32; y: f32; a = sqrt x; b = ceil a; c = floor b; d = subtract a c; e "
     "= subtract b d; f = ceil e; g = floor f; h = subtract e g; i = subtract "
     "f h; give i",
     "take x, root, hold, up, give b@0, down, minus from held, minus from b@0, "
     "hold, up, give f@0, down, minus from held, minus from f@0, give i last"},
    {"x: f32; y: f32; z: f32; a = sqrt x; b = sqrt y; c = sqrt z; d = subtract "
     "a b; e = subtract b c; f = subtract c a; g = subtract d e; h = subtract "
     "g f; give h",
     "take x, root, hold, take y, root, give b@0, minus from held, give d@1, "
     "take z, root, give c@2, minus from b@0, minus from d@1, swap, minus from "
     "c@2, minus from held, give h last"},
};

// Values v1 to v`n`, each made of the one before, that all live until w1 has
// used them, the last first.
std::string ManyThatLive(int n) {
  std::string chain;
  for (int k = 1; k <= n; ++k) {
    absl::StrAppend(&chain, "v", k, " = sqrt v", k - 1, ";");
  }
  absl::StrAppend(&chain, "w", n, " = negate v", n, ";");
  for (int k = n - 1; k > 0; --k) {
    absl::StrAppend(&chain, "w", k, " = maximum w", k + 1, " v", k, ";");
  }
  return chain;
}

// So many values that live that lanes, h and all places have one each, and one
// more. Each has a link that makes it and one that uses it.
TEST(WrittenLinks, FindSoManyPlacesAndThenMemory) {
  for (const int more : {0, 1, 2}) {
    const std::string links =
        TextChain("x: bf16; v0 = widen x;" +
                  ManyThatLive(ChainWriter::kPlaces + 2 + more) + "give w1")
            .Links();
    const auto count = [&](const std::string& word) {
      return static_cast<int>(
          std::vector<std::string>(absl::StrSplit(links, word)).size() - 1);
    };
    // The first of them is held, the last one stays in lanes.
    EXPECT_EQ(count("hold"), 1) << links;
    EXPECT_EQ(count("larger held"), 1) << links;
    EXPECT_EQ(count("@"), 2 * ChainWriter::kPlaces) << links;
    EXPECT_EQ(count("@16"), 0) << links;
    EXPECT_EQ(count("give v") - ChainWriter::kPlaces, more) << links;
    EXPECT_EQ(count("larger v"), ChainWriter::kPlaces + more) << links;
    EXPECT_EQ(count("last"), 1) << links;
  }
}

// What found no place is in memory, where it need not be given once more; but
// for halves, which are there as lanes.
TEST(WrittenLinks, GiveLateOnesOnce) {
  for (const std::string dtype : {"f32", "bf16"}) {
    const bool is_half = dtype == "bf16";
    constexpr int kValues = ChainWriter::kPlaces + 4;
    std::string chain = absl::StrCat(
        "x: ", dtype, "; y: ", dtype, ";",
        is_half ? "v0 = widen x; u = widen y;" : "v0 = sqrt x;",
        ManyThatLive(kValues), "z = maximum w1 ", is_half ? "u" : "y", ";");
    for (int k = 1; k <= kValues; ++k)
      absl::StrAppend(&chain, "late v", k, ";");
    const std::vector<std::string> links =
        absl::StrSplit(TextChain(chain + "give z").Links(), ", ");
    for (int k = 1; k <= kValues; ++k) {
      const std::string give =
          absl::StrCat(is_half ? "give bf16 v" : "give v", k);
      EXPECT_EQ(
          absl::c_count(links, give) + absl::c_count(links, give + " last"), 1)
          << give << " in " << absl::StrJoin(links, ", ");
    }
  }
}

// ---- rows and the table of links --------------------------------------------

TEST(ChainRows, AreOfDtypes) {
  const struct {
    ChainRow::Of of;
    const char* dtypes;
  } rows[] = {
      {ChainRow::kReals, "f16 bf16 f32 f64"},
      {ChainRow::kSingles, "f16 bf16 f32"},
      {ChainRow::kF32, "f32"},
      {ChainRow::kHalves, "f16 bf16"},
      {ChainRow::kWholes, "s32 s64"},
      {ChainRow::kWords, "s32 s64 u32 u64"},
      {ChainRow::kNumbers, "f16 bf16 f32 f64 s32 s64 u32 u64"},
      {ChainRow::kBits, "f32 f64 s32 s64 u32 u64"},
      {ChainRow::kBools, "bool"},
      {ChainRow::kBytes, "u8"},
  };
  for (const auto& row : rows) {
    const std::vector<std::string> names = absl::StrSplit(row.dtypes, ' ');
    const ChainRow all = {FindOp("add"), 0, {}, row.of, row.of};
    for (const DType dtype : AllDTypes()) {
      EXPECT_EQ(IsOf(all, dtype, dtype, Attributes()),
                absl::c_linear_search(names, DTypeName(dtype)))
          << row.dtypes << ": " << DTypeName(dtype);
    }
  }
}

// But for what bytes and bools are made, or truths of numbers.
TEST(ChainRows, KeepTheWidthOfLanes) {
  const auto is_of = [](ChainRow::Of of, ChainRow::Of to, DType a, DType b) {
    return IsOf({FindOp("add"), 0, {}, of, to}, a, b, Attributes());
  };
  EXPECT_TRUE(
      is_of(ChainRow::kReals, ChainRow::kReals, DType::kF16, DType::kF32));
  EXPECT_FALSE(
      is_of(ChainRow::kReals, ChainRow::kReals, DType::kF32, DType::kF64));
  EXPECT_FALSE(
      is_of(ChainRow::kWords, ChainRow::kReals, DType::kS64, DType::kF32));
  EXPECT_FALSE(
      is_of(ChainRow::kWords, ChainRow::kReals, DType::kS64, DType::kS64));
  EXPECT_FALSE(
      is_of(ChainRow::kReals, ChainRow::kWords, DType::kS64, DType::kS64));
  EXPECT_TRUE(
      is_of(ChainRow::kBytes, ChainRow::kSingles, DType::kU8, DType::kF32));
  EXPECT_TRUE(
      is_of(ChainRow::kBools, ChainRow::kReals, DType::kBool, DType::kF64));
  EXPECT_TRUE(
      is_of(ChainRow::kReals, ChainRow::kBools, DType::kF64, DType::kBool));
}

TEST(ChainRows, RoundWhereTheResultMayBeNoHalf) {
  for (const ChainRow& row : ChainRows()) {
    const bool exact = absl::c_linear_search(
        std::vector<std::string>{"abs", "ceil", "clamp", "floor", "maximum",
                                 "minimum", "negate", "select", "sign",
                                 "round_nearest_even"},
        row.op->name);
    const bool narrows =
        row.op->name == "convert" && row.of == ChainRow::kSingles;
    const bool converts = row.op->name == "convert";
    EXPECT_EQ(Rounds(row), converts ? narrows : !exact) << row.op->name;
  }
}

// What a lane has in memory, and whether it is given, by the op.
TEST(Chains, SayWhatALaneHas) {
  for (const Isa isa : {Isa::kSse4, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > MachineIsa()) continue;
    for (const int64_t width : {4, 8}) {
      const Chains& chains = *FindChains(width, isa);
      EXPECT_LE(chains.lanes * width, kStripBytes);
      for (int n = 1; n < kChainOps; ++n) {
        const auto op = static_cast<ChainOp>(n);
        for (int k = 0; k < kChainOthers; ++k) {
          const auto other = static_cast<ChainOther>(k);
          const ChainCode code = chains.find(op, other);
          const bool of_lanes = other == ChainOther::kLanes;
          EXPECT_EQ(code.gives, of_lanes && code.run != nullptr && Gives(op));
          if (code.run == nullptr || !of_lanes) {
            EXPECT_EQ(code.bytes, 0);
            continue;
          }
          const bool truths =
              op == ChainOp::kTakeBools || op == ChainOp::kGiveBools ||
              op == ChainOp::kBoth || op == ChainOp::kEither ||
              op == ChainOp::kOneOfTwo || op == ChainOp::kTakeBytes;
          const bool halves =
              op == ChainOp::kTakeBf16 || op == ChainOp::kTakeF16 ||
              op == ChainOp::kGiveBf16 || op == ChainOp::kGiveF16;
          EXPECT_EQ(code.bytes, op == ChainOp::kAhead ? 0
                                : truths              ? 1
                                : halves              ? 2
                                                      : width)
              << n;
        }
      }
    }
  }
}

// Whole strips of a part of the lanes; others stay as they are.
TEST(Chains, RunOverSomeStrips) {
  for (const Isa isa : {Isa::kSse4, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > MachineIsa()) continue;
    const Chains& chains = *FindChains(sizeof(float), isa);
    std::vector<int32_t> got(5 * chains.lanes, -1);
    int64_t first = 7;
    const ChainLink links[] = {
        {.code = chains.find(ChainOp::kCount, ChainOther::kOne),
         .at = reinterpret_cast<char*>(&first)},
        {.code = chains.find(ChainOp::kGive, ChainOther::kLanes),
         .at = reinterpret_cast<char*>(got.data())},
        {.code = chains.find(ChainOp::kEnd, ChainOther::kNone)}};
    chains.run(links, chains.lanes, 2 * chains.lanes);
    for (int64_t k = 0; k < 5 * chains.lanes; ++k) {
      const bool runs = k >= chains.lanes && k < 3 * chains.lanes;
      EXPECT_EQ(got[k], runs ? k + 7 : -1) << k;
    }
  }
}

// Not even the same bits are written to what is only read.
TEST(Chains, WriteOnlyWhatTheyGive) {
  static constexpr float kRead[] = {1, 2, 3, 4, 5};
  for (const Isa isa : {Isa::kSse4, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > MachineIsa()) continue;
    const Chains& chains = *FindChains(sizeof(float), isa);
    float got[6] = {};
    const ChainLink links[] = {
        {.code = chains.find(ChainOp::kTake, ChainOther::kLanes),
         .at = reinterpret_cast<char*>(const_cast<float*>(kRead))},
        {.code = chains.find(ChainOp::kNegative, ChainOther::kNone)},
        {.code = chains.find(ChainOp::kGive, ChainOther::kLanes),
         .at = reinterpret_cast<char*>(got)},
        {.code = chains.find(ChainOp::kEnd, ChainOther::kNone)}};
    RunChain(chains, links, 5);
    for (int k = 0; k < 5; ++k) EXPECT_EQ(got[k], -kRead[k]);
    EXPECT_EQ(got[5], 0);
  }
}

TEST(Chains, DivideByInversesWhereThatPays) {
  for (const Maker maker : {Maker::kAmd, Maker::kIntel}) {
    EXPECT_FALSE(InversesPay(Isa::kSse4, maker));
    for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
      EXPECT_EQ(InversesPay(isa, maker), maker == Maker::kIntel);
    }
  }
}

TEST(WrittenLinks, AreNoMoreThanTheyHaveToBe) {
  for (const LinksRow& row : kLinks) {
    EXPECT_EQ(TextChain(row.chain).Links(), row.links) << row.chain;
  }
}

}  // namespace
}  // namespace hawser::cpu
