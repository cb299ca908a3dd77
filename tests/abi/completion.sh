#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Tests the completions of bash for sctpiw: completion.sh SCTPIW COMPLETION
bin=$(dirname "$1") failed=0
PATH=$bin:$PATH
. "$2"

# expect WORDS... = COMPLETIONS...: completes the last of WORDS; the result must include
# COMPLETIONS.
expect() {
	COMP_WORDS=()
	while [ "$1" != = ]; do
		COMP_WORDS+=("$1")
		shift
	done
	shift
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_sctpiw
	for word; do
		printf '%s\n' "${COMPREPLY[@]}" | grep -qxF -e "$word" && continue
		echo "${COMP_WORDS[*]}: no $word among: ${COMPREPLY[*]}"
		failed=1
	done
	[ $# = ${#COMPREPLY[@]} ] || [ "${COMP_WORDS[-1]}" = -- ] || {
		echo "${COMP_WORDS[*]}: ${#COMPREPLY[@]} instead of $#: ${COMPREPLY[*]}"
		failed=1
	}
}

expect sctpiw r = run
expect sctpiw v = version
expect sctpiw run --ll = --llp
expect sctpiw env --lo = --log
expect sctpiw l = list
expect sctpiw d = doctor
expect sctpiw doctor --li = --listen
expect sctpiw list --li =
expect sctpiw help d = doctor
expect sctpiw list --js = --json
expect sctpiw run --js =
expect sctpiw help l = list
expect sctpiw tor = torture
expect sctpiw torture --tim = --timeout
expect sctpiw run --llp "" = udp ip kernel
expect sctpiw run --log d = debug
expect sctpiw run --encap-port "" = same none
expect sctpiw run --paths "" = auto off
expect sctpiw run --multipath "" = failover spread
expect sctpiw run --mu = --multipath
expect sctpiw run --personality "" = iwarp roce ib
expect sctpiw run --node-type "" = rnic ca
expect sctpiw run --peer-to-peer r = read
expect sctpiw run --in-order --si = --silent-limit
expect sctpiw run -- = --llp --capture --request-limit --help --
expect sctpiw nonsense "" =
expect sctpiw s = stat
expect sctpiw stat --w = --watch
expect sctpiw counters --js = --json
expect sctpiw help c = counters
expect sctpiw f = fault
expect sctpiw help f = fault
expect sctpiw fault 1 "" = list remove
expect sctpiw fault 1 remove a = all
expect sctpiw run --fault-s = --fault-seed
expect sctpiw run --faults lossy = lossy-wifi
expect sctpiw torture --er = --error
exit $failed
