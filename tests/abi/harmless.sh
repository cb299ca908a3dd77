#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Checks that programs without RDMA behave the same with and without the launcher: WORK=...
# harmless.sh SCTPIW FAKE
sctpiw=$1 fake=$2 work=$WORK
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

"$work" "$tmp/plain" >"$tmp/plain.out" 2>&1
plain=$?
"$sctpiw" run --provider "$fake" -- "$work" "$tmp/with" >"$tmp/with.out" 2>&1
with=$?
sed -i "s,$tmp/plain,DIR,g" "$tmp/plain.out"
sed -i "s,$tmp/with,DIR,g" "$tmp/with.out"
[ $plain = 0 ] || { echo "the work itself fails:"; cat "$tmp/plain.out"; exit 1; }
[ $with = $plain ] || { echo "status $with instead of $plain"; cat "$tmp/with.out"; exit 1; }
diff "$tmp/plain.out" "$tmp/with.out" || exit 1
diff -r "$tmp/plain" "$tmp/with"
