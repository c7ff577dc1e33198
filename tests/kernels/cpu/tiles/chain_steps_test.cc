// Which steps TileBuilder makes of a region: ops that a chain can have become
// links of one step, on lanes where they are.
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/ir/text/parser.h"
#include "core/ops/registry.h"
#include "gtest/gtest.h"
#include "kernels/cpu/folds/tiles/fold_step.h"
#include "kernels/cpu/point_steps/chain_draft.h"
#include "kernels/cpu/tile_steps/chain_step.h"
#include "kernels/cpu/tiles/tile_program.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/cpu/chains/link_names.h"
#include "tests/kernels/cpu/tiles/tile_test.h"
#include "tests/testing/matchers.h"

namespace hawser::cpu {
namespace {

// The links are the same of each set that has all of them.
constexpr Isa kAnyIsa = Isa::kAvx2;

struct StepsRow {
  std::string parameters;
  std::string ops;  // with ";" between them
  std::string steps;
  TileOptions options = {.isa = kAnyIsa};
  std::string dims = "5,300";
};

// A letter is a dtype of all lanes.
std::string ModuleText(const StepsRow& row) {
  const std::string dims = absl::StrCat("[", row.dims, "]");
  const auto spread = [&](const char* of) {
    return absl::StrCat("broadcast_dimensions=[", of, "] dims=", dims);
  };
  const std::string result = row.ops.substr(row.ops.rfind(";") + 1);
  const bool named = result.find("return") != std::string::npos;
  const std::string last =
      result.substr(result.find('%'), result.find(':') - result.find('%'));
  return absl::StrReplaceAll(
      absl::StrCat("module \"m\"\n", kFolds, "computation @2 \"main\" (",
                   row.parameters, ") {\n  ",
                   absl::StrReplaceAll(row.ops, {{";", "\n  "}}),
                   named ? "" : "\n  return " + last, "\n}\n"),
      {{"F ", "f32" + dims + " "},  {"F,", "f32" + dims + ","},
       {"F)", "f32" + dims + ")"},  {"H ", "bf16" + dims + " "},
       {"H,", "bf16" + dims + ","}, {"H)", "bf16" + dims + ")"},
       {"E ", "f16" + dims + " "},  {"E,", "f16" + dims + ","},
       {"E)", "f16" + dims + ")"},  {"B ", "bool" + dims + " "},
       {"B,", "bool" + dims + ","}, {"B)", "bool" + dims + ")"},
       {"D ", "f64" + dims + " "},  {"D,", "f64" + dims + ","},
       {"D)", "f64" + dims + ")"},  {"S ", "s32" + dims + " "},
       {"S,", "s32" + dims + ","},  {"S)", "s32" + dims + ")"},
       {"W ", "u32" + dims + " "},  {"W,", "u32" + dims + ","},
       {"W)", "u32" + dims + ")"},  {"U ", "u8" + dims + " "},
       {"U,", "u8" + dims + ","},   {"U)", "u8" + dims + ")"},
       {"ROWS", spread("0")},       {"COLUMNS", spread("1")},
       {"ALL", spread("")},         {"DIMS", "dims=" + dims}});
}

// The program's steps in words, but for what moves lanes as they are: links
// with where they load and store, "by rows" where each row is by itself.
class StepTexts {
 public:
  StepTexts(const Module& module, const plan::Region& region,
            const TileProgram& program, Isa isa)
      : program_(program), isa_(isa) {
    const Computation& c = module.computation(region.computation);
    const Instruction& i = c.instructions()[region.instruction];
    for (const ValueId v : i.operands) {
      operands_.push_back(AddMemory(c.shape(v)));
    }
    for (int k = 0; k < i.num_results; ++k) {
      results_.push_back(AddMemory(c.shape(i.first_result + k)));
    }
    slots_.resize(program.slot_bytes + 64 + 8 * program.ny * program.nx);
    tile_.operands = operands_;
    tile_.results = results_;
    tile_.loops.assign(program.num_loops, 0);
    tile_.lane_loops = program.lane_loops;
    tile_.ny = program.ny;
    tile_.nx = program.nx;
    for (const int64_t offset : program.slots) {
      tile_.memory.push_back(slots_.data() + offset);
    }
    tile_.values.assign(tile_.memory.begin(), tile_.memory.end());
    tile_.indices = reinterpret_cast<int64_t*>(
        slots_.data() + (program.slot_bytes + 7) / 8 * 8);
    tile_.symbols.assign(program.num_symbols, {});
    tile_.scopes.assign(program.num_scopes, {});
    tile_.folds.assign(program.reductions.size(), {});
  }

  // The lists that have any, with " | " between them.
  std::string All() {
    std::vector<std::string> lists;
    Add("once ", program_.once, &lists);
    Add("before ", program_.before, &lists);
    for (const TileProgram::Pass& pass : program_.passes) {
      Add("", pass.tile, &lists);
      Add("after ", pass.after, &lists);
    }
    const std::set<int64_t> buffers(program_.slots.begin(),
                                    program_.slots.end());
    return absl::StrCat(absl::StrJoin(lists, " | "), " | ", buffers.size(),
                        " buffers");
  }

