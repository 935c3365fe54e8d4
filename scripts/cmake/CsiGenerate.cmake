# SPDX-License-Identifier: Apache-2.0
# csi_generate_group: the C of one API group, made from its protos.

# csi_generate_group(<group> PROTO_ROOT <dir> [BY_HAND <source>...])
#
# <dir>/<group>/group.proto describes the group, <dir>/<group>/<version>/api.proto every version; what
# <dir>/lock says of released versions must not change. BY_HAND are sources with hand-written conversions.
# Makes, below CSI_GEN_DIR:
#   csi_api_<group>     messages, structures, conversions: include/csi-proxy/<group>.h, <group>/*.h
#   csi_client_<group>  client stubs
#   docs/<group>.md     reference page
# and adds the dispatch table, csi_<group>_services of <group>/services.h, to the library csi_<group>
# with the handlers, which the same CMakeLists.txt declares.
function(csi_generate_group group)
  cmake_parse_arguments(ARG "" "PROTO_ROOT" "BY_HAND" ${ARGN})
  file(GLOB version_protos RELATIVE ${ARG_PROTO_ROOT} CONFIGURE_DEPENDS
    ${ARG_PROTO_ROOT}/${group}/*/api.proto)
  csi_generate_messages(${group} "${version_protos}")
  csi_run_generator(${group} "${version_protos}")
  csi_add_group_libraries(${group})
endfunction()

# The pieces of csi_generate_group; macros, because they share its variables.

# protoc-c: one source for each version. Sets message_sources.
macro(csi_generate_messages group protos)
  set(message_sources)
  foreach(proto ${protos})
    string(REGEX REPLACE "\\.proto$" ".pb-c" stem ${CSI_GEN_DIR}/${proto})
    add_custom_command(OUTPUT ${stem}.c ${stem}.h
      COMMAND ${CSI_PROTOC_C} --proto_path=${ARG_PROTO_ROOT} --c_out=${CSI_GEN_DIR} ${proto}
      DEPENDS ${ARG_PROTO_ROOT}/${proto} VERBATIM)
    list(APPEND message_sources ${stem}.c)
  endforeach()
  file(MAKE_DIRECTORY ${CSI_GEN_DIR})
  set_source_files_properties(${message_sources} PROPERTIES COMPILE_OPTIONS -w)
endmacro()

# protoc and csi-proxy-api-gen. Sets convert_sources, client_source, dispatch_source.
macro(csi_run_generator group protos)
  set(descriptor_set ${CSI_GEN_DIR}/${group}/descriptors.pb)
  set(proto_paths --proto_path=${ARG_PROTO_ROOT})
  if(NOT ARG_PROTO_ROOT STREQUAL ${CMAKE_SOURCE_DIR}/proto)
    list(APPEND proto_paths --proto_path=${CMAKE_SOURCE_DIR}/proto)
  endif()
  set(inputs ${group}/group.proto ${protos})
  list(TRANSFORM inputs PREPEND ${ARG_PROTO_ROOT}/ OUTPUT_VARIABLE input_files)
  file(MAKE_DIRECTORY ${CSI_GEN_DIR}/${group})
  add_custom_command(OUTPUT ${descriptor_set}
    COMMAND ${CSI_PROTOC} ${proto_paths} --include_imports --include_source_info
      --descriptor_set_out=${descriptor_set} ${inputs}
    DEPENDS ${input_files} ${CMAKE_SOURCE_DIR}/proto/csi_proxy/annotations.proto VERBATIM)

  set(dispatch_source ${CSI_GEN_DIR}/${group}/dispatch.c)
  set(client_source ${CSI_GEN_DIR}/${group}/client.c)
  set(convert_sources ${CSI_GEN_DIR}/${group}/wire.c ${CSI_GEN_DIR}/${group}/descriptors.c)
  set(headers ${CSI_GEN_DIR}/include/csi-proxy/${group}.h)
  foreach(name handlers services wire descriptors client_group)
    list(APPEND headers ${CSI_GEN_DIR}/${group}/${name}.h)
  endforeach()
  foreach(proto ${protos})
    string(REGEX REPLACE "^.*/([^/]+)/api\\.proto$" "\\1" version ${proto})
    list(APPEND convert_sources ${CSI_GEN_DIR}/${group}/convert_${version}.c)
    list(APPEND headers ${CSI_GEN_DIR}/${group}/convert_${version}.h)
  endforeach()

  get_property(generator GLOBAL PROPERTY CSI_API_GEN)
  get_property(generator_depends GLOBAL PROPERTY CSI_API_GEN_DEPENDS)
  file(RELATIVE_PATH label ${CMAKE_SOURCE_DIR} ${ARG_PROTO_ROOT})
  set(generate ${generator} --group ${group} --descriptor-set ${descriptor_set} --label ${label}/)
  set(lock ${ARG_PROTO_ROOT}/lock)
  csi_add_lock_target(${group})
  # The generator leaves a file that would not change alone; the stamp tells that it ran.
  add_custom_command(
    OUTPUT ${CSI_GEN_DIR}/${group}/stamp
    BYPRODUCTS ${dispatch_source} ${client_source} ${convert_sources} ${headers}
      ${CSI_GEN_DIR}/docs/${group}.md
    COMMAND ${generate} --lock ${lock} --out ${CSI_GEN_DIR}
    COMMAND ${CMAKE_COMMAND} -E touch ${CSI_GEN_DIR}/${group}/stamp
    DEPENDS ${descriptor_set} ${generator_depends} ${lock}
    COMMENT "Generating API group ${group}" VERBATIM)
  add_custom_target(csi_generate_${group} DEPENDS ${CSI_GEN_DIR}/${group}/stamp)
endmacro()

# csi_write_lock_<group> adds new versions to the lock. The file is shared: one group after the other.
macro(csi_add_lock_target group)
  add_custom_target(csi_write_lock_${group}
    COMMAND ${generate} --lock ${lock} --write-lock
    DEPENDS ${descriptor_set} ${generator_depends} VERBATIM)
  get_property(previous GLOBAL PROPERTY CSI_LAST_LOCK_TARGET)
  if(previous)
    add_dependencies(csi_write_lock_${group} ${previous})
  endif()
  set_property(GLOBAL PROPERTY CSI_LAST_LOCK_TARGET csi_write_lock_${group})
endmacro()

macro(csi_add_group_libraries group)
  csi_library(csi_api_${group} SOURCES ${message_sources} ${convert_sources} ${ARG_BY_HAND}
    LIBS csi_convert csi_base csi::protobuf_c)
  add_dependencies(csi_api_${group} csi_generate_${group})
  csi_library(csi_client_${group} SOURCES ${client_source} LIBS csi_api_${group} csi_client)
  target_include_directories(csi_client_${group} PUBLIC ${CMAKE_SOURCE_DIR})
  add_dependencies(csi_client_${group} csi_generate_${group})
  cmake_language(EVAL CODE "cmake_language(DEFER CALL csi_attach_dispatch ${group} ${dispatch_source})")
endmacro()

# The table names every handler, so it stands in one library with them.
function(csi_attach_dispatch group dispatch_source)
  if(NOT TARGET csi_${group})
    message(FATAL_ERROR "csi_generate_group(${group}): declare the library csi_${group} in the same CMakeLists.txt.")
  endif()
  target_sources(csi_${group} PRIVATE ${dispatch_source})
  target_link_libraries(csi_${group} PUBLIC csi_api_${group})
  add_dependencies(csi_${group} csi_generate_${group})
endfunction()
