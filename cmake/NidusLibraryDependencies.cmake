# SPDX-License-Identifier: Apache-2.0
#
# What the headers of the library themselves need. Used twice: by our own build, and, installed
# beside nidus-config.cmake, by every project that calls find_package(nidus).

include(CMakeFindDependencyMacro)

find_dependency(Threads)
find_dependency(PkgConfig)
find_dependency(tl-expected)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET GLOBAL libhwy)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET GLOBAL libxxhash)
pkg_check_modules(urcu_qsbr REQUIRED IMPORTED_TARGET GLOBAL liburcu-qsbr)
