#include "core/base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "core/base/status.h"

namespace hawser {

std::string RandomBytes(size_t n) {
  std::string out(n, '\0');
  size_t done = 0;
  while (done < n) {
    const ssize_t got = getrandom(&out[done], n - done, 0);
    if (got < 0 && errno == EINTR) continue;
    HAWSER_CHECK(got > 0);
    done += static_cast<size_t>(got);
  }
  return out;
}

uint64_t RandomNumber() {
  uint64_t number = 0;
  while (number == 0) {
    const std::string bytes = RandomBytes(sizeof(number));
    std::memcpy(&number, bytes.data(), sizeof(number));
  }
  return number;
}

}  // namespace hawser
