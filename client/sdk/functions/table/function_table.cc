#include "client/sdk/functions/table/function_table.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "client/sdk/functions/table/adapters.h"
#include "client/sdk/ops.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using namespace by_name;  // NOLINT: what its entries are made of
constexpr size_t kAny = std::numeric_limits<size_t>::max();

constexpr FunctionEntry kFunctions[] = {
    {"Abs", "abs", 1, 1, Of1<Abs>},
    {"Acos", "", 1, 1, Of1<Acos>},
    {"Acosh", "", 1, 1, Of1<Acosh>},
    {"Add", "add", 2, 2, Of2<Add>},
    {"Adjoint", "", 1, 1, Of1<Adjoint>},
    {"All", "", 1, 1, Reduced<All>},
    {"AllClose", "", 2, 2,
     [](Call& c) -> Results {
       return {AllClose(c[0], c[1],
                        {c.Float("absolute", 1e-8), c.Float("relative", 1e-5),
                         c.Bool("equal_nan", false)})};
     }},
    {"Any", "", 1, 1, Reduced<Any>},
    {"ArgMax", "argmax", 1, 1, Arg<ArgMax>},
    {"ArgMin", "argmin", 1, 1, Arg<ArgMin>},
    {"ArgSort", "", 1, 1,
     [](Call& c) -> Results {
       return {ArgSort(c[0], SortOptionsOf(c), c.Type("dtype", DType::kS32))};
     }},
    {"Asin", "", 1, 1, Of1<Asin>},
    {"Asinh", "", 1, 1, Of1<Asinh>},
    {"Atan", "", 1, 1, Of1<Atan>},
    {"Atan2", "atan2", 2, 2, Of2<Atan2>},
    {"Atanh", "", 1, 1, Of1<Atanh>},
    {"Attention", "", 3, 5, AttentionByName},
    {"BesselI0e", "", 1, 1, Of1<BesselI0e>},
    {"BesselI1e", "", 1, 1, Of1<BesselI1e>},
    {"Bitcast", "bitcast_convert", 1, 1,
     [](Call& c) -> Results { return {Bitcast(c[0], c.Type("dtype"))}; }},
    {"BitwiseAnd", "and", 2, 2, Of2<BitwiseAnd>},
    {"BitwiseNot", "not", 1, 1, Of1<BitwiseNot>},
    {"BitwiseOr", "or", 2, 2, Of2<BitwiseOr>},
    {"BitwiseXor", "xor", 2, 2, Of2<BitwiseXor>},
    {"BroadcastTo", "broadcast_in_dim", 1, 1,
     [](Call& c) -> Results {
       return {BroadcastTo(c[0], c.Ints("dims"), c.Ints("axes", {}))};
     }},
    {"Cbrt", "cbrt", 1, 1, Of1<Cbrt>},
    {"Ceil", "ceil", 1, 1, Of1<Ceil>},
    {"Cholesky", "cholesky", 1, 1,
     [](Call& c) -> Results {
       return {Cholesky(c[0], {.upper = c.Bool("upper", false)})};
     }},
    {"Clip", "clamp", 3, 3, Of3<Clip>},
    {"Complex", "complex", 2, 2, Of2<Complex>},
    {"Concatenate", "concatenate", 1, kAny,
     [](Call& c) -> Results {
       return {Concatenate(c.Tensors(), c.Int("axis", 0), c.where())};
     }},
    {"Cond", "case", 3, 3, ChooseByName},
    {"Conjugate", "", 1, 1, Of1<Conjugate>},
    {"Constant", "constant", 1, 1,
     [](Call& c) -> Results { return c.Tensors(); }},
    {"Conv", "convolution", 2, 2, ConvByName},
    {"Convert", "convert", 1, 1,
     [](Call& c) -> Results { return {Convert(c[0], c.Type("dtype"))}; }},
    {"Cos", "cosine", 1, 1, Of1<Cos>},
    {"Cosh", "", 1, 1, Of1<Cosh>},
    {"CountLeadingZeros", "count_leading_zeros", 1, 1, Of1<CountLeadingZeros>},
    {"Covariance", "", 1, 2,
     [](Call& c) -> Results {
       const int64_t ddof = c.Int("ddof", 0);
       if (c.Operands(1).empty()) return {Covariance(c[0], ddof)};
       return {Covariance(c[0], c[1], ddof)};
     }},
    {"CrossEntropy", "", 2, 2, Of2<CrossEntropy>},
    {"CumulativeMax", "", 1, 1, Running<CumulativeMax>},
    {"CumulativeMin", "", 1, 1, Running<CumulativeMin>},
    {"CumulativeProduct", "", 1, 1, Running<CumulativeProduct>},
    {"CumulativeSum", "scan", 1, 1, Running<CumulativeSum>},
    {"Determinant", "", 1, 1, Of1<Determinant>},
    {"Diff", "", 1, 1,
     [](Call& c) -> Results {
       return {Diff(c[0], c.Int("order", 1), c.Int("axis", -1))};
     }},
    {"Digamma", "", 1, 1, Of1<Digamma>},
    {"Divide", "divide", 2, 2, Of2<Divide>},
    {"Dot", "dot_general", 2, 2, DotByName},
    {"DynamicSlice", "dynamic_slice", 1, kAny,
     [](Call& c) -> Results {
       return {DynamicSlice(c[0], c.Operands(1), c.Ints("lengths"), OutsideOf(c))};
     }},
    {"Eig", "eig", 1, 1,
     [](Call& c) -> Results {
       const EigFactors f = Eig(c[0]);
       return {f.values, f.vectors};
     }},
    {"Eigh", "eigh", 1, 1,
     [](Call& c) -> Results {
       const EighFactors f = Eigh(c[0], {.upper = c.Bool("upper", false)});
       return {f.values, f.vectors};
     }},
    {"Eigvals", "", 1, 1, Of1<Eigvals>},
    {"Einsum", "", 1, kAny,
     [](Call& c) -> Results {
       return {Einsum(c.Text("spec"), c.Tensors(), DotOptionsOf(c), c.where())};
     }},
    {"Eq", "compare", 2, 2, Of2<Eq>},
    {"Erf", "erf", 1, 1, Of1<Erf>},
    {"ErfInv", "", 1, 1, Of1<ErfInv>},
    {"Erfc", "erfc", 1, 1, Of1<Erfc>},
    {"Exp", "exponential", 1, 1, Of1<Exp>},
    {"ExpandDims", "", 1, 1,
     [](Call& c) -> Results { return {ExpandDims(c[0], c.Int("axis"))}; }},
    {"Expm1", "exponential_minus_one", 1, 1, Of1<Expm1>},
    {"Eye", "", 0, 0,
     [](Call& c) -> Results {
       const DType dtype = c.Type("dtype", DType::kS32);
       if (c.Has("dims")) return {Eye(dtype, c.Ints("dims"), c.where())};
       return {Eye(dtype, c.Int("rows"), c.Int("columns"), c.where())};
     }},
    {"Fft", "fft", 1, 1, Transformed<Fft>},
    {"Fft2", "", 1, 1, Transformed2<Fft2>},
    {"Flatten", "", 1, 1,
     [](Call& c) -> Results {
       if (!c.Has("axes")) return {Flatten(c[0])};
       return {Flatten(c[0], c.Ints("axes"))};
     }},
    {"Floor", "floor", 1, 1, Of1<Floor>},
    {"Full", "", 1, 1,
     [](Call& c) -> Results {
       return {Full(c.Type("dtype"), c.Ints("dims"), c[0])};
     }},
    {"Gather", "gather", 2, 2,
     [](Call& c) -> Results {
       return {Gather(c[0], c[1], c.Ints("axes", {}), OutsideOf(c))};
     }},
    {"Ge", "", 2, 2, Of2<Ge>},
    {"Gt", "", 2, 2, Of2<Gt>},
    {"Ifft", "", 1, 1, Transformed<Ifft>},
    {"Ifft2", "", 1, 1, Transformed2<Ifft2>},
    {"Imag", "imag", 1, 1, Of1<Imag>},
    {"IndexedAdd", "scatter", 3, 3,
     [](Call& c) -> Results {
       return {IndexedAdd(c[0], c[1], c[2], c.Ints("axes", {}))};
     }},
    {"IndexedPut", "", 3, 3,
     [](Call& c) -> Results {
       return {IndexedPut(c[0], c[1], c[2], c.Ints("axes", {}))};
     }},
    {"Inverse", "", 1, 1, Of1<Inverse>},
    {"Iota", "iota", 0, 0, IotaByName},
    {"Irfft", "", 1, 1, Transformed<Irfft>},
    {"Irfft2", "", 1, 1, Transformed2<Irfft2>},
    {"IsFinite", "is_finite", 1, 1, Of1<IsFinite>},
    {"IsInfinity", "", 1, 1, Of1<IsInfinity>},
    {"IsNan", "", 1, 1, Of1<IsNan>},
    {"Le", "", 2, 2, Of2<Le>},
    {"LeastSquares", "", 2, 2,
     [](Call& c) -> Results {
       return {LeastSquares(c[0], c[1], RankOptionsOf(c))};
     }},
    {"LeftShift", "shift_left", 2, 2, Of2<LeftShift>},
    {"Lgamma", "lgamma", 1, 1, Of1<Lgamma>},
    {"Linspace", "", 2, 2,
     [](Call& c) -> Results {
       return {Linspace(c.Type("dtype", DType::kF32), c[0], c[1],
                        c.Int("count"), c.Bool("endpoint", true))};
     }},
    {"Log", "log", 1, 2,
     [](Call& c) -> Results {
       return {c.Operands(1).empty() ? Log(c[0]) : Log(c[0], c[1])};
     }},
    {"Log10", "", 1, 1, Of1<Log10>},
    {"Log1p", "log_plus_one", 1, 1, Of1<Log1p>},
    {"Log2", "", 1, 1, Of1<Log2>},
    {"LogDeterminant", "", 1, 1,
     [](Call& c) -> Results {
       const SignAndLogarithm d = LogDeterminant(c[0]);
       return {d.sign, d.logarithm};
     }},
    {"LogSumExp", "", 1, 2,
     [](Call& c) -> Results {
       if (c.Operands(1).empty()) return {LogSumExp(c[0], OverOf(c))};
       return {LogSumExp(c[0], OverOf(c), c[1])};
     }},
    {"LogicalAnd", "", 2, 2, Of2<LogicalAnd>},
    {"LogicalNot", "", 1, 1, Of1<LogicalNot>},
    {"LogicalOr", "", 2, 2, Of2<LogicalOr>},
    {"LogicalXor", "", 2, 2, Of2<LogicalXor>},
    {"Lt", "", 2, 2, Of2<Lt>},
    {"Lu", "lu", 1, 1,
     [](Call& c) -> Results {
       const LuFactors f = Lu(c[0]);
       return {f.order, f.lower, f.upper};
     }},
    {"MakeDiagonal", "", 1, 1,
     [](Call& c) -> Results { return {MakeDiagonal(c[0], c.Int("k", 0))}; }},
    {"MatMul", "", 2, 2,
     [](Call& c) -> Results { return {MatMul(c[0], c[1], DotOptionsOf(c))}; }},
    {"MatrixExponential", "", 1, 1, Of1<MatrixExponential>},
    {"MatrixNorm", "", 1, 1, MatrixNormByName},
    {"MatrixPower", "", 1, 1,
     [](Call& c) -> Results { return {MatrixPower(c[0], c.Int("power"))}; }},
    {"MatrixRank", "", 1, 1,
     [](Call& c) -> Results { return {MatrixRank(c[0], RankOptionsOf(c))}; }},
    {"Maximum", "maximum", 2, 2, Of2<Maximum>},
    {"Mean", "", 1, 1, Reduced<Mean>},
    {"Median", "", 1, 1, Reduced<Median>},
    {"Minimum", "minimum", 2, 2, Of2<Minimum>},
    {"Mode", "", 1, 1, Reduced<Mode>},
    {"Multiply", "multiply", 2, 2, Of2<Multiply>},
    {"Ne", "", 2, 2, Of2<Ne>},
    {"Negate", "negate", 1, 1, Of1<Negate>},
    {"NextAfter", "", 2, 2, Of2<NextAfter>},
    {"Ones", "", 0, 0,
     [](Call& c) -> Results {
       return {Ones(c.Type("dtype"), c.Ints("dims"), c.where())};
     }},
    {"Outer", "", 2, 2, Of2<Outer>},
    {"Pad", "pad", 2, 2, PadByName},
    {"PadOuter", "", 1, 1, PadOuterByName},
    {"Phase", "", 1, 1, Of1<Phase>},
    {"Pinv", "", 1, 1,
     [](Call& c) -> Results { return {Pinv(c[0], RankOptionsOf(c))}; }},
    {"PopulationCount", "popcnt", 1, 1, Of1<PopulationCount>},
    {"Power", "power", 2, 2, Of2<Power>},
    {"Product", "", 1, 1, Reduced<Product>},
    {"PutDiagonal", "", 2, 2,
     [](Call& c) -> Results {
       return {PutDiagonal(c[0], c[1], c.Int("k", 0))};
     }},
    {"PutSlice", "dynamic_update_slice", 2, kAny,
     [](Call& c) -> Results {
       return {PutSlice(c[0], c.Operands(2), c[1], OutsideOf(c))};
     }},
    {"Qr", "qr", 1, 1,
     [](Call& c) -> Results {
       const QrFactors f = Qr(c[0], {.full = c.Bool("full", false)});
       return {f.q, f.r};
     }},
    {"Quantile", "", 2, 2,
     [](Call& c) -> Results { return {Quantile(c[0], c[1], OverOf(c))}; }},
    {"Quotient", "", 2, 2, Of2<Quotient>},
    {"RandomBernoulli", "", 2, 2,
     [](Call& c) -> Results {
       return {RandomBernoulli(c[0], c[1], c.Ints("dims"))};
     }},
    {"RandomBits", "", 1, 1, Drawn<RandomBits, DType::kU32>},
    {"RandomCategorical", "", 2, 2,
     [](Call& c) -> Results {
       return {RandomCategorical(c[0], c[1], c.Int("axis", -1))};
     }},
    {"RandomChoice", "", 2, 3, ChoiceByName},
    {"RandomExponential", "", 1, 1, Drawn<RandomExponential, DType::kF32>},
    {"RandomFoldIn", "", 2, 2, Of2<RandomFoldIn>},
    {"RandomGamma", "", 2, 2,
     [](Call& c) -> Results {
       return {RandomGamma(c[0], c[1], c.Ints("dims"),
                           c.Type("dtype", DType::kF32))};
     }},
    {"RandomGumbel", "", 1, 1, Drawn<RandomGumbel, DType::kF32>},
    {"RandomInt", "", 3, 3,
     [](Call& c) -> Results {
       return {RandomInt(c[0], c.Ints("dims"), c[1], c[2],
                         c.Type("dtype", DType::kS32))};
     }},
    {"RandomKey", "", 1, 1, Of1<RandomKey>},
    {"RandomNormal", "", 3, 3, DrawnBy<RandomNormal>},
    {"RandomPermutation", "", 1, 1,
     [](Call& c) -> Results {
       return {RandomPermutation(c[0], c.Int("count"))};
     }},
    {"RandomShuffle", "", 2, 2,
     [](Call& c) -> Results {
       return {RandomShuffle(c[0], c[1], c.Int("axis", 0),
                             c.Bool("independent", false))};
     }},
    {"RandomSplit", "", 1, 1,
     [](Call& c) -> Results { return {RandomSplit(c[0], c.Int("parts", 2))}; }},
    {"RandomTruncatedNormal", "", 3, 3,
     [](Call& c) -> Results {
       return {RandomTruncatedNormal(c[0], c[1], c[2], c.Ints("dims"),
                                     c.Type("dtype", DType::kF32))};
     }},
    {"RandomUniform", "", 3, 3, DrawnBy<RandomUniform>},
    {"Real", "real", 1, 1, Of1<Real>},
    {"ReduceMax", "", 1, 1, Reduced<ReduceMax>},
    {"ReduceMin", "", 1, 1, Reduced<ReduceMin>},
    {"ReducePrecision", "reduce_precision", 1, 1,
     [](Call& c) -> Results {
       return {ReducePrecision(c[0], c.Int("exponent_bits"),
                               c.Int("mantissa_bits"))};
     }},
    {"Remainder", "remainder", 2, 2, Of2<Remainder>},
    {"Reshape", "reshape", 1, 1,
     [](Call& c) -> Results { return {Reshape(c[0], c.Ints("dims"))}; }},
    {"Reverse", "reverse", 1, 1,
     [](Call& c) -> Results { return {Reverse(c[0], c.Ints("axes", {}))}; }},
    {"Rfft", "", 1, 1, Transformed<Rfft>},
    {"Rfft2", "", 1, 1, Transformed2<Rfft2>},
    {"RightShift", "shift_right_arithmetic", 2, 2, Of2<RightShift>},
    {"RightShiftLogical", "shift_right_logical", 2, 2, Of2<RightShiftLogical>},
    {"Round", "round_nearest_afz", 1, 1, Of1<Round>},
    {"RoundEven", "round_nearest_even", 1, 1, Of1<RoundEven>},
    {"Rows", "", 2, 2,
     [](Call& c) -> Results {
       return {Rows(c[0], c[1], c.Int("count"), OutsideOf(c))};
     }},
    {"Rsqrt", "rsqrt", 1, 1, Of1<Rsqrt>},
    {"SearchSorted", "", 2, 2,
     [](Call& c) -> Results {
       return {SearchSorted(c[0], c[1], c.Bool("right", false))};
     }},
    {"Select", "select", 3, 3, Of3<Select>},
    {"Sigmoid", "logistic", 1, 1, Of1<Sigmoid>},
    {"Sign", "sign", 1, 1, Of1<Sign>},
    {"Sin", "sine", 1, 1, Of1<Sin>},
    {"SingularValues", "", 1, 1, Of1<SingularValues>},
    {"Sinh", "", 1, 1, Of1<Sinh>},
    {"Slice", "slice", 1, 1,
     [](Call& c) -> Results {
       return {Slice(c[0], c.Ints("starts"), c.Ints("lengths"),
                     c.Ints("strides", {}), OutsideOf(c))};
     }},
    {"SliceAlongAxis", "", 2, 2,
     [](Call& c) -> Results {
       return {SliceAlongAxis(c[0], c[1], c.Int("length"), c.Int("axis", 0),
                              c.Int("stride", 1), OutsideOf(c))};
     }},
    {"Softmax", "", 1, 1,
     [](Call& c) -> Results { return {Softmax(c[0], c.Int("axis", -1))}; }},
    {"Solve", "", 2, 2, Of2<Solve>},
    {"Sort", "sort", 1, 1,
     [](Call& c) -> Results { return {Sort(c[0], SortOptionsOf(c))}; }},
    {"Split", "", 1, 1,
     [](Call& c) -> Results {
       const int64_t axis = c.Int("axis", 0);
       const auto parts =
           c.Has("fraction")
               ? Split(c[0], Fraction{c.Float("fraction", 0)}, axis)
               : Split(c[0], c.Int("at"), axis);
       return {parts.first, parts.second};
     }},
    {"Sqrt", "sqrt", 1, 1, Of1<Sqrt>},
    {"Square", "", 1, 1, Of1<Square>},
    {"Squeeze", "", 1, 1,
     [](Call& c) -> Results { return {Squeeze(c[0], c.Ints("axes", {}))}; }},
    {"Stack", "", 1, kAny,
     [](Call& c) -> Results {
       return {Stack(c.Tensors(), c.Int("axis", 0), c.where())};
     }},
    {"StandardDeviation", "", 1, 1,
     [](Call& c) -> Results {
       return {StandardDeviation(c[0], OverOf(c), c.Int("ddof", 0))};
     }},
    {"StopGradient", "stop_gradient", 1, 1, Of1<StopGradient>},
    {"Subtract", "subtract", 2, 2, Of2<Subtract>},
    {"Sum", "reduce", 1, 1, Reduced<Sum>},
    {"Svd", "svd", 1, 1,
     [](Call& c) -> Results {
       const SvdFactors f = Svd(c[0], {.full = c.Bool("full", false)});
       return {f.u, f.s, f.vh};
     }},
    {"Take", "", 2, 2,
     [](Call& c) -> Results {
       return {Take(c[0], c[1], c.Int("axis", 0), OutsideOf(c))};
     }},
    {"TakeAlongAxis", "", 2, 2,
     [](Call& c) -> Results {
       return {TakeAlongAxis(c[0], c[1], c.Int("axis"), OutsideOf(c))};
     }},
    {"TakeDiagonal", "", 1, 1,
     [](Call& c) -> Results { return {TakeDiagonal(c[0], c.Int("k", 0))}; }},
    {"Tan", "tan", 1, 1, Of1<Tan>},
    {"Tanh", "tanh", 1, 1, Of1<Tanh>},
    {"Threefry2x32", "", 2, 2, Of2<Threefry2x32>},
    {"Tile", "", 1, 1,
     [](Call& c) -> Results { return {Tile(c[0], c.Ints("repetitions"))}; }},
    {"TopK", "", 1, 1,
     [](Call& c) -> Results {
       auto [values, places] = TopK(c[0], c.Int("k"));
       return {values, places};
     }},
    {"Transpose", "transpose", 1, 1,
     [](Call& c) -> Results {
       return {Transpose(c[0], c.Ints("permutation", {}))};
     }},
    {"Tri", "", 0, 0,
     [](Call& c) -> Results {
       return {Tri(c.Type("dtype", DType::kS32), c.Int("rows"),
                   c.Int("columns"), c.Int("k", 0), c.where())};
     }},
    {"TriangularSolve", "triangular_solve", 2, 2,
     [](Call& c) -> Results {
       TriangularSolveOptions options;
       options.left = c.Bool("left", true);
       options.lower = c.Bool("lower", true);
       options.unit_diagonal = c.Bool("unit_diagonal", false);
       if (c.Bool("transposed", false)) options.turned = Turned::kTransposed;
       if (c.Bool("adjoint", false)) options.turned = Turned::kAdjoint;
       return {TriangularSolve(c[0], c[1], options)};
     }},
    {"Tril", "", 1, 1,
     [](Call& c) -> Results { return {Tril(c[0], c.Int("k", 0))}; }},
    {"Triu", "", 1, 1,
     [](Call& c) -> Results { return {Triu(c[0], c.Int("k", 0))}; }},
    {"Unfold", "unfold", 1, 1,
     [](Call& c) -> Results {
       return {Unfold(c[0], c.Int("axis"), c.Int("size"),
                      {.stride = c.Int("stride", 1),
                       .dilation = c.Int("dilation", 1)})};
     }},
    {"Unique", "", 1, 1,
     [](Call& c) -> Results {
       const UniqueElements u = Unique(c[0], c.Int("size"));
       return {u.values, u.first, u.counts, u.inverse, u.count};
     }},
    {"Variance", "", 1, 1,
     [](Call& c) -> Results {
       return {Variance(c[0], OverOf(c), c.Int("ddof", 0))};
     }},
    {"VectorNorm", "", 1, 1,
     [](Call& c) -> Results {
       return {VectorNorm(c[0], c.Float("order", 2), OverOf(c))};
     }},
    {"WeightedMean", "", 2, 2,
     [](Call& c) -> Results { return {WeightedMean(c[0], c[1], OverOf(c))}; }},
    {"While", "while", 1, 1, CountUp},
    {"WindowMax", "", 1, 1, Windowed<WindowMax>},
    {"WindowMean", "", 1, 1, Windowed<WindowMean>},
    {"WindowMin", "", 1, 1, Windowed<WindowMin>},
    {"WindowProduct", "", 1, 1, Windowed<WindowProduct>},
    {"WindowScatterMax", "", 3, 3, WindowScattered<WindowScatterMax>},
    {"WindowScatterMin", "", 3, 3, WindowScattered<WindowScatterMin>},
    {"WindowSum", "", 1, 1, Windowed<WindowSum>},
    {"Zeros", "", 0, 0,
     [](Call& c) -> Results {
       return {Zeros(c.Type("dtype"), c.Ints("dims"), c.where())};
     }},
};

