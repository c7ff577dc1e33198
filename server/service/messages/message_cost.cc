#include "server/service/messages/message_cost.h"

#include <vector>

#include "core/base/status.h"
#include "google/protobuf/wire_format_lite.h"

namespace hawser::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Upper bounds, measured with protobuf 3.21: a message object and the pointer
// to it, a string's object, and a number in an array that has doubled on an
// arena.
constexpr int64_t kObjectBytes = 192;
constexpr int64_t kTextBytes = 64;
constexpr int64_t kNumberBytes = 24;
constexpr size_t kMaxDepth = 16;

class Walk {
 public:
  Walk(const Descriptor& type, int64_t bytes, CodedInputStream* in)
      : type_(type), in_(*in) {
    open_.push_back({&type, bytes});
  }

  absl::Status Run() {
    while (!open_.empty()) {
      if (in_.CurrentPosition() >= open_.back().end) {
        open_.pop_back();
        continue;
      }
      const uint32_t tag = in_.ReadTag();
      if (tag == 0 || !Field(tag)) {
        return InvalidArgument("not a ", type_.full_name());
      }
      if (cost_ > kMessageMemory) {
        return ResourceExhausted("a ", type_.full_name(), " of ",
                                 open_.front().end,
                                 " bytes would take more than ", kMessageMemory,
                                 " bytes of memory");
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Open {
    const Descriptor* type;
    int64_t end;
  };

  // False for a field that breaks off, or reaches beyond its message.
  bool Field(uint32_t tag) {
    uint64_t number;
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_VARINT:
        cost_ += kNumberBytes;
        return in_.ReadVarint64(&number);
      case WireFormatLite::WIRETYPE_FIXED64:
        cost_ += kNumberBytes;
        return in_.Skip(8);
      case WireFormatLite::WIRETYPE_FIXED32:
        cost_ += kNumberBytes;
        return in_.Skip(4);
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        return Delimited(WireFormatLite::GetTagFieldNumber(tag));
      default:
        return false;  // groups, which hawser's messages have none of
    }
  }

  bool Delimited(int number) {
    uint32_t size;
    if (!in_.ReadVarint32(&size)) return false;
    const int64_t end = in_.CurrentPosition() + int64_t{size};
    if (end > open_.back().end) return false;
    const FieldDescriptor* field = open_.back().type->FindFieldByNumber(number);
    if (field != nullptr && field->type() == FieldDescriptor::TYPE_MESSAGE) {
      cost_ += kObjectBytes;
      open_.push_back({field->message_type(), end});
      return open_.size() <= kMaxDepth;
    }
    const bool numbers = field != nullptr && field->is_packable();
    cost_ += numbers ? kNumberBytes * int64_t{size} : kTextBytes + size;
    return in_.Skip(static_cast<int>(size));
  }

  const Descriptor& type_;
  CodedInputStream& in_;
  std::vector<Open> open_;  // messages inside messages, innermost last
  int64_t cost_ = 0;
};

}  // namespace

absl::Status CheckMessageCost(const Descriptor& type, int64_t bytes,
                              CodedInputStream* in) {
  return Walk(type, bytes, in).Run();
}

}  // namespace hawser::server
