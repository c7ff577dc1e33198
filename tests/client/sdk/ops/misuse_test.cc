// No misuse of an SDK function ends the process: each gives an error that says
// which function, and where in the user's program.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "client/sdk/functions/table/function_table.h"
#include "tests/client/sdk/ops/misuse_table.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;
using Misused = std::pair<absl::Status, int>;  // and the line of the call

Tensor Broken() { return Reshape(Zeros(DType::kF32, {2}), {3}); }

Misused CallIt(const Use& use, std::vector<FunctionArgument> arguments,
               const Attributes& attributes) {
  const SourceLocation here = SourceLocation::Current();
  const FunctionEntry* f = FindFunction(use.function);
  if (f == nullptr) return {absl::NotFoundError("no such function"), 0};
  const auto results = CallFunction(*f, arguments, attributes, here);
  if (!results.ok()) return {results.status(), here.line};
  for (const Tensor& t : *results) {
    if (!t.status().ok()) return {t.status(), here.line};
  }
  return {absl::OkStatus(), here.line};
}

// In the table they are there through other functions.
bool IsStandIn(const Use& use) {
  return use.function == "Constant" || use.function == "While";
}

// An error names the function and the place.
void ExpectNamed(const Use& use, const Misused& got, const std::string& what) {
  if (got.first.ok() || IsStandIn(use)) return;
  const absl::string_view text = got.first.message();
  EXPECT_TRUE(absl::StartsWith(text, absl::StrCat(use.function, ":")))
      << what << ": " << text;
  EXPECT_TRUE(
      absl::StrContains(text, absl::StrCat("misuse_test.cc:", got.second)))
      << what << ": " << text;
}

void ExpectRefused(const Use& use, const Misused& got,
                   const std::string& what) {
  EXPECT_FALSE(got.first.ok()) << what << " is no error";
  ExpectNamed(use, got, what);
}

TEST(Misuse, EveryFunctionHasARow) {
  std::set<std::string> rows;
  for (const Use& use : Uses()) {
    rows.insert(std::string(use.function));
    EXPECT_THAT(CallIt(use, use.arguments, use.attributes).first, IsOk())
        << use.function;
  }
  for (const FunctionEntry& f : AllFunctions()) {
    EXPECT_TRUE(rows.count(std::string(f.name)))
        << "add a row of " << f.name << " to tests/client/sdk/misuse_table.cc";
  }
}

TEST(Misuse, InvalidTensors) {
  const Tensor broken = Broken();
  for (const Use& use : Uses()) {
    for (size_t i = 0; i < use.arguments.size(); ++i) {
      const std::string what = absl::StrCat(use.function, ", argument ", i);
      auto arguments = use.arguments;
      arguments[i] = broken;
      EXPECT_EQ(CallIt(use, arguments, use.attributes).first, broken.status())
          << what;
      arguments[i] = Tensor();
      const Misused got = CallIt(use, arguments, use.attributes);
      EXPECT_THAT(got.first, StatusIs(StatusCode::kFailedPrecondition,
                                      "was never given a value"))
          << what;
      ExpectNamed(use, got, what);
    }
  }
}

TEST(Misuse, OtherDTypesRanksAndSizes) {
  for (const Use& use : Uses()) {
    for (size_t i = 0; i < use.arguments.size(); ++i) {
      std::set<std::string> refused;
      for (const auto& [name, value] : OddValues()) {
        auto arguments = use.arguments;
        arguments[i] = value;
        const Misused got = CallIt(use, arguments, use.attributes);
        ExpectNamed(use, got, absl::StrCat(use.function, " of ", name));
        if (!got.first.ok()) refused.insert(name);
      }
      const std::set<std::string> want = absl::StrSplit(
          i < use.refused.size() ? use.refused[i] : "", ' ', absl::SkipEmpty());
      EXPECT_EQ(refused, want) << use.function << ", argument " << i;
    }
  }
}

// Calls with one integer of one attribute replaced.
template <typename Fn>
void ForEachInteger(const Use& use, int64_t replacement, Fn&& fn) {
  for (const auto& [name, value] : use.attributes) {
    Attributes changed = use.attributes;
    if (std::holds_alternative<int64_t>(value)) {
      changed.Set(name, replacement);
      fn(name, changed);
    } else if (const Dims* dims = std::get_if<Dims>(&value)) {
      for (size_t i = 0; i < dims->size(); ++i) {
        Dims other = *dims;
        other[i] = replacement;
        changed.Set(name, std::move(other));
        fn(name, changed);
      }
    }
  }
}

