#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
usage() {
	cat <<'END'
usage: ./build.sh [--verbose] [COMMAND]

  build      build in build/ (what happens without a command)
  demo       build, then run stock RDMA programs between two processes of this machine
  test       what CI runs: a build with gcc, lint, sanitizer builds, some fuzzing, the tests, and the packages.
             ./build.sh test -R e2e.rping   gives arguments to ctest, and runs it alone
  long       build, then run the tests that CI leaves out, since they show on another link, family of addresses or
             lower layer what others have shown; an hour, needs root. Arguments go to ctest: [-R REGEX]
  bench      build, then measure: --quick (the default) or --full; see utils/bench --help
  fuzz       build in build-fuzz/ with clang, and fuzz: [SECONDS [TARGET...]], 60 seconds each, all
             targets. What they find is written to build-fuzz/
  soak       build, then simulate bad networks: [SEED [COUNT]], 1,000 seeds from 1 in all scenarios
  soak-links build, then do the same with hosts that several links join, which die: [SEED [COUNT]]
  completions
             build, then write and send between two processes that compare behind each completion, over a link
             that loses, reorders and duplicates packets: [ROUNDS], a million, some minutes
  lower-layers
             build, then run all cases of the stock programs over --llp kernel and ip in User-Mode Linux, and
             udp and ip against kernel: [kernel|ip|udp-kernel|ip-kernel|paths...], all; needs root, takes hours
  ceph       build, then run Ceph's monitor, OSD and rados with their messenger on RDMA, between two hosts that are
             network namespaces. Packages that are missing (51 MB) are unpacked in build/ceph/, and not installed
  sanitize   build in build-asan/ with AddressSanitizer and UBSan, and run its tests
  tsan       build in build-tsan/ with ThreadSanitizer, and run the tests that have threads
  lint       check every file: what tests/style looks at, and clang-tidy
  format     write every file of C as clang-format has it
  coverage   build in build-coverage/, run the tests of units, conformance and verbs, and print how
             many lines of each room they run. Arguments go to ctest: [-R REGEX]
  dist       write the source tarball build/dist/sctpiw-VERSION.tar.xz
  deb        build the Debian packages in build/dist/
  roots      build the Debian packages in a fresh root of the first of these suites, install them in fresh roots of all,
             run their tests there as an ordinary user, build them once more and compare, then build and try those for
             Fedora: [bookworm|trixie...], bookworm. With --native in front, build the source tarball in the roots
             instead, and run the demo: [--native bookworm|trixie|sid...]. With --tests, build it in one root, and run all
             tests there, or those that arguments of ctest choose: [--tests trixie [-R REGEX]]; takes an hour. All need
             root
  containers build the Debian packages and, with podman, the images of contrib/, and run what its recipes say; needs
             root
  cross      build for other processors with Debian's cross compilers, and run the tests under qemu-user: [arm64|s390x...],
             both. Of arm64 also the packages, rping, perftest and the demo. Needs root and Linux 6.7
  rpm        build the packages for Fedora in build/dist/, unpack them, and run the device from there as an
             ordinary user
  clean      remove the build directories
  --verbose  in front of a command: show what is installed and compiled, which goes to files of build/log/
             otherwise
  --help     this

Packages that are missing are installed first, with apt-get or dnf, and with sudo where that is
needed; the command is printed. SCTPIW_NO_INSTALL=1 names them and stops instead, unless it can do without.
Build types and compilers other than the usual: CC and CMAKE_BUILD_TYPE in the environment, on a
fresh build directory; or one of the presets: cmake --list-presets.
END
}

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

verbose=
say() { printf '%s\n' "build.sh: $*" >&2; }
die() { say "$*"; exit 1; }
wrong_usage() { say "$*; see ./build.sh --help"; exit 2; }
. utils/progress.sh
. utils/install.sh

# ---------------------------------------------------------------- packages

