#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Runs a program on ten devices, each with another fault, and prints the result of each run. On a slow or lossy
# device the program must succeed. On a device that fails, the program may fail, but must neither crash nor hang.
#
# usage: faults.sh CMD [ARG]...      with SECONDS_EACH and FAULT_SEED in the environment
set -u
seed=${FAULT_SEED:-$(date +%s)} bad=0

# try HOW FAULTS CMD [ARG]...: with `well` the program must succeed, with `somehow` it may fail.
try() {
	how=$1 faults=$2
	shift 2
	timeout -k 5 "${SECONDS_EACH:-60}" sctpiw run --faults "$faults" --fault-seed "$seed" -- "$@" >faults.out 2>&1 </dev/null
	status=$? verdict=ok
	case $status in
	0) ;;
	124 | 137) verdict=HUNG ;;
	12[5-9] | 1[3-9]? | 2??) verdict=CRASHED ;;
	*) [ "$how" = somehow ] || verdict=FAILED ;;
	esac
	echo "$verdict: exit status $status, with $faults"
	[ $verdict = ok ] && return
	sed 's/^/    /' faults.out
	bad=1
}

echo "The seed is $seed."
for faults in lossy-wifi slow-receiver torn-writes 'packets: reorder behind 3, probability 0.1'; do
	try well "$faults" "$@"
done
for faults in flapping-link small-device dying-peer first-time-each-verb 'after 100 completions: complete with retry_exc_err' \
	'after 1 s: raise device_fatal'; do
	try somehow "$faults" "$@"
done
rm -f faults.out
exit $bad
