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
#include "tests/kernels/cpu/chains/by_row.h"
#include "tests/kernels/cpu/chains/link_names.h"

namespace hawser::cpu {
namespace {

// A chain by its text, of statements that end in ";": "x: f32" reads lanes, "c:
// one f32" one element, "n: count s32" counts; "s = add x y" is an op, whose
// result has the dtype of its last operand, or the one behind ":"; "store s"
// and "store_late s" say that a value is wanted.
class TextChain {
 public:
  explicit TextChain(const std::string& text) {
    for (const auto statement :
         absl::StrSplit(text, ';', absl::SkipWhitespace())) {
      const std::vector<std::string> words =
          absl::StrSplit(statement, ' ', absl::SkipEmpty());
      if (words[0] == "store" || words[0] == "store_late") {
        wanted_[values_.at(words[1])] =
            words[0] == "store" ? Wanted::kYes : Wanted::kAfterLoads;
      } else if (words[1] == "=") {
        AddOp(words);
      } else {
        AddRead(words);
      }
    }
  }

  // "load x, add y, store s last": each link with its operand. "@0" is a spill
  // slot, "last" a store that no later link reads back.
  std::string Links() {
    std::vector<std::string> links;
    for (const WrittenLink& link : writer_.Write(wanted_)) {
      std::string text = LinkName(link.op, link.b);
      if (link.value >= 0) text += " " + names_[link.value];
      if (link.spill >= 0) absl::StrAppend(&text, "@", link.spill);
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
        words[1] == "count" ? writer_.AddIota(dtype)
        : words[1] == "one" ? writer_.AddRead(dtype, ChainOperand::kBroadcast)
                            : writer_.AddRead(dtype, ChainOperand::kLanes));
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
    // The examples of chains.h.
    {"x: f32; two: one f32; y: f32; p = multiply x two; s = add p y; t = tanh "
     "s; store t",
     "load x, multiply broadcast two, add y, tanh, store t last"},
    {"x: f32; two: one f32; y: f32; p = multiply x two; s = add p y; t = tanh "
     "s; u = multiply t s; store u",
     "load x, multiply broadcast two, add y, copy to h, tanh, multiply $h, "
     "store u last"},
    // Ops on a, then m, then h are next, whatever was added first.
    {"x: f32; y: f32; m = compare x y : bool; p = sqrt y; q = sqrt x; store "
     "m; store p; store q",
     "load x, less y, store mask m last, sqrt, store q last, load y, sqrt, "
     "store p last"},
    {"t: bool; w: bool; x: f32; y: f32; u = and t w; p = sqrt x; n = not t; "
     "v = ceil y; store u; store p; store n; store v",
     "load mask t, and w, store mask u last, load x, sqrt, store p last, "
     "load mask t, not, store mask n last, load y, ceil, store v last"},
    {"n: count s32; x: s32; y: s32; c: one s32; a = add n c; b = add n a; p "
     "= add x y; d = subtract n c; store a; store b; store p; store d",
     "iota broadcast n, copy to h, int add broadcast c, store a last, int "
     "add $h, store b last, load $h, int subtract broadcast c, store d last, "
     "load x, int add y, store p last"},
    {"x: f32; y: f32; z: f32; u = add x y; v = add x z; w = sqrt u; store v; "
     "store w",
     "load x, add y, sqrt, store w last, load x, add z, store v last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; d = subtract a b; store d",
     "load x, sqrt, copy to h, load y, sqrt, reverse subtract $h, store d "
     "last"},
    // A late store follows the last load of lanes as wide.
    {"x: f32; y: f32; c: one f32; a = add x y; b = add a c; store_late a; "
     "store_late b",
     "load x, add y, store a last, add broadcast c, store b last"},
    {"x: f32; y: f32; z: f32; a = add x y; b = add a z; store_late a; "
     "store_late b",
     "load x, add y, copy to h, add z, store b last, load $h, store a last"},
    {"x: f32; t: bool; u: bool; a = sqrt x; m = and t u; p = convert m : "
     "f32; b = add p a; store_late a; store_late p; store b",
     "load x, sqrt, store a, load mask t, and u, mask to float, store p "
     "last, add a, store b last"},
    {"x: f32; y: f32; a = add x y; b = sqrt a; c = ceil b; store_late a; "
     "store_late b; store_late c",
     "load x, add y, store a last, sqrt, store b last, ceil, store c last"},
    {"x: f32; y: f32; z: f32; a = add x y; b = add a z; store a; store b",
     "load x, add y, store a last, add z, store b last"},
    {"x: f32; y: f32; z: f32; a = add x y; b = add a z; c = multiply a b; "
     "store_late a; store b; store c",
     "load x, add y, copy to h, add z, store b last, multiply $h, store c "
     "last, load $h, store a last"},
    {"x: f32; y: f32; a = add x y; b = add a y; c = multiply b a; store_late "
     "a; store_late b; store_late c",
     "load x, add y, copy to h, add y, store b last, multiply $h, store c "
     "last, load $h, store a last"},
    {"x: f32; y: f32; t: bool; a = sqrt x; b = sqrt y; p = convert t : f32; "
     "store_late a; store b; store p",
     "load x, sqrt, copy to h, load y, sqrt, store b last, load $h, store a "
     "last, load mask t, mask to float, store p last"},
    {"n: count s32; store n", "iota broadcast n, store n last"},
    {"x: f32; y: f32; a = add x y; b = sqrt y; store_late a; store b",
     "load x, add y, copy to h, load y, sqrt, store b last, load $h, store a "
     "last"},
    {"x: f32; y: f32; t: bool; m = compare x y : bool; n = and m t; "
     "store_late m; store_late n",
     "load x, less y, store mask m@0, and t, store mask n last, load mask "
     "m@0, store mask m last"},
    {"x: f32; t: bool; u: bool; m = and t u; n = not m; p = convert n : f32; "
     "store_late m; store_late n; store_late p",
     "load mask t, and u, store mask m last, not, store mask n last, mask to "
     "float, store p last"},
    {"x: f32; y: f32; z: f32; t: bool; u: bool; m = and t u; a = sqrt x; p = "
     "select m a y; q = sqrt z; r = subtract p q; store_late m; store_late "
     "p; store r",
     "load mask t, and u, store mask m last, load x, sqrt, blend not y, copy "
     "to h, load z, sqrt, reverse subtract $h, store r last, load $h, store "
     "p last"},
    {"x: bf16; y: f32; u = widen x; a = sqrt u; b = sqrt y; store_late a; "
     "store_late b",
     "load bf16 x, sqrt, round bf16, store bf16 a last, load y, sqrt, store "
     "b last"},
    {"x: bf16; y: bf16; u = widen x; v = widen y; a = sqrt u; b = sqrt v; "
     "store_late a; store b",
     "load bf16 x, sqrt, round bf16, copy to h, load bf16 y, sqrt, round "
     "bf16, store bf16 b last, load $h, store bf16 a last"},
    {"x: f64; y: f64; t: bool; a = add x y; b = select t a y; store_late a; "
     "store b",
     "load x, add y, load mask t, copy to h, blend not y, store b last, load "
     "$h, store a last"},
    // A store that is read back is not the last.
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = ceil y; d = subtract c b; "
     "e = add d a; store a; store b; store e",
     "load x, sqrt, store a, load y, sqrt, store b, load y, ceil, subtract "
     "b, add a, store e last"},
    {"x: f32; y: f32; a = sqrt x; b = add a y; c = multiply a b; store a; "
     "store c",
     "load x, sqrt, store a, add y, multiply a, store c last"},
    {"x: f32; y: f32; t: bool; m = compare x y : bool; n = and m t; o = or n "
     "m; store m; store o",
     "load x, less y, store mask m, and t, or m, store mask o last"},
    // Halves are rounded behind ops that leave none; as halves links do not
    // read them.
    {"x: bf16; y: bf16; u = widen x; v = widen y; a = maximum u v; b = add a "
     "v; store a; store b",
     "load bf16 x, copy to h, load bf16 y, swap, max $h, store bf16 a last, "
     "add $h, round bf16, store bf16 b last"},
    {"x: f16; u = widen x; a = negate u; b = sqrt a; store_late a; "
     "store_late b",
     "load f16 x, negate, store f16 a last, sqrt, round f16, store f16 b last"},
    {"x: bf16; u = widen x; a = sqrt u; b = ceil a; c = multiply a b; store "
     "a; store c",
     "load bf16 x, sqrt, round bf16, store bf16 a last, copy to h, ceil, "
     "multiply $h, round bf16, store bf16 c last"},
    {"x: f32; h = convert x : bf16; y = convert h : f32; a = sqrt y; store a",
     "load x, round bf16, sqrt, store a last"},
    {"x: u8; a = convert x : f32; b = sqrt a; store b",
     "load u8 x, sqrt, store b last"},
    {"x: u8; a = convert x : bf16; b = sqrt a; store b",
     "load u8 x, sqrt, round bf16, store bf16 b last"},
    {"x: bf16; y: bf16; u = widen x; v = widen y; a = sqrt u; b = sqrt v; d "
     "= subtract a b; e = multiply d b; f = sqrt e; store f",
     "load bf16 x, sqrt, round bf16, copy to h, load bf16 y, sqrt, round "
     "bf16, swap, subtract $h, round bf16, multiply $h, round bf16, sqrt, "
     "round bf16, store bf16 f last"},
    {"x: bf16; y: bf16; z: bf16; u = widen x; v = widen y; w = widen z; a = "
     "sqrt u; b = sqrt v; c = sqrt w; m = compare b c : bool; f = select m a "
     "u; g = subtract f b; h = subtract g c; store h",
     "load bf16 x, copy to h, sqrt, round bf16, store a@0, load bf16 y, "
     "sqrt, round bf16, store b@1, load bf16 z, sqrt, round bf16, greater "
     "b@1, swap, blend a@0, subtract b@1, round bf16, subtract $h, round "
     "bf16, store bf16 h last"},
    // Counts.
    {"x: s32; y: s32; a = add x y; n: count s32; b = subtract a n; store b",
     "load x, int add y, copy to h, iota broadcast n, int reverse subtract "
     "$h, store b last"},
    {"x: s32; y: s32; a = add x y; n: count s32; b = subtract n y; store a; "
     "store b",
     "load x, int add y, store a last, iota broadcast n, int subtract y, "
     "store b last"},
    {"m: count s32; n: count s32; b = subtract m n; store b",
     "iota broadcast m, copy to h, iota broadcast n, int reverse subtract "
     "$h, store b last"},
    {"x: s32; p = convert x : f32; a = sqrt p; store a",
     "load x, int to float, sqrt, store a last"},
    // On the operand that lanes have, whichever it is.
    {"x: f32; y: f32; a = sqrt x; b = subtract a y; store b",
     "load x, sqrt, subtract y, store b last"},
    {"x: f32; y: f32; a = sqrt x; b = subtract y a; store b",
     "load x, sqrt, reverse subtract y, store b last"},
    {"x: f32; a = sqrt x; b = multiply a a; store b",
     "load x, sqrt, multiply $a, store b last"},
    {"x: s32; c: one s32; a = add x c; b = subtract c a; d = add b c; store d",
     "load x, int add broadcast c, int reverse subtract broadcast c, int add "
     "broadcast c, store d last"},
    {"c: one f32; x: f32; a = add c x; b = subtract c x; store a; store b",
     "load broadcast c, add x, store a last, load broadcast c, subtract x, "
     "store b last"},
    {"x: f32; lo: one f32; hi: one f32; a = sqrt x; b = clamp lo a hi; store "
     "b",
     "load x, sqrt, max broadcast lo, min broadcast hi, store b last"},
    {"x: f32; y: f32; hi: one f32; a = sqrt x; b = sqrt y; d = clamp a b hi; "
     "e = multiply d a; store e",
     "load x, sqrt, copy to h, load y, sqrt, max $h, min broadcast hi, "
     "multiply $h, store e last"},
    // Of lanes and h the one that nothing needs behind.
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = divide a b; store c",
     "load x, sqrt, copy to h, load y, sqrt, reverse divide $h, store c last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = divide b a; store c",
     "load x, sqrt, copy to h, load y, sqrt, divide $h, store c last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = divide a b; d = subtract b "
     "c; store d",
     "load x, sqrt, copy to h, load y, sqrt, swap, divide $h, reverse "
     "subtract $h, store d last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = divide b a; d = subtract b "
     "c; e = multiply d a; store e",
     "load x, sqrt, copy to h, load y, sqrt, store b@0, divide $h, reverse "
     "subtract b@0, multiply $h, store e last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = add b y; d = multiply c b; "
     "e = multiply d a; store e",
     "load x, sqrt, copy to h, load y, sqrt, store b@0, add y, multiply b@0, "
     "multiply $h, store e last"},
    {"x: f32; y: f32; z: f32; a = sqrt x; b = sqrt y; m = compare b y : "
     "bool; f = select m a z; g = subtract b f; store g",
     "load x, sqrt, copy to h, load y, sqrt, less y, swap, blend not z, "
     "reverse subtract $h, store g last"},
    {"x: f32; y: f32; z: f32; a = sqrt x; b = sqrt y; m = compare b y : "
     "bool; f = select m z a; g = subtract b f; store g",
     "load x, sqrt, copy to h, load y, sqrt, less y, swap, blend z, reverse "
     "subtract $h, store g last"},
    {"x: f32; y: f32; z: f32; a = sqrt x; b = sqrt y; m = compare b y : "
     "bool; f = select m z a; g = subtract b f; h = multiply g a; store h",
     "load x, sqrt, copy to h, load y, sqrt, less y, swap, store a@0, blend "
     "z, reverse subtract $h, multiply a@0, store h last"},
    {"x: f32; y: f32; z: f32; a = sqrt x; b = sqrt y; m = compare b y : "
     "bool; f = select m z a; g = subtract b f; h = multiply g a; store a; "
     "store h",
     "load x, sqrt, store a, load y, sqrt, less y, copy to h, load z, blend "
     "not a, reverse subtract $h, multiply a, store h last"},
    {"x: f32; y: f32; z: f32; a = sqrt x; b = sqrt y; c = sqrt z; d = "
     "subtract b c; m = compare c d : bool; e = select m a z; f = subtract e "
     "b; store f",
     "load x, sqrt, copy to h, load y, sqrt, store b@0, load z, sqrt, store "
     "c@1, reverse subtract b@0, greater c@1, load $h, blend not z, subtract "
     "b@0, store f last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = maximum b a; d = maximum a "
     "c; e = maximum c d; store e",
     "load x, sqrt, copy to h, load y, sqrt, max $h, swap, max $h, max $h, "
     "store e last"},
    // To h, by ops that can, where it is needed no more and is not wanted.
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = subtract a b; d = multiply "
     "c b; e = multiply b d; store e",
     "load x, sqrt, copy to h, load y, sqrt, subtract into $h, multiply into "
     "$h, multiply $h, store e last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = subtract b a; d = subtract "
     "a c; e = subtract c d; f = subtract d e; g = multiply f e; store g",
     "load x, sqrt, copy to h, load y, sqrt, subtract $h, subtract into $h, "
     "subtract $h, subtract into $h, multiply $h, store g last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = subtract a b; d = multiply "
     "c b; store c; store d",
     "load x, sqrt, copy to h, load y, sqrt, swap, subtract $h, store c "
     "last, multiply $h, store d last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = subtract a b; d = multiply "
     "c b; e = multiply d a; store e",
     "load x, sqrt, copy to h, load y, sqrt, store b@0, reverse subtract $h, "
     "multiply b@0, multiply $h, store e last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = maximum a b; d = multiply "
     "c b; store d",
     "load x, sqrt, copy to h, load y, sqrt, swap, max $h, multiply $h, "
     "store d last"},
    {"x: f32; y: f32; a = sqrt x; c = add a y; m = compare a y : bool; q = "
     "multiply a a; r = select m q c; store r",
     "load x, sqrt, copy to h, add y, swap, less y, multiply $a, blend not "
     "$h, store r last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = subtract a b; d = sqrt c; "
     "store d",
     "load x, sqrt, copy to h, load y, sqrt, reverse subtract $h, sqrt, "
     "store d last"},
    {"x: s32; y: s32; a = xor x y; b = subtract y a; c = xor a b; d = add b "
     "c; store d",
     "load x, int xor y, copy to h, int reverse subtract y, int xor into $h, "
     "int add $h, store d last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; c = subtract b a; d = multiply "
     "c b; e = sqrt d; store e",
     "load x, sqrt, copy to h, load y, sqrt, reverse subtract into $h, "
     "multiply $h, sqrt, store e last"},
    // Masks stay in m; those that are needed are spilled.
    {"x: f32; y: f32; m = compare x y : bool; a = select m x y; b = select m "
     "a x; store b",
     "load x, less y, blend not y, blend not x, store b last"},
    {"t: bool; x: f32; y: f32; a = select t x y; b = select t y a; store b",
     "load mask t, load x, blend not y, blend y, store b last"},
    {"x: f32; y: f32; m = compare x y : bool; t: bool; a = select t x y; b = "
     "select m a y; store b",
     "load x, less y, store mask m@0, load mask t, blend not y, load mask "
     "m@0, blend not y, store b last"},
    {"x: f32; y: f32; m = compare x y : bool; t: bool; n = and m t; o = or m "
     "n; store o",
     "load x, less y, store mask m@0, and t, or m@0, store mask o last"},
    {"x: f32; y: f32; t: bool; m = compare x y : bool; n = and m t; store n",
     "load x, less y, and t, store mask n last"},
    {"x: f32; y: f32; t: bool; m = compare x y : bool; n = and t m; store n",
     "load x, less y, and t, store mask n last"},
    {"x: f32; y: f32; z: f32; m = compare x y : bool; n = compare y z : "
     "bool; o = and m n; store o",
     "load x, less y, load y, store mask m@0, less z, and m@0, store mask o "
     "last"},
    {"x: f32; m = compare x x : bool; y: f32; n = compare x y : bool; o = "
     "and m n; store o",
     "load x, less $a, store mask m@0, less y, and m@0, store mask o last"},
    {"x: f32; m = compare x x : bool; t: bool; c: one f32; a = select t x c; "
     "b = select m a x; store b",
     "load x, less $a, store mask m@0, load mask t, blend not broadcast c, "
     "load mask m@0, blend not x, store b last"},
    {"x: f32; m = compare x x : bool; p = convert m : f32; store p",
     "load x, less $a, mask to float, store p last"},
    {"x: u32; y: u32; t: bool; a = select t x y; store a",
     "load mask t, load x, blend not y, store a last"},
    // Comparisons leave a as it is; a mask made lanes replaces it.
    {"x: f32; y: f32; a = sqrt x; m = compare a y : bool; b = select m a y; "
     "store b",
     "load x, sqrt, less y, blend not y, store b last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; m = compare a b : bool; c = "
     "select m a b; store c",
     "load x, sqrt, copy to h, load y, sqrt, greater $h, blend $h, store c "
     "last"},
    {"x: f32; y: f32; a = sqrt x; b = sqrt y; m = compare b a : bool; c = "
     "select m a b; store c; store m",
     "load x, sqrt, copy to h, load y, sqrt, less $h, store mask m last, "
     "blend $h, store c last"},
    {"x: f32; y: f32; a = sqrt x; m = compare a y : bool; o = convert m : "
     "f32; p = subtract o a; store p",
     "load x, sqrt, less y, copy to h, mask to float, subtract $h, store p "
     "last"},
    {"x: f32; y: f32; m = compare x y : bool; o = convert m : f32; p = "
     "subtract o y; store p",
     "load x, less y, mask to float, subtract y, store p last"},
    {"x: f32; t: bool; a = sqrt x; p = convert t : f32; b = subtract a p; "
     "store b",
     "load x, sqrt, load mask t, copy to h, mask to float, reverse subtract "
     "$h, store b last"},
    {"x: f32; t: bool; y: f32; a = sqrt x; b = sqrt y; p = convert t : f32; "
     "c = subtract p b; d = subtract c a; store d",
     "load x, sqrt, copy to h, load y, sqrt, load mask t, store b@0, mask to "
     "float, subtract b@0, subtract $h, store d last"},
    {"x: f32; a = sqrt x; y: f32; b = sqrt y; m = compare a y : bool; p = "
     "select m b y; q = subtract a p; store q",
     "load x, sqrt, less y, copy to h, load y, sqrt, blend not y, reverse "
     "subtract $h, store q last"},
    // Values that are needed after an op go to h; if h is taken, to a free
    // spill
    // slot.
    {"x: f32; y: f32; a = sqrt x; b = add a y; c = multiply a b; store c",
     "load x, sqrt, copy to h, add y, multiply $h, store c last"},
    {"x: f32; y: f32; a = add x y; b = multiply a x; store b",
     "load x, add y, multiply x, store b last"},
    {"x: f32; y: f32; a = sqrt x; b = ceil a; c = floor b; d = subtract a c; "
     "e = subtract b d; store e",
     "load x, sqrt, copy to h, ceil, store b@0, floor, reverse subtract $h, "
     "reverse subtract b@0, store e last"},
    {"x: f32; y: f32; a = sqrt x; b = ceil a; c = floor b; d = subtract a c; "
     "e = subtract b d; f = ceil e; g = floor f; h = subtract e g; i = "
     "subtract f h; store i",
     "load x, sqrt, copy to h, ceil, store b@0, floor, reverse subtract $h, "
     "reverse subtract b@0, copy to h, ceil, store f@0, floor, reverse "
     "subtract $h, reverse subtract f@0, store i last"},
    {"x: f32; y: f32; z: f32; a = sqrt x; b = sqrt y; c = sqrt z; d = "
     "subtract a b; e = subtract b c; f = subtract c a; g = subtract d e; h "
     "= subtract g f; store h",
     "load x, sqrt, copy to h, load y, sqrt, store b@0, reverse subtract $h, "
     "store d@1, load z, sqrt, store c@2, reverse subtract b@0, reverse "
     "subtract d@1, swap, reverse subtract c@2, reverse subtract $h, store h "
     "last"},
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

// So many values that live that a, h and all spill slots have one each, and one
// more. Each has a link that makes it and one that uses it.
TEST(WrittenLinks, FindSoManySpillSlotsAndThenMemory) {
  for (const int more : {0, 1, 2}) {
    const std::string links =
        TextChain("x: bf16; v0 = widen x;" +
                  ManyThatLive(ChainWriter::kSpillSlots + 2 + more) +
                  "store w1")
            .Links();
    const auto count = [&](const std::string& word) {
      return static_cast<int>(
          std::vector<std::string>(absl::StrSplit(links, word)).size() - 1);
    };
    // The first of them is held, the last one stays in lanes.
    EXPECT_EQ(count("copy to h"), 1) << links;
    EXPECT_EQ(count("max $h"), 1) << links;
    EXPECT_EQ(count("@"), 2 * ChainWriter::kSpillSlots) << links;
    EXPECT_EQ(count("@16"), 0) << links;
    EXPECT_EQ(count("store v") - ChainWriter::kSpillSlots, more) << links;
    EXPECT_EQ(count("max v"), ChainWriter::kSpillSlots + more) << links;
    EXPECT_EQ(count("last"), 1) << links;
  }
}

// Values that found no spill slot are stored, and not once more later; but
// for halves, which are there as lanes.
TEST(WrittenLinks, StoreLateOnesOnce) {
  for (const std::string dtype : {"f32", "bf16"}) {
    const bool is_half = dtype == "bf16";
    constexpr int kValues = ChainWriter::kSpillSlots + 4;
    std::string chain = absl::StrCat(
        "x: ", dtype, "; y: ", dtype, ";",
        is_half ? "v0 = widen x; u = widen y;" : "v0 = sqrt x;",
        ManyThatLive(kValues), "z = maximum w1 ", is_half ? "u" : "y", ";");
    for (int k = 1; k <= kValues; ++k)
      absl::StrAppend(&chain, "store_late v", k, ";");
    const std::vector<std::string> links =
        absl::StrSplit(TextChain(chain + "store z").Links(), ", ");
    for (int k = 1; k <= kValues; ++k) {
      const std::string store =
          absl::StrCat(is_half ? "store bf16 v" : "store v", k);
      EXPECT_EQ(
          absl::c_count(links, store) + absl::c_count(links, store + " last"),
          1)
          << store << " in " << absl::StrJoin(links, ", ");
    }
  }
}

// ---- rows and the table of links --------------------------------------------

TEST(ChainRows, AreOfDtypes) {
  const struct {
    ChainRow::Of of;
    const char* dtypes;
  } rows[] = {
      {ChainRow::kFloats, "f16 bf16 f32 f64"},
      {ChainRow::kSingles, "f16 bf16 f32"},
      {ChainRow::kF32, "f32"},
      {ChainRow::kHalves, "f16 bf16"},
      {ChainRow::kSignedInts, "s32 s64"},
      {ChainRow::kInts, "s32 s64 u32 u64"},
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

// But for what bytes and bools are made, or masks of numbers.
TEST(ChainRows, KeepTheWidthOfLanes) {
  const auto is_of = [](ChainRow::Of of, ChainRow::Of to, DType a, DType b) {
    return IsOf({FindOp("add"), 0, {}, of, to}, a, b, Attributes());
  };
  EXPECT_TRUE(
      is_of(ChainRow::kFloats, ChainRow::kFloats, DType::kF16, DType::kF32));
  EXPECT_FALSE(
      is_of(ChainRow::kFloats, ChainRow::kFloats, DType::kF32, DType::kF64));
  EXPECT_FALSE(
      is_of(ChainRow::kInts, ChainRow::kFloats, DType::kS64, DType::kF32));
  EXPECT_FALSE(
      is_of(ChainRow::kInts, ChainRow::kFloats, DType::kS64, DType::kS64));
  EXPECT_FALSE(
      is_of(ChainRow::kFloats, ChainRow::kInts, DType::kS64, DType::kS64));
  EXPECT_TRUE(
      is_of(ChainRow::kBytes, ChainRow::kSingles, DType::kU8, DType::kF32));
  EXPECT_TRUE(
      is_of(ChainRow::kBools, ChainRow::kFloats, DType::kBool, DType::kF64));
  EXPECT_TRUE(
      is_of(ChainRow::kFloats, ChainRow::kBools, DType::kF64, DType::kBool));
}

TEST(ChainRows, RoundWhereTheResultMayBeNoHalf) {
  for (const ChainRow& row : ChainRows()) {
    const bool exact = absl::c_linear_search(
        std::vector<std::string>{"abs", "ceil", "clamp", "floor", "maximum",
                                 "minimum", "negate", "select", "sign",
                                 "round_nearest_afz", "round_nearest_even"},
        row.op->name);
    const bool narrows =
        row.op->name == "convert" && row.of == ChainRow::kSingles;
    const bool converts = row.op->name == "convert";
    EXPECT_EQ(Rounds(row), converts ? narrows : !exact) << row.op->name;
  }
}

// The bytes of a lane in memory, and whether the link stores it, by the op.
TEST(Chains, SayWhatALaneHas) {
  for (const Isa isa : {Isa::kSse4, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > MachineIsa()) continue;
    for (const int64_t width : {4, 8}) {
      const Chains& chains = *FindChains(width, isa);
      EXPECT_LE(chains.lanes * width, kStripBytes);
      for (int n = 1; n < kChainOps; ++n) {
        const auto op = static_cast<ChainOp>(n);
        for (int k = 0; k < kChainOperands; ++k) {
          const auto other = static_cast<ChainOperand>(k);
          const ChainLink link = chains.find(op, other);
          const bool of_lanes = other == ChainOperand::kLanes;
          EXPECT_EQ(link.stores,
                    of_lanes && link.run != nullptr && IsStore(op));
          if (link.run == nullptr || !of_lanes) {
            EXPECT_EQ(link.bytes, 0);
            continue;
          }
          const bool is_mask = op == ChainOp::kLoadMask ||
                               op == ChainOp::kStoreMask ||
                               op == ChainOp::kAnd || op == ChainOp::kOr ||
                               op == ChainOp::kXor || op == ChainOp::kLoadU8;
          const bool halves =
              op == ChainOp::kLoadBf16 || op == ChainOp::kLoadF16 ||
              op == ChainOp::kStoreBf16 || op == ChainOp::kStoreF16;
          EXPECT_EQ(link.bytes, op == ChainOp::kPrefetch ? 0
                                : is_mask                ? 1
                                : halves                 ? 2
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
        LinkAt(chains, ChainOp::kIota, ChainOperand::kBroadcast, &first),
        LinkAt(chains, ChainOp::kStore, ChainOperand::kLanes, got.data()),
        LinkAt(chains, ChainOp::kEnd)};
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
        LinkAt(chains, ChainOp::kLoad, ChainOperand::kLanes, kRead),
        LinkAt(chains, ChainOp::kNegate),
        LinkAt(chains, ChainOp::kStore, ChainOperand::kLanes, got),
        LinkAt(chains, ChainOp::kEnd)};
    RunChain(chains, links, 5);
    for (int k = 0; k < 5; ++k) EXPECT_EQ(got[k], -kRead[k]);
    EXPECT_EQ(got[5], 0);
  }
}

TEST(WrittenLinks, AreNoMoreThanTheyHaveToBe) {
  for (const LinksRow& row : kLinks) {
    EXPECT_EQ(TextChain(row.chain).Links(), row.links) << row.chain;
  }
}

}  // namespace
}  // namespace hawser::cpu
