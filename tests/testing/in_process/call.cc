#include "tests/testing/in_process/call.h"

namespace hawser {

absl::Status InProcessCall::Begin() {
  HAWSER_RETURN_IF_ERROR(Annotate(cancel_.Check(), address_));
  if (faults_.delay > absl::ZeroDuration()) absl::SleepFor(faults_.delay);
  core_ = server_->Enter();
  if (core_ != nullptr) return absl::OkStatus();
  return Unavailable(address_, ": nobody listens");
}

absl::Status InProcessCall::Broken() {
  plan_->CountHit(kind_);
  return Unavailable(address_, ": the link was cut during a call");
}

absl::Status InProcessCall::Cross(const google::protobuf::Message& message,
                                  int64_t* bytes, int64_t cut_after,
                                  google::protobuf::Message* arrived) {
  HAWSER_RETURN_IF_ERROR(Annotate(cancel_.Check(), address_));
  const std::string frame = Encode(message);
  *bytes += static_cast<int64_t>(frame.size());
  if (*bytes > cut_after) return Broken();
  return Decode(frame, arrived);
}

absl::Status InProcessCall::Send(const google::protobuf::Message& message,
                                 google::protobuf::Message* arrived) {
  return Cross(message, &sent_, faults_.cut_after_sent, arrived);
}

absl::Status InProcessCall::Receive(const google::protobuf::Message& message,
                                    google::protobuf::Message* arrived) {
  return Cross(message, &received_, faults_.cut_after_received, arrived);
}

absl::Status InProcessCall::Answer() {
  return faults_.answer_lost ? Broken() : absl::OkStatus();
}

void InProcessCall::Corrupt(std::string* data) {
  const int64_t at = faults_.corrupt_at - data_;
  data_ += static_cast<int64_t>(data->size());
  if (at < 0 || at >= static_cast<int64_t>(data->size())) return;
  (*data)[static_cast<size_t>(at)] ^= 0x20;
  plan_->CountCorrupted();
}

}  // namespace hawser
