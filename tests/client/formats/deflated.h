// Packed bytes, for tests.
#ifndef HAWSER_TESTS_CLIENT_FORMATS_DEFLATED_H_
#define HAWSER_TESTS_CLIENT_FORMATS_DEFLATED_H_

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/base/status.h"

namespace hawser {

// `window`: as for zlib's deflateInit2; -15: no frame, 31: gzip.
inline std::string Deflated(const std::string& bytes, int window) {
  z_stream z = {};
  HAWSER_CHECK(deflateInit2(&z, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) ==
               Z_OK);
  std::string packed(deflateBound(&z, bytes.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = bytes.size();
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = packed.size();
  HAWSER_CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

// The same for `front` and `zeros` zeros behind it, which take no memory.
inline std::string DeflatedZeros(const std::string& front, int64_t zeros,
                                 int window) {
  z_stream z = {};
  HAWSER_CHECK(deflateInit2(&z, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) ==
               Z_OK);
  std::string packed, piece = front;
  std::string room(1 << 16, '\0');
  while (true) {
    const int flush = zeros == 0 ? Z_FINISH : Z_NO_FLUSH;
    z.next_in = reinterpret_cast<Bytef*>(piece.data());
    z.avail_in = piece.size();
    int result = Z_OK;
    do {
      z.next_out = reinterpret_cast<Bytef*>(room.data());
      z.avail_out = room.size();
      result = deflate(&z, flush);
      packed.append(room, 0, room.size() - z.avail_out);
    } while (z.avail_out == 0);
    if (result == Z_STREAM_END) break;
    piece.assign(std::min<int64_t>(zeros, 1 << 16), '\0');
    zeros -= piece.size();
  }
  deflateEnd(&z);
  return packed;
}

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_FORMATS_DEFLATED_H_
