# SPDX-License-Identifier: Apache-2.0
#
# One call for each kind of executable that guards or measures the project.
#
#   nidus_add_test(NAME resp_parser_test SOURCES parser_test.cpp LIBS nidus::resp
#                  [LABELS stress ...] [TIMEOUT seconds])
#   nidus_add_fuzzer(NAME resp_parser_fuzz SOURCES parser_fuzz.cpp LIBS nidus::resp CORPUS corpus/parser)
#   nidus_add_bench(NAME keyspace_bench SOURCES keyspace_bench.cpp LIBS nidus::engine)

include(GoogleTest)

# Adds the subfolders of an explicit list.
# While folders are being written, one without a CMakeLists.txt is passed over.
function(nidus_add_folders)
  foreach(folder IN LISTS ARGN)
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt")
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()

# A GoogleTest executable (GoogleMock and RapidCheck linked); each of its tests is one ctest test.
function(nidus_add_test)
  cmake_parse_arguments(arg "" "NAME;TIMEOUT" "SOURCES;LIBS;LABELS" ${ARGN})
  if(NOT NIDUS_BUILD_TESTS)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE nidus::nidus ${arg_LIBS} GTest::gmock GTest::gmock_main
                                            GTest::gtest rapidcheck rapidcheck_gtest)
  get_filename_component(area "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  gtest_discover_tests(${arg_NAME} TEST_PREFIX "${area}/" DISCOVERY_MODE PRE_TEST
                       DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${area};${arg_LABELS}")
endfunction()

# A fuzz body (LLVMFuzzerTestOneInput). The normal build replays its corpus as a test; under
# NIDUS_BUILD_FUZZERS it is a libFuzzer executable whose test replays the corpus and then goes on for
# NIDUS_FUZZ_SECONDS.
function(nidus_add_fuzzer)
  cmake_parse_arguments(arg "" "NAME;CORPUS" "SOURCES;LIBS" ${ARGN})
  get_filename_component(corpus "${arg_CORPUS}" ABSOLUTE)
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE nidus::nidus ${arg_LIBS})
  if(NIDUS_BUILD_FUZZERS)
    target_link_options(${arg_NAME} PRIVATE -fsanitize=fuzzer)
    set(found "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_corpus")
    file(MAKE_DIRECTORY "${found}")
    if(NIDUS_FUZZ_SECONDS GREATER 0)
      set(how -max_total_time=${NIDUS_FUZZ_SECONDS} "${found}" "${corpus}")
    else()
      set(how -runs=0 "${corpus}")
    endif()
    add_test(NAME fuzz/${arg_NAME} COMMAND ${arg_NAME} ${how})
  else()
    target_sources(${arg_NAME} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/replay_main.cpp")
    add_test(NAME fuzz/${arg_NAME} COMMAND ${arg_NAME} "${corpus}")
  endif()
  math(EXPR timeout "300 + ${NIDUS_FUZZ_SECONDS}")
  set_tests_properties(fuzz/${arg_NAME} PROPERTIES LABELS fuzz TIMEOUT ${timeout})
endfunction()

# A Google Benchmark executable with its main. Benches are built, never run, by the tests.
function(nidus_add_bench)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LIBS" ${ARGN})
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE nidus::nidus ${arg_LIBS} benchmark::benchmark
                                            benchmark::benchmark_main)
endfunction()
