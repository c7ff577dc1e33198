// The version of everything that is built from this tree.
#ifndef HAWSER_CORE_BASE_PROCESS_VERSION_H_
#define HAWSER_CORE_BASE_PROCESS_VERSION_H_

namespace hawser {

// Read by deploy/install_sdk.sh too: pkg-config and CMake say the same.
inline constexpr char kVersion[] = "1.0.0";

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_PROCESS_VERSION_H_
