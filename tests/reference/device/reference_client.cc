#include "tests/reference/device/reference_client.h"

#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ir/verifier.h"
#include "tests/reference/evaluator.h"

namespace hawser::reference {
namespace {

using runtime::BufferPtr;

class ReferenceExecutable : public runtime::Executable {
 public:
  // `client` outlives it.
  ReferenceExecutable(runtime::Client* client,
                      std::shared_ptr<const Module> module)
      : client_(client), module_(std::move(module)) {}

  const Signature& signature() const override { return module_->signature(); }

  absl::StatusOr<std::vector<BufferPtr>> Execute(
      absl::Span<const runtime::Argument> arguments,
      const runtime::ExecuteOptions& options) override {
    std::vector<Literal> values;
    for (const runtime::Argument& argument : arguments) {
      if (const auto* buffer = std::get_if<BufferPtr>(&argument)) {
        HAWSER_ASSIGN_OR_RETURN(Literal value, (*buffer)->Fetch({}).Await());
        values.push_back(std::move(value));
      } else {
        values.push_back(std::get<Literal>(argument));
      }
    }
    const int entry = static_cast<int>(module_->computations().size()) - 1;
    HAWSER_ASSIGN_OR_RETURN(
        const std::vector<Literal> results,
        Evaluator().Evaluate(*module_, entry, values, CancelToken()));
    std::vector<BufferPtr> buffers;
    for (const Literal& result : results) {
      HAWSER_ASSIGN_OR_RETURN(BufferPtr buffer, client_->Upload(result, {}));
      buffers.push_back(std::move(buffer));
    }
    return buffers;
  }

 private:
  runtime::Client* const client_;
  const std::shared_ptr<const Module> module_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<runtime::Executable>> ReferenceClient::Compile(
    std::shared_ptr<const Module> module, const runtime::CompileOptions&,
    const runtime::CallOptions&) {
  HAWSER_RETURN_IF_ERROR(Verify(*module));
  return std::make_shared<ReferenceExecutable>(this, std::move(module));
}

}  // namespace hawser::reference
