# find_package(hawser 1.0): what is installed, and which requests it meets.
# deploy/install_sdk.sh fills in the version.
set(PACKAGE_VERSION "@version@")
string(REGEX MATCH "^[0-9]+" _hawser_major "${PACKAGE_VERSION}")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION OR
   NOT PACKAGE_FIND_VERSION_MAJOR EQUAL _hawser_major)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
unset(_hawser_major)
