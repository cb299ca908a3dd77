#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Runs Python's own tests of modules that call hooked functions. They must give the same results
# with and without the launcher: python.sh SCTPIW FAKE
sctpiw=$1 fake=$2
modules="os posix subprocess faulthandler select poll epoll tempfile shutil glob fcntl fileio posixpath mmap pty fork1"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

if ! python3 -c 'import test.test_os' 2>/dev/null; then
	echo "SKIP abi.python: this python3 has no package test (Debian: libpython3.11-testsuite)"
	exit 77
fi
run() { # NAME MODULES COMMAND-PREFIX...: writes a line for each module: status, number of tests
	local name=$1 list=$2 module status
	shift 2
	for module in $list; do
		"$@" python3 -m test -v "test_$module" >"$name.$module" 2>&1
		status=$?
		echo "$module $status $(grep -o '^Ran [0-9]* tests' "$name.$module" | head -1)"
	done >"$name"
}
run plain "$modules" env &
run with "$modules" "$sctpiw" run --provider "$fake" --
wait
cat plain
# Some of these tests measure time, so tests that differ run once more, alone.
again=$(diff plain with | sed -n 's/^> \([a-z0-9]*\) .*/\1/p' | xargs)
if [ -n "$again" ]; then
	run plain2 "$again" env
	run with2 "$again" "$sctpiw" run --provider "$fake" --
	if ! diff plain2 with2; then
		for module in $again; do
			echo "--- $module"
			grep -E '^(FAIL|ERROR):|Error' "with2.$module" | head -20
		done
		exit 1
	fi
fi
# Some of them must have run and passed.
[ "$(grep -c ' 0 Ran ' plain)" -ge 8 ]