 private:
  // Zeros, with a byte more, so that no memory begins where another one ends.
  char* AddMemory(const Shape& shape) {
    memory_.push_back(
        Literal::Zeros(Shape::Of(DType::kU8, {shape.byte_size() + 1})));
    return memory_.back().mutable_bytes().data();
  }

  void Add(const char* which, const TileSteps& steps,
           std::vector<std::string>* lists) {
    std::vector<std::string> texts;
    for (const auto& step : steps) {
      if (dynamic_cast<const FoldStep*>(step.get()) != nullptr) {
        texts.push_back("fold");
        continue;
      }
      tile_.links.clear();
      step->Do(tile_);
      const std::string text = TextOf(*step);
      if (!text.empty()) texts.push_back(text);
    }
    if (!texts.empty()) lists->push_back(which + absl::StrJoin(texts, ", "));
  }

  // Of a step that has been done.
  std::string TextOf(const TileStep& step) {
    if (dynamic_cast<const OpStep*>(&step) != nullptr) return "op";
    if (dynamic_cast<const ExpandStep*>(&step) != nullptr) return "expand";
    if (dynamic_cast<const IotaStep*>(&step) != nullptr) return "iota";
    if (dynamic_cast<const ChooseStep*>(&step) != nullptr) return "choose";
    if (dynamic_cast<const ChainStep*>(&step) == nullptr) return "";
    std::vector<std::string> links;
    bool by_rows = false;
    for (const ChainLink& link : tile_.links) {
      const std::string text = TextOf(link, &by_rows);
      if (!text.empty()) links.push_back(text);
    }
    return absl::StrCat(by_rows ? "by rows " : "", "[",
                        absl::StrJoin(links, ", "), "]");
  }

  // `by_rows`: whether it is so, if it was not; `at` has then gone on.
  std::string TextOf(const ChainLink& link, bool* by_rows) {
    for (const int64_t width : {4, 8}) {
      for (int op = 1; op < kChainOps; ++op) {
        for (int b = 0; b < kChainOperands; ++b) {
          const auto the_op = static_cast<ChainOp>(op);
          const auto the_b = static_cast<ChainOperand>(b);
          if (FindChains(width, isa_)->find(the_op, the_b).run != link.run) {
            continue;
          }
          std::string text = LinkName(the_op, the_b);
          if (link.at != nullptr && the_op != ChainOp::kPrefetch) {
            absl::StrAppend(&text, " ", Where(link, by_rows));
          }
          if (link.is_streamed) text += " streamed";
          return text;
        }
      }
    }
    return "";  // the end
  }

  // "%0" an operand, "r0" a result, "s0" a slot, "@" a spill slot.
  std::string Where(const ChainLink& link, bool* by_rows) {
    if (link.is_spill) return "@";
    for (size_t k = 0; k < memory_.size(); ++k) {
      const auto bytes = memory_[k].bytes();
      if (link.at < bytes.begin() || link.at >= bytes.end()) continue;
      *by_rows = *by_rows || link.at > bytes.begin();
      return k < operands_.size() ? absl::StrCat("%", k)
                                  : absl::StrCat("r", k - operands_.size());
    }
    if (link.at < slots_.data() || link.at > slots_.data() + slots_.size()) {
      return "start";
    }
    return "s";
  }

