# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Completion of sctpiw for bash. Options and their values come from "sctpiw run --help".

# Prints the possible values of an option: the words in its help, such as "udp, ip or kernel", up to
# the first text of several words, such as "a port from 1 to 65535".
_sctpiw_values() { # OPTION
	sctpiw run --help 2>/dev/null | awk -v option="$1" '
		$1 == option || index($1, option "[") == 1 { found = 1; next }
		found {
			sub(/^ */, ""); sub(/;.*/, "")
			n = split($0, values, /, or |, | or /)
			for (i = 1; i <= n && values[i] !~ / /; i++) print values[i]
			exit
		}'
}

# Prints the numbers of processes with the device.
_sctpiw_processes() {
	sctpiw counters 2>/dev/null | awk '$1 == "process" { print $2 }'
}

# Prints the fault scenarios of this installation.
_sctpiw_scenarios() {
	local path

	path=$(command -v sctpiw) && command ls "${path%/*}/../share/sctpiw/faults" 2>/dev/null
}

_sctpiw() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} word i

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "run env list stat counters fault torture keygen doctor help version --help --version" -- "$current")
		return
	fi
	case ${COMP_WORDS[1]} in
	run | env | list | torture | doctor) ;;
	stat | counters)
		[[ $current == -* ]] && word=$(sctpiw "${COMP_WORDS[1]}" --help | grep -o -- '--[a-z]*') ||
			word=$(_sctpiw_processes)
		mapfile -t COMPREPLY < <(compgen -W "$word" -- "$current")
		return
		;;
	fault)
		case $COMP_CWORD in
		2) word=$(_sctpiw_processes) ;;
		3) word="list remove" ;;
		4) [ "$previous" = remove ] && word="all $(sctpiw fault "${COMP_WORDS[2]}" list 2>/dev/null | cut -d: -f1)" ;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "$word" -- "$current")
		return
		;;
	keygen)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	help)
		mapfile -t COMPREPLY < <(compgen -W "run env list stat counters fault torture keygen doctor" -- "$current")
		return
		;;
	*) return ;;
	esac
	# After the options, the words belong to the command to run.
	for ((i = 2; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [ "$word" = -- ]; then
			_command_offset $((i + 1))
			return
		fi
	done
	case $previous in
	--capture | --trace | --key | --cert | --cert-key | --ca | --config | --provider | --faults)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		[ "$previous" = --faults ] &&
			mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$(_sctpiw_scenarios)" -- "$current")
		return
		;;
	--*)
		mapfile -t COMPREPLY < <(compgen -W "$(_sctpiw_values "$previous")" -- "$current")
		[ ${#COMPREPLY[@]} -gt 0 ] && return
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$(sctpiw "${COMP_WORDS[1]}" --help | grep -o '^  --[a-z-]*') --help --" -- "$current")
}

complete -F _sctpiw sctpiw
