# SPDX-License-Identifier: Apache-2.0
# cmake -DAR=<ar> -DARCHIVES=<list> -DOUTPUT=<archive> -P CsiMergeArchives.cmake
# Makes one archive of the members of many.
get_filename_component(directory ${OUTPUT} DIRECTORY)
get_filename_component(name ${OUTPUT} NAME)
file(MAKE_DIRECTORY ${directory})
file(REMOVE ${OUTPUT})
# ar's script language knows no quoting, so the archives are named by links without odd characters.
set(script "create ${name}\n")
set(number 0)
foreach(archive ${ARCHIVES})
  file(CREATE_LINK ${archive} ${directory}/part${number}.a SYMBOLIC)
  string(APPEND script "addlib part${number}.a\n")
  math(EXPR number "${number} + 1")
endforeach()
string(APPEND script "save\nend\n")
file(WRITE ${directory}/merge.mri ${script})
execute_process(COMMAND ${AR} -M INPUT_FILE ${directory}/merge.mri WORKING_DIRECTORY ${directory}
  COMMAND_ERROR_IS_FATAL ANY)
file(GLOB links ${directory}/part*.a)
file(REMOVE ${links} ${directory}/merge.mri)