constexpr bool Sorted() {
  for (size_t i = 1; i < std::size(kFunctions); ++i) {
    if (kFunctions[i - 1].name >= kFunctions[i].name) return false;
  }
  return true;
}
static_assert(Sorted(), "functions stand in order of their names");

}  // namespace

absl::Span<const FunctionEntry> AllFunctions() { return kFunctions; }

const FunctionEntry* FindFunction(absl::string_view name) {
  const auto* at = std::lower_bound(
      std::begin(kFunctions), std::end(kFunctions), name,
      [](const FunctionEntry& f, absl::string_view n) { return f.name < n; });
  return at != std::end(kFunctions) && at->name == name ? at : nullptr;
}

absl::StatusOr<std::vector<Tensor>> CallFunction(
    const FunctionEntry& function, absl::Span<const FunctionArgument> arguments,
    const Attributes& attributes, SourceLocation where) {
  if (arguments.size() < function.min_arguments ||
      arguments.size() > function.max_arguments) {
    return InvalidArgument(function.name, ": takes ", function.min_arguments,
                           function.max_arguments == kAny ? " or more" : "",
                           " arguments, got ", arguments.size());
  }
  FunctionCall call(arguments, attributes, where);
  std::vector<Tensor> results = function.call(call);
  const absl::Status status = call.Check();
  if (status.ok()) return results;
  return Annotate(status, function.name);
}

}  // namespace hawser
