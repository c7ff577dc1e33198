#include "kernels/cpu/libraries/dnnl.h"

#include <dlfcn.h>

#include <cstdlib>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/process/library_call.h"
#include "core/base/status.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/libraries/resolve.h"
#include "oneapi/dnnl/dnnl.h"

namespace hawser::cpu {
namespace {

// Owns one of the library's handles, which are pointers.
template <typename Handle>
using Owned =
    std::unique_ptr<std::remove_pointer_t<Handle>, dnnl_status_t (*)(Handle)>;

absl::Status StatusOf(dnnl_status_t status, const char* what) {
  if (status == dnnl_success) return absl::OkStatus();
  if (status == dnnl_out_of_memory) {
    return ResourceExhausted("no memory for oneDNN's ", what);
  }
  return Internal("oneDNN's ", what, " says ", static_cast<int>(status));
}

// Returns the handle that `create(&handle)` makes.
template <typename Handle, typename Create>
absl::Status Make(Create create, dnnl_status_t (*destroy)(Handle),
                  const char* what, Owned<Handle>* made) {
  Handle handle = nullptr;
  HAWSER_RETURN_IF_ERROR(StatusOf(create(&handle), what));
  *made = Owned<Handle>(handle, destroy);
  return absl::OkStatus();
}

}  // namespace

// The functions of it that are used. The functions of OpenMP, which may give it
// its threads, may be null.
struct Dnnl::Functions {
  decltype(&dnnl_version) version;
  decltype(&dnnl_get_effective_cpu_isa) effective_cpu_isa;
  decltype(&dnnl_engine_create) engine_create;
  decltype(&dnnl_stream_create) stream_create;
  decltype(&dnnl_stream_wait) stream_wait;
  decltype(&dnnl_stream_destroy) stream_destroy;
  decltype(&dnnl_memory_desc_init_by_strides) memory_desc_init_by_strides;
  decltype(&dnnl_memory_create) memory_create;
  decltype(&dnnl_memory_destroy) memory_destroy;
  decltype(&dnnl_matmul_desc_init) matmul_desc_init;
  decltype(&dnnl_primitive_desc_create) primitive_desc_create;
  decltype(&dnnl_primitive_desc_destroy) primitive_desc_destroy;
  decltype(&dnnl_primitive_create) primitive_create;
  decltype(&dnnl_primitive_destroy) primitive_destroy;
  decltype(&dnnl_primitive_execute) primitive_execute;
  int (*get_max_threads)() = nullptr;
  void (*set_num_threads)(int) = nullptr;

  dnnl_engine_t engine = nullptr;  // lives as long as the process

  bool ResolveFrom(void* library) {
    return Resolve(library, "dnnl_version", &version) &&
           Resolve(library, "dnnl_get_effective_cpu_isa", &effective_cpu_isa) &&
           Resolve(library, "dnnl_engine_create", &engine_create) &&
           Resolve(library, "dnnl_stream_create", &stream_create) &&
           Resolve(library, "dnnl_stream_wait", &stream_wait) &&
           Resolve(library, "dnnl_stream_destroy", &stream_destroy) &&
           Resolve(library, "dnnl_memory_desc_init_by_strides",
                   &memory_desc_init_by_strides) &&
           Resolve(library, "dnnl_memory_create", &memory_create) &&
           Resolve(library, "dnnl_memory_destroy", &memory_destroy) &&
           Resolve(library, "dnnl_matmul_desc_init", &matmul_desc_init) &&
           Resolve(library, "dnnl_primitive_desc_create",
                   &primitive_desc_create) &&
           Resolve(library, "dnnl_primitive_desc_destroy",
                   &primitive_desc_destroy) &&
           Resolve(library, "dnnl_primitive_create", &primitive_create) &&
           Resolve(library, "dnnl_primitive_destroy", &primitive_destroy) &&
           Resolve(library, "dnnl_primitive_execute", &primitive_execute);
  }

