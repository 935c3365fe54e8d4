# SPDX-License-Identifier: Apache-2.0
# gRPC C core, protobuf-c, upb, libmicrohttpd, zlib and cmocka as the imported targets csi::grpc,
# csi::protobuf_c, csi::upb, csi::microhttpd, csi::zlib, csi::cmocka. Native builds take Debian's packages, cross
# builds the cache that scripts/deps.sh made. upb's headers are in no Debian package and come from that
# cache in both.
execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/deps.sh --path
  OUTPUT_VARIABLE CSI_DEPS_DIR OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${CSI_DEPS_DIR}/complete)
  message(FATAL_ERROR "The dependencies are not built (looked in ${CSI_DEPS_DIR}). Run scripts/setup.sh first.")
endif()
set(CSI_SYSROOT ${CSI_DEPS_DIR}/sysroot)
set(CSI_GRPC_CORE_INCLUDE ${CSI_SYSROOT}/include/grpc-core)
set(CSI_UPB_INCLUDES
  ${CSI_GRPC_CORE_INCLUDE}
  ${CSI_GRPC_CORE_INCLUDE}/third_party/upb
  ${CSI_GRPC_CORE_INCLUDE}/src/core/ext/upb-generated)

find_package(Threads REQUIRED)
find_program(CSI_PROTOC protoc REQUIRED)
find_program(CSI_PROTOC_C protoc-c REQUIRED)

function(csi_import name)
  cmake_parse_arguments(ARG "" "ARCHIVE" "INCLUDES;LIBRARIES" ${ARGN})
  if(ARG_ARCHIVE) # known by itself, so that what it needs comes behind it on every command line
    add_library(csi::${name} STATIC IMPORTED GLOBAL)
    set_target_properties(csi::${name} PROPERTIES IMPORTED_LOCATION ${ARG_ARCHIVE})
  else()
    add_library(csi::${name} INTERFACE IMPORTED GLOBAL)
  endif()
  if(ARG_INCLUDES)
    set_target_properties(csi::${name} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${ARG_INCLUDES}"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${ARG_INCLUDES}")
  endif()
  target_link_libraries(csi::${name} INTERFACE ${ARG_LIBRARIES})
endfunction()

# Import libraries that load their DLL at the first call: gRPC refers to them for things that do not
# happen here (stack traces, random back-off), and each brings a megabyte or two with it.
function(csi_delayed_imports out)
  foreach(dll ${ARGN})
    set(base ${CMAKE_BINARY_DIR}/delayed/${dll})
    if(NOT EXISTS ${base}.a)
      execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${dll}.a
        OUTPUT_VARIABLE import_library OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
      execute_process(COMMAND ${CMAKE_NM} ${import_library}
        OUTPUT_VARIABLE symbols ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
      string(REGEX MATCHALL " T [A-Za-z0-9_]+" exports "${symbols}")
      list(TRANSFORM exports REPLACE " T " "")
      list(REMOVE_DUPLICATES exports)
      list(JOIN exports "\n" exports)
      file(WRITE ${base}.def "LIBRARY ${dll}.dll\nEXPORTS\n${exports}\n")
      execute_process(COMMAND ${CMAKE_DLLTOOL} -d ${base}.def -y ${base}.a COMMAND_ERROR_IS_FATAL ANY)
    endif()
    list(APPEND libraries ${base}.a)
  endforeach()
  set(${out} ${libraries} PARENT_SCOPE)
endfunction()

if(WIN32)
  csi_delayed_imports(CSI_DELAYED_LIBRARIES bcrypt dbghelp)
  set(absl_DIR ${CSI_SYSROOT}/lib/cmake/absl)
  find_package(absl REQUIRED CONFIG NO_CMAKE_FIND_ROOT_PATH)
  foreach(target absl::symbolize absl::random_internal_seed_material)
    get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
    list(FILTER libraries EXCLUDE REGEX "dbghelp|bcrypt")
    set_target_properties(${target} PROPERTIES
      INTERFACE_LINK_LIBRARIES "${libraries};${CSI_DELAYED_LIBRARIES}")
  endforeach()
  csi_import(upb INCLUDES ${CSI_UPB_INCLUDES} ARCHIVE ${CSI_SYSROOT}/lib/libupb.a)
  csi_import(grpc INCLUDES ${CSI_SYSROOT}/include ARCHIVE ${CSI_SYSROOT}/lib/libgrpc_unsecure.a LIBRARIES
    ${CSI_SYSROOT}/lib/libgpr.a
    ${CSI_SYSROOT}/lib/libaddress_sorting.a csi::upb
    absl::flat_hash_map absl::inlined_vector absl::bind_front absl::hash absl::statusor absl::variant
    absl::utility absl::any_invocable absl::base absl::core_headers absl::memory absl::status absl::cord
    absl::str_format absl::strings absl::synchronization absl::time absl::optional absl::flat_hash_set
    absl::cleanup absl::random_random
    /usr/x86_64-w64-mingw32/lib/libz.a
    ws2_32)
  csi_import(grpc_core INCLUDES ${CSI_UPB_INCLUDES} LIBRARIES csi::grpc)
  # The layout of C core's classes depends on these two: they must be as scripts/deps.sh builds them.
  set_target_properties(csi::grpc_core PROPERTIES INTERFACE_COMPILE_DEFINITIONS "NDEBUG;GRPC_ARES=0")
  csi_import(protobuf_c INCLUDES ${CSI_SYSROOT}/include LIBRARIES ${CSI_SYSROOT}/lib/libprotobuf-c.a)
  file(GLOB _cmocka ${CSI_SYSROOT}/lib/libcmocka*.a)
  csi_import(cmocka INCLUDES ${CSI_SYSROOT}/include LIBRARIES ${_cmocka})
  csi_import(zlib LIBRARIES /usr/x86_64-w64-mingw32/lib/libz.a)
  csi_import(microhttpd INCLUDES ${CSI_SYSROOT}/include LIBRARIES
    ${CSI_SYSROOT}/lib/libmicrohttpd.a Threads::Threads ws2_32)
  file(STRINGS ${CMAKE_SOURCE_DIR}/scripts/deps.sh CSI_GRPC_VERSION REGEX "^GRPC_VERSION=")
else()
  execute_process(COMMAND dpkg-query -W -f "\${Version}" libgrpc-dev OUTPUT_VARIABLE CSI_GRPC_VERSION ERROR_QUIET)
  csi_import(upb INCLUDES ${CSI_UPB_INCLUDES} LIBRARIES /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libupb.a m)
  csi_import(grpc LIBRARIES grpc_unsecure gpr)
  csi_import(protobuf_c LIBRARIES protobuf-c)
  csi_import(cmocka LIBRARIES cmocka)
  csi_import(zlib LIBRARIES z)
  csi_import(microhttpd LIBRARIES microhttpd)
endif()
# gRPC's version, for people: grpc_version_string() is the number of the C core's binary interface.
if(CSI_GRPC_VERSION MATCHES "[0-9]+\\.[0-9]+\\.[0-9]+")
  set(CSI_GRPC_VERSION ${CMAKE_MATCH_0})
else()
  set(CSI_GRPC_VERSION unknown)
endif()
