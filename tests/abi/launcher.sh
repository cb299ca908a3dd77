#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Tests the launcher: WRONG_PROVIDER=... launcher.sh SCTPIW FAKE_PROVIDER
sctpiw=$1 fake=$2 wrong=$WRONG_PROVIDER
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failed=0
run() { "$sctpiw" run --provider "$fake" -- "$@"; }

# expect STATUS TEXT CMD...: runs CMD, which must exit with STATUS and print TEXT
expect() {
	status=$1 text=$2
	shift 2
	out=$("$@" 2>&1)
	got=$?
	case $out in *"$text"*) ;; *) got="$got, without '$text'" ;; esac
	[ "$got" = "$status" ] && return
	echo "$*: expected $status, got $got: $out"
	failed=1
}

expect 0 Usage: "$sctpiw" --help
for word in --version -V version; do expect 0 "sctpiw 0." "$sctpiw" $word; done
for word in -h help; do expect 0 Usage: "$sctpiw" $word; done
expect 0 Usage: "$sctpiw" run --help
expect 2 Usage: "$sctpiw"
expect 2 "no such command" "$sctpiw" nonsense
expect 2 "no command" run
expect 2 "there is no option --nonsense" "$sctpiw" run --nonsense
expect 125 "No such file" "$sctpiw" run --provider /nowhere/x-rdmav34.so -- true
expect 125 "end in" "$sctpiw" run --provider /bin/true -- true
expect 0 "" run true
expect 7 "" run sh -c 'exit 7'
expect 127 "No such file" run /nowhere/at/all
expect 127 "No such file" run no-such-command-here
echo true >"$tmp/not-executable"
expect 126 "ermission" run "$tmp/not-executable"
# Arguments after CMD belong to CMD. "--" is optional.
expect 0 "-x --help" "$sctpiw" run --provider "$fake" echo -x --help

# The launcher appends to variables that are lists, only once.
unset LD_PRELOAD RDMAV_DRIVERS IBV_DRIVERS SCTPIW_PROVIDER SCTPIW_SYSROOT
driver=${fake%-rdmav34.so}
driver=$(realpath "$(dirname "$driver")")/$(basename "$driver")
[ "$(run sh -c 'echo $RDMAV_DRIVERS')" = "$driver" ] || { echo "RDMAV_DRIVERS"; failed=1; }
[ "$(RDMAV_DRIVERS=a:b run sh -c 'echo $RDMAV_DRIVERS')" = "a:b:$driver" ] ||
	{ echo "RDMAV_DRIVERS is not appended to"; failed=1; }
[ "$(IBV_DRIVERS=old run sh -c 'echo $RDMAV_DRIVERS')" = "old:$driver" ] ||
	{ echo "IBV_DRIVERS is lost"; failed=1; }
[ "$(run "$sctpiw" run --provider "$fake" -- sh -c 'echo $RDMAV_DRIVERS')" = "$driver" ] ||
	{ echo "run in run"; failed=1; }
