#include "client/formats/zip/inflater.h"

#include <zlib.h>

#include <algorithm>
#include <string>

#include "core/base/status.h"

namespace hawser {
namespace {

// zlib counts in 32 bits.
constexpr size_t kMaxPiece = size_t{1} << 30;
// A window of 32 KiB. Plus 16: a gzip frame, whose checksum zlib verifies;
// negative: no frame.
constexpr int kGzipWindow = 15 + 16;
constexpr int kBareWindow = -15;

}  // namespace

Inflater::Inflater(absl::Span<const char> packed, DeflateFrame frame)
    : name_(frame == DeflateFrame::kGzip ? "gzip data" : "deflate data"),
      has_members_(frame == DeflateFrame::kGzip),
      packed_(packed),
      stream_(std::make_unique<z_stream>()) {
  const int window = frame == DeflateFrame::kGzip ? kGzipWindow : kBareWindow;
  HAWSER_CHECK(inflateInit2(stream_.get(), window) == Z_OK);
}

Inflater::~Inflater() { inflateEnd(stream_.get()); }

absl::StatusOr<size_t> Inflater::Inflate(absl::Span<char> to) {
  z_stream& z = *stream_;
  const uInt room = static_cast<uInt>(std::min(to.size(), kMaxPiece));
  z.next_out = reinterpret_cast<Bytef*>(to.data());
  z.avail_out = room;
  while (!ended_ && z.avail_out == room) {
    if (z.avail_in == 0) {
      if (packed_.empty()) {
        return InvalidArgument(name_, " ends early, after ", made_,
                               " unpacked bytes");
      }
      const size_t piece = std::min(packed_.size(), kMaxPiece);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_.data()));
      z.avail_in = static_cast<uInt>(piece);
      packed_.remove_prefix(piece);
    }
    const int code = inflate(&z, Z_NO_FLUSH);
    ended_ = code == Z_STREAM_END && !BeginMember();
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return InvalidArgument(
          name_, " is damaged after ", made_,
          " unpacked bytes: ", z.msg == nullptr ? "unknown reason" : z.msg);
    }
  }
  const size_t made = room - z.avail_out;
  made_ += static_cast<int64_t>(made);
  return made;
}

bool Inflater::BeginMember() {
  if (!has_members_) return false;
  const absl::string_view in(reinterpret_cast<const char*>(stream_->next_in),
                             stream_->avail_in);
  std::string next(in.substr(0, kGzipMagic.size()));
  const size_t more = kGzipMagic.size() - next.size();
  next.append(packed_.data(), std::min(more, packed_.size()));
  return next == kGzipMagic && inflateReset(stream_.get()) == Z_OK;
}

absl::Status Inflater::Read(absl::Span<char> to) {
  while (!to.empty()) {
    HAWSER_ASSIGN_OR_RETURN(size_t made, Inflate(to));
    if (made == 0) {
      return InvalidArgument("holds only ", made_, " unpacked bytes, needs ",
                             to.size(), " more");
    }
    to.remove_prefix(made);
  }
  return absl::OkStatus();
}

absl::Status Inflater::Finish() {
  char extra;
  HAWSER_ASSIGN_OR_RETURN(size_t made, Inflate(absl::MakeSpan(&extra, 1)));
  if (made != 0) return InvalidArgument("goes on after its last element");
  const size_t left = packed_.size() + stream_->avail_in;
  if (left == 0) return absl::OkStatus();
  return InvalidArgument("has ", left, " bytes behind its ", name_);
}

}  // namespace hawser
