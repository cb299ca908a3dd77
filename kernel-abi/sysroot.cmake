# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The files of a device in /sys and /dev, like those of the kernel's siw. Contents that depend on
# the host (GUIDs, GIDs) or change (the port's state, most counters) are placeholders: open()
# generates them. A counter that is not counted stays 0.
set(SCTPIW_SYSROOT ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/sysroot)

# Writes only changed files: the time of a directory is a device's identity to libibverbs.
function(sysroot_file path text)
  set(file ${SCTPIW_SYSROOT}${path})
  set(old "")
  if(EXISTS ${file})
    file(READ ${file} old)
  endif()
  if(NOT EXISTS ${file} OR NOT old STREQUAL "${text}\n")
    file(WRITE ${file} "${text}\n")
  endif()
endfunction()

function(sysroot_link path target)
  set(link ${SCTPIW_SYSROOT}${path})
  if(NOT IS_SYMLINK ${link})
    get_filename_component(dir ${link} DIRECTORY)
    file(MAKE_DIRECTORY ${dir})
    file(CREATE_LINK ${target} ${link} SYMBOLIC)
  endif()
endfunction()

set(uverbs /sys/class/infiniband_verbs)
sysroot_file(${uverbs}/abi_version 6)
sysroot_file(${uverbs}/uverbs0/ibdev sctpiw0)
sysroot_file(${uverbs}/uverbs0/dev ${SCTPIW_UVERBS_MAJOR}:${SCTPIW_UVERBS_MINOR})
sysroot_file(${uverbs}/uverbs0/abi_version 1)
sysroot_link(${uverbs}/uverbs0/device ../../infiniband/sctpiw0/device)

set(rdma_cm /sys/class/misc/rdma_cm)
sysroot_file(${rdma_cm}/abi_version 4)
sysroot_file(${rdma_cm}/dev ${SCTPIW_RDMA_CM_MAJOR}:${SCTPIW_RDMA_CM_MINOR})

sysroot_file(/dev/infiniband/uverbs0 "")
sysroot_file(/dev/infiniband/rdma_cm "")

set(ibdev /sys/class/infiniband/sctpiw0)
sysroot_file(${ibdev}/node_type "4: RNIC")
sysroot_file(${ibdev}/node_desc sctpiw0)
sysroot_file(${ibdev}/node_guid 0000:0000:0000:0000)
sysroot_file(${ibdev}/sys_image_guid 0000:0000:0000:0000)
sysroot_file(${ibdev}/fw_ver ${PROJECT_VERSION})
sysroot_file(${ibdev}/hca_type sctpiw)
sysroot_file(${ibdev}/board_id SCTPIW)
sysroot_file(${ibdev}/hw_rev 1)
sysroot_file(${ibdev}/device/numa_node -1)
sysroot_file(${ibdev}/device/local_cpus "")
sysroot_link(${ibdev}/device/local_cpulist /sys/devices/system/cpu/online)
# The interfaces of the device are all interfaces of the host.
sysroot_link(${ibdev}/device/net /sys/class/net)
sysroot_link(${ibdev}/device/infiniband/sctpiw0 ../..)
sysroot_link(${ibdev}/device/infiniband_verbs/uverbs0 ../../../../infiniband_verbs/uverbs0)

set(port ${ibdev}/ports/1)
sysroot_file(${port}/state "4: ACTIVE")
sysroot_file(${port}/phys_state "5: LinkUp")
sysroot_file(${port}/link_layer Ethernet)
sysroot_file(${port}/rate "40 Gb/sec (4X FDR10)")
sysroot_file(${port}/cap_mask 0x00090000)
sysroot_file(${port}/lid 0x0)
sysroot_file(${port}/lid_mask_count 0)
sysroot_file(${port}/sm_lid 0x0)
sysroot_file(${port}/sm_sl 0)
sysroot_file(${port}/pkeys/0 0xffff)
math(EXPR last "${SCTPIW_SYSFS_GIDS} - 1")
foreach(i RANGE ${last})
  sysroot_file(${port}/gids/${i} 0000:0000:0000:0000:0000:0000:0000:0000)
  sysroot_file(${port}/gid_attrs/types/${i} "")
  sysroot_file(${port}/gid_attrs/ndevs/${i} "")
endforeach()
foreach(counter excessive_buffer_overrun_errors link_downed link_error_recovery
    local_link_integrity_errors port_rcv_constraint_errors port_rcv_data port_rcv_errors
    port_rcv_packets port_rcv_remote_physical_errors port_rcv_switch_relay_errors
    port_xmit_constraint_errors port_xmit_data port_xmit_discards port_xmit_packets port_xmit_wait
    symbol_error VL15_dropped multicast_rcv_packets multicast_xmit_packets unicast_rcv_packets
    unicast_xmit_packets)
  sysroot_file(${port}/counters/${counter} 0)
endforeach()
foreach(counter rcvd_pkts sent_pkts iwInRdmaReads iwInRdmaSends iwInRdmaWrites iwOutRdmaReads
    iwOutRdmaSends iwOutRdmaWrites sessions sends_held ud_bad_qkey ud_malformed ud_no_qp
    ud_no_receive ud_received ud_sent ud_too_long terminates_rcvd terminates_sent
    sctp_aborts_rcvd sctp_aborts_sent sctp_associations sctp_bad_packets sctp_duplicates sctp_probes
    sctp_retransmissions sctp_timeouts)
  sysroot_file(${port}/hw_counters/${counter} 0)
endforeach()
