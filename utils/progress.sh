# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Progress display of build.sh. On a terminal, a line shows the running stage, its progress, and the
# remaining time. Elsewhere each stage prints one plain line. build.sh sources this file; it sets
# verbose, and has say().

LOGS=build/log
LOG_END=40 # lines of a log that are shown when a stage fails

# True if a changing line may be drawn: not in a file or in the log of a CI job.
on_terminal() { [ -t 2 ] && [ "${TERM:-dumb}" != dumb ] && [ -z "${NO_COLOR:-}" ] && [ -z "${CI:-}" ]; }

# Prints a duration in words, as precise as an estimate.
in_words() { # SECONDS
	if [ "$1" -lt 100 ]; then echo "$1 s"
	elif [ "$1" -lt 6000 ]; then echo "$((($1 + 30) / 60)) min"
	else echo "$(($1 / 3600)) h $(($1 % 3600 / 60)) min"; fi
}

# Prints the progress from the last lines of a log: "[12/340] ..." of ninja, or the percentages of
# apt-get's APT::Status-Fd. Prints "DONE TOTAL", with a % after it if this is the unit, or nothing.
how_far() { # LOG
	tail -c 4096 "$1" 2>/dev/null | sed -nE -e 's|^\[([0-9]+)/([0-9]+)\].*|\1 \2|p' \
		-e 's/^(dl|pm)status:[^:]*:([0-9]+)[0-9.]*:.*/\2 100 %/p' | tail -n 1
}

# Prints the text after the name of the work: the progress, and the remaining time, or the time so
# far.
far_and_left() { # SECONDS [DONE TOTAL [%]]
	local far

	if [ "${2:-0}" -gt 0 ] && [ "${3:-0}" -gt 0 ]; then
		far="$2 of $3"
		[ -z "${4:-}" ] || far="$2 $4"
		echo "$far, about $(in_words $(($1 * ($3 - $2) / $2))) left"
	else
		echo "$(in_words "$1") so far"
	fi
}

draw() { # TEXT
	local columns
	columns=$(tput cols 2>/dev/null) || columns=80
	printf '\r\033[K%.*s' $((columns - 1)) "$1" >&2
}

# Draws the line repeatedly until it is killed, or its script has gone.
draw_from() { # WHAT LOG
	local begin=$SECONDS
	while kill -0 $$ 2>/dev/null; do
		# shellcheck disable=SC2046 # some words, or none
		draw "build.sh: $1: $(far_and_left $((SECONDS - begin)) $(how_far "$2"))"
		sleep 0.5
	done
}

# Runs a command whose output goes to a log. On failure, shows the end of the log. With --verbose,
# shows everything.
quietly() { # WHAT LOG COMMAND...
	local what=$1 log=$LOGS/$2.log drawer='' status=0 begin=$SECONDS
	shift 2

	if [ -n "$verbose" ]; then
		say "$what"
		"$@"
		return
	fi
	mkdir -p $LOGS && : >"$log" || return
	if on_terminal; then
		draw_from "$what" "$log" &
		drawer=$!
	else
		say "$what"
	fi
	"$@" >"$log" 2>&1 || status=$?
	if [ -n "$drawer" ]; then
		kill "$drawer"
		wait "$drawer" 2>/dev/null || true
		draw ""
		say "$what: $(in_words $((SECONDS - begin)))"
	fi
	[ $status = 0 ] || {
		tail -n $LOG_END "$log" >&2
		say "$what: failed; the whole log is $log"
	}
	return $status
}

# Runs a command that prints a line that matches a pattern after each of TOTAL steps. Its output is
# unchanged; on a terminal, a line below the output shows the progress.
in_steps() { # WHAT PATTERN TOTAL COMMAND...
	local what=$1 pattern=$2 total=$3 begin=$SECONDS done=0 line part='' status=0
	shift 3

	on_terminal || {
		"$@"
		return
	}
	"$@" | {
		while true; do
			if IFS= read -r -t 1 line; then
				draw ""
				printf '%s\n' "$part$line"
				[[ ! $part$line =~ $pattern ]] || done=$((done + 1))
				part=
			elif [ $? -gt 128 ]; then # a second is over, with a part of a line or none
				part+=$line
			else
				break
			fi
			draw "build.sh: $what: $(far_and_left $((SECONDS - begin)) $done "$total")"
		done
		draw ""
		printf '%s' "$part$line"
	} || status=$?
	return $status
}
