#include "kernels/cpu/libraries/dnnl_convolution.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "kernels/cpu/libraries/dnnl_functions.h"

namespace hawser::cpu {
namespace {

using Sizes = DnnlConvolutionSizes;
using OwnedPlan = OwnedDnnl<dnnl_primitive_desc_t>;

// Convolutions that the process keeps: a network has some tens, by batch size.
constexpr size_t kKept = 512;

// A tensor whose axes the library numbers from 0 on, in the order in which they
// lie in memory.
absl::Status InitLayout(const DnnlFunctions& f, dnnl_data_type_t type,
                        const absl::InlinedVector<int64_t, 6>& dims,
                        const absl::InlinedVector<int, 6>& in_memory,
                        dnnl_memory_desc_t* layout) {
  dnnl_dims_t sizes, strides;
  int64_t stride = 1;
  for (size_t k = in_memory.size(); k-- > 0;) {
    const int axis = in_memory[k];
    sizes[axis] = dims[axis];
    strides[axis] = stride;
    stride *= std::max<int64_t>(dims[axis], 1);
  }
  return StatusOfDnnl(
      f.memory_desc_init_by_strides(layout, static_cast<int>(dims.size()),
                                    sizes, type, strides),
      "layout");
}

// [batch, features, spatial...] with the features last in memory.
absl::Status InitImages(const DnnlFunctions& f, dnnl_data_type_t type,
                        int64_t batch, int64_t features,
                        const Sizes::Sizes& spatial,
                        dnnl_memory_desc_t* layout) {
  absl::InlinedVector<int64_t, 6> dims = {batch, features};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  absl::InlinedVector<int, 6> order = {0};
  for (size_t a = 0; a < spatial.size(); ++a) {
    order.push_back(static_cast<int>(a) + 2);
  }
  order.push_back(1);
  return InitLayout(f, type, dims, order, layout);
}

// ([groups,] out, features, spatial...): ours, with the spatial axes first and
// groups before out in memory; and of any order.
absl::Status InitKernels(const DnnlFunctions& f, dnnl_data_type_t type,
                         const Sizes& s, dnnl_memory_desc_t* own,
                         dnnl_memory_desc_t* any) {
  const bool grouped = s.groups > 1;
  const int g = grouped ? 1 : 0;
  absl::InlinedVector<int64_t, 6> dims;
  if (grouped) dims.push_back(s.groups);
  dims.push_back(s.out / s.groups);
  dims.push_back(s.features / s.groups);
  dims.insert(dims.end(), s.kernel.begin(), s.kernel.end());
  absl::InlinedVector<int, 6> order;
  for (size_t a = 0; a < s.kernel.size(); ++a) {
    order.push_back(static_cast<int>(a) + g + 2);
  }
  order.push_back(g + 1);
  if (grouped) order.push_back(0);
  order.push_back(g);
  HAWSER_RETURN_IF_ERROR(InitLayout(f, type, dims, order, own));
  return StatusOfDnnl(
      f.memory_desc_init_by_tag(any, static_cast<int>(dims.size()), dims.data(),
                                type, dnnl_format_tag_any),
      "layout");
}

absl::Status InitWish(const DnnlFunctions& f, const Sizes& s,
                      dnnl_memory_desc_t* own, dnnl_convolution_desc_t* wish) {
  const dnnl_data_type_t type = s.dtype == DType::kBF16 ? dnnl_bf16 : dnnl_f32;
  dnnl_memory_desc_t x, kernel, result;
  HAWSER_RETURN_IF_ERROR(InitImages(f, type, s.batch, s.features, s.x, &x));
  HAWSER_RETURN_IF_ERROR(
      InitImages(f, type, s.batch, s.out, s.result, &result));
  HAWSER_RETURN_IF_ERROR(InitKernels(f, type, s, own, &kernel));
  dnnl_dims_t dilations, high;
  for (size_t a = 0; a < s.x.size(); ++a) {
    dilations[a] = s.dilations[a] - 1;
    const int64_t windows = s.is_transposed ? s.x[a] : s.result[a];
    const int64_t elements = s.is_transposed ? s.result[a] : s.x[a];
    const int64_t reach =
        (windows - 1) * s.strides[a] + (s.kernel[a] - 1) * s.dilations[a] + 1;
    high[a] = std::max<int64_t>(reach - elements - s.low[a], 0);
  }
  const auto init = s.is_transposed ? f.dilated_deconvolution_forward_desc_init
                                    : f.dilated_convolution_forward_desc_init;
  const auto how =
      s.is_transposed ? dnnl_deconvolution_direct : dnnl_convolution_direct;
  return StatusOfDnnl(
      init(wish, dnnl_forward_inference, how, &x, &kernel, nullptr, &result,
           s.strides.data(), dilations, s.low.data(), high),
      "convolution");
}

// Those that are no kernels of vectors.
bool IsSlow(const DnnlFunctions& f, const_dnnl_primitive_desc_t plan) {
  const char* how = nullptr;
  f.primitive_desc_query(plan, dnnl_query_impl_info_str, 0, &how);
  return how == nullptr || absl::StrContains(how, "ref") ||
         absl::StartsWith(how, "simple");
}

}  // namespace

struct DnnlConvolution::Parts {
  const DnnlFunctions& f;
  OwnedPlan plan{nullptr, nullptr};
  OwnedDnnl<dnnl_primitive_t> primitive{nullptr, nullptr};
  OwnedDnnl<dnnl_primitive_t> packs{nullptr, nullptr};
  dnnl_memory_desc_t own;  // the kernel's layout
  dnnl_memory_desc_t x, packed, result, scratch;
};

DnnlConvolution::DnnlConvolution(std::unique_ptr<const Parts> parts)
    : parts_(std::move(parts)) {}
DnnlConvolution::~DnnlConvolution() = default;

absl::StatusOr<DnnlConvolution::Ptr> DnnlConvolution::Make(const Dnnl& dnnl,
                                                           const Sizes& sizes) {
  const DnnlFunctions& f = dnnl.functions();
  const DnnlCall call(f);
  auto parts = std::unique_ptr<Parts>(new Parts{f});
  dnnl_convolution_desc_t wish;
  HAWSER_RETURN_IF_ERROR(InitWish(f, sizes, &parts->own, &wish));
  OwnedDnnl<dnnl_primitive_attr_t> attributes{nullptr, nullptr};
  HAWSER_RETURN_IF_ERROR(MakeDnnl(
      [&](dnnl_primitive_attr_t* made) {
        return f.primitive_attr_create(made);
      },
      f.primitive_attr_destroy, "attributes", &attributes));
  HAWSER_RETURN_IF_ERROR(
      StatusOfDnnl(f.primitive_attr_set_scratchpad_mode(
                       attributes.get(), dnnl_scratchpad_mode_user),
                   "scratch memory"));
  HAWSER_RETURN_IF_ERROR(MakeDnnl(
      [&](dnnl_primitive_desc_t* made) {
        return f.primitive_desc_create(made, &wish, attributes.get(), f.engine,
                                       nullptr);
      },
      f.primitive_desc_destroy, "convolution", &parts->plan));
  const_dnnl_primitive_desc_t plan = parts->plan.get();
  if (IsSlow(f, plan)) return Unimplemented("oneDNN would convolve by loops");
  const auto layout = [&](dnnl_query_t which) {
    return *f.primitive_desc_query_md(plan, which, 0);
  };
  parts->x = layout(dnnl_query_src_md);
  parts->packed = layout(dnnl_query_weights_md);
  parts->result = layout(dnnl_query_dst_md);
  parts->scratch = layout(dnnl_query_scratchpad_md);
  HAWSER_RETURN_IF_ERROR(f.MakePrimitive(plan, &parts->primitive));
  OwnedPlan packing{nullptr, nullptr};
  HAWSER_RETURN_IF_ERROR(MakeDnnl(
      [&](dnnl_primitive_desc_t* made) {
        return f.reorder_primitive_desc_create(
            made, &parts->own, f.engine, &parts->packed, f.engine, nullptr);
      },
      f.primitive_desc_destroy, "order", &packing));
  HAWSER_RETURN_IF_ERROR(f.MakePrimitive(packing.get(), &parts->packs));
  return Ptr(new DnnlConvolution(std::move(parts)));
}

absl::StatusOr<DnnlConvolution::Ptr> DnnlConvolution::Find(const Dnnl& dnnl,
                                                           const Sizes& sizes) {
  struct Known {
    Mutex mutex;
    absl::flat_hash_map<Sizes, absl::StatusOr<Ptr>> made;
  };
  static auto& known = *new Known;
  {
    MutexLock lock(&known.mutex);
    const auto found = known.made.find(sizes);
    if (found != known.made.end()) return found->second;
  }
  absl::StatusOr<Ptr> made = Make(dnnl, sizes);
  // What it does not take, another way does.
  if (!made.ok() && !absl::IsResourceExhausted(made.status())) {
    made = Unimplemented(made.status().message());
  }
  MutexLock lock(&known.mutex);
  if (known.made.size() >= kKept) known.made.clear();
  return known.made.try_emplace(sizes, std::move(made)).first->second;
}

int64_t DnnlConvolution::kernel_bytes() const {
  return static_cast<int64_t>(parts_->f.memory_desc_get_size(&parts_->packed));
}

int64_t DnnlConvolution::scratch_bytes() const {
  return static_cast<int64_t>(parts_->f.memory_desc_get_size(&parts_->scratch));
}

bool DnnlConvolution::HasOrderOf(const DnnlConvolution& other) const {
  return parts_->f.memory_desc_equal(&parts_->packed, &other.parts_->packed) !=
         0;
}

absl::Status DnnlConvolution::Pack(const char* kernel, char* packed) const {
  const DnnlFunctions& f = parts_->f;
  const DnnlCall call(f);
  OwnedDnnl<dnnl_memory_t> from{nullptr, nullptr}, to{nullptr, nullptr};
  HAWSER_RETURN_IF_ERROR(f.MakeMemory(parts_->own, kernel, &from));
  HAWSER_RETURN_IF_ERROR(f.MakeMemory(parts_->packed, packed, &to));
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from.get()},
                                       {DNNL_ARG_TO, to.get()}};
  return f.Run(parts_->packs.get(), 2, arguments);
}

absl::Status DnnlConvolution::Run(const char* x, const char* packed,
                                  char* result, char* scratch) const {
  const DnnlFunctions& f = parts_->f;
  const DnnlCall call(f);
  OwnedDnnl<dnnl_memory_t> of_x{nullptr, nullptr}, of_kernel{nullptr, nullptr},
      of_result{nullptr, nullptr}, of_scratch{nullptr, nullptr};
  HAWSER_RETURN_IF_ERROR(f.MakeMemory(parts_->x, x, &of_x));
  HAWSER_RETURN_IF_ERROR(f.MakeMemory(parts_->packed, packed, &of_kernel));
  HAWSER_RETURN_IF_ERROR(f.MakeMemory(parts_->result, result, &of_result));
  HAWSER_RETURN_IF_ERROR(f.MakeMemory(parts_->scratch, scratch, &of_scratch));
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, of_x.get()},
                                       {DNNL_ARG_WEIGHTS, of_kernel.get()},
                                       {DNNL_ARG_DST, of_result.get()},
                                       {DNNL_ARG_SCRATCHPAD, of_scratch.get()}};
  return f.Run(parts_->primitive.get(), 4, arguments);
}

}  // namespace hawser::cpu
