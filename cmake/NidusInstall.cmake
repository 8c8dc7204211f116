# SPDX-License-Identifier: Apache-2.0
#
# Install and export: headers, find_package(nidus), pkg-config nidus.pc, and the executable when it
# is built. tests/install builds a consumer against both.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS nidus_library EXPORT nidus-targets)
install(EXPORT nidus-targets NAMESPACE nidus:: DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/nidus"
  COMPONENT library)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/nidus" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT library FILES_MATCHING PATTERN "*.hpp")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/nidus-config.cmake.in"
  "${PROJECT_BINARY_DIR}/nidus-config.cmake"
  INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/nidus")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/nidus-config-version.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/nidus-config.cmake"
  "${PROJECT_BINARY_DIR}/nidus-config-version.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/NidusLibraryDependencies.cmake"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/nidus" COMPONENT library)

# From where nidus.pc lies back to the prefix: the installed tree can be moved.
file(RELATIVE_PATH NIDUS_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${PROJECT_SOURCE_DIR}/cmake/nidus.pc.in" "${PROJECT_BINARY_DIR}/nidus.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/nidus.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
  COMPONENT library)

if(TARGET nidus)
  install(TARGETS nidus RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT server)
endif()
