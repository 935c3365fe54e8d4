# SPDX-License-Identifier: Apache-2.0
# A file as an array of C.
#
#   include(CsiEmbed)
#   csi_embed(<stem> <symbol> <input>)
#
# makes <stem>.c and <stem>.h below CSI_GEN_DIR, with `extern const uint8_t <symbol>[<size>]`. <input> must be
# the output of a custom command of the same CMakeLists.txt, or a file that is there.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(CSI_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
  function(csi_embed stem symbol input)
    set(output ${CSI_GEN_DIR}/${stem})
    add_custom_command(OUTPUT ${output}.c ${output}.h
      COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output} -DHEADER=${stem}.h -DSYMBOL=${symbol}
        -P ${CSI_EMBED_SCRIPT}
      DEPENDS ${input} ${CSI_EMBED_SCRIPT} VERBATIM)
  endfunction()
  return()
endif()

file(READ ${INPUT} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(..)" "0x\\1, " bytes "${bytes}")
file(WRITE ${OUTPUT}.h "#include <stdint.h>\n\nextern const uint8_t ${SYMBOL}[${size}];\n")
file(WRITE ${OUTPUT}.c "#include \"${HEADER}\"\n\nconst uint8_t ${SYMBOL}[${size}] = {${bytes}};\n")
