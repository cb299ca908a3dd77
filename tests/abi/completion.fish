#!/usr/bin/env fish
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Tests the completions of fish for sctpiw: completion.fish SCTPIW DIRECTORY
set -gx PATH (dirname $argv[1]) $PATH
source $argv[2]/sctpiw.fish
set -g failed 0

# expect COMMANDLINE COMPLETIONS...: exactly these completions begin with the last word. complete -C
# of fish 4 also prints words that merely contain its letters in the same order.
function expect
    set -l word (string split -- ' ' $argv[1])[-1]
    set -l got (complete -C $argv[1] | string replace -r '\t.*' '' | string match -- "$word*" | sort)
    set -l want (printf '%s\n' $argv[2..-1] | sort)
    test "$got" = "$want"; and return
    echo "$argv[1]: expected $want, got $got"
    set -g failed 1
end

expect 'sctpiw r' run
expect 'sctpiw v' version
expect 'sctpiw help l' list
expect 'sctpiw run --ll' --llp
expect 'sctpiw env --lo' --log
expect 'sctpiw list --js' --json
expect 'sctpiw run --js'
expect 'sctpiw run --llp ' udp ip kernel
expect 'sctpiw run --log d' debug
expect 'sctpiw run --encap-port ' same none
expect 'sctpiw run --paths ' auto off
expect 'sctpiw run --multipath ' failover spread
expect 'sctpiw run --mu' --multipath
expect 'sctpiw list --personality ' iwarp roce ib
expect 'sctpiw list --node-type ' rnic ca
expect 'sctpiw run --peer-to-peer r' read
expect 'sctpiw run --share=n' --share=no
expect 'sctpiw run --in-order --si' --silent-limit
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
