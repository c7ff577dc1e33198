// Whether this build runs under a sanitizer.
#ifndef HAWSER_TESTS_TESTING_SANITIZED_H_
#define HAWSER_TESTS_TESTING_SANITIZED_H_

namespace hawser {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAWSER_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAWSER_SANITIZED 1
#endif
#endif

// Sanitizers own the allocator and slow everything down: bounds on time and
// memory hold in other builds only.
#ifdef HAWSER_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_SANITIZED_H_
