#include "kernels/cpu/libraries/dnnl.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/libraries/dnnl_functions.h"

namespace hawser::cpu {
namespace {

dnnl_data_type_t TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return dnnl_bf16;
    case DType::kF32:
      return dnnl_f32;
    case DType::kU8:
      return dnnl_u8;
    case DType::kS8:
      return dnnl_s8;
    case DType::kS32:
      return dnnl_s32;
    default:
      return dnnl_data_type_undef;
  }
}

absl::Status InitMatrix(const DnnlFunctions& f, DType dtype, int64_t rows,
                        int64_t columns, const Dnnl::Matrix& matrix,
                        dnnl_memory_desc_t* layout) {
  const dnnl_dims_t dims = {rows, columns};
  const dnnl_dims_t strides = {matrix.row_stride, matrix.column_stride};
  return StatusOfDnnl(
      f.memory_desc_init_by_strides(layout, 2, dims, TypeOf(dtype), strides),
      "layout");
}

bool Has(const DnnlFunctions& f, int instructions) {
  return (f.get_effective_cpu_isa() & instructions) == instructions;
}

}  // namespace

Dnnl::Dnnl(std::unique_ptr<const DnnlFunctions> functions)
    : functions_(std::move(functions)) {
  const dnnl_version_t& version = *functions_->version();
  name_ = absl::StrCat("oneDNN ", version.major, ".", version.minor, ".",
                       version.patch);
  has_bf16_ = Has(*functions_, dnnl_cpu_isa_avx512_core_bf16);
  const bool has_tiles = Has(*functions_, dnnl_cpu_isa_avx512_core_amx);
  has_exact_bytes_ = Has(*functions_, dnnl_cpu_isa_avx512_core_vnni) ||
                     Has(*functions_, dnnl_cpu_isa_avx2_vnni);
  is_fast_ = has_bf16_ && (has_tiles || ProcessMaker() == Maker::kAmd);
}

Dnnl::~Dnnl() = default;

std::unique_ptr<const Dnnl> Dnnl::Open(absl::string_view path) {
  void* library = dlopen(std::string(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  auto f = std::make_unique<DnnlFunctions>();
  if (!f->ResolveFrom(library) || f->version()->major != DNNL_VERSION_MAJOR) {
    dlclose(library);
    return nullptr;
  }
  // From here on it may have state of its own, and stays.
  if (f->engine_create(&f->engine, dnnl_cpu, 0) != dnnl_success) return nullptr;
  return std::unique_ptr<const Dnnl>(new Dnnl(std::move(f)));
}

const Dnnl* Dnnl::OfProcess() {
  static const Dnnl* const dnnl = []() -> const Dnnl* {
    const char* wish = std::getenv("HAWSER_DNNL");
    if (wish == nullptr || *wish == '\0') {
      return Open("libdnnl.so.2").release();
    }
    if (absl::string_view(wish) == "off") return nullptr;
    auto found = Open(wish);
    if (found == nullptr) {
      HAWSER_LOG(kWarning) << "HAWSER_DNNL=" << wish
                           << " is no oneDNN 2 of use on this processor; "
                              "convolutions and products of bf16 go by a BLAS, "
                              "of bytes by own loops";
    }
    return found.release();
  }();
  return dnnl;
}

absl::Status Dnnl::Multiply(const Types& types, int64_t m, int64_t n, int64_t k,
                            const Matrix& a, const Matrix& b, void* c,
                            int64_t pitch) const {
  const DnnlFunctions& f = *functions_;
  const DnnlCall call(f);
  dnnl_memory_desc_t left, right, to;
  HAWSER_RETURN_IF_ERROR(InitMatrix(f, types.a, m, k, a, &left));
  HAWSER_RETURN_IF_ERROR(InitMatrix(f, types.b, k, n, b, &right));
  HAWSER_RETURN_IF_ERROR(InitMatrix(f, types.c, m, n, {c, pitch, 1}, &to));
  dnnl_matmul_desc_t wish;
  HAWSER_RETURN_IF_ERROR(StatusOfDnnl(
      f.matmul_desc_init(&wish, &left, &right, nullptr, &to), "description"));
  OwnedDnnl<dnnl_primitive_desc_t> plan{nullptr, nullptr};
  HAWSER_RETURN_IF_ERROR(MakeDnnl(
      [&](dnnl_primitive_desc_t* made) {
        return f.primitive_desc_create(made, &wish, nullptr, f.engine, nullptr);
      },
      f.primitive_desc_destroy, "plan", &plan));
  OwnedDnnl<dnnl_primitive_t> product{nullptr, nullptr};
  HAWSER_RETURN_IF_ERROR(f.MakePrimitive(plan.get(), &product));
  OwnedDnnl<dnnl_memory_t> memory_of_a{nullptr, nullptr},
      memory_of_b{nullptr, nullptr}, memory_of_c{nullptr, nullptr};
  HAWSER_RETURN_IF_ERROR(f.MakeMemory(left, a.data, &memory_of_a));
  HAWSER_RETURN_IF_ERROR(f.MakeMemory(right, b.data, &memory_of_b));
  HAWSER_RETURN_IF_ERROR(f.MakeMemory(to, c, &memory_of_c));
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, memory_of_a.get()},
                                       {DNNL_ARG_WEIGHTS, memory_of_b.get()},
                                       {DNNL_ARG_DST, memory_of_c.get()}};
  return f.Run(product.get(), 3, arguments);
}

}  // namespace hawser::cpu
