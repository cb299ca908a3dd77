#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Lets each call of the server, the client, or both fail in turn, with `sctpiw torture`, and prints how each run ended. A
# run has the exit status of the side under test; for `both`, the server's unless that is 0. The server must listen on PORT.
#
# usage: torture.sh client|server|both PORT SERVER CLIENT [OPTION]...
#        SERVER and CLIENT are commands of the shell, and the options those of `sctpiw torture`.
set -eu
case ${1-} in
client | server | both) [ $# -ge 4 ] ;;
*) false ;;
esac || {
	sed -n 's/^# usage: /usage: /p' "$0" >&2
	exit 2
}
side=$1 port=$2 server=$3 client=$4
shift 4

# Both sides inherit the rule from the environment; well() removes it. The shell below expands this text.
# shellcheck disable=SC2016
run='
well() { SCTPIW_FAULTS= exec sh -c "exec $1"; }
faulty() { exec sh -c "exec $1"; }
leave() {
	case $1 in 132 | 134 | 135 | 136 | 139) kill -$(($1 - 128)) $$ ;; esac # it has crashed
	exit $1
}
client=faulty server=faulty
case $1 in client) server=well ;; server) client=well ;; esac
$server "$3" & pid=$!
until ss -Hltun | grep -q ":$2 " || ! kill -0 $pid; do sleep 0.02; done
case $1 in
server)
	($client "$4") &
	wait $pid
	leave $?
	;;
client)
	($client "$4")
	status=$?
	kill $pid
	leave $status
	;;
both)
	($client "$4")
	status=$?
	wait $pid || status=$?
	leave $status
	;;
esac'
exec sctpiw torture "$@" -- sh -c "$run" - "$side" "$port" "$server" "$client"
