# SPDX-License-Identifier: Apache-2.0
# csi_library, csi_executable, csi_test, csi_fuzzer: how targets of this project are declared.

set(CSI_GEN_DIR ${CMAKE_BINARY_DIR}/gen)

function(csi_set_up target)
  csi_compile_options(${target})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include
    ${CSI_GEN_DIR} ${CSI_GEN_DIR}/include)
endfunction()

# csi_library(NAME SOURCES... [LIBS...]): a static library of one room.
function(csi_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  csi_set_up(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LIBS})
endfunction()

# csi_executable(NAME SOURCES... [LIBS...]): linked statically for Windows, without unused functions.
function(csi_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  csi_set_up(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS})
  if(WIN32)
    # Sections aligned in the file as in memory: the loader maps the file instead of copying it.
    target_link_options(${name} PRIVATE -static -municode -Wl,--gc-sections -Wl,--file-alignment,4096
      -Wl,--dynamicbase -Wl,--nxcompat -Wl,--high-entropy-va -Wl,--no-insert-timestamp $<$<CONFIG:Release>:-s>)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
endfunction()

# csi_test(NAME SOURCES... [LIBS...] [TIMEOUT s]): a cmocka program that ctest runs, under Wine when
# cross built. One process a file; a test that hangs is killed, though not one on a busy machine.
function(csi_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  csi_set_up(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} csi::cmocka)
  if(WIN32)
    target_link_options(${name} PRIVATE -static -Wl,--gc-sections)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/scripts/wine.sh $<TARGET_FILE:${name}>)
  else()
    add_test(NAME ${name} COMMAND ${CSI_TEST_LAUNCHER} $<TARGET_FILE:${name}>)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()

# csi_fuzzer(NAME SOURCES... [LIBS...] [CORPUS dir]): a libFuzzer program; ctest runs it for
# CSI_FUZZ_SECONDS (environment, default 10) on its corpus.
function(csi_fuzzer name)
  if(NOT CSI_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "CORPUS" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  csi_set_up(${name})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS})
  add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/scripts/fuzz.sh $<TARGET_FILE:${name}> ${ARG_CORPUS})
endfunction()
