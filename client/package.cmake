# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` gives to the author of a driver: headers, a shared library, a static one, and
# the descriptions by which CMake and pkg-config find them. Component `client`; the service itself is
# component `service`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(client_headers ${CMAKE_SOURCE_DIR}/include/csi-proxy/client.h ${CMAKE_SOURCE_DIR}/include/csi-proxy/error.h
  ${CMAKE_SOURCE_DIR}/include/csi-proxy/bytes.h)
foreach(group ${CSI_CLIENT_GROUPS})
  list(APPEND client_headers ${CSI_GEN_DIR}/include/csi-proxy/${group}.h)
endforeach()

# The public headers say what is exported: a function is when it is marked CSI_PROXY_API.
if(WIN32)
  set(exports ${CMAKE_CURRENT_BINARY_DIR}/csi-proxy-client.def)
else()
  set(exports ${CMAKE_CURRENT_BINARY_DIR}/csi-proxy-client.map)
endif()
set(generators ${CSI_CLIENT_GROUPS})
list(TRANSFORM generators PREPEND csi_generate_)
add_custom_command(OUTPUT ${exports}
  COMMAND ${CMAKE_COMMAND} "-DHEADERS=${client_headers}" -DOUTPUT=${exports}
    -P ${CMAKE_SOURCE_DIR}/scripts/cmake/CsiExports.cmake
  DEPENDS ${generators} ${client_headers} ${CMAKE_SOURCE_DIR}/scripts/cmake/CsiExports.cmake VERBATIM)
add_custom_target(csi_client_exports DEPENDS ${exports})

# --- shared: everything but the system inside, nothing but the API visible.
set(client_objects $<TARGET_OBJECTS:csi_client> $<TARGET_OBJECTS:csi_client_registry>)
foreach(group ${CSI_CLIENT_GROUPS})
  list(APPEND client_objects $<TARGET_OBJECTS:csi_client_${group}>)
endforeach()
add_library(csi-proxy-client-shared SHARED ${client_objects})
add_dependencies(csi-proxy-client-shared csi_client_exports)
target_link_libraries(csi-proxy-client-shared PRIVATE ${stubs} csi_client)
set_target_properties(csi-proxy-client-shared PROPERTIES
  OUTPUT_NAME csi-proxy-client
  LINK_DEPENDS ${exports})
if(WIN32)
  set_target_properties(csi-proxy-client-shared PROPERTIES PREFIX "" LINKER_LANGUAGE CXX)
  target_link_options(csi-proxy-client-shared PRIVATE -static ${exports} -Wl,--gc-sections $<$<CONFIG:Release>:-s>
    -Wl,--dynamicbase -Wl,--nxcompat -Wl,--high-entropy-va)
else()
  set_target_properties(csi-proxy-client-shared PROPERTIES LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_link_options(csi-proxy-client-shared PRIVATE -Wl,--version-script=${exports})
endif()

# --- static: one archive. For Windows it also holds gRPC and what gRPC needs, because nobody has those
# for mingw; elsewhere they come from the system.
set(parts csi_client csi_client_registry csi_wire csi_transport csi_base csi_convert)
if(WIN32)
  list(APPEND parts csi_win32) # what csi_transport needs of it
endif()
foreach(group ${CSI_CLIENT_GROUPS})
  list(APPEND parts csi_client_${group} csi_api_${group})
endforeach()
set(part_files ${parts})
list(TRANSFORM part_files REPLACE "(.+)" "$<TARGET_FILE:\\1>")
if(WIN32)
  file(GLOB bundled ${CSI_SYSROOT}/lib/libabsl_*.a)
  foreach(name grpc_unsecure gpr address_sorting upb protobuf-c)
    list(APPEND bundled ${CSI_SYSROOT}/lib/lib${name}.a)
  endforeach()
  list(APPEND part_files ${bundled} /usr/x86_64-w64-mingw32/lib/libz.a)
  set(CSI_CLIENT_SYSTEM_LIBRARIES stdc++ pthread ws2_32 crypt32 iphlpapi dbghelp bcrypt advapi32 ntdll)
else()
  set(CSI_CLIENT_SYSTEM_LIBRARIES grpc_unsecure gpr protobuf-c pthread)
endif()
set(static_library ${CMAKE_CURRENT_BINARY_DIR}/package/libcsi-proxy-client.a)
add_custom_command(OUTPUT ${static_library}
  COMMAND ${CMAKE_COMMAND} -DAR=${CMAKE_AR} "-DARCHIVES=${part_files}" -DOUTPUT=${static_library}
    -P ${CMAKE_SOURCE_DIR}/scripts/cmake/CsiMergeArchives.cmake
  DEPENDS ${parts} ${CMAKE_SOURCE_DIR}/scripts/cmake/CsiMergeArchives.cmake VERBATIM)
add_custom_target(csi-proxy-client-static ALL DEPENDS ${static_library})

# --- how it is found
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/csi-proxy)
if(WIN32)
  set(CSI_CLIENT_SHARED_FILE ${CMAKE_INSTALL_BINDIR}/csi-proxy-client.dll)
  set(CSI_CLIENT_IMPORT_FILE ${CMAKE_INSTALL_LIBDIR}/libcsi-proxy-client.dll.a)
else()
  set(CSI_CLIENT_SHARED_FILE ${CMAKE_INSTALL_LIBDIR}/libcsi-proxy-client.so)
  set(CSI_CLIENT_IMPORT_FILE "")
endif()
file(RELATIVE_PATH CSI_CLIENT_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
list(TRANSFORM CSI_CLIENT_SYSTEM_LIBRARIES PREPEND -l OUTPUT_VARIABLE system_flags)
list(JOIN system_flags " " CSI_CLIENT_SYSTEM_FLAGS)
configure_package_config_file(${CMAKE_SOURCE_DIR}/scripts/cmake/csi-proxy-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/package/csi-proxy-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/package/csi-proxy-config-version.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(${CMAKE_SOURCE_DIR}/scripts/cmake/csi-proxy.pc.in
  ${CMAKE_CURRENT_BINARY_DIR}/package/csi-proxy.pc @ONLY)

install(FILES ${client_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/csi-proxy COMPONENT client)
install(TARGETS csi-proxy-client-shared
  RUNTIME COMPONENT client
  LIBRARY COMPONENT client
  ARCHIVE COMPONENT client)
install(FILES ${static_library} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT client)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/csi-proxy-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/package/csi-proxy-config-version.cmake
  DESTINATION ${package_dir} COMPONENT client)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/csi-proxy.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT client)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT client)
if(TARGET csi-proxy)
  install(TARGETS csi-proxy RUNTIME COMPONENT service)
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT service)
endif()

# Installs to a fresh place and builds a program of somebody else against it, in every way offered.
add_test(NAME client_package_test COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/consumer/check.sh
  ${CMAKE_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR}/consumer ${exports})
set_tests_properties(client_package_test PROPERTIES TIMEOUT 300
  ENVIRONMENT "CC=${CMAKE_C_COMPILER};SANITIZE=${CSI_SANITIZE};WINDOWS=${WIN32}")
