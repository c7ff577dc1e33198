// Piece: bytes on their way out, where they lie.
#ifndef HAWSER_SERVER_SERVICE_MESSAGES_PIECE_H_
#define HAWSER_SERVER_SERVICE_MESSAGES_PIECE_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace hawser::server {

struct Piece {
  std::shared_ptr<const char> owner;
  absl::Span<const char> bytes;  // empty: the end
};
using PieceDone = std::function<void(const absl::StatusOr<Piece>&)>;

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_MESSAGES_PIECE_H_
