# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Functions for the numbers of libibverbs's private ABIs: the numbers that verbs/pabi.c knows, and
# the number of the installed library.

set(pabi_source ${CMAKE_CURRENT_LIST_DIR}/verbs/pabi.c)

# Returns the known numbers, from the names of symbols in verbs/pabi.c.
function(pabi_known result)
  file(STRINGS ${pabi_source} lines REGEX "verbs_register_driver_[0-9]+")
  string(REGEX MATCHALL "verbs_register_driver_[0-9]+" numbers "${lines}")
  list(TRANSFORM numbers REPLACE ".*_" "")
  list(REMOVE_DUPLICATES numbers)
  set(${result} "${numbers}" PARENT_SCOPE)
endfunction()

# Stops the build if this libibverbs has an unknown private ABI: it would not load the provider. The
# number is in the name of a symbol version. The function reads the file without loading it, so the
# file may be for another architecture.
function(pabi_check library)
  pabi_known(known)
  list(JOIN known ", " listed)
  if(EXISTS "${library}")
    file(STRINGS ${library} nodes REGEX "^IBVERBS_PRIVATE_[0-9]+$" LIMIT_COUNT 1)
  endif()
  string(REGEX MATCH "[0-9]+$" number "${nodes}")
  # CMake does not reformat a line that begins with a space.
  if(NOT number)
    message(FATAL_ERROR " libibverbs (${library}) does not tell its private ABI; known are ${listed}.")
  endif()
  if(NOT number IN_LIST known)
    message(FATAL_ERROR " libibverbs (${library}) has the private ABI ${number}, which is not known; known are ${listed}.")
  endif()
  message(STATUS "Private ABI of libibverbs: ${number}")
endfunction()
