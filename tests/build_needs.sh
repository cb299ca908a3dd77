#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What build.sh says where packages are missing and it may not install them, and of a directory whose name has a
# blank in it; and what it says of wrong usage: build_needs.sh BUILD.SH
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failed=0
mkdir -p "$tmp/bin" "$tmp/a b/utils"
chmod 755 "$tmp" "$tmp/a b" "$tmp/a b/utils"
for tool in bash env dirname sort cut xargs id grep cat; do ln -s "$(command -v $tool)" "$tmp/bin/$tool"; done
# Package lists are there or not: the answer has to be the same.
printf '#!/bin/bash\necho "the test called apt-get: $*"\nexit 1\n' >"$tmp/bin/apt-get"
printf '#!/bin/bash\n[ -z "$LISTS" ] || echo "  Candidate: 1.0"\n' >"$tmp/bin/apt-cache"
chmod 755 "$tmp/bin/apt-get" "$tmp/bin/apt-cache"
cp "$1" "$tmp/a b/build.sh"
cp "$(dirname "$1")/utils/progress.sh" "$tmp/a b/utils/"
drop=
[ "$(id -u)" != 0 ] || drop="setpriv --reuid=65534 --regid=65534 --clear-groups"

# says TEXT: on the output of the last call
says() {
	case $out in *"$1"*) ;; *) echo "no '$1': $out"; failed=1 ;; esac
}

for lists in "" yes; do
	out=$($drop env -i LISTS=$lists PATH="$tmp/bin" "$tmp/bin/bash" "$tmp/a b/build.sh" 2>&1) && failed=1
	says "there is no sudo. As root, type:"
	says "apt-get update && apt-get install --no-install-recommends "
	says " cmake "
	says "libibverbs-dev"
	says "has a blank, colon or semicolon in it"
	case $out in *"the test called"*) echo "$out"; failed=1 ;; esac
done

# refuses ARGUMENT... TEXT: status 2, and one line that has the text and names --help
refuses() {
	out=$("$1" "${@:2:$#-2}" 2>&1)
	[ $? = 2 ] || { echo "${*:2:$#-2}: not status 2: $out"; failed=1; }
	says "build.sh: ${*: -1}"
	says "--help"
	[ "$(printf '%s\n' "$out" | grep -c .)" = 1 ] || { echo "more than one line: $out"; failed=1; }
}
refuses "$1" nonsense "no such command: nonsense"
refuses "$1" --verbose nonsense "no such command: nonsense"
refuses "$1" -x "no such command: -x"
refuses "$1" build now "build takes no argument: take now away"
refuses "$1" --verbose demo --quick "demo takes no argument: take --quick away"
exit $failed
