#include "client/stablehlo/bytecode/dialects/vhlo.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace hawser::stablehlo::vhlo {
namespace {

constexpr std::pair<uint64_t, absl::string_view> kTypeNames[] = {
    {0, "i1"},
    {2, "bf16"},
    {3, "f16"},
    {4, "f32"},
    {5, "f64"},
    {6, "f8E4M3FN"},
    {7, "f8E5M2"},
    {9, "index"},
    {10, "i4"},
    {11, "i8"},
    {12, "i16"},
    {13, "i32"},
    {14, "i64"},
    {15, "ui4"},
    {16, "ui8"},
    {17, "ui16"},
    {18, "ui32"},
    {19, "ui64"},
    {22, "!stablehlo.token"},
    {24, "!quant.uniform"},
    {26, "!shape.witness"},
    {27, "f8E4M3FNUZ"},
    {28, "f8E5M2FNUZ"},
    {29, "f8E4M3B11FNUZ"},
    {30, "!quant.uniform"},
    {31, "i2"},
    {32, "ui2"},
    {kNone, "none"},
    {34, "tf32"},
    {35, "f8E4M3"},
    {36, "f8E3M4"},
    {37, "f4E2M1FN"},
    {38, "f6E2M3FN"},
    {39, "f6E3M2FN"},
    {40, "f8E8M0FNU"},
    {41, "memref"},
    {42, "!stablehlo.future"},
};

struct EnumRow {
  uint64_t code;
  absl::string_view words;  // of the values from 0 on
};
constexpr EnumRow kEnums[] = {
    {3, "EQ NE GE GT LE LT"},
    {4, "NOTYPE FLOAT TOTALORDER SIGNED UNSIGNED"},
    {5,
     "API_VERSION_UNSPECIFIED API_VERSION_ORIGINAL "
     "API_VERSION_STATUS_RETURNING API_VERSION_STATUS_RETURNING_UNIFIED "
     "API_VERSION_TYPED_FFI"},
    {7, "FFT IFFT RFFT IRFFT"},
    {11, "DEFAULT HIGH HIGHEST"},
    {12, "DEFAULT THREE_FRY PHILOX"},
    {13, "? UNIFORM NORMAL"},
    {16, "TRANSPOSE_INVALID NO_TRANSPOSE TRANSPOSE ADJOINT"},
    {19, "DEFAULT HIGHEST TOLERANCE"},
};

// An op of VHLO that declares attributes, and these in alphabetical order. From
// StableHLO's VhloOps.td and the artifacts of 0.9 to 1.20.
struct DeclaredRow {
  absl::string_view op;
  absl::string_view attributes;
};
constexpr DeclaredRow kDeclared[] = {
    {"vhlo.all_gather_v1",
     "all_gather_dim channel_id replica_groups use_global_device_ids"},
    {"vhlo.all_gather_v2",
     "all_gather_dim channel_id replica_groups use_global_device_ids"},
    {"vhlo.all_reduce_v1", "channel_id replica_groups use_global_device_ids"},
    {"vhlo.all_reduce_v2", "channel_id replica_groups use_global_device_ids"},
    {"vhlo.all_to_all_v1",
     "channel_id concat_dimension replica_groups split_count "
     "split_dimension"},
    {"vhlo.all_to_all_v2",
     "channel_id concat_dimension replica_groups split_count "
     "split_dimension"},
    {"vhlo.batch_norm_grad_v1", "epsilon feature_index"},
    {"vhlo.batch_norm_inference_v1", "epsilon feature_index"},
    {"vhlo.batch_norm_training_v1", "epsilon feature_index"},
    {"vhlo.broadcast_in_dim_v1", "broadcast_dimensions"},
    {"vhlo.broadcast_v1", "broadcast_sizes"},
    {"vhlo.call_v1", "callee"},
    {"vhlo.cbrt_v2", "result_accuracy"},
    {"vhlo.cholesky_v1", "lower"},
    {"vhlo.collective_broadcast_v1", "channel_id replica_groups"},
    {"vhlo.collective_broadcast_v2",
     "channel_id has_dynamic_root replica_groups"},
    {"vhlo.collective_permute_v1", "channel_id source_target_pairs"},
    {"vhlo.collective_reduce_v1",
     "channel_id has_dynamic_root replica_groups use_global_device_ids"},
    {"vhlo.compare_v1", "compare_type comparison_direction"},
    {"vhlo.composite_v1", "composite_attributes decomposition name version"},
    {"vhlo.composite_v2", "composite_attributes decomposition name version"},
    {"vhlo.concatenate_v1", "dimension"},
    {"vhlo.constant_v1", "value"},
    {"vhlo.convolution_v1",
     "batch_group_count feature_group_count input_batch_dimension "
     "input_feature_dimension input_spatial_dimensions "
     "kernel_input_feature_dimension kernel_output_feature_dimension "
     "kernel_spatial_dimensions lhs_dilation output_batch_dimension "
     "output_feature_dimension output_spatial_dimensions padding "
     "precision_config rhs_dilation window_reversal window_strides"},
    {"vhlo.cosine_v2", "result_accuracy"},
    {"vhlo.cross-replica-sum_v1", "replica_groups"},
    {"vhlo.custom_call_v1",
     "api_version backend_config call_target_name called_computations "
     "has_side_effect operand_layouts output_operand_aliases "
     "result_layouts"},
    {"vhlo.custom_call_v2",
     "api_version backend_config call_target_name called_computations "
     "has_side_effect operand_layouts output_operand_aliases "
     "result_layouts result_tilings"},
    {"vhlo.dot_general_v1",
     "lhs_batching_dimensions lhs_contracting_dimensions "
     "precision_config rhs_batching_dimensions "
     "rhs_contracting_dimensions"},
    {"vhlo.dot_general_v2",
     "accumulation_type allow_imprecise_accumulation "
     "lhs_batching_dimensions lhs_component_count "
     "lhs_contracting_dimensions lhs_precision_type "
     "num_primitive_operations precision_config rhs_batching_dimensions "
     "rhs_component_count rhs_contracting_dimensions rhs_precision_type"},
    {"vhlo.dot_v1", "precision_config"},
    {"vhlo.dynamic_broadcast_in_dim_v1",
     "broadcast_dimensions known_expanding_dimensions "
     "known_nonexpanding_dimensions"},
    {"vhlo.dynamic_conv_v1",
     "batch_group_count feature_group_count input_batch_dimension "
     "input_feature_dimension input_spatial_dimensions "
     "kernel_input_feature_dimension kernel_output_feature_dimension "
     "kernel_spatial_dimensions lhs_dilation output_batch_dimension "
     "output_feature_dimension output_spatial_dimensions padding "
     "precision_config rhs_dilation window_reversal window_strides"},
    {"vhlo.dynamic_conv_v2",
     "batch_group_count feature_group_count input_batch_dimension "
     "input_feature_dimension input_spatial_dimensions "
     "kernel_input_feature_dimension kernel_output_feature_dimension "
     "kernel_spatial_dimensions lhs_dilation output_batch_dimension "
     "output_feature_dimension output_spatial_dimensions "
     "precision_config rhs_dilation window_reversal window_strides"},
    {"vhlo.dynamic_gather_v1",
     "collapsed_slice_dims index_vector_dim indices_are_sorted "
     "offset_dims start_index_map"},
    {"vhlo.dynamic_gather_v2",
     "collapsed_slice_dims index_vector_dim indices_are_sorted "
     "offset_dims operand_batching_dims start_index_map "
     "start_indices_batching_dims"},
    {"vhlo.dynamic_iota_v1", "iota_dimension"},
    {"vhlo.dynamic_slice_v1", "slice_sizes"},
    {"vhlo.einsum_v1", "einsum_config"},
    {"vhlo.exponential_minus_one_v2", "result_accuracy"},
    {"vhlo.exponential_v2", "result_accuracy"},
    {"vhlo.fft_v1", "fft_length fft_type"},
    {"vhlo.func_v1",
     "arg_attrs function_type res_attrs sym_name sym_visibility"},
    {"vhlo.gather_v1",
     "collapsed_slice_dims index_vector_dim indices_are_sorted "
     "offset_dims slice_sizes start_index_map"},
    {"vhlo.gather_v2",
     "collapsed_slice_dims index_vector_dim indices_are_sorted "
     "offset_dims operand_batching_dims slice_sizes start_index_map "
     "start_indices_batching_dims"},
    {"vhlo.get_dimension_size_v1", "dimension"},
    {"vhlo.get_tuple_element_v1", "index"},
    {"vhlo.infeed_v1", "infeed_config layout"},
    {"vhlo.iota_v1", "iota_dimension"},
    {"vhlo.log_plus_one_v2", "result_accuracy"},
    {"vhlo.log_v2", "result_accuracy"},
    {"vhlo.logistic_v2", "result_accuracy"},
    {"vhlo.map_v1", "dimensions"},
    {"vhlo.outfeed_v1", "outfeed_config"},
    {"vhlo.pad_v1", "edge_padding_high edge_padding_low interior_padding"},
    {"vhlo.recv_v1", "channel_id channel_type is_host_transfer"},
    {"vhlo.recv_v2",
     "channel_id channel_type is_host_transfer source_target_pairs"},
    {"vhlo.reduce_precision_v1", "exponent_bits mantissa_bits"},
    {"vhlo.reduce_scatter_v1",
     "channel_id replica_groups scatter_dimension use_global_device_ids"},
    {"vhlo.reduce_v1", "dimensions"},
    {"vhlo.reduce_window_v1",
     "base_dilations padding window_dilations window_dimensions "
     "window_strides"},
    {"vhlo.reverse_v1", "dimensions"},
    {"vhlo.rng_bit_generator_v1", "rng_algorithm"},
    {"vhlo.rng_v1", "rng_distribution"},
    {"vhlo.rsqrt_v2", "result_accuracy"},
    {"vhlo.scatter_v1",
     "index_vector_dim indices_are_sorted inserted_window_dims "
     "scatter_dims_to_operand_dims unique_indices update_window_dims"},
    {"vhlo.scatter_v2",
     "index_vector_dim indices_are_sorted input_batching_dims "
     "inserted_window_dims scatter_dims_to_operand_dims "
     "scatter_indices_batching_dims unique_indices update_window_dims"},
    {"vhlo.select_and_scatter_v1", "padding window_dimensions window_strides"},
    {"vhlo.send_v1", "channel_id channel_type is_host_transfer"},
    {"vhlo.send_v2",
     "channel_id channel_type is_host_transfer source_target_pairs"},
    {"vhlo.set_dimension_size_v1", "dimension"},
    {"vhlo.sine_v2", "result_accuracy"},
    {"vhlo.slice_v1", "limit_indices start_indices strides"},
    {"vhlo.sort_v1", "dimension is_stable"},
    {"vhlo.sqrt_v2", "result_accuracy"},
    {"vhlo.tan_v2", "result_accuracy"},
    {"vhlo.tanh_v2", "result_accuracy"},
    {"vhlo.torch_index_select_v1", "batch_dims dim"},
    {"vhlo.transpose_v1", "permutation"},
    {"vhlo.triangular_solve_v1", "left_side lower transpose_a unit_diagonal"},
    {"vhlo.unary_einsum_v1", "einsum_config"},
};

}  // namespace