case $(LD_PRELOAD=libc.so.6 run sh -c 'echo $LD_PRELOAD') in
libc.so.6:/*libsctpiw-preload.so) ;;
*) echo "LD_PRELOAD is not appended to"; failed=1 ;;
esac
out=$(ASAN_OPTIONS=a=1 TSAN_OPTIONS= run "$sctpiw" run --provider "$fake" -- sh -c 'echo $ASAN_OPTIONS $TSAN_OPTIONS')
[ "$out" = "verify_asan_link_order=0:a=1 ignore_noninstrumented_modules=1" ] || { echo "sanitizers: $out"; failed=1; }
out=$(eval "$("$sctpiw" env --provider "$fake")"; cat /sys/class/infiniband/sctpiw0/node_guid)
[ "$out" = 0102:0304:0506:0708 ] || { echo "sctpiw env: $out"; failed=1; }

# Settings go to the environment of CMD. Wrong settings are reported at once.
unset SCTPIW_LLP SCTPIW_ENCAP_PORT SCTPIW_IN_ORDER SCTPIW_SHARE SCTPIW_SILENT_LIMIT SCTPIW_CAPTURE SCTPIW_TRACE SCTPIW_LOG
export SCTPIW_CONFIG=/dev/null
set_run() { "$sctpiw" run --provider "$fake" "$@"; }
got=$(cd "$tmp" && set_run --llp ip --encap-port=none --in-order --share=0 --silent-limit 7 --log debug \
	--capture a.pcapng --trace a.sqlog -- env | grep '^SCTPIW_' | grep -v 'SYSROOT\|PROVIDER\|CONFIG\|UNUSED' | sort | tr '\n' ' ')
want="SCTPIW_CAPTURE=$tmp/a.pcapng SCTPIW_ENCAP_PORT=none SCTPIW_IN_ORDER=yes SCTPIW_LLP=ip \
SCTPIW_LOG=debug SCTPIW_SHARE=0 SCTPIW_SILENT_LIMIT=7 SCTPIW_TRACE=$tmp/a.sqlog "
[ "$got" = "$want" ] || { echo "settings: $got"; failed=1; }
[ "$(SCTPIW_LOG=debug set_run --log info sh -c 'echo $SCTPIW_LOG')" = info ] ||
	{ echo "the command line does not stand above the environment"; failed=1; }
expect 2 "--llp: llp = tcp is not understood; it is udp, ip or kernel" set_run --llp tcp true
expect 2 "--silent-limit: " set_run --silent-limit 0 true
expect 2 "--in-order: " set_run --in-order=maybe true
expect 2 "encap-port does not go with llp = ip" set_run --llp ip --encap-port 9899 true
expect 2 "capture does not go with llp = kernel" set_run --llp kernel --capture "$tmp/k.pcapng" true
[ ! -e "$tmp/k.pcapng" ] || { echo "a file for nothing"; failed=1; }
expect 2 "/nowhere/f: No such file" set_run --config /nowhere/f true
expect 2 "/nowhere/f: No such file" set_run --capture /nowhere/f true
expect 2 "--trace /nowhere/f: No such file" set_run --trace /nowhere/f true
# Any user can make a symbolic link in /tmp. The launcher must not follow one to the user's file.
echo mine >"$tmp/mine"
ln -s "$tmp/mine" "$tmp/link"
expect 2 "--capture $tmp/link: a symbolic link" set_run --capture "$tmp/link" true
[ "$(cat "$tmp/mine")" = mine ] || { echo "--capture follows a symbolic link"; failed=1; }
printf 'log = info\nllp = tcp\n' >"$tmp/conf"
expect 2 "$tmp/conf:2: llp = tcp is not understood" set_run --config "$tmp/conf" true
# Wrong settings outside the command line do not prevent the start of CMD, which may not need them.
expect 0 "" env SCTPIW_CONFIG="$tmp/conf" "$sctpiw" run --provider "$fake" true
expect 0 "" env SCTPIW_LLP=tcp "$sctpiw" run --provider "$fake" true
# The file is truncated each time.
echo old >"$tmp/b.pcapng"
set_run --capture "$tmp/b.pcapng" true
[ -e "$tmp/b.pcapng" ] && [ ! -s "$tmp/b.pcapng" ] || { echo "--capture keeps what was there"; failed=1; }
(umask 0; rm "$tmp/b.pcapng"; set_run --capture "$tmp/b.pcapng" true)
[ "$(stat -c %a "$tmp/b.pcapng")" = 600 ] || { echo "others can read what --capture makes"; failed=1; }
# Removes the older files of the same capture from an earlier run, but none of another capture.
touch "$tmp/b.pcapng.1" "$tmp/b.pcapng.2" "$tmp/b.pcapng.3" "$tmp/c.pcapng.1"
set_run --capture "$tmp/b.pcapng" true
[ -e "$tmp/b.pcapng.1" ] || { echo "--capture removes what it does not make"; failed=1; }
set_run --capture "$tmp/b.pcapng" --capture-size 1M --capture-files 3 true
[ "$(cd "$tmp" && echo [bc].pcapng*)" = "b.pcapng b.pcapng.3 c.pcapng.1" ] ||
	{ echo "--capture-size: $(cd "$tmp" && echo [bc].pcapng*)"; failed=1; }
echo old >"$tmp/b.sqlog"
set_run --trace "$tmp/b.sqlog" true
[ -e "$tmp/b.sqlog" ] && [ ! -s "$tmp/b.sqlog" ] || { echo "--trace keeps what was there"; failed=1; }
for option in llp encap-port in-order share paths multipath silent-limit request-limit capture capture-snaplen capture-size \
	capture-files trace peer-to-peer personality node-type summary log config; do
	expect 0 "--$option" "$sctpiw" run --help
done
out=$("$sctpiw" run --help | grep '^  --' | grep -Ev '^  --[a-z-]+(\[=VALUE\]| VALUE| FILE|)  +[^ ]')
[ -z "$out" ] || { echo "run --help: options run into what is said of them: $out"; failed=1; }
echo 'llp = udp' >"$tmp/conf"
out=$(cd "$tmp" && eval "$("$sctpiw" env --provider "$fake" --log debug --config conf)"
	echo "$SCTPIW_LOG $SCTPIW_CONFIG")
[ "$out" = "debug $tmp/conf" ] || { echo "sctpiw env: $out"; failed=1; }

# sctpiw list
guid=0102:0304:0506:0708
expect 0 "device sctpiw0 node_type rnic node_guid $guid" "$sctpiw" list --provider "$fake"
expect 0 "link sctpiw0/1 state ACTIVE physical_state LinkUp link_layer Ethernet rate " "$sctpiw" list --provider "$fake"
expect 0 "\"device\":\"sctpiw0\",\"node_type\":\"rnic\",\"node_guid\":\"$guid\"" "$sctpiw" list --json --provider "$fake"
expect 1 "[]" "$sctpiw" list --json --provider "$wrong"
expect 125 "standard output: No space left on device" sh -c "'$sctpiw' list --provider '$fake' >/dev/full"
expect 0 " node_type ca " "$sctpiw" list
expect 0 " node_type rnic " "$sctpiw" list --personality iwarp
for personality in iwarp roce ib; do
	expect 0 " personality $personality" "$sctpiw" list --personality $personality
done
expect 0 "\"personality\":\"roce\",\"ports\"" "$sctpiw" list --json --personality roce
expect 0 "link_layer InfiniBand" "$sctpiw" list --personality ib
out=$("$sctpiw" list) || failed=1
# Loopback addresses have GIDs if no other addresses exist.
scope=global
[ -n "$(ip -o addr show scope global up 2>/dev/null)" ] || scope=host
for address in $(ip -o addr show scope $scope up 2>/dev/null | awk '{ sub("/.*", "", $4); print $4 }'); do
	case $address in *.*) address=::ffff:$address ;; esac
	echo "$out" | grep -q "^gid sctpiw0/1/[0-9]* $address netdev [^ ]* type RoCE v2$" || { echo "list: no $address: $out"; failed=1; }
done
if python3 -c 1 2>/dev/null; then
	count=$("$sctpiw" list --json | python3 -c 'import json, sys
device, = json.load(sys.stdin)
port, = device["ports"]
assert port["port"] == 1 and port["state"] in ("ACTIVE", "DOWN") and device["node_type"] == "ca"
assert all(gid["netdev"] for gid in port["gids"])
print(len(port["gids"]))')
	[ "$count" = "$(echo "$out" | grep -c ^gid)" ] || { echo "list --json: $count GIDs: $out"; failed=1; }
fi

# Names that the variables cannot contain are reached through links, in a directory that only this
# user can change.
odd="$tmp/a b:c;d"
mkdir -p "$odd/bin" "$odd/lib" "$tmp/run" "$tmp/open"
chmod 700 "$tmp/run"
chmod 777 "$tmp/open"
cp "$sctpiw" "$odd/bin/sctpiw"
cp -r "$(dirname "$sctpiw")"/../lib/libsctpiw-preload.so "$(dirname "$sctpiw")"/../lib/sysroot "$odd/lib"
cp "$fake" "$odd/lib/libsctpiw-rdmav34.so"
odd_run() { XDG_RUNTIME_DIR=$tmp/run "$odd/bin/sctpiw" run "$@"; }
for try in first second; do
	expect 0 $guid odd_run cat /sys/class/infiniband/sctpiw0/node_guid
done
case $(odd_run sh -c 'echo $LD_PRELOAD $RDMAV_DRIVERS') in
"$tmp/run/sctpiw/"*/libsctpiw-preload.so" $tmp/run/sctpiw/"*/libsctpiw) ;;
*) echo "links: $(odd_run sh -c 'echo $LD_PRELOAD $RDMAV_DRIVERS')"; failed=1 ;;
esac
[ "$(find "$tmp/run/sctpiw" -type l | wc -l)" = 1 ] || { echo "links: $(ls -l "$tmp/run/sctpiw")"; failed=1; }
expect 0 $guid odd_run "$odd/bin/sctpiw" run cat /sys/class/infiniband/sctpiw0/node_guid
for link in "$tmp"/run/sctpiw/*; do ln -sfn /nowhere "$link"; done
expect 0 $guid odd_run cat /sys/class/infiniband/sctpiw0/node_guid
case $(XDG_RUNTIME_DIR=$tmp/open "$odd/bin/sctpiw" env) in
*"$tmp/open"*) echo "links: in a directory of others"; failed=1 ;;
esac
find "/tmp/sctpiw-$(id -u)" -lname "$tmp/*" -delete 2>/dev/null
rmdir "/tmp/sctpiw-$(id -u)" 2>/dev/null
cp "$fake" "$tmp/x:y-rdmav34.so"
expect 125 "rename this file" "$sctpiw" run --provider "$tmp/x:y-rdmav34.so" true

# A process that may not make large files can still read those of the device.
out=$(sh -c 'ulimit -f 0; exec "$@"' - "$sctpiw" run --provider "$fake" cat /sys/class/infiniband/sctpiw0/node_guid 2>&1 | cat)
[ "$out" = $guid ] || { echo "ulimit -f 0: $out"; failed=1; }

# The launcher warns of programs that will not see the device, and runs them.
if cp /bin/true "$tmp/setuid" && chown 65534 "$tmp/setuid" 2>/dev/null; then
	chmod 4755 "$tmp/setuid"
	expect 0 "is setuid" run "$tmp/setuid"
fi
echo 'int main(void) { return 3; }' >"$tmp/static.c"
if ${CC:-cc} -static -o "$tmp/static" "$tmp/static.c" 2>/dev/null; then
	expect 3 "is statically linked" run "$tmp/static"
	printf '#!%s\n' "$tmp/static" >"$tmp/script"
	chmod +x "$tmp/script"
	expect 3 "is statically linked" run "$tmp/script"
fi
[ -z "$(run true 2>&1)" ] || { echo "a warning without a reason"; failed=1; }

# With an incompatible provider, one line is printed, and the device is missing.
out=$("$sctpiw" run --provider "$wrong" -- \
	cat /dev/infiniband/uverbs0 /dev/infiniband/rdma_cm 2>&1)
[ "$(echo "$out" | grep -c 'interface version')" = 1 ] || { echo "wrong version: $out"; failed=1; }
[ "$(echo "$out" | grep -c 'No such device')" = 2 ] || { echo "wrong version: $out"; failed=1; }
exit $failed
