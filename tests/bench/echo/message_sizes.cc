#include "tests/bench/echo/message_sizes.h"

#include <string>

#include "core/base/digest.h"
#include "core/base/values/literal.h"
#include "core/wire/codec.h"
#include "proto/executor.pb.h"

namespace hawser::bench {
namespace {

// Numbers as large as after some thousand steps.
constexpr uint64_t kNumber = 10000;

Literal Value() { return Literal::Zeros(Shape::Of(DType::kF32, {16})); }

}  // namespace

MessageSizes SizesOfStep() {
  v1::ClientMessage request;
  request.set_sequence(kNumber);
  request.set_acknowledged(kNumber);
  request.add_release(kNumber);
  v1::ExecuteRequest* execute = request.mutable_execute();
  execute->set_executable(1);
  execute->set_first_result(kNumber);
  v1::ServerMessage answer;
  answer.set_sequence(kNumber);
  for (int i = 0; i < 2; ++i) {
    ToProto(Value(), execute->add_arguments()->mutable_literal());
  }
  answer.mutable_execute()->add_results()->set_data(
      std::string(Value().shape().byte_size(), 'x'));
  return {request.ByteSizeLong(), answer.ByteSizeLong()};
}

MessageSizes SizesOfCall() {
  v1::CallRequest request;
  request.set_fingerprint(std::string(Digest::kSize, 'x'));
  for (int i = 0; i < 2; ++i) {
    ToProto(Value(), request.add_arguments()->mutable_literal());
  }
  v1::CallReply answer;
  ToProto(Value(), answer.add_results());
  return {request.ByteSizeLong(), answer.ByteSizeLong()};
}

}  // namespace hawser::bench
