# SPDX-License-Identifier: Apache-2.0
# csi_ctl_text    text, tables, units, JSON and YAML: knows neither messages nor calls
# csi_ctl_calls   any call by its name, messages known at run time only, and how results are shown
# csi_ctl_people  the verbs for people
csi_library(csi_ctl_text
  SOURCES json_text.c table.c text_buffer.c units.c width.c terminal_${os}.c yaml.c
  LIBS csi_base)
target_include_directories(csi_ctl_text PUBLIC ${CMAKE_SOURCE_DIR})
csi_library(csi_ctl_calls
  SOURCES connection.c descriptors.c dynamic.c errors.c json.c json_check.c json_expected.c json_sort.c
    output.c presence_${os}.c rpc.c suggest.c
  LIBS csi_ctl_text csi-proxy-client csi::upb csi_base)
csi_library(csi_ctl_people
  SOURCES disk_cells.c explain.c listing.c listings.c people.c rates.c status.c top.c
  LIBS csi_ctl_calls csi_ctl_text Threads::Threads)
csi_test(ctl_text_test SOURCES text_test.c LIBS csi_ctl_text)
csi_fuzzer(ctl_json_text_fuzz SOURCES json_text_fuzz.c LIBS csi_ctl_text)