bool NamesAxes(absl::string_view attribute) {
  static const auto& names = *new std::set<absl::string_view>{
      "axes",       "axis",       "batch_a",    "batch_b",
      "contract_a", "contract_b", "permutation"};
  return names.count(attribute) > 0;
}

TEST(Misuse, AxesThatAreNotThere) {
  size_t calls = 0;
  for (const Use& use : Uses()) {
    for (int64_t axis : {99, -99}) {
      ForEachInteger(
          use, axis, [&](absl::string_view name, const Attributes& attributes) {
            const Misused got = CallIt(use, use.arguments, attributes);
            const std::string what =
                absl::StrCat(use.function, ", ", name, " = ", axis);
            NamesAxes(name) ? ExpectRefused(use, got, what)
                            : ExpectNamed(use, got, what);
            ++calls;
          });
    }
  }
  EXPECT_GT(calls, 100u);
}

TEST(Misuse, SizesThatAreNotThere) {
  const Tensor x = Zeros(DType::kF32, {3, 4}), broken = Broken();
  for (const Use& use : Uses()) {
    ForEachInteger(
        use, x.dim(7),
        [&](absl::string_view name, const Attributes& attributes) {
          const Misused got = CallIt(use, use.arguments, attributes);
          const std::string what = absl::StrCat(use.function, ", ", name);
          ExpectRefused(use, got, what);
          if (NamesAxes(name)) return;
          EXPECT_THAT(got.first,
                      StatusIs(StatusCode::kInvalidArgument,
                               "dim(7) of f32[3,4]: axis 7 is out of "
                               "range for rank 2"))
              << what;
        });
    ForEachInteger(use, broken.dim(0),
                   [&](absl::string_view name, const Attributes& attributes) {
                     if (NamesAxes(name)) return;
                     EXPECT_EQ(CallIt(use, use.arguments, attributes).first,
                               broken.status())
                         << use.function << ", " << name;
                   });
  }
}

TEST(Misuse, OfFunctionsThatTakeFunctions) {
  const Tensor x = Zeros(DType::kF32, {3, 4});
  const auto same = [](Tensor t) { return t; };
  const auto add = [](Tensor a, Tensor b) { return a + b; };
  const std::pair<Tensor, const char*> rows[] = {
      {Reduce(x, 0, add, {.axis = 99}), "Reduce: axis 99"},
      {Reduce(x, Tensor(), add), "Reduce: a Tensor that was never"},
      {Reduce(x, 0, [&](Tensor a, Tensor) { return MatMul(a, a); }),
       "MatMul: takes no scalars"},
      {Grad(same)(Zeros(DType::kS32, {2})), "Grad: argument 0 has a s32[2]"},
      {Grad(same)(Tensor()), "Grad: a Tensor that was never"},
      {Grad([](Tensor t) { return Rows(t, 0, 9); })(x), "Rows: length 9"},
      {While(
           x, [](Tensor t) { return t; }, same),
       "condition"},
      {While(
           Tensor(), [](Tensor) { return Scalar(true); }, same),
       "While: a Tensor that was never"},
      {While(
           x, [](Tensor) { return Scalar(false); },
           [](Tensor t) { return Sum(t); }),
       "While: the body gives f32[]"},
      {Cond(
           x, [&] { return x; }, [&] { return x; }),
       "Cond: "},
      {Cond(
           true, [&] { return x; }, [&] { return Sum(x); }),
       "Cond: the branches give f32[3,4] and f32[]"},
      {Cond(
           true, [&] { return x; }, [] { return Tensor(); }),
       "a Tensor that was never"},
      {Switch(x, [&] { return x; }), "Switch: the index must be an integer"},
      {Switch(0, [&] { return Take(x, 99); }), "Take: index 99 of axis 0"},
  };
  for (const auto& [result, text] : rows) {
    EXPECT_FALSE(result.status().ok()) << text;
    EXPECT_TRUE(absl::StrContains(result.status().message(), text))
        << result.status();
    EXPECT_TRUE(absl::StrContains(result.status().message(), "misuse_test.cc:"))
        << result.status();
  }
}

