// StableHLO programs to start from: every kind of token, literal and form.
#ifndef HAWSER_TESTS_FUZZ_INPUTS_STABLEHLO_PROGRAMS_H_
#define HAWSER_TESTS_FUZZ_INPUTS_STABLEHLO_PROGRAMS_H_

#include <utility>

namespace hawser {

inline constexpr std::pair<const char*, const char*> kStableHloPrograms[] = {
    {"pretty", R"mlir(#loc1 = loc("a.py":1:2)
!t = tensor<4xf32>
module @m attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%a: !t {x.y = "z"}, %i: tensor<i32>) -> (!t) {
    %c = stablehlo.constant dense<[1.0, 0x7F800000, -0.0, 2e3]> : !t
    %0:2 = call @f(%a, %c) {k = [1, 2]} : (!t, !t) -> (!t, !t)
    %1 = stablehlo.slice %0#1 [0:4:2] : (!t) -> tensor<2xf32>
    %z = stablehlo.constant dense<0.5> : tensor<f32>
    %2 = stablehlo.pad %1, %z, low = [1], high = [1], interior = [0] : (tensor<2xf32>, tensor<f32>) -> !t loc(#loc1)
    return %2 : !t
  }
  func.func private @f(%a: !t, %b: !t) -> (!t, !t) {
    %0 = stablehlo.add %a, %b : !t
    return %0, %a : !t, !t
  }
})mlir"},
    {"generic", R"mlir("builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %2 = "stablehlo.add"(%l, %r) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%2) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    "func.return"(%1) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ())mlir"},
    {"control",
     R"mlir(func.func @main(%n: tensor<i32>, %s: tensor<i32>, %p: tensor<i1>) -> tensor<i32> {
  %c = stablehlo.constant dense<7> : tensor<i32>
  %r = stablehlo.while(%i = %n) : tensor<i32> cond {
    %q = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %q : tensor<i1>
  } do {
    %j = stablehlo.add %i, %s : tensor<i32>
    stablehlo.return %j : tensor<i32>
  }
  %t = "stablehlo.if"(%p) ({ stablehlo.return %r : tensor<i32> }, { stablehlo.return %n : tensor<i32> }) : (tensor<i1>) -> tensor<i32>
  return %t : tensor<i32>
})mlir"},
    {"literals", R"mlir(func.func @main() -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>
  %1 = stablehlo.constant dense<[(1.0, 2.0), (0x7F800000, -1.0)]> : tensor<2xcomplex<f32>>
  %2 = stablehlo.constant dense_resource<w> : tensor<2xbf16>
  %3 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %4 = stablehlo.constant dense<> : tensor<0xui8>
  %5 = stablehlo.constant dense<1.5> : tensor<100x100xf16>
  %6 = chlo.erf %0 : tensor<2xf32> -> tensor<2xf32>
  return %1 : tensor<2xcomplex<f32>>
}
{-# dialect_resources: { builtin: { w: "0x04000000803F0040" } } #-})mlir"},
    {"indexed",
     R"mlir(func.func @main(%x: tensor<2x5xf32>, %i: tensor<2x3x1xi32>, %u: tensor<2x3xf32>) -> tensor<2x5xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x5xf32>, tensor<2x3x1xi32>) -> tensor<2x3xf32>
  %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<2x5xf32>, tensor<2x3x1xi32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  %2 = stablehlo.dot_general %x, %u, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<2x5xf32>, tensor<2x3xf32>) -> tensor<2x5x3xf32>
  return %1 : tensor<2x5xf32>
})mlir"},
};

}  // namespace hawser
#endif  // HAWSER_TESTS_FUZZ_INPUTS_STABLEHLO_PROGRAMS_H_
