// What a session holds, without a device: buffers, executables and a stream
// that writes down what it is told.
#ifndef HAWSER_TESTS_SERVER_SESSION_STAND_INS_H_
#define HAWSER_TESTS_SERVER_SESSION_STAND_INS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "core/runtime/client.h"
#include "server/session/session.h"

namespace hawser::server {

class PlainBuffer final : public runtime::Buffer {
 public:
  explicit PlainBuffer(Literal value) : value_(std::move(value)) {}
  const Shape& shape() const override { return value_.shape(); }
  runtime::Client* client() const override { return nullptr; }
  Future<Literal> Fetch(const runtime::CallOptions&) override {
    return Future<Literal>(value_);
  }
  runtime::RanOn ran_on() const override { return {"nowhere"}; }

 private:
  const Literal value_;
};

inline runtime::BufferPtr BufferOf(float x) {
  return std::make_shared<PlainBuffer>(Literal::Scalar(x));
}
inline Value ValueOf(float x) { return Value{.now = BufferOf(x)}; }
// What is in a buffer made by BufferOf.
inline float Content(const runtime::BufferPtr& buffer) {
  return buffer->Fetch({}).Await()->data<float>()[0];
}
inline const Shape& ScalarShape() {
  static const Shape* const shape = new Shape(Shape::Scalar(DType::kF32));
  return *shape;
}

// Computes nothing; tells one from another.
class PlainExecutable final : public runtime::Executable {
 public:
  const Signature& signature() const override { return signature_; }
  absl::StatusOr<std::vector<runtime::BufferPtr>> Execute(
      absl::Span<const runtime::Argument>,
      const runtime::ExecuteOptions&) override {
    return std::vector<runtime::BufferPtr>();
  }

 private:
  Signature signature_;
};

inline std::shared_ptr<runtime::Executable> NewExecutable() {
  return std::make_shared<PlainExecutable>();
}
inline Digest DigestOf(absl::string_view text) {
  return Sha256({text.data(), text.size()});
}

// Thread-safe.
class RecordingStream final : public ReplyStream {
 public:
  void Send(const Reply& reply) override {
    MutexLock lock(&mu_);
    sent_.push_back(reply.sequence);
  }
  void Settled() override {
    MutexLock lock(&mu_);
    ++settled_;
  }
  void Close(const absl::Status& why) override {
    MutexLock lock(&mu_);
    closed_.push_back(why);
  }

  std::string peer() const override { return "ipv4:127.0.0.1:4242"; }

  // Sequences in the order of Send; 0 is the hello.
  std::vector<uint64_t> sent() const {
    MutexLock lock(&mu_);
    return sent_;
  }
  int settled() const {
    MutexLock lock(&mu_);
    return settled_;
  }
  std::vector<absl::Status> closed() const {
    MutexLock lock(&mu_);
    return closed_;
  }

 private:
  mutable Mutex mu_;
  std::vector<uint64_t> sent_ ABSL_GUARDED_BY(mu_);
  std::vector<absl::Status> closed_ ABSL_GUARDED_BY(mu_);
  int settled_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_TESTS_SERVER_SESSION_STAND_INS_H_