TEST(Dim, OfAnAxisThatIsNotThereIsRefusedWhereItIsUsed) {
  const Tensor x = Zeros(DType::kF32, {3, 4});
  EXPECT_EQ(x.dim(-1), 4);
  EXPECT_EQ(x.dim(-2), 3);
  const std::pair<Tensor, const char*> rows[] = {
      {Reshape(x, {x.dim(7), -1}), "Reshape: dim(7) of f32[3,4]"},
      {Reshape(x, {x.dim(2) + 1, 3}), "Reshape: dim(2) of f32[3,4]"},
      {Zeros(DType::kF32, {x.dim(-3)}), "Zeros: dim(-3) of f32[3,4]"},
      {Iota(DType::kS32, {x.dim(9)}), "Iota: dim(9) of f32[3,4]"},
      {Rows(x, 0, x.dim(7)), "Rows: dim(7) of f32[3,4]"},
      {Rows(x, x.dim(7), 1), "Rows: dim(7) of f32[3,4]"},
      {x / x.dim(7), "Divide: dim(7) of f32[3,4]"},
      {x / static_cast<float>(x.dim(7)), "Divide: dim(7) of f32[3,4]"},
      {x * static_cast<double>(x.dim(7)), "Multiply: dim(7) of f32[3,4]"},
      {x[x.dim(7)], "operator[]: dim(7) of f32[3,4]"},
      {Zeros(DType::kF32, {Tensor().dim(0)}),
       "Zeros: dim(0) of a Tensor that was never given a value"},
      {Zeros(DType::kF16, {x.dim(7) * x.dim(8)}), "Zeros: "},
      {Zeros(DType::kU8, {x.dim(7) * 3, 2}), "Zeros: "},
  };
  for (const auto& [result, text] : rows) {
    EXPECT_FALSE(result.status().ok()) << text;
    EXPECT_TRUE(absl::StartsWith(result.status().message(), text))
        << result.status();
    EXPECT_TRUE(absl::StrContains(result.status().message(), "misuse_test.cc:"))
        << result.status();
  }
  EXPECT_OK(x.status());
  EXPECT_THAT(x.Head(x.dim(7)),
              StatusIs(StatusCode::kInvalidArgument, "dim(7) of f32[3,4]"));
}

TEST(Dim, OfATensorWithAnErrorLeadsToThatError) {
  const Tensor x = Zeros(DType::kF32, {3, 4});
  const Tensor broken = MatMul(x, x);
  EXPECT_THAT(broken.status(),
              StatusIs(StatusCode::kInvalidArgument, "MatMul: dot_general: "));
  EXPECT_EQ(Zeros(DType::kF32, {broken.dim(0), 1}).status(), broken.status());
  const auto f = Jit([](Tensor t) {
    const Tensor product = Dot(t, t);
    return Reshape(product, {product.dim(0) * product.dim(1), -1}) +
           Zeros(DType::kF32, {product.dim(-1)});
  });
  const absl::Status status = f(x).status();
  EXPECT_THAT(status, StatusIs(StatusCode::kInvalidArgument, "Dot: "));
  EXPECT_TRUE(absl::StrContains(status.message(), "misuse_test.cc:")) << status;
}

TEST(Errors, OfWhatAFunctionCallsNameTheFunctionTheUserCalled) {
  const Tensor x = Zeros(DType::kF32, {3, 4}), y = Zeros(DType::kF32, {3});
  const std::pair<Tensor, const char*> rows[] = {
      {MatMul(x, y), "MatMul: "},
      {MatMul(x, x), "MatMul: "},
      {MatMul(Zeros(DType::kF32, {2, 3, 4}), Zeros(DType::kF32, {2, 3, 4})),
       "MatMul: "},
      {Covariance(Zeros(DType::kC64, {3, 4})), "Covariance: "},
      {Eye(DType::kF32, -1, 2), "Eye: "},
      {Tri(DType::kF32, 2, -1), "Tri: "},
      {Rows(x, 0, 9), "Rows: "},
      {Softmax(x, 5), "Softmax: "},
      {Stack({x, y}), "Stack: "},
      {Dot(Scalar(true), T1<float>({})[0]), "operator[]: "},
      {x + y, "Add: "},
      {x < y, "Lt: "},
  };
  for (const auto& [result, text] : rows) {
    EXPECT_TRUE(absl::StartsWith(result.status().message(), text))
        << text << result.status();
  }
}

}  // namespace
}  // namespace hawser
