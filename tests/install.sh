#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Tests a plain configuration without cmocka. Then `cmake --install` with a prefix and with DESTDIR,
# the device from there, and `uninstall`, which leaves all other files: install.sh BUILD-DIRECTORY
build=$1
tmp=$(mktemp -d) || exit 1
failed=0
# Keep the manifest of an earlier installation from this build, so that it can be uninstalled later.
[ ! -e "$build/install_manifest.txt" ] || cp -p "$build/install_manifest.txt" "$tmp/manifest"
finish() {
	rm -f "$build/install_manifest.txt"
	[ ! -e "$tmp/manifest" ] || cp -p "$tmp/manifest" "$build/install_manifest.txt"
	rm -rf "$tmp"
}
trap finish EXIT

wrong() {
	echo "$*"
	failed=1
}

install() { # COMMAND THAT STANDS IN FRONT... PREFIX
	"${@:1:$#-1}" cmake --install "$build" --prefix "${!#}" >"$tmp/log" 2>&1 || wrong "install: $(tail -n 5 "$tmp/log")"
}

uninstall() { # COMMAND THAT STANDS IN FRONT...
	"$@" cmake --build "$build" --target uninstall >"$tmp/log" 2>&1 || wrong "uninstall: $(tail -n 5 "$tmp/log")"
}

printf '#!/bin/sh\ncase $* in *cmocka*) exit 1 ;; esac\nexec pkg-config "$@"\n' >"$tmp/pkg-config"
chmod +x "$tmp/pkg-config"
cmake -S "$(dirname "$0")/.." -B "$tmp/plain" -G Ninja -DPKG_CONFIG_EXECUTABLE="$tmp/pkg-config" >"$tmp/log" 2>&1 ||
	wrong "no configuration without cmocka: $(tail -n 5 "$tmp/log")"
grep -q '^SCTPIW_TESTS:BOOL=OFF' "$tmp/plain/CMakeCache.txt" || wrong "there are to be tests without cmocka"

install env "$tmp/place"
sctpiw=$tmp/place/bin/sctpiw
case $("$sctpiw" env) in
*"$tmp/place/"*) ;;
*) wrong "the launcher takes libraries of another place: $("$sctpiw" env)" ;;
esac
"$sctpiw" list | grep -q '^device sctpiw0 ' || wrong "there is no device: $("$sctpiw" list 2>&1)"
"$tmp/place/share/sctpiw/trace-plot" --help | grep -q '^usage: trace-plot' || wrong "trace-plot does not run"
for name in wireshark/sctpiw.lua trace-plot; do
	[ -f "$tmp/place/share/sctpiw/$name" ] || wrong "there is no $name"
done

# A user without the right to remove the files gets a message.
chmod 755 "$tmp"
chmod -R a-w "$tmp/place/bin"
cp "$build/install_manifest.txt" "$(dirname "$0")/../utils/uninstall.cmake" "$tmp/"
drop=()
[ "$(id -u)" != 0 ] || drop=(setpriv --reuid=65534 --regid=65534 --clear-groups)
said=$("${drop[@]}" timeout 60 cmake -DMANIFEST="$tmp/install_manifest.txt" -P "$tmp/uninstall.cmake" 2>&1) &&
	wrong "uninstall succeeds without the right to remove files"
[[ $(tr -s ' \n' ' ' <<<"$said") == *"cannot be removed: whoever installed it"* ]] || wrong "uninstall does not say why: $said"
chmod -R u+w "$tmp/place/bin"

touch "$tmp/place/share/of-another"
uninstall env
left=$(cd "$tmp/place" && find . ! -type d -o -name '*sctpiw*')
[ "$left" = ./share/of-another ] || wrong "uninstall leaves: $left"

install env DESTDIR="$tmp/root" /opt/sctpiw
[ -x "$tmp/root/opt/sctpiw/bin/sctpiw" ] || wrong "DESTDIR is not in front of the prefix"
uninstall env DESTDIR="$tmp/root"
left=$(find "$tmp/root" ! -type d)
[ -z "$left" ] || wrong "uninstall leaves, with DESTDIR: $left"
exit $failed
