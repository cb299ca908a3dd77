#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Usage: build_needs.sh BUILD.SH
# Tests the messages of build.sh about missing packages that build.sh may not or cannot install.
# Tests its messages about unusable build directories, names with a blank, and wrong usage as well.
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failed=0
here="$tmp/a b"
mkdir -p "$tmp/bin" "$tmp/sudo" "$tmp/clang" "$tmp/cmake" "$here/utils" "$here/build"
for tool in bash env dirname sort cut xargs id grep cat sed mkdir tail find stat cp; do
	ln -s "$(command -v $tool)" "$tmp/bin/$tool"
done
# fake NAME TEXT: a program in a directory of its own or among the others
fake() { printf '#!/bin/bash\n%s\n' "$2" >"$tmp/$1"; chmod 755 "$tmp/$1"; }
# Package lists exist if LISTS is a version of packages. APT has the commands that apt-get runs.
fake bin/apt-cache '[ -z "$LISTS" ] || echo "  Candidate: $LISTS"'
fake bin/apt-get 'echo "apt-get $*" >>calls; eval "$APT"'
fake sudo/sudo 'echo "sudo $*" >>calls; [ "$SUDO" = yes ] || exit 1; case $1 in -*) ;; *) exec "$@" ;; esac'
fake clang/clang 'cat >/dev/null'
fake cmake/cmake 'echo "cmake version 3.20.2"'
cp "$1" "$here/build.sh"
cp "$(dirname "$1")"/utils/*.sh "$here/utils/"
chmod -R go+rX "$tmp"
chmod 777 "$here" "$here/build"
drop=
[ "$(id -u)" != 0 ] || drop="setpriv --reuid=65534 --regid=65534 --clear-groups"

# build [OPTION]... VARIABLE=VALUE... [DIRECTORY OF FAKES...]: calls build.sh, which has to fail
build() {
	local path="$tmp/bin" set=() options=()
	for word; do case $word in --*) options+=("$word") ;; *=*) set+=("$word") ;; *) path="$tmp/$word:$path" ;; esac; done
	rm -f "$here/calls"
	out=$(cd "$here" && $drop env -i "${set[@]}" PATH="$path" "$tmp/bin/bash" ./build.sh "${options[@]}" 2>&1) && { echo "no failure: $out"; failed=1; }
	calls=$(cat "$here/calls" 2>/dev/null)
}
# `says TEXT` and `is_silent_of TEXT` check the output of the last call.
says() { case $out in *"$1"*) ;; *) echo "no '$1': $out"; failed=1 ;; esac; }
is_silent_of() { case $out in *"$1"*) echo "'$1': $out"; failed=1 ;; esac; }
# called TEXT: all calls of sudo and apt-get, a line each
called() { [ "$calls" = "$1" ] || { echo "calls: $calls"; failed=1; }; }
# Counts the lines without those about the directory's name.
has_lines() { [ "$(printf '%s\n' "$out" | grep -vc 'has a blank\|^\$XDG')" = "$1" ] || { echo "not $1 lines: $out"; failed=1; }; }

# The answer has to be the same with and without package lists.
for lists in "" 4.0; do
	build LISTS=$lists
	says "there is no sudo. As root, type:"
	says "apt-get update && apt-get install --no-install-recommends "
	says " cmake "
	says " gcc "
	says "libibverbs-dev"
	says "has a blank, colon or semicolon in it"
	called ""
	build LISTS=$lists sudo
	says "sudo refuses. As root, type:"
	says "apt-get update && apt-get install --no-install-recommends "
	called "sudo -n true
sudo -v"
done

# Any compiler will do, but a compiler named by CC has to exist.
build LISTS=4.0 clang
is_silent_of " gcc "
is_silent_of " libc6-dev "
build CC="none -m64"
says "CC names none, which is not here"
has_lines 1

# CMake is too old: the installed version, or the version to be downloaded.
build LISTS=4.0 cmake
says "CMake 3.20.2 is too old: build.sh needs 3.21"
has_lines 1
build LISTS=3.18.4-2 SUDO=yes sudo
says "CMake 3.18.4-2 is too old"
called "sudo -n true"

# There is no network: one line has the reason.
nowhere="Failed to fetch http://deb.debian.org/x  Temporary failure resolving 'deb.debian.org'"
no_way='case $* in *update) echo "W: '$nowhere'" ;; *) echo "E: Unable to locate package cmake"; exit 100 ;; esac'
build APT="$no_way" SUDO=yes sudo
says "build.sh: the packages could not be installed: $nowhere. Is there a network?"
has_lines 6
build LISTS=4.0 APT="echo \"E: $nowhere\"; exit 100" SUDO=yes sudo
says "build.sh: the packages could not be installed: $nowhere. Is there a network?"
build LISTS=4.0 APT='case $* in *--download-only*) ;; *) echo "E: dpkg is of another opinion"; exit 1 ;; esac' SUDO=yes sudo
says "build.sh: the packages could not be installed: dpkg is of another opinion"
is_silent_of "a network"
# With --verbose there is no log, but perhaps one of an earlier run.
build --verbose LISTS=4.0 APT="exit 1" SUDO=yes sudo
says "build.sh: the packages could not be installed: the lines above have the reason"

# Downloading and installing have percentages of their own.
build LISTS=4.0 APT=true SUDO=yes sudo
says "build.sh: downloading packages
build.sh: installing packages
build.sh: C-compiler is still missing"

# A build directory of another user or of another place.
if [ -n "$drop" ]; then
	touch "$here/build/file"
	build
	says "build/file belongs to root, whose build it is. Type: sudo rm -rf build"
	has_lines 1
fi
rm -rf "$here/build"
mkdir -p "$here/build-asan"
echo CMAKE_HOME_DIRECTORY:INTERNAL=/nowhere >"$here/build-asan/CMakeCache.txt"
chmod -R a+rwX "$here/build-asan"
build
says "build-asan/ is a build of /nowhere, not of this directory. Type: rm -rf build-asan"
has_lines 1

# refuses ARGUMENT... TEXT: status 2, and one line that has the text and names --help
refuses() {
	out=$("$1" "${@:2:$#-2}" 2>&1)
	[ $? = 2 ] || { echo "${*:2:$#-2}: not status 2: $out"; failed=1; }
	says "build.sh: ${*: -1}"
	says "--help"
	has_lines 1
}
refuses "$1" nonsense "no such command: nonsense"
refuses "$1" --verbose nonsense "no such command: nonsense"
refuses "$1" -x "no such command: -x"
refuses "$1" build now "build takes no argument: take now away"
refuses "$1" --verbose demo --quick "demo takes no argument: take --quick away"
exit $failed
