# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Functions that find and install missing packages. build.sh sources this file, and has the tables
# of needs, say() and die().

have() { PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null; }

# Prints the compiler that cmake uses, with its options.
compiler() {
	local name
	if [ -n "${CC:-}" ]; then echo "$CC"; return; fi
	for name in cc gcc clang; do
		if have $name; then echo $name; return; fi
	done
}

is_there() { # KIND WHAT
	case $1 in
	cc) [ -n "$(compiler)" ] ;;
	cmd) have "$2" ;;
	pc) have pkg-config && pkg-config --exists "$2" ;;
	lib) have gcc && [ "$(gcc -print-file-name="$2")" != "$2" ] ;;
	so) PATH=$PATH:/usr/sbin:/sbin ldconfig -p | grep -F "$2" >/dev/null ;;
	fuzzer) echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
		clang -fsanitize=fuzzer,address -x c - -o /dev/null 2>/dev/null ;;
	path) [ -e "$2" ] ;;
	mod) have /usr/bin/python3 && /usr/bin/python3 -c "import $2" 2>/dev/null ;; # the distribution's
	hdr) [ -n "$(compiler)" ] && echo "#include <$2>" | $(compiler) -E -x c - >/dev/null 2>&1 ;;
	esac
}

# The presets of CMakePresets.json need this version. The check runs before any download.
CMAKE=3.21
check_cmake() { # VERSION, or nothing if it is not known
	[ -z "$1" ] || [ "$(printf '%s\n' "$1" $CMAKE | sort -V)" = "$(printf '%s\n' $CMAKE "$1")" ] ||
		die "CMake $1 is too old: build.sh needs $CMAKE. A newer one in PATH will do"
}

# Sets sudo to the words that make a command run as root. If the user cannot become root, prints the
# command for an administrator.
sudo=()
become_root() { # COMMAND
	local why="there is no sudo"

	[ "$(id -u)" != 0 ] || return 0
	if have sudo; then
		sudo=(sudo)
		# sudo must prompt for the password before a progress line occupies the terminal.
		if sudo -n true 2>/dev/null || { say "packages are missing, and sudo is to install them" && sudo -v; }; then return; fi
		why="sudo refuses"
	fi
	die "these packages are missing, and $why. As root, type:
    $*"
}

running() { say "running: ${sudo[*]:+sudo }$*"; }

# Runs a command of the package manager. One line of its long log has the cause of a failure.
as_root() { # WHAT LOG COMMAND...
	LOG_END=0 quietly "$1" "$2" "${sudo[@]}" "${@:3}"
}

# Not grep -q, which would end before apt-cache: apt-cache would then fail with a broken pipe.
has_candidate() { apt-cache policy "$1" 2>/dev/null | grep 'Candidate: [^(]' >/dev/null; }

# True if the table marks the package as missing in some releases, and this release lacks it.
is_left_out() {
	[ "${1%\?}" != "$1" ] || return 1
	if have apt-get; then
		compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null && ! has_candidate "${1%\?}"
	else
		! dnf -q info "${1%\?}" >/dev/null 2>&1
	fi
}

# Prints the package manager's reason from these logs, and exits.
not_installed() { # LOG...
	local reason
	[ -z "$verbose" ] || die "the packages could not be installed: the lines above have the reason"
	reason=$(cd "$LOGS" && sed -nE -e 's/^[EW]: (Failed to fetch)/1 \1/p' -e 's/^(E|Error): /2 /p' "${@/%/.log}" | sort -s -k 1,1 |
		sed -n '1s/^. //p')
	case $reason in Failed*) reason+=". Is there a network?" ;; esac
	die "the packages could not be installed: $reason"
}

APT_GET=(env DEBIAN_FRONTEND=noninteractive apt-get -o APT::Status-Fd=1)
apt_update() {
	running "${APT_GET[@]}" update
	as_root "reading package lists" lists "${APT_GET[@]}" update || true
}

