// Unpacking deflate data into memory whose size is known beforehand.
#ifndef HAWSER_CLIENT_FORMATS_ZIP_INFLATER_H_
#define HAWSER_CLIENT_FORMATS_ZIP_INFLATER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

struct z_stream_s;

namespace hawser {

inline constexpr absl::string_view kGzipMagic = "\x1f\x8b";
// No deflate stream unpacks to more than this many times its size.
inline constexpr int64_t kMaxDeflateRatio = 1032;

// The frame around the deflate stream.
enum class DeflateFrame {
  kGzip,  // gzip members in a row (RFC 1952), whose checksums are verified
  kNone,  // nothing
};

// Unpacks one stream piece by piece, never more than the caller asks for: a
// small file that unpacks to terabytes costs no memory.
class Inflater {
 public:
  Inflater(absl::Span<const char> packed, DeflateFrame frame);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Fills `to`. Errors: kInvalidArgument when the data ends before `to` is full
  // or is damaged.
  absl::Status Read(absl::Span<char> to);
  // Checks that nothing is left in the stream or after it, and the checksum.
  // Errors: kInvalidArgument.
  absl::Status Finish();

 private:
  // Unpacks at most to.size() bytes; 0 of them at the end of the stream.
  absl::StatusOr<size_t> Inflate(absl::Span<char> to);

  // True if another member follows, which then goes on where the last ended.
  bool BeginMember();

  const absl::string_view name_;   // of the data, in errors
  const bool has_members_;
  absl::Span<const char> packed_;  // not yet handed to zlib
  std::unique_ptr<z_stream_s> stream_;
  int64_t made_ = 0;
  bool ended_ = false;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_ZIP_INFLATER_H_
