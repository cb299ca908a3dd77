# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Completion of sctpiw for fish. Options and their values come from "sctpiw run --help".

# Prints lines of "option, tab, kind of value, tab, values, tab, help". The kind is none, file, flag
# or word. The values are the words in the help, such as "udp, ip or kernel", up to the first text
# of several words, such as "a port from 1 to 65535".
function __sctpiw_options --argument-names command
    sctpiw $command --help 2>/dev/null | awk '
        function flush() { if (option) print option "\t" kind "\t" values "\t" help; option = "" }
        /^  (-h, )?--/ {
            flush()
            sub(/^  (-h, )?--/, "")
            option = $1
            kind = sub(/\[=VALUE\]/, "", option) ? "flag" : $2 == "FILE" ? "file" : $2 == "VALUE" ? "word" : "none"
            if (option == "capture" || option == "trace" || option ~ /^(key|cert|cert-key|ca)$/ || option == "faults") kind = "file"
            help = $0; sub(/^[^ ]+( VALUE| FILE)? */, "", help); sub(/:$/, "", help)
            values = ""
            next
        }
        /^                       / && option && values == "" && (kind == "word" || kind == "flag") {
            text = $0; sub(/^ */, "", text); sub(/;.*/, "", text)
            n = split(text, words, /, or |, | or /)
            for (i = 1; i <= n && words[i] !~ / /; i++) values = values (i > 1 ? " " : "") words[i]
            if (values == "") values = "-"
        }
        /^$/ { flush() }'
end

# Prints the numbers of processes with the device, with their names.
function __sctpiw_processes
    sctpiw counters 2>/dev/null | string replace -rf '^process (\d+) (.*):$' '$1\t$2'
end

# Prints the fault scenarios of this installation.
function __sctpiw_scenarios
    path basename (path dirname (command -s sctpiw))/../share/sctpiw/faults/*
end

# True after one of these commands, but not within the command to run.
function __sctpiw_in
    set -l words (commandline -opc)
    contains -- "$words[2]" $argv; and not contains -- -- $words
end

complete -c sctpiw -f
complete -c sctpiw -n __fish_use_subcommand -a run -d 'run a command with the device'
complete -c sctpiw -n __fish_use_subcommand -a env -d 'print the environment for that'
complete -c sctpiw -n __fish_use_subcommand -a list -d 'print the device, its port and its GIDs'
complete -c sctpiw -n __fish_use_subcommand -a stat -d 'print what processes do with it'
complete -c sctpiw -n __fish_use_subcommand -a counters -d 'print the counters of processes'
complete -c sctpiw -n __fish_use_subcommand -a fault -d 'have the device of a process fail'
complete -c sctpiw -n __fish_use_subcommand -a torture -d 'run a command with each of its calls failing in turn'
complete -c sctpiw -n __fish_use_subcommand -a keygen -d 'make a key for --key'
complete -c sctpiw -n __fish_use_subcommand -a doctor -d 'find the reason why the device is absent, unreachable or slow'
complete -c sctpiw -n __fish_use_subcommand -a help -d 'print how it is used'
complete -c sctpiw -n __fish_use_subcommand -a version -d 'print the version'
complete -c sctpiw -n '__sctpiw_in help' -a 'run env list stat counters fault torture keygen doctor'
complete -c sctpiw -n '__sctpiw_in run torture' -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c sctpiw -n '__sctpiw_in list stat counters torture doctor' -l json -d 'print JSON'
complete -c sctpiw -n '__sctpiw_in doctor' -l listen -d 'answer the probes of other hosts'
complete -c sctpiw -n '__sctpiw_in doctor' -l verbose -d 'list the settings that have their defaults, too'
complete -c sctpiw -n '__sctpiw_in doctor' -a '(__fish_print_hostnames)'
complete -c sctpiw -n '__sctpiw_in torture' -l timeout -x -d 'seconds after which a run hangs'
complete -c sctpiw -n '__sctpiw_in torture' -l max -x -d 'so many runs of a kind at most'
complete -c sctpiw -n '__sctpiw_in torture' -l error -x -d 'the error of the call that fails'
complete -c sctpiw -n '__sctpiw_in stat' -l watch -d 'print rates again and again'
complete -c sctpiw -n '__sctpiw_in stat counters fault' -a '(__sctpiw_processes)'
complete -c sctpiw -n '__sctpiw_in fault' -a 'list remove'
complete -c sctpiw -n '__sctpiw_in keygen' -F
__sctpiw_options run | while read -d \t -l option kind values help
    set -l takes
    switch $kind
        case file
            set takes -r -F
            test "$option" = faults; and set -a takes -a '(__sctpiw_scenarios)'
        case word
            set takes -x
            test "$values" = -; or set -a takes -a "$values"
        case flag
            set takes -a "$values"
    end
    complete -c sctpiw -n '__sctpiw_in run env list doctor torture' -l $option -d "$help" $takes
end
