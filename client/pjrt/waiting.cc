// Lets the plugin run where libstdc++ is of gcc 11, as manylinux_2_34 promises.
//
// gcc 12 gave this function a new version, GLIBCXX_3.4.30, beside the old one
// that does the same. It is the only symbol that needs so new a libstdc++, and
// is resolved to this one when the library is linked; it is not seen outside
// (exports.lds).
#include <pthread.h>

#include <condition_variable>
#include <mutex>

void std::condition_variable::wait(std::unique_lock<std::mutex>& lock) {
  pthread_cond_wait(native_handle(), lock.mutex()->native_handle());
}