# Rows of: a kind, a name to check, its package in Debian and Ubuntu, and its package in Fedora and
# RHEL. "-": no package exists; the tests that need it report that they are skipped. "NAME?": not
# every release or processor has the package, with the same consequence. A plain build has USDT
# probes if sys/sdt.h exists; the tests check the probes.
#
# cc: a compiler; cmd: a program; pc: pkg-config; lib: a file that gcc finds; so: a library that
# programs load; hdr: a header that the compiler finds; mod: a module of Python; path: a file
BUILD_NEEDS='
cc  C-compiler        gcc                gcc
hdr stdio.h           libc6-dev          glibc-devel
cmd cmake             cmake              cmake
cmd ninja             ninja-build        ninja-build
cmd pkg-config        pkg-config         pkgconf-pkg-config
pc  libibverbs        libibverbs-dev     rdma-core-devel
pc  librdmacm         librdmacm-dev      rdma-core-devel
pc  libisal           libisal-dev        isa-l-devel
pc  nettle            nettle-dev         nettle-devel
pc  inih              libinih-dev        inih-devel
pc  gnutls            libgnutls28-dev    gnutls-devel
hdr intel-ipsec-mb.h  libipsec-mb-dev?   intel-ipsec-mb-devel?
pc  libsctp           libsctp-dev        lksctp-tools-devel
'
RUN_NEEDS='
cmd python3           python3            python3
cmd rping             rdmacm-utils       librdmacm-utils
cmd ib_write_bw       perftest           perftest
cmd ibv_devinfo       ibverbs-utils      libibverbs-utils
'
TEST_NEEDS='
pc  cmocka            libcmocka-dev      libcmocka-devel
cmd clang             clang              clang
lib libasan.so        gcc                libasan
lib libubsan.so       gcc                libubsan
lib libtsan.so        gcc                libtsan
cmd ip                iproute2           iproute
cmd nft               nftables           nftables
cmd setpriv           util-linux         util-linux
cmd nsenter           util-linux         util-linux
cmd valgrind          valgrind           valgrind
cmd gdb               gdb                gdb
cmd strace            strace             strace
cmd ltrace            ltrace             ltrace
cmd fakeroot          fakeroot           fakeroot
cmd eatmydata         eatmydata          -
so  libjemalloc.so.2  libjemalloc2       jemalloc
cmd tshark            tshark             wireshark-cli
hdr usrsctp.h         libusrsctp-dev     usrsctp-devel
pc  openssl           libssl-dev         openssl-devel
hdr sys/sdt.h         systemtap-sdt-dev  systemtap-sdt-devel
cmd iperf3            iperf3             iperf3
cmd iperf             iperf              iperf
cmd fio               fio                fio-engine-rdma
cmd fi_pingpong       libfabric-bin      libfabric
cmd ucx_perftest      ucx-utils          ucx
pc  ucx               libucx-dev         ucx-devel
cmd qperf             qperf              qperf
cmd jq                jq                 jq
cmd openssl           openssl            openssl
cmd ibstatus          infiniband-diags   infiniband-diags
cmd mpirun.openmpi    openmpi-bin        -
pc  ompi-c            libopenmpi-dev     -
cmd mpiexec.mpich     mpich              -
pc  mpich             libmpich-dev       -
cmd gnuplot           gnuplot-nox        gnuplot
cmd modprobe          kmod               kmod
cmd zsh               zsh                zsh
cmd fish              fish               fish
cmd g++               g++                gcc-c++
pc  libseccomp        libseccomp-dev     libseccomp-devel
mod pyverbs           python3-pyverbs    python3-pyverbs
cmd linux.uml         user-mode-linux    -
cmd dtest             dapl2-utils?       -
cmd qemu-system-x86_64 qemu-system-x86   qemu-system-x86-core
pc  libiscsi          libiscsi-dev       libiscsi-devel
pc  librpma           librpma-dev        librpma-devel
hdr gloo/config.h     libgloo-dev        gloo-devel
'
LINT_NEEDS='
cmd clang-format      clang-format       clang-tools-extra
cmd clang-tidy        clang-tidy         clang-tools-extra
cmd mandoc            mandoc             mandoc
cmd scdoc             scdoc              scdoc
'
COVERAGE_NEEDS='
cmd lcov              lcov               lcov
'
BENCH_NEEDS='
cmd iperf3            iperf3             iperf3
cmd stunnel           stunnel4           stunnel
cmd gnuplot           gnuplot-nox        gnuplot
cmd ip                iproute2           iproute
cmd nft               nftables           nftables
cmd nsenter           util-linux         util-linux
cmd ucx_perftest      ucx-utils          ucx
pc  cmocka            libcmocka-dev      libcmocka-devel
hdr usrsctp.h         libusrsctp-dev     usrsctp-devel
pc  openssl           libssl-dev         openssl-devel
'

