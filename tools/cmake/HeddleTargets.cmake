# What all targets of the project share: warnings, sanitizers, and two ways to add a target.
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(Protobuf REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
# No imported target: its -pthread among the options of the compiler would set precompiled headers aside.
pkg_check_modules(RE2 REQUIRED re2)

# Assertions stay on in release builds: they cost one to three per cent and catch what would be a wrong number.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
if(HEDDLE_SANITIZE)
  # Sanitized code compiles a third faster this way; its tests take little longer.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
endif()

# All code is for programs: in code for shared libraries (-fPIC) the compiler must not inline what another library might
# replace, and the replay loses speed.
add_library(heddle_options INTERFACE)
target_include_directories(heddle_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
# Whatever the processor the code is compiled for, results are the same: no product and sum rounded as one.
target_compile_options(heddle_options INTERFACE -Wall -Wextra -Wno-sign-compare -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of overlapping copies inside std::string that cannot happen (GCC bug 105329).
  target_compile_options(heddle_options INTERFACE -Wno-restrict)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(heddle_options INTERFACE -mpopcnt)  # every such processor since 2008 counts bits
endif()
if(HEDDLE_WERROR)
  target_compile_options(heddle_options INTERFACE -Werror)
endif()
if(HEDDLE_SANITIZE)
  target_compile_options(heddle_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(heddle_options INTERFACE -fsanitize=address,undefined)
  # GCC tells the code so, and Clang does not.
  target_compile_definitions(heddle_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:__SANITIZE_ADDRESS__>)
endif()
if(HEDDLE_FUZZ)
  target_compile_options(heddle_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Headers of the standard library, Abseil, Protocol Buffers and GoogleTest take most of the time of a compilation, so they
# are compiled once: for libraries, and for tests. Every file still includes what it
# uses: -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without, as the fuzzer's preset does.
set(heddle_common_headers
  <algorithm> <array> <cstdint> <deque> <functional> <map> <memory> <optional> <string> <string_view> <tuple> <utility>
  <variant> <vector>
  <absl/container/flat_hash_map.h> <absl/status/status.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
  <absl/strings/str_format.h> <absl/strings/str_join.h> <absl/types/span.h>
  <google/protobuf/generated_message_util.h> <google/protobuf/map_field_inl.h> <google/protobuf/message.h>
  <google/protobuf/text_format.h> <google/protobuf/unknown_field_set.h>)
set(nothing ${CMAKE_BINARY_DIR}/precompiled/nothing.cc)
file(GENERATE OUTPUT ${nothing} CONTENT "// A target needs a source; what counts here are the headers before it.\n")
add_library(heddle_library_headers OBJECT ${nothing})
target_link_libraries(heddle_library_headers PRIVATE heddle_options protobuf::libprotobuf absl::status)
target_precompile_headers(heddle_library_headers PRIVATE ${heddle_common_headers})

# heddle_sources_together(TARGET): with HEDDLE_UNITY, sources of a folder are compiled as one, up to 16 at once. Those with
# options or definitions of their own stay apart, and so do those whose names clash (SKIP_UNITY_BUILD_INCLUSION).
function(heddle_sources_together target)
  if(NOT HEDDLE_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(previous "none yet")
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    if(NOT folder STREQUAL previous)
      set(previous "${folder}")
      set(count 0)
    endif()
    math(EXPR part "${count} / 16")
    math(EXPR count "${count} + 1")
    string(SHA1 group "${folder}")
    string(SUBSTRING ${group} 0 8 group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# heddle_library(NAME [APART] SOURCES ... DEPS ... [HEADERS ...]): a static library with the project's settings. HEADERS
# are compiled once, too, for this library alone. APART: its sources are never compiled as one, since names that they keep
# to themselves mean other things in each.
function(heddle_library name)
  cmake_parse_arguments(ARG "APART" "" "SOURCES;DEPS;HEADERS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC heddle_options ${ARG_DEPS})
  if(ARG_HEADERS)
    target_precompile_headers(${name} PRIVATE ${heddle_common_headers} ${ARG_HEADERS})
  else()
    target_precompile_headers(${name} REUSE_FROM heddle_library_headers)
  endif()
  if(NOT ARG_APART)
    heddle_sources_together(${name})
  endif()
endfunction()

# LLVM, for what captures. All code is with RTTI if LLVM is, as Debian's is.
if(HEDDLE_HAVE_TRACEGEN)
  add_library(heddle_llvm INTERFACE)
  target_include_directories(heddle_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
  target_link_libraries(heddle_llvm INTERFACE LLVM)
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(heddle_llvm INTERFACE -fno-rtti)
  endif()
endif()

if(HEDDLE_TESTS)
  find_package(GTest REQUIRED)
  add_library(heddle_test_headers OBJECT ${nothing})
  target_link_libraries(heddle_test_headers PRIVATE heddle_options protobuf::libprotobuf absl::status GTest::gmock)
  target_precompile_headers(heddle_test_headers PRIVATE ${heddle_common_headers} <gmock/gmock.h> <gtest/gtest.h>)
  if(HEDDLE_HAVE_TRACEGEN)  # for tests of what captures
    add_library(heddle_capture_test_headers OBJECT ${nothing})
    target_link_libraries(heddle_capture_test_headers PRIVATE heddle_options heddle_llvm protobuf::libprotobuf
      absl::status GTest::gmock)
    target_precompile_headers(heddle_capture_test_headers PRIVATE ${heddle_common_headers} <filesystem> <fstream>
      <gmock/gmock.h> <gtest/gtest.h> <llvm/ADT/DenseMap.h> <llvm/ADT/DenseSet.h> <llvm/ADT/SmallVector.h>
      <llvm/IR/Instructions.h> <llvm/IR/LLVMContext.h> <llvm/IR/Module.h>)
  endif()
endif()

# heddle_test(NAME [APART] SOURCES ... DEPS ... [LABELS ...] [TIMEOUT n] [COST n]): a GoogleTest program run by ctest. Those
# with the label "sanitize" are what tools/check builds (target sanitized_tests) and runs with sanitizers: they reach all
# code that reads and writes traces. `tools/campaign run sanitizers` does so with every test. COST is in seconds, for tests
# of many: ctest begins them first, so that none is left over in the end. APART is as above.
#
# Two hundred programs are linked. gold, which is in Debian's binutils, takes less than half the time of ld.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT HEDDLE_SANITIZE)
  find_program(HEDDLE_GOLD ld.gold)
endif()
add_custom_target(sanitized_tests)
function(heddle_test name)
  cmake_parse_arguments(ARG "APART" "TIMEOUT;COST" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE heddle_options ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  if("${ARG_DEPS}" MATCHES "heddle_(tracegen|machine)(;|$)")
    target_precompile_headers(${name} REUSE_FROM heddle_capture_test_headers)
  else()
    target_precompile_headers(${name} REUSE_FROM heddle_test_headers)
  endif()
  if(NOT ARG_APART)
    heddle_sources_together(${name})
  endif()
  # Tests compile a sixth faster this way. Where they are slow, it is in the libraries that they test.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(HEDDLE_GOLD)
    target_link_options(${name} PRIVATE -fuse-ld=gold)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if("sanitize" IN_LIST ARG_LABELS)
    add_dependencies(sanitized_tests ${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  if(ARG_COST)
    set_tests_properties(${name} PROPERTIES COST ${ARG_COST})
  endif()
endfunction()
