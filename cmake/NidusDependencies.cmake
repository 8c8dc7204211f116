# SPDX-License-Identifier: Apache-2.0
#
# The installed packages, and the target each gives. The names to link:
#   PkgConfig::hwy  PkgConfig::xxhash  PkgConfig::urcu_qsbr  tl::expected   (through nidus::nidus)
#   mimalloc  Boost::headers (Asio, Beast)  Boost::json  Threads::Threads
#   CLI11::CLI11  tomlplusplus::tomlplusplus  spdlog::spdlog  prometheus-cpp::core
#   GTest::gmock  rapidcheck  benchmark::benchmark  PkgConfig::hiredis

include(NidusLibraryDependencies)

if(NIDUS_BUILD_SERVER)
  find_package(Boost 1.81 REQUIRED COMPONENTS headers json)
  find_package(mimalloc REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(tomlplusplus REQUIRED)
  find_package(spdlog REQUIRED)
  find_package(prometheus-cpp REQUIRED)
endif()
if(NIDUS_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)
endif()
if(NIDUS_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
