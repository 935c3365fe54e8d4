# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, sanitizers: the same for every target of ours.
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_EXTENSIONS ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The shared client library is made of the same objects as everything else.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(CSI_SANITIZE "" CACHE STRING "Sanitizers of a native build, for example address,undefined")
set(CSI_TEST_LAUNCHER "" CACHE STRING "Command in front of every native unit test, as a list")
option(CSI_FUZZ "Build the libFuzzer targets (needs clang)" OFF)

# csi_compile_options(TARGET): warnings are errors in everything we wrote.
function(csi_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow -Werror
    -fno-omit-frame-pointer -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>)
  if(WIN32)
    target_compile_definitions(${target} PRIVATE _WIN32_WINNT=0x0A00 UNICODE _UNICODE WIN32_LEAN_AND_MEAN
      __USE_MINGW_ANSI_STDIO=1)
    target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
  else()
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  endif()
  if(CSI_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${CSI_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${CSI_SANITIZE})
  endif()
  if(CSI_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${target} PUBLIC -fsanitize=fuzzer-no-link)
  endif()
endfunction()