  const TileProgram& program_;
  const Isa isa_;
  std::vector<Literal> memory_;
  std::vector<char*> operands_, results_;
  std::vector<char> slots_;
  Tile tile_;
};

std::string StepsTextOf(const StepsRow& row) {
  const std::string text = ModuleText(row);
  const auto module = ParseModule(text, FindOp);
  EXPECT_OK(module) << text;
  if (!module.ok()) return "";
  const auto plan = plan::MakePlan(*module, plan::CpuTarget());
  EXPECT_OK(plan);
  const plan::Region& region = plan->entry().regions.back();
  const auto program = MakeTileProgram(plan->module, region, row.options);
  EXPECT_OK(program);
  return StepTexts(plan->module, region, *program, row.options.isa).All();
}

const StepsRow kSteps[] = {
    // tanh(x * 2 + y), which kernels/cpu/README.md follows.
    {"%0: F, %1: F",
     "%2: f32[] = constant() value=f32[] {2};%3: F = broadcast_in_dim(%2) "
     "ALL;%4: F = multiply(%0, %3);%5: F = add(%4, %1);%6: F = tanh(%5)",
     "[load %0, multiply broadcast s, add %1, tanh, store r0] | 3 buffers"},
    // Ops on each other's results, on all of the lanes.
    {"%0: F, %1: F", "%2: F = add(%0, %1);%3: F = multiply(%2, %0)",
     "[load %0, add %1, multiply %0, store r0] | 2 buffers"},
    {"%0: F, %1: F", "%2: F = add(%0, %1);%3: F = negate(%2);return %2, %3",
     "[load %0, add %1, store r1, negate, store r0] | 2 buffers"},
    {"%0: F, %1: F",
     "%2: F = add(%0, %1);%3: F = multiply(%2, %1);return %2, %3",
     "[load %0, add %1, copy to h, multiply %1, store r0, load $h, store r1] | "
     "2 buffers"},
    // A spill slot takes no memory of the tile's.
    {"%0: F",
     "%1: F = sqrt(%0);%2: F = ceil(%1);%3: F = floor(%2);%4: F = subtract(%1, "
     "%3);%5: F = subtract(%2, %4)",
     "[load %0, sqrt, copy to h, ceil, store @, floor, reverse subtract $h, "
     "reverse subtract @, store r0] | 1 buffers"},
    {"%0: F, %1: F",
     "%2: F = sqrt(%0);%3: F = ceil(%2);%4: F = sqrt(%1);%5: F = subtract(%3, "
     "%4);return %2, %4, %5",
     "[load %1, sqrt, copy to h, load %0, sqrt, store r2, ceil, subtract $h, "
     "store r0, load $h, store r1] | 3 buffers"},
    {"%0: U", "%1: F = convert(%0) dtype=f32",
     "[load u8 %0, store r0] | 2 buffers"},
    {"%0: F, %1: F, %2: F",
     "%3: F = add(%0, %1);%4: F = multiply(%3, %2);%5: F = subtract(%4, %3)",
     "[load %0, add %1, copy to h, multiply %2, subtract $h, store r0 "
     "streamed] | 3 buffers",
     {},
     "2000,3000"},
    // In strict numerics ops that promise no bits are steps of their own, as
    // all
    // are without vectors.
    {"%0: F, %1: F", "%2: F = exponential(%0);%3: F = add(%2, %1)",
     "[load %0, exp, add %1, store r0] | 2 buffers"},
    {"%0: F, %1: F",
     "%2: F = exponential(%0);%3: F = add(%2, %1)",
     "op, [load s, add %1, store r0] | 2 buffers",
     {.strict = true}},
    {"%0: F, %1: F",
     "%2: F = exponential(%0);%3: F = add(%2, %1)",
     "op, op | 2 buffers",
     {.isa = Isa::kBase}},
    // One element is computed once, by no chain.
    {"%0: F, %1: f32[]",
     "%2: f32[] = sqrt(%1);%3: F = broadcast_in_dim(%2) ALL;%4: F = add(%0, "
     "%3)",
     "once op | [load %0, add broadcast s, store r0] | 3 buffers"},
    {"%0: F, %1: f32[]",
     "%2: F = broadcast_in_dim(%1) ALL;%3: F = divide(%0, %2)",
     "[load %0, divide broadcast %1, store r0] | 2 buffers"},
    {"%0: F, %1: F", "%2: F = divide(%0, %1)",
     "[load %0, divide %1, store r0] | 2 buffers"},
    // Halves, and where there are no links of f16.
    {"%0: H, %1: H",
     "%2: H = add(%0, %1)",
     "[load bf16 %0, copy to h, load bf16 %1, add $h, round bf16, store bf16 "
     "r0] | 2 buffers",
     {.isa = Isa::kSse4}},
    {"%0: H, %1: H",
     "%2: H = add(%0, %1);%3: H = multiply(%2, %1);return %2, %3",
     "[load bf16 %0, copy to h, load bf16 %1, swap, add $h, round bf16, store "
     "bf16 r1, multiply $h, round bf16, store bf16 r0] | 2 buffers"},
    {"%0: H, %1: H, %2: F",
     "%3: H = add(%0, %1);%4: F = convert(%3) dtype=f32;%5: F = add(%4, "
     "%2);%6: H = convert(%5) dtype=bf16",
     "[load bf16 %0, copy to h, load bf16 %1, add $h, round bf16, add %2, "
     "round bf16, store bf16 r0] | 3 buffers"},
    {"%0: E, %1: E",
     "%2: E = add(%0, %1)",
     "op | 2 buffers",
     {.isa = Isa::kSse4}},
    {"%0: E, %1: E",
     "%2: E = add(%0, %1)",
     "[load f16 %0, copy to h, load f16 %1, add $h, round f16, store f16 r0] | "
     "2 buffers",
     {.isa = Isa::kAvx2}},
    {"%0: E",
     "%1: F = convert(%0) dtype=f32",
     "op | 2 buffers",
     {.isa = Isa::kSse4}},
    {"%0: F",
     "%1: E = convert(%0) dtype=f16",
     "op | 2 buffers",
     {.isa = Isa::kSse4}},
    {"%0: H, %1: bf16[]",
     "%2: H = broadcast_in_dim(%1) ALL;%3: H = add(%0, %2);%4: H = "
     "multiply(%3, %2)",
     "once op | [load bf16 %0, add broadcast s, round bf16, multiply broadcast "
     "s, round bf16, store bf16 r0] | 3 buffers"},
    {"%0: H, %1: bf16[5]",
     "%2: H = broadcast_in_dim(%1) ROWS;%3: H = add(%0, %2);%4: H = "
     "multiply(%3, %2)",
     "op, by rows [load bf16 %0, add broadcast s, round bf16, multiply "
     "broadcast s, round bf16, store bf16 r0] | 3 buffers"},
    {"%0: H, %1: bf16[300]",
     "%2: H = broadcast_in_dim(%1) COLUMNS;%3: H = add(%0, %2);%4: H = "
     "multiply(%3, %2)",
     "by rows [load bf16 %0, copy to h, load bf16 %1, swap, add $h, round "
     "bf16, multiply $h, round bf16, store bf16 r0] | 2 buffers"},
    {"%0: H, %1: bf16[]",
     "%2: H = broadcast_in_dim(%1) ALL;%3: H = add(%0, %2);%4: F = iota() DIMS "
     "dtype=f32 iota_dimension=1;%5: H = convert(%4) dtype=bf16;%6: H = "
     "multiply(%3, %5);%7: H = subtract(%6, %2)",
     "once op | iota, [load s, round bf16, store bf16 s], by rows [load bf16 "
     "%0, add broadcast s, round bf16, copy to h, load bf16 s, multiply $h, "
     "round bf16, subtract broadcast s, round bf16, store bf16 r0] | 5 "
     "buffers"},
    {"%0: H, %1: bf16[]",
     "%2: H = broadcast_in_dim(%1) ALL;%3: H = add(%0, %2);%4: H = power(%3, "
     "%0);%5: H = multiply(%4, %2)",
     "once op | [load bf16 %0, add broadcast s, round bf16, store bf16 s], op, "
     "[load bf16 s, multiply broadcast s, round bf16, store bf16 r0] | 4 "
     "buffers"},
    {"%0: H, %1: bf16[], %2: bf16[]",
     "%3: H = broadcast_in_dim(%1) ALL;%4: H = add(%0, %3);%5: H = power(%4, "
     "%0);%6: H = broadcast_in_dim(%2) ALL;%7: H = multiply(%5, %6)",
     "once op, op | [load bf16 %0, add broadcast s, round bf16, store bf16 s], "
     "op, [load bf16 s, multiply broadcast s, round bf16, store bf16 r0] | 6 "
     "buffers"},
    // Ops whose loops are faster begin no chain, but join one.
    {"%0: S, %1: S", "%2: S = multiply(%0, %1)", "op | 2 buffers"},
    {"%0: S, %1: S",
     "%2: S = add(%0, %1);%3: S = multiply(%2, %0);%4: S = maximum(%3, %1)",
     "[load %0, int add %1, int multiply %0, int max %1, store r0] | 2 "
     "buffers"},
    {"%0: W, %1: W", "%2: W = add(%0, %1);%3: W = minimum(%2, %1)",
     "[load %0, int add %1, uint min %1, store r0] | 2 buffers"},
    // Truths alone are no chain, and go on with one that made some of them.
    {"%0: B, %1: B", "%2: B = and(%0, %1)", "op | 2 buffers"},
    {"%0: F, %1: F, %2: B, %3: B",
     "%4: B = and(%2, %3);%5: B = compare(%0, %1) direction=\"LT\";%6: B = "
     "or(%4, %5)",
     "op, [load %0, less %1, or s, store mask r0] | 4 buffers"},
    {"%0: F, %1: F, %2: B, %3: B",
     "%4: B = compare(%0, %1) direction=\"LT\";%5: B = and(%2, %3);%6: B = "
     "or(%4, %5)",
     "op, [load %0, less %1, or s, store mask r0] | 4 buffers"},
    {"%0: F, %1: F, %2: B",
     "%3: B = compare(%0, %1) direction=\"LT\";%4: B = and(%2, %3);%5: B = "
     "not(%4)",
     "[load %0, less %1, and %2, not, store mask r0] | 3 buffers"},
    {"%0: B, %1: F", "%2: F = convert(%0) dtype=f32;%3: F = add(%2, %1)",
     "[load mask %0, mask to float, add %1, store r0] | 2 buffers"},
    {"%0: B, %1: F, %2: F", "%3: B = not(%0);%4: F = select(%3, %1, %2)",
     "op, [load mask s, load %1, blend not %2, store r0] | 3 buffers"},
    {"%0: B, %1: F, %2: F",
     "%3: B = compare(%1, %2) direction=\"LT\";%4: B = not(%3);%5: F = "
     "select(%4, %1, %2)",
     "[load %0, less %1, not, blend not %1, store r0] | 2 buffers"},
    // Chains are of lanes of one width.
    {"%0: F, %1: D",
     "%2: F = add(%0, %0);%3: D = add(%1, %1);%4: D = convert(%2) "
     "dtype=f64;%5: D = multiply(%3, %4)",
     "[load %0, add $a, store s], op, [load %1, add $a, multiply s, store r0] "
     "| 3 buffers"},
    {"%0: F, %1: F, %2: D",
     "%3: B = compare(%0, %1) direction=\"LT\";%4: D = sqrt(%2);%5: D = "
     "select(%3, %4, %2)",
     "[load %2, sqrt, store s], [load %0, less %1, store mask s], [load mask "
     "s, load s, blend not %2, store r0] | 5 buffers"},
    {"%0: D, %1: D, %2: F",
     "%3: B = compare(%0, %1) direction=\"LT\";%4: F = sqrt(%2);%5: F = "
     "select(%3, %4, %2)",
     "[load %2, sqrt, store s], [load %0, less %1, store mask s], [load mask "
     "s, load s, blend not %2, store r0] | 5 buffers"},
    // One lane a row or column is expanded in short rows alone.
    {"%0: F, %1: f32[5]",
     "%2: F = broadcast_in_dim(%1) ROWS;%3: F = add(%0, %2)",
     "expand, [load %0, add s, store r0] | 3 buffers",
     {},
     "5,63"},
    {"%0: F, %1: f32[5]",
     "%2: F = broadcast_in_dim(%1) ROWS;%3: F = add(%0, %2)",
     "by rows [load %0, add broadcast %1, store r0] | 2 buffers",
     {},
     "5,64"},
    {"%0: F, %1: f32[63]",
     "%2: F = broadcast_in_dim(%1) COLUMNS;%3: F = add(%0, %2)",
     "expand, [load %0, add s, store r0] | 3 buffers",
     {},
     "5,63"},
    {"%0: F, %1: f32[64]",
     "%2: F = broadcast_in_dim(%1) COLUMNS;%3: F = add(%0, %2)",
     "by rows [load %0, add %1, store r0] | 2 buffers",
     {},
     "5,64"},
    {"%0: f32[5], %1: f32[300]",
     "%2: f32[5] = sqrt(%0);%3: F = broadcast_in_dim(%2) ROWS;%4: f32[300] = "
     "sqrt(%1);%5: F = broadcast_in_dim(%4) COLUMNS;%6: F = add(%3, %5)",
     "[load %0, sqrt, store s], by rows [load broadcast %1, add s, store r0] | "
     "3 buffers"},
    {"%0: F, %1: f32[300]",
     "%2: f32[300] = sqrt(%1);%3: f32[300] = negate(%2);%4: F = "
     "broadcast_in_dim(%3) COLUMNS;%5: F = add(%0, %4);%6: F = sqrt(%5)",
     "[load %1, sqrt, negate, store s], by rows [load %0, add s, sqrt, store "
     "r0] | 2 buffers"},
    // Bytes are taken as lanes.
    {"%0: F, %1: u8[300]",
     "%2: U = broadcast_in_dim(%1) COLUMNS;%3: F = convert(%2) dtype=f32;%4: F "
     "= add(%0, %3)",
     "[load u8 %1, store s], by rows [load %0, add s, store r0] | 3 buffers"},
    {"%0: F, %1: u8[5]",
     "%2: U = broadcast_in_dim(%1) ROWS;%3: F = convert(%2) dtype=f32;%4: F = "
     "add(%0, %3)",
     "[load u8 %1, store s], by rows [load %0, add broadcast s, store r0] | 3 "
     "buffers"},
    {"%0: F, %1: u8[30]",
     "%2: U = broadcast_in_dim(%1) COLUMNS;%3: F = convert(%2) dtype=f32;%4: F "
     "= add(%0, %3)",
     "once [load u8 %1, store s], expand | [load %0, add s, store r0] | 4 "
     "buffers",
     {},
     "5,30"},
    {"%0: F, %1: u8[]",
     "%2: U = broadcast_in_dim(%1) ALL;%3: F = convert(%2) dtype=f32;%4: F = "
     "add(%0, %3)",
     "once op | [load %0, add broadcast s, store r0] | 3 buffers"},
    // Indices that grow by 1 in long rows are counted.
    {"%0: S",
     "%1: s32[1500] = iota() dims=[1500] dtype=s32 iota_dimension=0;%2: S = "
     "reshape(%1) DIMS;%3: S = add(%0, %2)",
     "by rows [iota broadcast start, int add %0, store r0] | 1 buffers"},
    {"%0: S",
     "%1: s32[320] = iota() dims=[320] dtype=s32 iota_dimension=0;%2: S = "
     "reshape(%1) DIMS;%3: S = add(%0, %2)",
     "by rows [iota broadcast start, int add %0, store r0] | 1 buffers",
     {},
     "5,64"},
    {"%0: s32[63]",
     "%1: s32[63] = iota() dims=[63] dtype=s32 iota_dimension=0;%2: s32[63] = "
     "add(%0, %1)",
     "iota, [load %0, int add s, store r0] | 2 buffers"},
    {"%0: s32[64]",
     "%1: s32[64] = iota() dims=[64] dtype=s32 iota_dimension=0;%2: s32[64] = "
     "add(%0, %1)",
     "by rows [iota broadcast start, int add %0, store r0] | 1 buffers"},
    {"%0: S",
     "%1: s32[1500] = iota() dims=[1500] dtype=s32 iota_dimension=0;%2: S = "
     "reshape(%1) DIMS;%3: S = add(%0, %2)",
     "iota, op | 2 buffers",
     {.isa = Isa::kBase}},
    {"%0: S",
     "%1: S = iota() DIMS dtype=s32 iota_dimension=1;%2: S = add(%0, %1)",
     "iota, by rows [load %0, int add s, store r0] | 2 buffers"},
    {"%0: S",
     "%1: S = iota() DIMS dtype=s32 iota_dimension=0;%2: S = add(%0, %1)",
     "iota, by rows [load %0, int add broadcast s, store r0] | 2 buffers"},
    {"%0: s64[3000]",
     "%1: s64[3000] = iota() dims=[3000] dtype=s64 iota_dimension=0;%2: "
     "s64[3000] = add(%0, %1)",
     "by rows [iota broadcast start, int add %0, store r0] | 1 buffers"},
    {"%0: f32[3000]",
     "%1: f32[3000] = iota() dims=[3000] dtype=f32 iota_dimension=0;%2: "
     "f32[3000] = add(%0, %1)",
     "iota, [load %0, add s, store r0] | 2 buffers"},
    {"%0: s16[3000]",
     "%1: s16[3000] = iota() dims=[3000] dtype=s16 iota_dimension=0;%2: "
     "s16[3000] = add(%0, %1)",
     "iota, op | 2 buffers"},
    {"%0: s32[3000]",
     "%1: s32[3000] = iota() dims=[3000] dtype=s32 iota_dimension=0;%2: "
     "s32[3000] = reverse(%1) dimensions=[0];%3: s32[3000] = add(%0, %2)",
     "iota, [load %0, int add s, store r0] | 2 buffers"},
    {"%0: s32[3000]",
     "%1: s32[6000] = iota() dims=[6000] dtype=s32 iota_dimension=0;%2: "
     "s32[3000] = slice(%1) limit_indices=[6000] start_indices=[0] "
     "strides=[2];%3: s32[3000] = add(%0, %2)",
     "iota, [load %0, int add s, store r0] | 2 buffers"},
    {"%0: s32[3000], %1: s32[3000]",
     "%2: s32[3000] = add(%0, %1);%3: s32[3000] = iota() dims=[3000] dtype=s32 "
     "iota_dimension=0;%4: s32[3000] = add(%2, %3)",
     "by rows [iota broadcast start, copy to h, load %0, int add %1, int add "
     "$h, store r0] | 2 buffers"},
    {"%0: s64[3000], %1: s32[3000]",
     "%2: s32[3000] = add(%1, %1);%3: s64[3000] = iota() dims=[3000] dtype=s64 "
     "iota_dimension=0;%4: s64[3000] = subtract(%0, %3);%5: s64[3000] = "
     "convert(%2) dtype=s64;%6: s64[3000] = add(%4, %5)",
     "[load %1, int add $a, store s], op, by rows [iota broadcast start, int "
     "reverse subtract %0, int add s, store r0] | 3 buffers"},
    {"%0: S",
     "%1: S = iota() DIMS dtype=s32 iota_dimension=0;%2: S = add(%0, %1)",
     "by rows [iota broadcast start, int add %0, store r0] | 1 buffers",
     {},
     "300000"},
    // What moves no lanes is another name. By two of them an op has two values.
    {"%0: F, %1: F",
     "%2: F = add(%0, %1);%3: f32[1500] = reshape(%2) dims=[1500];%4: F = "
     "reshape(%3) DIMS;%5: F = multiply(%4, %0)",
     "[load %0, add %1, multiply %0, store r0] | 2 buffers"},
    {"%0: F, %1: B",
     "%2: F = add(%0, %0);%3: f32[1500] = reshape(%2) dims=[1500];%4: F = "
     "reshape(%3) DIMS;%5: F = select(%1, %4, %2)",
     "[load %0, add $a, store s], [load mask %1, load s, blend not s, store "
     "r0] | 2 buffers"},
    {"%0: F, %1: F", "%2: F = add(%0, %0);%3: F = clamp(%2, %1, %2)",
     "[load %0, add $a, copy to h, load %1, max $h, min $h, store r0] | 2 "
     "buffers"},
    {"%0: F, %1: F", "%2: F = add(%0, %0);%3: F = clamp(%1, %2, %2)",
     "[load %0, add $a, store s], op | 2 buffers"},
    {"%0: F, %1: F",
     "%2: F = add(%0, %1);%3: B = compare(%2, %2) direction=\"LT\";%4: B = "
     "and(%3, %3);%5: F = select(%4, %2, %0)",
     "[load %0, add %1, store s, less $a, store mask s], op, [load mask s, "
     "load s, blend not %0, store r0] | 3 buffers"},
    // Rotates.
    {"%0: W",
     "%1: u32[] = constant() value=u32[] {13};%2: u32[] = constant() "
     "value=u32[] {19};%3: W = broadcast_in_dim(%1) ALL;%4: W = "
     "broadcast_in_dim(%2) ALL;%5: W = shift_left(%0, %3);%6: W = "
     "shift_right_logical(%0, %4);%7: W = or(%5, %6);%8: W = add(%7, %0)",
     "[load %0, rotate left broadcast s, int add %0, store r0] | 3 buffers"},
    // Parts are chains of their own; the tile has no lanes of the first.
    {"%0: f32[3000], %1: f32[3000]",
     "%2: f32[3000] = sqrt(%0);%3: f32[3000] = negate(%1);%4: f32[6000] = "
     "concatenate(%2, %3) dimension=0;%5: f32[6000] = sqrt(%4)",
     "[], [load %0, sqrt, store s], choose, [load s, sqrt, store r0] | 5 "
     "buffers"},
    {"%0: f32[3000], %1: f32[3000], %2: f32[6000]",
     "%3: f32[3000] = sqrt(%0);%4: f32[3000] = negate(%1);%5: f32[6000] = "
     "concatenate(%3, %4) dimension=0;%6: f32[6000] = add(%5, %2)",
     "[], [load %0, sqrt, store s], choose, [load s, add %2, store r0] | 6 "
     "buffers"},
    // The first chain of full lanes behind folds prefetches.
    {"%0: F",
     "%1: f32[] = constant() value=f32[] {0};%2: f32[] = constant() "
     "value=f32[] {-inf};%3: f32[5] = reduce(%0, %2) dimensions=[1] @1;%4: F = "
     "broadcast_in_dim(%3) ROWS;%5: F = subtract(%0, %4);%6: F = "
     "exponential(%5);%7: f32[5] = reduce(%6, %1) dimensions=[1] @0;%8: F = "
     "broadcast_in_dim(%7) ROWS;%9: F = divide(%6, %8)",
     "fold | by rows [load %0, subtract broadcast s, exp, store s], fold | by "
     "rows [prefetch, load s, divide broadcast s, store r0] | 6 buffers"},
    {"%0: F, %1: F",
     "%2: f32[] = constant() value=f32[] {0};%3: f32[5] = reduce(%0, %2) "
     "dimensions=[1] @0;%4: F = broadcast_in_dim(%3) ROWS;%5: F = subtract(%1, "
     "%4);%6: F = sqrt(%5)",
     "fold | by rows [prefetch, load %1, subtract broadcast s, sqrt, store r0] "
     "| 3 buffers"},
    {"%0: F, %1: f32[300]",
     "%2: f32[] = constant() value=f32[] {0};%3: f32[5] = reduce(%0, %2) "
     "dimensions=[1] @0;%4: f32[300] = sqrt(%1);%5: F = broadcast_in_dim(%3) "
     "ROWS;%6: F = broadcast_in_dim(%4) COLUMNS;%7: F = subtract(%6, %5);%8: F "
     "= add(%7, %0)",
     "fold | [load %1, sqrt, store s], by rows [prefetch, load s, subtract "
     "broadcast s, add %0, store r0] | 4 buffers"},
    {"%0: F, %1: F",
     "%2: f32[] = constant() value=f32[] {0};%3: f32[5] = reduce(%0, %2) "
     "dimensions=[1] @0;%4: F = broadcast_in_dim(%3) ROWS;%5: F = subtract(%1, "
     "%4);%6: F = power(%5, %0);%7: F = sqrt(%6)",
     "fold | by rows [prefetch, prefetch, load %1, subtract broadcast s, store "
     "s], op, [load s, sqrt, store r0] | 4 buffers"},
};

TEST(ChainSteps, AreOfAllOpsThatAChainCanHave) {
  int texts = 0;
  for (const StepsRow& row : kSteps) {
    for (const Isa isa : {row.options.isa, Isa::kAvx512}) {
      if (isa > MachineIsa()) continue;
      if (isa != row.options.isa && row.options.isa != kAnyIsa) continue;
      StepsRow of_isa = row;
      of_isa.options.isa = isa;
      EXPECT_EQ(StepsTextOf(of_isa), row.steps)
          << ModuleText(row) << " " << IsaName(isa);
      ++texts;
    }
  }
  std::cout << texts << " chains, each as its options say\n";
}

// And they give what the ops give, of more rows and of lanes that no tile ends
// with.
TEST_F(TileTest, ChainStepsGiveWhatOpsGive) {
  for (const StepsRow& row : kSteps) {
    const auto module = ParseModule(ModuleText(row), FindOp);
    ASSERT_OK(module);
    Random random(3);
    ExpectRegions(*module, ModuleText(row), random);
    if (HasFailure()) return;
  }
  EXPECT_EQ(counts_.not_by_tiles, 0);
}

// Each op on the one before and the second operand.
std::string LongOps(int ops, const std::string& dtype) {
  std::vector<std::string> lines;
  for (int k = 0; k < ops; ++k) {
    lines.push_back(absl::StrCat("%", k + 2, ": ", dtype, " = add(%",
                                 k == 0 ? 0 : k + 1, ", %1)"));
  }
  return absl::StrJoin(lines, ";");
}

int CountOf(const std::string& text, const std::string& word) {
  const std::vector<std::string> parts = absl::StrSplit(text, word);
  return static_cast<int>(parts.size()) - 1;
}

TEST(ChainSteps, AreOfSoManyOpsAtMost) {
  if (MachineIsa() < kAnyIsa) return;
  const std::string one = StepsTextOf({"%0: F, %1: F", LongOps(256, "F"), ""});
  EXPECT_EQ(CountOf(one, "add %1"), 256);
  EXPECT_EQ(CountOf(one, "load"), 1) << one;
  const std::string two = StepsTextOf({"%0: F, %1: F", LongOps(257, "F"), ""});
  EXPECT_TRUE(absl::EndsWith(
      two, "add %1, store s], [load s, add %1, store r0] | 2 buffers"))
      << two;
  EXPECT_EQ(CountOf(two, "add %1"), 257);
}

// Those on masks alone begin no chain of their own.
TEST_F(TileTest, ChainsOfMoreTruthsThanAChainHasOps) {
  constexpr int kOps = 260;
  std::string ops = "%3: B = compare(%0, %1) direction=\"LT\"";
  for (int k = 3; k < kOps; ++k) {
    absl::StrAppend(&ops, ";%", k + 1, ": B = xor(%", k, ", %2)");
  }
  const StepsRow row = {"%0: F, %1: F, %2: B", ops};
  if (MachineIsa() >= kAnyIsa) {
    EXPECT_TRUE(
        absl::EndsWith(StepsTextOf(row), "store mask s], op, op | 4 buffers"))
        << StepsTextOf(row);
  }
  const auto module = ParseModule(ModuleText(row), FindOp);
  ASSERT_OK(module);
  Random random(3);
  ExpectRegions(*module, "xor", random);
  EXPECT_EQ(counts_.by_tiles, 1);
}

// More values that live than there are spill slots for.
TEST_F(TileTest, ChainsOfMoreValuesThanPlaces) {
  constexpr int kValues = 20;
  for (const std::string dtype : {"F", "H", "D"}) {
    std::string ops = LongOps(kValues, dtype);
    for (int k = 1; k < kValues; ++k) {
      absl::StrAppend(&ops, ";%", kValues + 1 + k, ": ", dtype, " = subtract(%",
                      kValues + k, ", %", kValues + 1 - k, ")");
    }
    const StepsRow row = {absl::StrCat("%0: ", dtype, ", %1: ", dtype), ops};
    if (MachineIsa() >= kAnyIsa) {
      EXPECT_TRUE(absl::StrContains(StepsTextOf(row), " store s,"));
    }
    const auto module = ParseModule(ModuleText(row), FindOp);
    ASSERT_OK(module);
    Random random(3);
    ExpectRegions(*module, dtype, random);
  }
  EXPECT_EQ(counts_.by_tiles, 3);
}

TEST(ChainDraft, FitsWhatIsAlike) {
  TileSteps to, others;
  const ChainDraft draft(LaneShape::kRows, 3, 8, &to);
  EXPECT_TRUE(draft.Fits(LaneShape::kRows, 3, 8, &to));
  EXPECT_TRUE(draft.Fits(LaneShape::kRows, 3, /*width=*/0, &to));
  EXPECT_FALSE(draft.Fits(LaneShape::kFull, 3, 8, &to));
  EXPECT_FALSE(draft.Fits(LaneShape::kRows, 2, 8, &to));
  EXPECT_FALSE(draft.Fits(LaneShape::kRows, 3, 4, &to));
  EXPECT_FALSE(draft.Fits(LaneShape::kRows, 3, 8, &others));
  EXPECT_FALSE(ChainDraft().Fits(LaneShape::kFull, -1, 0, &to));
}

TEST(ChainDraft, HasTwoNamesAsOneValue) {
  TileSteps to;
  ChainDraft draft(LaneShape::kFull, -1, 4, &to);
  const ChainValue x = draft.AddRead(0, DType::kF32, {});
  const ChainRow* row = &ChainRowsOf(*FindOp("sqrt"))[0];
  draft.AddOp(1, {&row, 1}, {&x, 1}, DType::kF32, /*uses=*/3);
  draft.AddName(1, 2, /*uses=*/1);
  EXPECT_EQ(draft.Find(2), draft.Find(1));
  EXPECT_EQ(draft.Find(7), -1);
  EXPECT_TRUE(draft.Makes(2));
  EXPECT_FALSE(draft.Makes(0));
  EXPECT_FALSE(draft.Makes(7));
  EXPECT_TRUE(draft.HasAsOne({1, 2}));
  EXPECT_TRUE(draft.HasAsOne({1, 0, 2}));
  EXPECT_TRUE(draft.HasAsOne({0, 1, 2}));
  EXPECT_FALSE(draft.HasAsOne({1, 1}));
  EXPECT_FALSE(draft.HasAsOne({0, 1}));
  EXPECT_FALSE(draft.HasAsOne({7, 8}));
  EXPECT_FALSE(draft.HasAsOne({2}));
}

}  // namespace
}  // namespace hawser::cpu