absl::string_view TypeName(uint64_t code) {
  for (const auto& [number, name] : kTypeNames) {
    if (number == code) return name;
  }
  return "";
}

absl::string_view EnumWord(uint64_t code, uint64_t value) {
  for (const EnumRow& row : kEnums) {
    if (row.code != code) continue;
    absl::string_view rest = row.words;
    for (; value > 0 && !rest.empty(); --value) {
      rest.remove_prefix(std::min(rest.find(' '), rest.size() - 1) + 1);
    }
    return rest.substr(0, rest.find(' '));
  }
  return "";
}

std::string StableHloName(absl::string_view name) {
  constexpr std::pair<absl::string_view, absl::string_view> kFunctions[] = {
      {"func_v1", "func.func"}, {"call_v1", "func.call"}};
  absl::string_view rest = name;
  if (!absl::ConsumePrefix(&rest, "vhlo.")) return std::string(name);
  for (const auto& [coded, plain] : kFunctions) {
    if (rest == coded) return std::string(plain);
  }
  return absl::StrCat("stablehlo.", rest.substr(0, rest.rfind("_v")));
}

const std::vector<absl::string_view>* DeclaredAttributes(
    absl::string_view name) {
  using Names = std::vector<absl::string_view>;
  static const auto& table = *[] {
    auto* made = new absl::flat_hash_map<absl::string_view, Names>;
    for (const DeclaredRow& row : kDeclared) {
      made->emplace(row.op, absl::StrSplit(row.attributes, ' '));
    }
    return made;
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace hawser::stablehlo::vhlo