# Needs of the tarball, and additional needs of all packages.
DIST_NEEDS='
cmd xz                xz-utils           xz
'
MANUAL_NEEDS='
cmd scdoc             scdoc              scdoc
hdr sys/sdt.h         systemtap-sdt-dev  systemtap-sdt-devel
'
PACKAGE_NEEDS=$DIST_NEEDS$MANUAL_NEEDS'
cmd dpkg-buildpackage dpkg-dev           dpkg-dev
cmd dh                debhelper          -
path /usr/share/build-essential    build-essential -
cmd fakeroot          fakeroot           -
'
ROOTS_NEEDS='
cmd lintian           lintian            -
cmd mmdebstrap        mmdebstrap         -
'
CONTAINERS_NEEDS='
cmd mmdebstrap        mmdebstrap         -
cmd podman            podman             podman
cmd crun              crun               crun
path /usr/lib/podman/netavark     netavark     -
path /usr/lib/podman/aardvark-dns aardvark-dns -
cmd iptables          iptables           iptables
cmd catatonit         catatonit          catatonit
cmd podman-compose    podman-compose     podman-compose
cmd docker-compose    docker-compose     -
mod yaml              python3-yaml       python3-pyyaml
'
RPM_NEEDS=$DIST_NEEDS$MANUAL_NEEDS'
cmd rpmbuild          rpm                rpm-build
cmd find-debuginfo    debugedit          debugedit
cmd eu-strip          elfutils           elfutils
cmd rpmlint           rpmlint            rpmlint
cmd rpm2cpio          rpm2cpio           rpm
cmd cpio              cpio               cpio
cmd file              file               file
cmd ip                iproute2           iproute
cmd setpriv           util-linux         util-linux
'

# ---------------------------------------------------------------- building

# An earlier build can be used only by the same user in the same place.
check_left() {
	local path home

	if [ "$(id -u)" != 0 ]; then
		path=$(find build build-* ! -type l ! -user "$(id -u)" ! -writable -print -quit 2>/dev/null) || true
		[ -z "$path" ] || die "$path belongs to $(stat -c %U "$path"), whose build it is. Type: sudo rm -rf ${path%%/*}"
	fi
	for path in build/CMakeCache.txt build-*/CMakeCache.txt; do
		[ -f "$path" ] || continue
		home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$path")
		[ "$home" -ef . ] || die "${path%/*}/ is a build of $home, not of this directory. Type: rm -rf ${path%/*}"
	done
}

# The dynamic loader ends a name in LD_PRELOAD at a blank or colon; libibverbs ends a name in
# RDMAV_DRIVERS at a colon or semicolon.
tell_path() {
	case $PWD in
	*[' :;']*) say "$PWD has a blank, colon or semicolon in it: sctpiw run will make a link without them in
\$XDG_RUNTIME_DIR or /tmp, and the tests may fail. A directory with another name is better" ;;
	esac
}

configure_and_build() { # DIRECTORY TARGET PRESET CMAKE-OPTIONS
	cmake --preset "${@:3}" && cmake --build "$1" --target "$2"
}

preset_build() { # PRESET [TARGET [CMAKE-OPTIONS]]: see CMakePresets.json
	local dir=build-$1

	[ "$1" != dev ] || dir=build
	quietly "building in $dir/" "$1" configure_and_build "$dir" "${2:-all}" "$1" "${@:3}"
}

# Builds the tests if cmocka is installed, so that ctest works. Warnings are errors only after an
# earlier ./build.sh test, since a change would rebuild everything.
plain_build() {
	local tests=OFF werror=

	if is_there pc cmocka && have python3; then tests=ON; fi
	[ ! -f build/CMakeCache.txt ] || werror=$(sed -n 's/^SCTPIW_WERROR:BOOL=//p' build/CMakeCache.txt)
	preset_build dev all "-DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE:-RelWithDebInfo}" -DSCTPIW_TESTS=$tests \
		"-DSCTPIW_WERROR=${werror:-OFF}"
}

run_ctest() { # DIRECTORY CTEST-ARGUMENTS
	local dir=$1 status=0 progress=()
	shift
	! on_terminal || [ -n "$verbose" ] || progress=(--progress)
	# Most tests wait most of the time, so each processor runs two (see
	# tests/e2e/CMakeLists.txt).
	(cd "$dir" && ctest -j"$((2 * $(nproc)))" "${progress[@]}" --output-on-failure "$@") || status=$?
	if grep -h '^SKIP' "$dir/Testing/Temporary/LastTest.log" 2>/dev/null; then
		say "skipped, see above"
	fi
	return $status
}