# Downloads all packages before the first is installed, so that the two steps have separate progress
# bars.
apt_install() { # PACKAGE...
	local package lists=() install=("${APT_GET[@]}" install -y --no-install-recommends)

	become_root "apt-get update && apt-get install --no-install-recommends ${*%\?}"
	for package; do
		# Without a candidate, the package lists are missing.
		has_candidate "${package%\?}" || { lists=(lists) && break; }
	done
	[ ${#lists[@]} = 0 ] || apt_update
	[[ " $* " != *" cmake "* ]] || check_cmake "$(apt-cache policy cmake 2>/dev/null | sed -n 's/^ *Candidate: \([^(]\)/\1/p')"
	for package; do
		is_left_out "$package" || install+=("${package%\?}")
	done
	running "${install[@]}"
	as_root "downloading packages" packages "${install[@]}" --download-only || {
		[ ${#lists[@]} = 0 ] || not_installed lists packages
		say "trying again with fresh package lists"
		apt_update
		as_root "downloading packages" packages "${install[@]}" --download-only || not_installed lists packages
	}
	as_root "installing packages" packages "${install[@]}" || not_installed packages
}

ensure() { # tables of needs
	local kind what debian fedora missing=() column=0 packages

	[ -z "${CC:-}" ] || have "${CC%% *}" || die "CC names ${CC%% *}, which is not here"
	[[ $* != *"cmd cmake "* ]] || ! have cmake || check_cmake "$(cmake --version | sed -n '1s/.* //p')"
	if have apt-get; then column=3; elif have dnf; then column=4; fi
	while read -r kind what debian fedora; do
		[ -n "$kind" ] || continue
		if is_there "$kind" "$what"; then continue; fi
		if [ $column = 4 ] && { [ "$fedora" = - ] || is_left_out "$fedora"; }; then continue; fi
		if [ $column = 3 ] && is_left_out "$debian"; then continue; fi
		if [ "${debian%\?}" != "$debian" ] && { [ $column = 0 ] || [ -n "${SCTPIW_NO_INSTALL:-}" ]; }; then
			say "${debian%\?} is not here, and is done without"
			continue
		fi
		missing+=("$kind $what $debian $fedora")
	done <<<"$*"
	[ ${#missing[@]} -gt 0 ] || return 0

	if [ $column = 0 ]; then
		die "missing: $(printf '%s\n' "${missing[@]}" | cut -d' ' -f2 | xargs); and neither apt-get nor dnf is here to install them"
	fi
	mapfile -t packages < <(printf '%s\n' "${missing[@]}" | cut -d' ' -f$column | sort -u)
	if [ -n "${SCTPIW_NO_INSTALL:-}" ]; then
		die "missing packages: ${packages[*]%\?}"
	fi
	if [ $column = 3 ]; then
		apt_install "${packages[@]}"
	else
		become_root "dnf install ${packages[*]%\?}"
		running dnf install -y "${packages[@]%\?}"
		as_root "installing packages" packages dnf install -y "${packages[@]%\?}" || not_installed packages
	fi
	for what in "${missing[@]}"; do
		read -r kind what debian _ <<<"$what"
		is_there "$kind" "$what" || { [ $column = 3 ] && is_left_out "$debian"; } ||
			die "$what is still missing after ${packages[*]} was installed"
	done
}

# Debian has clang's runtime libraries in a separate package for each version.
ensure_fuzzer() {
	ensure "fuzzer libfuzzer libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev compiler-rt"
}

# Debian starts the daemon of an installed tgt, which listens on all addresses. So tgt is only
# unpacked.
ensure_tgt() {
	if have tgtd || [ -x build/tgt/usr/sbin/tgtd ]; then return 0; fi
	if ! have apt-get; then
		ensure "cmd tgtd tgt scsi-target-utils"
	elif [ -n "${SCTPIW_NO_INSTALL:-}" ]; then
		die "missing package, which need not be installed: tgt"
	else
		say "unpacking tgt in build/tgt"
		mkdir -p build/tgt
		(cd build/tgt && apt-get -q -o APT::Sandbox::User="$(id -un)" download tgt && dpkg-deb -x tgt_*.deb .) >&2
	fi
}

# Debian's Ceph depends on sudo, LVM and more. So missing parts of Ceph are only unpacked.
ensure_ceph() {
	local archives=$PWD/build/ceph/archives package

	if { have ceph-mon && have ceph-osd; } || [ -x build/ceph/usr/bin/ceph-osd ]; then return 0; fi
	have apt-get || die "ceph: the test is for Debian's Ceph"
	[ -z "${SCTPIW_NO_INSTALL:-}" ] || die "missing packages, which need not be installed: ceph-mon ceph-osd"
	mkdir -p "$archives/partial"
	quietly "unpacking Ceph in build/ceph" packages apt-get -y --no-install-recommends --download-only \
		-o Debug::NoLocking=1 -o APT::Sandbox::User="$(id -un)" -o Dir::Cache::Archives="$archives" install ceph-mon ceph-osd
	for package in "$archives"/*.deb; do dpkg-deb -x "$package" build/ceph; done
	rm -r "$archives"
}

# Python's own tests, for abi.python. Only the distribution's python3 needs a package for them.
ensure_python_tests() {
	[ "$(command -v python3)" = /usr/bin/python3 ] || return 0
	ensure "mod test.test_os libpython$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')-testsuite python3-test"
}
