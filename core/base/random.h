// Random bytes that cannot be guessed.
#ifndef HAWSER_CORE_BASE_RANDOM_H_
#define HAWSER_CORE_BASE_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace hawser {

// Takes bytes from the kernel's generator; dies without one.
std::string RandomBytes(size_t n);
uint64_t RandomNumber();  // never 0

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_RANDOM_H_
