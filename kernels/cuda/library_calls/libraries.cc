#include "kernels/cuda/library_calls/libraries.h"

#include <utility>
#include <variant>

#include "core/base/status.h"
#include "kernels/gpu/device/gemm_check.h"

namespace hawser::cuda {
namespace {

class Product final : public PlannedCall {
 public:
  Product(const CublasLt* library, std::shared_ptr<const BlasPlan> plan,
          const gpu::GemmSpec& spec)
      : library_(*library), plan_(std::move(plan)), spec_(spec) {}

  int64_t workspace_bytes() const override {
    return CublasLt::WorkspaceBytes(*plan_);
  }
  absl::Status Run(cudaStream_t stream,
                   const gpu::CallOperands& operands) const override {
    if (spec_.batch == 0 || spec_.m == 0 || spec_.n == 0) {
      return absl::OkStatus();
    }
    HAWSER_ASSIGN_OR_RETURN(const gpu::GemmOperands named,
                            gpu::GemmOperandsOf(spec_, operands));
    return library_.Run(stream, *plan_, named);
  }

 private:
  const CublasLt& library_;
  const std::shared_ptr<const BlasPlan> plan_;
  const gpu::GemmSpec spec_;
};

}  // namespace

Libraries::Libraries(LibraryPlaces places, DeviceHealth* health)
    : places_(std::move(places)),
      health_(health),
      products_(CublasLt::Open(places_, health)) {}

std::string Libraries::version() const {
  return products_.ok() ? (*products_)->version() : "no cublasLt";
}

Libraries::Planned Libraries::Plan(const gpu::LibraryCall& call) const {
  return std::visit([this](const auto& spec) { return PlanOf(spec); }, call);
}

Libraries::Planned Libraries::PlanOf(const gpu::GemmSpec& spec) const {
  HAWSER_RETURN_IF_ERROR(products_);
  HAWSER_ASSIGN_OR_RETURN(auto plan, (*products_)->Plan(spec));
  return std::make_shared<const Product>(products_->get(), std::move(plan),
                                         spec);
}

Libraries::Planned Libraries::PlanOf(const gpu::FftSpec& spec) const {
  HAWSER_ASSIGN_OR_RETURN(const CuFft* library,
                          transforms_.Get(places_, health_));
  return library->Plan(spec);
}

Libraries::Planned Libraries::PlanOf(const gpu::FactorizationSpec& spec) const {
  HAWSER_ASSIGN_OR_RETURN(const CuSolver* library,
                          factorizations_.Get(places_, health_));
  return library->Plan(spec);
}

Libraries::Planned Libraries::PlanOf(const gpu::QrSpec& spec) const {
  HAWSER_ASSIGN_OR_RETURN(const CuSolver* library,
                          factorizations_.Get(places_, health_));
  return library->Plan(spec);
}

Libraries::Planned Libraries::PlanOf(
    const gpu::TriangularSolveSpec& spec) const {
  HAWSER_ASSIGN_OR_RETURN(const CuBlas* library, solves_.Get(places_, health_));
  return library->Plan(spec);
}

Libraries::Planned Libraries::PlanOf(const gpu::ConvolutionSpec& spec) const {
  HAWSER_ASSIGN_OR_RETURN(const CuDnn* library,
                          convolutions_.Get(places_, health_));
  return library->Plan(spec);
}

}  // namespace hawser::cuda
