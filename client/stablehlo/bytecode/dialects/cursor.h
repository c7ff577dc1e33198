// Cursor: bytes of an artifact, read from front to back.
#ifndef HAWSER_CLIENT_STABLEHLO_BYTECODE_DIALECTS_CURSOR_H_
#define HAWSER_CLIENT_STABLEHLO_BYTECODE_DIALECTS_CURSOR_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tree/source.h"

namespace hawser::stablehlo {

// A part of the source's bytes. Every read is bounded by what is left; errors
// (kInvalidArgument) name the byte.
class Cursor {
 public:
  Cursor(const Source* source, absl::string_view bytes)
      : source_(source), rest_(bytes) {}

  bool done() const { return rest_.empty(); }
  size_t left() const { return rest_.size(); }
  const char* at() const { return rest_.data(); }
  absl::string_view rest() const { return rest_; }

  absl::StatusOr<uint8_t> Byte();
  // A number as MLIR writes it: the count of trailing zero bits of the first
  // byte is that of the bytes after it.
  absl::StatusOr<uint64_t> Number();
  // Such a number, whose lowest bit is the sign.
  absl::StatusOr<int64_t> Signed();
  // The number of things to come, of which each takes at least a byte.
  absl::StatusOr<size_t> Count();
  // A number below `end`, of what `what` says.
  absl::StatusOr<size_t> Index(size_t end, absl::string_view what);
  absl::StatusOr<absl::string_view> Take(uint64_t bytes);
  // Takes what lies before the next multiple of `to` bytes from the source's
  // start.
  absl::Status Align(uint64_t to);

  template <typename... Args>
  absl::Status Invalid(const Args&... what) const {
    return source_->Invalid(rest_.data(), what...);
  }

 private:
  const Source* source_;
  absl::string_view rest_;
};

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_BYTECODE_DIALECTS_CURSOR_H_
