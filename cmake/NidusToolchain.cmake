# SPDX-License-Identifier: Apache-2.0
#
# How our own targets are compiled: language, warnings, sanitizers, and the tools that make builds
# quick (ccache, mold) where they are installed. Everything here is set for this directory tree
# only; a project that embeds nidus keeps its own flags. Warnings become errors in the presets
# alone (CMAKE_COMPILE_WARNING_AS_ERROR), so that a newer compiler never breaks a user's build.

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(NIDUS_CCACHE ccache)
if(NIDUS_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${NIDUS_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${NIDUS_CCACHE}")
endif()

find_program(NIDUS_MOLD mold)
if(NIDUS_MOLD AND NOT NIDUS_LTO)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarm on "literal" + std::to_string(n) from -O2 on (GCC bug 105651, fixed in 13).
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>")
endif()

if(NIDUS_MARCH)
  add_compile_options("-march=${NIDUS_MARCH}")
endif()

if(NIDUS_SANITIZE)
  add_compile_options("-fsanitize=${NIDUS_SANITIZE}" -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options("-fsanitize=${NIDUS_SANITIZE}")
endif()

if(NIDUS_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "NIDUS_BUILD_FUZZERS needs clang (libFuzzer); use the preset 'fuzz'.")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(NIDUS_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()
