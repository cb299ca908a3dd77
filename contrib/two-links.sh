#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Two hosts joined by two links: ib_write_bw continues over the second link when the first link fails. The hosts are
# network namespaces, which an ordinary user can create if user namespaces are allowed.
#
# usage: two-links.sh [OPTION OF sctpiw run]...      such as --multipath spread
set -eu
[ -n "${INSIDE:-}" ] || INSIDE=1 exec unshare --map-root-user --net -- "$0" "$@"

# The other host: a namespace that exists as long as this process sleeps.
unshare --net -- sleep 60 &
there=$!
trap 'kill $there' EXIT
until [ "$(readlink /proc/$there/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.1; done
on_server() { nsenter --target "$there" --net -- "$@"; }

ip link set lo up
on_server ip link set lo up
for link in 1 2; do
	ip link add "link$link" type veth peer name "link$link" netns "$there"
	ip address add "10.0.$link.1/24" dev "link$link"
	on_server ip address add "10.0.$link.2/24" dev "link$link"
	ip link set "link$link" up
	on_server ip link set "link$link" up
done

on_server sctpiw run -- ib_write_bw -R -d sctpiw0 -D 6 >/dev/null &
server=$!
until on_server ss -Hlun | grep -q :18515; do sleep 0.1; done
sctpiw run --summary "$@" -- ib_write_bw -R -d sctpiw0 -D 6 10.0.1.2 &
client=$!

sleep 3
echo "Before link1 fails:"
sctpiw stat "$client" | grep -A 2 ' FROM '
ip link set link1 down
sleep 1
echo "A second after that:"
sctpiw stat "$client" | grep -A 2 ' FROM '
wait "$client"
wait "$server"