  // A matrix as the library knows it.
  struct Side {
    dnnl_memory_desc_t layout;
    Owned<dnnl_memory_t> memory{nullptr, nullptr};
  };
  absl::Status MakeSide(int64_t rows, int64_t columns, const Matrix& matrix,
                        Side* side) const {
    const dnnl_dims_t dims = {rows, columns};
    const dnnl_dims_t strides = {matrix.row_stride, matrix.column_stride};
    HAWSER_RETURN_IF_ERROR(StatusOf(
        memory_desc_init_by_strides(&side->layout, 2, dims, dnnl_bf16, strides),
        "layout"));
    return Make(
        [&](dnnl_memory_t* made) {
          return memory_create(made, &side->layout, engine,
                               const_cast<void*>(matrix.data));
        },
        memory_destroy, "memory", &side->memory);
  }
  absl::Status MakeProduct(const Side& a, const Side& b, const Side& c,
                           Owned<dnnl_primitive_t>* product) const {
    dnnl_matmul_desc_t wish;
    HAWSER_RETURN_IF_ERROR(StatusOf(
        matmul_desc_init(&wish, &a.layout, &b.layout, nullptr, &c.layout),
        "description"));
    Owned<dnnl_primitive_desc_t> plan{nullptr, nullptr};
    HAWSER_RETURN_IF_ERROR(Make(
        [&](dnnl_primitive_desc_t* made) {
          return primitive_desc_create(made, &wish, nullptr, engine, nullptr);
        },
        primitive_desc_destroy, "plan", &plan));
    return Make(
        [&](dnnl_primitive_t* made) {
          return primitive_create(made, plan.get());
        },
        primitive_destroy, "product", product);
  }

  // While it lives, the library's own threads leave a call of this thread
  // alone.
  class OneThread {
   public:
    explicit OneThread(const Functions& f) : f_(f) {
      if (f_.set_num_threads == nullptr) return;
      before_ = f_.get_max_threads();
      f_.set_num_threads(1);
    }
    ~OneThread() {
      if (f_.set_num_threads != nullptr) f_.set_num_threads(before_);
    }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

   private:
    const Functions& f_;
    int before_ = 1;
  };
};

Dnnl::Dnnl(std::unique_ptr<const Functions> functions)
    : functions_(std::move(functions)) {
  const dnnl_version_t& version = *functions_->version();
  name_ = absl::StrCat("oneDNN ", version.major, ".", version.minor, ".",
                       version.patch);
  constexpr int kTiles = dnnl_cpu_isa_avx512_core_amx;
  const bool has_tiles = (functions_->effective_cpu_isa() & kTiles) == kTiles;
  is_fast_ = has_tiles || ProcessMaker() == Maker::kAmd;
}

Dnnl::~Dnnl() = default;

std::unique_ptr<const Dnnl> Dnnl::Open(absl::string_view path) {
  void* library = dlopen(std::string(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  auto f = std::make_unique<Functions>();
  if (!f->ResolveFrom(library) || f->version()->major != DNNL_VERSION_MAJOR) {
    dlclose(library);
    return nullptr;
  }
  // From here on it may have state of its own, and stays.
  constexpr int kBf16 = dnnl_cpu_isa_avx512_core_bf16;
  if ((f->effective_cpu_isa() & kBf16) != kBf16 ||
      f->engine_create(&f->engine, dnnl_cpu, 0) != dnnl_success) {
    return nullptr;
  }
  if (!Resolve(library, "omp_get_max_threads", &f->get_max_threads) ||
      !Resolve(library, "omp_set_num_threads", &f->set_num_threads)) {
    f->set_num_threads = nullptr;
  }
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
                              "products of bf16 go by way of f32";
    }
    return found.release();
  }();
  return dnnl;
}

absl::Status Dnnl::Multiply(int64_t m, int64_t n, int64_t k, const Matrix& a,
                            const Matrix& b, void* c, int64_t pitch) const {
  const LibraryCall call;
  const Functions& f = *functions_;
  const Functions::OneThread one_thread(f);
  Functions::Side left, right, to;
  HAWSER_RETURN_IF_ERROR(f.MakeSide(m, k, a, &left));
  HAWSER_RETURN_IF_ERROR(f.MakeSide(k, n, b, &right));
  HAWSER_RETURN_IF_ERROR(f.MakeSide(m, n, {c, pitch, 1}, &to));
  Owned<dnnl_primitive_t> product{nullptr, nullptr};
  HAWSER_RETURN_IF_ERROR(f.MakeProduct(left, right, to, &product));
  Owned<dnnl_stream_t> stream{nullptr, nullptr};
  HAWSER_RETURN_IF_ERROR(Make(
      [&](dnnl_stream_t* made) {
        return f.stream_create(made, f.engine, dnnl_stream_default_flags);
      },
      f.stream_destroy, "stream", &stream));
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, left.memory.get()},
                                       {DNNL_ARG_WEIGHTS, right.memory.get()},
                                       {DNNL_ARG_DST, to.memory.get()}};
  HAWSER_RETURN_IF_ERROR(StatusOf(
      f.primitive_execute(product.get(), stream.get(), 3, arguments), "run"));
  return StatusOf(f.stream_wait(stream.get()), "wait");
}

}  // namespace hawser::cpu
