#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Ordinary tools read the device's files: tools.sh SCTPIW FAKE_PROVIDER
failed=0
if [ -z "$INSIDE" ]; then
	INSIDE=1 exec "$1" run --provider "$2" -- "$0" "$@"
fi
guid=0102:0304:0506:0708
dev=/sys/class/infiniband/sctpiw0

# expect TEXT CMD...: runs CMD, which must print TEXT on its two outputs
expect() {
	text=$1
	shift
	out=$("$@" 2>&1)
	[ "$out" = "$text" ] && return
	echo "$*: $out"
	failed=1
}

expect sctpiw0 ls /sys/class/infiniband
expect sctpiw0 ls /sys/class/infiniband/
expect $guid cat $dev/node_guid
expect $guid head -n 1 $dev/sys_image_guid
expect "4: RNIC" sh -c "cat < $dev/node_type"
expect $guid sh -c "cd $dev && cat node_guid"
expect $guid sh -c "cat /sys/class/infiniband/*/node_guid"
expect "$dev/node_guid:$guid" grep -r : $dev --include=node_guid
expect $dev/node_guid find /sys/class/infiniband -name node_guid
expect 231:192 sh -c 'dd if=/sys/class/infiniband_verbs/uverbs0/dev 2>/dev/null'
expect "character special file e7:c0" stat -c '%F %t:%T' /dev/infiniband/uverbs0
expect "$dev" readlink -f /sys/class/infiniband_verbs/uverbs0/device/infiniband/sctpiw0
expect "$(cat $dev/ports/1/gid_attrs/ndevs/* 2>/dev/null | sort -u)" ls $dev/device/net/
ls -lR /sys/class/infiniband /sys/class/infiniband_verbs /sys/class/misc/rdma_cm >/dev/null ||
	failed=1
[ -c /dev/infiniband/rdma_cm ] || { echo "[ -c ]"; failed=1; }
if python3 -c 1 2>/dev/null; then
	expect "$guid" python3 -c "
import os, glob, pathlib
d = '/sys/class/infiniband'
assert os.listdir(d) == ['sctpiw0'], os.listdir(d)
assert [e.name for e in os.scandir(d)] == ['sctpiw0']
assert glob.glob(d + '/*/node_type') == ['$dev/node_type']
assert os.path.realpath(d + '/sctpiw0/ports/../node_type') == '$dev/node_type'
assert pathlib.Path('$dev/ports/1/state').read_text() == '4: ACTIVE\n'
assert sum(len(f) for _, _, f in os.walk(d)) > 30
fd = os.open('/dev/infiniband/rdma_cm', os.O_RDWR)
assert os.major(os.fstat(fd).st_rdev) == 10
os.close(fd)
print(open('$dev/node_guid').read().strip())"
fi
# libibverbs finds the device, and prints that no driver fits, since the fake is none.
if command -v ibv_devices >/dev/null; then
	case $(IBV_SHOW_WARNINGS=1 ibv_devices 2>&1) in
	*"no userspace device-specific driver found for sctpiw0"*) ;;
	*) echo "ibv_devices"; failed=1 ;;
	esac
fi
exit $failed
