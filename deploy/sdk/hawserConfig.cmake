# find_package(hawser): the target hawser::hawser.
include(CMakeFindDependencyMacro)
find_dependency(absl)
find_dependency(Threads)

if(NOT TARGET hawser::hawser)
  get_filename_component(_hawser_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  add_library(hawser::hawser SHARED IMPORTED)
  set_target_properties(hawser::hawser PROPERTIES
    IMPORTED_LOCATION "${_hawser_prefix}/lib/libhawser.so.1"
    IMPORTED_SONAME libhawser.so.1
    INTERFACE_INCLUDE_DIRECTORIES "${_hawser_prefix}/include/hawser"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_hawser_prefix}/include/hawser"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES
      "absl::status;absl::statusor;absl::strings;absl::time;absl::synchronization;absl::flat_hash_map;absl::span;Threads::Threads")
  unset(_hawser_prefix)
endif()