# Skips tests of scripts and documents, which run no sanitizer, and repeated tests with packet loss,
# which mostly wait.
sanitize() {
	say "AddressSanitizer and UBSan"
	preset_build asan && run_ctest build-asan -E '^(style\.|rooms$|build_|unit\.trace_plot$)|_lossy$' "$@"
}

tsan() {
	say "ThreadSanitizer"
	preset_build tsan && run_ctest build-tsan -L threads -E '_lossy$' "$@"
}

fuzz_one() { # SECONDS TARGET
	local dir=build-fuzz/$2

	mkdir -p "$dir"
	if "build-fuzz/bin/fuzz_$2" -max_total_time="$1" -max_len=2048 -timeout=20 -rss_limit_mb=2048 -artifact_prefix="$dir-" \
		-print_final_stats=1 "$dir" "tests/fuzz/corpus/$2" >"$dir.log" 2>&1; then
		say "fuzz_$2: $(sed -n 's/^stat::number_of_executed_units: *//p' "$dir.log") inputs, nothing found"
	else
		tail -40 "$dir.log"
		say "fuzz_$2: failed; the input is in build-fuzz/, the whole log is $dir.log"
		return 1
	fi
}

fuzz() { # SECONDS [TARGET...]
	local seconds=$1 target targets=("${@:2}") running=() status=0
	say "fuzzing, $seconds s each"
	preset_build fuzz fuzz_targets || return 1
	[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cd tests/fuzz/corpus && printf '%s\n' *)
	for target in "${targets[@]}"; do
		[ -d "tests/fuzz/corpus/$target" ] || die "no fuzz target is called $target: $(cd tests/fuzz/corpus && echo *)"
	done
	for target in "${targets[@]}"; do
		fuzz_one "$seconds" "$target" &
		running+=($!)
		if [ ${#running[@]} -ge "$(nproc)" ]; then
			wait "${running[0]}" || status=1
			running=("${running[@]:1}")
		fi
	done
	for target in "${running[@]}"; do wait "$target" || status=1; done
	return $status
}

# Includes clang's warnings. -UNDEBUG: the analyzer uses assertions.
tidy() {
	sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' build/compile_commands.json | sort -u |
		xargs -P "$(nproc)" -n 4 clang-tidy -p build --quiet --extra-arg=-UNDEBUG \
			--extra-arg=-Wno-ignored-optimization-argument 2>/dev/null
}

lint() {
	local failed=()

	say "lint"
	run_ctest build -R '^(style\.|rooms$)' || failed+=(style)
	tidy || failed+=(clang-tidy)
	[ ${#failed[@]} = 0 ] || say "lint: failed: ${failed[*]}"
	[ ${#failed[@]} = 0 ]
}

# Prints a line for each room, from lcov's records: SF is a file, LF its lines, LH its executed
# lines.
print_coverage() { # RECORDS
	awk -F'[:/]' '
		/^SF:/ { room = $0; sub(/\/[^\/]*$/, "", room); sub(/.*\/(providers\/sctpiw\/|)/, "", room) }
		/^LF:/ { lines[room] += $2; lines["all"] += $2 }
		/^LH:/ { run[room] += $2; run["all"] += $2 }
		END { for (room in lines) printf "%-12s %6d lines  %5.1f %%\n", room, lines[room], 100 * run[room] / lines[room] }
	' "$1" | sort
}

coverage() { # CTEST-ARGUMENTS
	local dir=build-coverage status=0

	say "coverage"
	preset_build coverage || return 1
	lcov --quiet --zerocounters --directory $dir
	run_ctest $dir "$@" || status=$?
	lcov --quiet --capture --directory $dir --base-directory "$PWD" --no-external --output-file $dir/lines.info 2>$dir/lcov.log
	lcov --quiet --extract $dir/lines.info "$PWD/providers/*" "$PWD/kernel-abi/*" "$PWD/utils/*.c" \
		--output-file $dir/product.info 2>>$dir/lcov.log
	print_coverage $dir/product.info
	return $status
}

# ---------------------------------------------------------------- packages of our own
# ---------------------------------------------------------------- sctpiw's packages

version() { sed -n 's/^project(sctpiw VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }

# Prints all files of the project: those in git, or in an unpacked tarball all files that were not
# built.
source_files() {
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard
	else
		find . -path './build*' ! -name build.sh -prune -o ! -type d -print | sed 's|^\./||'
	fi
}

dist() {
	local name
	name=sctpiw-$(version)

	mkdir -p build/dist
	source_files | LC_ALL=C sort | tar --create --xz --files-from=- --transform="s|^|$name/|S" \
		--owner=0 --group=0 --numeric-owner --file="build/dist/$name.tar.xz"
	say "build/dist/$name.tar.xz"
}

deb() {
	local name

	dist
	name=sctpiw-$(version)
	rm -rf "build/dist/$name" build/dist/*.deb
	tar -C build/dist -xf "build/dist/$name.tar.xz"
	quietly "building the Debian packages" deb env -C "build/dist/$name" dpkg-buildpackage --build=binary --no-sign ||
		die "the packages could not be built"
	say "$(echo build/dist/*.deb)"
}

# redhat/macros replaces missing macros of Fedora. The packages that the spec requires then have
# other names, and ensure checks them.
rpms() {
	local top=$PWD/build/dist/rpm foreign=()

	dist
	[ -n "$(rpm --eval '%{?cmake:there}')" ] || foreign=(--load redhat/macros --nodeps)
	rm -rf "$top" build/dist/*.rpm
	quietly "building the packages for Fedora" rpm \
		rpmbuild -ba --noclean "${foreign[@]}" --define "_topdir $top" --define "_sourcedir $PWD/build/dist" \
		--define "_rpmdir $PWD/build/dist" --define "_srcrpmdir $PWD/build/dist" \
		--define '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' redhat/sctpiw.spec ||
		die "the packages could not be built"
	say "$(echo build/dist/*.rpm)"
}

containers() {
	have mmdebstrap || die "the base image is Debian's, and mmdebstrap is not here"
	say "the recipes of contrib/"
	deb && tests/packages/containers.py
}

unpacked() {
	say "packages for Fedora, unpacked"
	rpms && tests/packages/rpm.py
}

fresh_roots() { # [--thorough] SUITE...
	say "packages in fresh roots: $*"
	dist && tests/packages/roots.py "$@"
}

roots() { # [--native] SUITE..., or --tests SUITE CTEST-ARGUMENTS
	local kind=

	case ${1:-} in
	--native | --tests)
		kind=$1
		shift
		;;
	esac
	[ $# -gt 0 ] || set -- bookworm
	have mmdebstrap || die "the roots are Debian's, and mmdebstrap is not here"
	if [ "$kind" = --native ]; then
		say "native builds in fresh roots: $*"
		dist && tests/packages/native.py "$@"
	elif [ "$kind" = --tests ]; then
		say "all tests in a fresh root: $*"
		dist && tests/packages/suite.py "$@"
	else
		fresh_roots --thorough "$@"
	fi
}

cross() { # ARCHITECTURE...
	local name

	have mmdebstrap || die "the roots are Debian's, and mmdebstrap is not here"
	[ $# -gt 0 ] || set -- arm64 s390x
	for name; do [[ $name =~ ^(arm64|s390x)$ ]] || wrong_usage "cross: arm64 or s390x, not $name"; done
	say "other processors, under qemu-user: $*"
	deb && tests/packages/cross.py "$@"
}

run_tests() {
	local failed=()

	say "gcc, warnings are errors"
	preset_build dev || die "failed: build"
	if [ $# -gt 0 ]; then
		run_ctest build "$@"
		return
	fi
	lint || failed+=(lint)
	sanitize || failed+=(sanitizers)
	tsan || failed+=(tsan)
	fuzz 10 || failed+=(fuzz)
	say "all tests"
	run_ctest build -LE long || failed+=(tests)
	(unpacked) || failed+=(rpm)
	if have mmdebstrap; then
		(fresh_roots bookworm) || failed+=(packages)
	else
		say "packages: skipped, mmdebstrap is not here"
	fi
	[ ${#failed[@]} = 0 ] || die "failed: ${failed[*]}"
	say "all passed"
}

main() {
	local command

	if [ "${1:-}" = --verbose ]; then
		verbose=yes
		shift
	fi
	command=${1:-build}
	[ $# = 0 ] || shift
	case $command in
	build | demo | ceph | dist | deb | rpm | format | clean)
		[ $# = 0 ] || wrong_usage "$command takes no argument: take $1 away"
		;;
	esac
	tell_path
	case $command in clean | format | help | -h | --help) ;; *) check_left ;; esac
	case $command in
	build)
		ensure "$BUILD_NEEDS"
		plain_build
		say "next: ./build.sh demo, or a program of yours: build/bin/sctpiw run -- PROGRAM"
		;;
	demo)
		ensure "$BUILD_NEEDS$RUN_NEEDS"
		plain_build
		exec utils/demo
		;;
	test)
		ensure "$BUILD_NEEDS$RUN_NEEDS$TEST_NEEDS$LINT_NEEDS$ROOTS_NEEDS$RPM_NEEDS"
		ensure_python_tests
		ensure_fuzzer
		ensure_tgt
		run_tests "$@"
		;;
	long)
		ensure "$BUILD_NEEDS$RUN_NEEDS$TEST_NEEDS"
		ensure_tgt
		preset_build dev || die "failed: build"
		run_ctest build -L long "$@"
		;;
	bench)
		ensure "$BUILD_NEEDS$RUN_NEEDS$BENCH_NEEDS"
		plain_build
		exec utils/bench "$@"
		;;
	fuzz)
		ensure "$BUILD_NEEDS$RUN_NEEDS$TEST_NEEDS"
		ensure_fuzzer
		[[ ${1:-60} =~ ^[1-9][0-9]*$ ]] || die "fuzz: seconds, not $1"
		fuzz "${1:-60}" "${@:2}"
		;;
	soak)
		ensure "$BUILD_NEEDS$RUN_NEEDS$TEST_NEEDS"
		plain_build
		in_steps "scenarios" '^\[ *(OK|FAILED) *\] [^:]*$' "$(build/bin/test_stack_sim --list | wc -l)" \
			build/bin/test_stack_sim --all "${1:-1}" "${2:-1000}"
		;;
	soak-links)
		[[ ${1:-1} =~ ^[1-9][0-9]*$ && ${2:-1} =~ ^[1-9][0-9]*$ ]] || die "soak-links: SEED and COUNT, not $*"
		ensure "$BUILD_NEEDS$RUN_NEEDS$TEST_NEEDS"
		plain_build
		for name in failover spread paths locals pairs known asconf; do
			"build/bin/test_sctp_sim_$name" "${1:-1}" "${2:-1000}" ||
				die "soak-links: a scene of tests/unit/test_sctp_sim_$name.c failed"
		done
		;;
	completions)
		ensure "$BUILD_NEEDS$RUN_NEEDS$TEST_NEEDS"
		[[ ${1:-1} =~ ^[1-9][0-9]*$ ]] || die "completions: rounds, not $1"
		plain_build
		exec build/bin/sctpiw run -- build/bin/verbs_rounds_lossy --rounds "${1:-1000000}"
		;;
	lower-layers)
		ensure "$BUILD_NEEDS$RUN_NEEDS$TEST_NEEDS"
		plain_build
		exec tests/e2e/lower_layers.py "$@"
		;;
	ceph)
		ensure "$BUILD_NEEDS$RUN_NEEDS$TEST_NEEDS"
		ensure_ceph
		plain_build
		exec tests/e2e/ceph.py --link veth1500-v4
		;;
	sanitize)
		ensure "$BUILD_NEEDS$RUN_NEEDS$TEST_NEEDS"
		sanitize "$@"
		;;
	tsan)
		ensure "$BUILD_NEEDS$RUN_NEEDS$TEST_NEEDS"
		tsan "$@"
		;;
	lint)
		ensure "$BUILD_NEEDS$RUN_NEEDS$TEST_NEEDS$LINT_NEEDS"
		preset_build dev
		lint
		;;
	format)
		ensure "$LINT_NEEDS"
		tests/style/format.py --write
		;;
	coverage)
		ensure "$BUILD_NEEDS$RUN_NEEDS$TEST_NEEDS$COVERAGE_NEEDS"
		[ $# -gt 0 ] || set -- -R '^(unit|conformance|verbs)\.'
		coverage "$@"
		;;
	dist)
		ensure "$DIST_NEEDS"
		dist
		;;
	deb)
		ensure "$BUILD_NEEDS$PACKAGE_NEEDS"
		deb
		;;
	roots)
		ensure "$DIST_NEEDS$ROOTS_NEEDS"
		roots "$@"
		;;
	containers)
		ensure "$BUILD_NEEDS$PACKAGE_NEEDS$CONTAINERS_NEEDS"
		containers
		;;
	cross)
		ensure "$BUILD_NEEDS$PACKAGE_NEEDS$ROOTS_NEEDS"
		cross "$@"
		;;
	rpm)
		ensure "$BUILD_NEEDS$RUN_NEEDS$RPM_NEEDS"
		unpacked
		;;
	clean)
		rm -rf build build-asan build-clang build-coverage build-fuzz build-release build-tsan
		;;
	-h | --help | help)
		usage
		;;
	*)
		wrong_usage "no such command: $command"
		;;
	esac
}

main "$@"
