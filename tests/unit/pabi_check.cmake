# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The check of the configuration, for the file LIBRARY: cmake -DLIBRARY=FILE -P pabi_check.cmake
cmake_minimum_required(VERSION 3.16)
include(${CMAKE_CURRENT_LIST_DIR}/../../providers/sctpiw/pabi.cmake)
pabi_check(${LIBRARY})
