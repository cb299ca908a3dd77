#!/usr/bin/env zsh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Tests the completions of zsh for sctpiw: completion.zsh SCTPIW DIRECTORY
#
# Completion works in an interactive shell only, so the test runs one in a terminal of its own
# (zsh/zpty). The compadd of that shell prints its arguments.
zmodload zsh/zpty || exit 77
export PATH=${1:h}:$PATH
failed=0

zpty shell zsh -f -i
# The last word, READY, is typed in two parts, since the shell echoes typed text.
zpty -w shell "PS1= PS2= RPS1=; stty -echo; fpath=($2 \$fpath); autoload -Uz compinit; compinit -u -D
compadd() {
	local -a hits
	builtin compadd -O hits \"\$@\"; (( \$#hits )) && print -rl -- \"<\${^hits}>\"
	builtin compadd \"\$@\"
}
report() { print BEGIN; zle complete-word; print END; zle kill-whole-line }
zle -N report; bindkey '^I' report; print RE''ADY"
zpty -r shell line '*READY*'

# expect COMMANDLINE COMPLETIONS...: exactly these completions
expect() {
	local text; local -aU got want
	zpty -w -n shell "$1"$'\t'
	zpty -r shell text '*END*' || { print "$1: nothing"; failed=1; return }
	got=(${(f)"$(print -r -- ${text#*BEGIN} | tr -d '\r' | grep -o '<[^>]*>' | tr -d '<>' | sort -u)"})
	want=("${@[2,-1]}")
	[[ "${(oj: :)got}" == "${(oj: :)want}" ]] && return
	print "$1: expected $want, got $got"
	failed=1
}

expect 'sctpiw r' run
expect 'sctpiw v' version
expect 'sctpiw help l' list
expect 'sctpiw d' doctor
expect 'sctpiw doctor --li' --listen
expect 'sctpiw doctor --llp ' udp ip kernel
expect 'sctpiw run --ll' --llp
expect 'sctpiw env --lo' --log
expect 'sctpiw list --js' --json
expect 'sctpiw run --llp ' udp ip kernel
expect 'sctpiw run --log d' debug
expect 'sctpiw run --encap-port ' same none
expect 'sctpiw run --paths ' auto off
expect 'sctpiw run --multipath ' failover spread
expect 'sctpiw run --mu' --multipath
expect 'sctpiw list --personality ' iwarp roce ib
expect 'sctpiw list --node-type ' rnic ca
expect 'sctpiw run --peer-to-peer r' read
expect 'sctpiw run --in-order --si' --silent-limit
expect 'sctpiw run --js'
expect 'sctpiw run --share=n' no
expect 'sctpiw s' stat
expect 'sctpiw stat --w' --watch
expect 'sctpiw counters --js' --json
expect 'sctpiw help c' counters
expect 'sctpiw f' fault
expect 'sctpiw help f' fault
expect 'sctpiw fault 1 r' remove
expect 'sctpiw run --fault-s' --fault-seed
expect 'sctpiw run --faults lossy' lossy-wifi
expect 'sctpiw torture --er' --error
expect 'sctpiw torture --llp ' udp ip kernel
exit $failed
