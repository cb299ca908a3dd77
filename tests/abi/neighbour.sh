#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Runs programs with another LD_PRELOAD library, before the preload library and after it:
# neighbour.sh SCTPIW FAKE_PROVIDER LIBRARY PROGRAM...
sctpiw=$1 fake=$2 library=$3
shift 3
failed=0
for program; do
	LD_PRELOAD=$library "$sctpiw" run --provider "$fake" -- "$program" >/dev/null ||
		{ echo "$program, with the library in front: $?"; failed=1; }
	"$sctpiw" run --provider "$fake" -- sh -c 'LD_PRELOAD=$LD_PRELOAD:$1 exec "$2"' - "$library" "$program" >/dev/null ||
		{ echo "$program, with the library behind: $?"; failed=1; }
done
exit $failed
