// Packed bytes, for tests.
#ifndef HAWSER_TESTS_CLIENT_FORMATS_DEFLATED_H_
#define HAWSER_TESTS_CLIENT_FORMATS_DEFLATED_H_

#include <zlib.h>

#include <string>

#include "core/base/status.h"

namespace hawser {

// `window` as zlib's deflateInit2 has it: -15 no frame, 31 gzip.
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

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_FORMATS_DEFLATED_H_
