# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Takes away what the last `cmake --install` of this build has put there: files and links, and then the directories
# of our own. DESTDIR counts as it did then.
file(STRINGS ${MANIFEST} files)
foreach(file ${files})
  file(REMOVE "$ENV{DESTDIR}${file}")
  string(REGEX MATCH "^.*/sctpiw/" ours "${file}")
  if(ours)
    list(APPEND directories "$ENV{DESTDIR}${ours}")
  endif()
endforeach()
list(REMOVE_DUPLICATES directories)
foreach(directory ${directories})
  file(GLOB_RECURSE left "${directory}*")
  if(NOT left)
    file(REMOVE_RECURSE "${directory}")
  endif()
endforeach()
