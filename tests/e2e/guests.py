#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Programs as developers build and start them: sanitizers, valgrind, debuggers, and other libraries in LD_PRELOAD."""
import pathlib
import re
import shlex
import subprocess
import sys

import harness
from harness import BUILD, DEVICE, ROOT, Failure, Skip, need, start

SCTPIW = BUILD / "bin/sctpiw"
TESTS = ROOT / "tests"
FIXTURE = TESTS / "verbs/fixture"
# A program of tests/verbs, built without a sanitizer, and its tests that run here. They cover connections, data both
# ways, and several threads that post and poll.
SOURCES = [TESTS / "verbs/transfer.c", FIXTURE / "fixture.c"]
PROGRAM = [BUILD / "bin/verbs_transfer", "send_recv", "stream_of_sends", "write_and_read", "many_reads", "fence",
           "unsignaled", "threads"]
LIBRARIES = ["-lrdmacm", "-libverbs", "-lpthread"]
REPORT = re.compile("Sanitizer|runtime error|WARNING")

# Opens the device, and lists its directories.
OPEN = """
#include <dirent.h>
#include <infiniband/verbs.h>
int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && *list ? ibv_open_device(*list) : NULL;
	DIR *one = opendir("/sys/class/infiniband"), *other = opendir("/sys/class/infiniband_verbs");

	if (!context || !one || !other)
		return 1;
	closedir(one);
	closedir(other);
	ibv_free_device_list(list);
	return ibv_close_device(context);
}
"""

# Two threads with a race in the program itself: one thread changes a variable that the other reads.
RACE = """
#include <infiniband/verbs.h>
#include <pthread.h>
static int shared;
static void *change(void *unused) { shared++; return unused; }
int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && *list ? ibv_open_device(*list) : NULL;
	pthread_t thread;

	if (!context || pthread_create(&thread, NULL, change, NULL))
		return 1;
	shared++;
	pthread_join(thread, NULL);
	ibv_free_device_list(list);
	return ibv_close_device(context);
}
"""

# Writes a byte after the end of an allocation.
OVERFLOW = """
#include <infiniband/verbs.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && *list ? ibv_open_device(*list) : NULL;
	volatile char *buffer = malloc(100);

	if (!context)
		return 1;
	buffer[99 + argc] = 'x';
	return ibv_close_device(context);
}
"""


def compiled(compiler, *options, source=SOURCES):
    """Compiles source files, or the text of one file, as a user does, with the installed compiler."""
    need(compiler)
    program, sources = harness.log_file("program"), source
    if isinstance(source, str):
        sources = [harness.log_file("program.c")]
        sources[0].write_text(source)
    argv = [compiler, "-g", *options, f"-I{TESTS}", f"-I{FIXTURE}", *sources, "-o", program, *LIBRARIES]
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"{compiler} {' '.join(options)}: {done.stderr[-2000:]}")
    return program


def must_be_quiet(program):
    if REPORT.search(program.output()):
        raise Failure(f"{program.name} reports something:\n{program.output()[:3000]}")


def sanitized(compiler, *options):
    """A program with a sanitizer finishes without a report."""
    def case(link):
        program = start("program", [compiled(compiler, *options), *PROGRAM[1:]], link)
        program.expect(60)
        must_be_quiet(program)
    return case


def faults(compiler, option):
    """A sanitizer's handling of signals and copies works when memory of the program is gone."""
    def case(link):
        sources = [TESTS / "verbs/memory.c", FIXTURE / "fixture.c"]
        program = start("program", [compiled(compiler, option, source=sources), "files"], link)
        program.expect(60)
        must_be_quiet(program)
    return case


def finds(compiler, option, source, what):
    """The sanitizer finds a bug of the program, as without the device."""
    def case(link):
        program = start("program", [compiled(compiler, option, source=source)], link)
        if program.wait(20) == 0:
            raise Failure("the program ended with status 0")
        if what not in program.output():
            raise Failure(f"nothing was said of a {what}:\n{program.output()[:3000]}")
    return case


def locks(link):
    """ThreadSanitizer understands the RNIC's locks, even if it checks libraries that are not built with it."""
    for compiler in "gcc", "clang":
        program = start("open", [compiled(compiler, "-fsanitize=thread", source=OPEN)], link,
                        env={"TSAN_OPTIONS": "ignore_noninstrumented_modules=0"})
        program.expect(20)
        must_be_quiet(program)


def in_shell(link, script, name="sh", rdma=False, **options):
    program = start(name, ["sh", "-c", script], link, rdma=rdma, **options)
    program.expect(60)
    return program.output()


def environment(link):
    """With `sctpiw env` in a shell, such programs start from the shell. Values that the user has set remain."""
    binary = compiled("gcc", "-fsanitize=address", source=OPEN)
    script = f'eval "$({SCTPIW} env)"; {binary} && echo "$ASAN_OPTIONS $TSAN_OPTIONS"'
    output = in_shell(link, script, env={"ASAN_OPTIONS": "exitcode=9", "TSAN_OPTIONS": ""})
    if output != "verify_asan_link_order=0:exitcode=9 ignore_noninstrumented_modules=1\n":
        raise Failure(output)
    output = in_shell(link, 'echo "$TSAN_OPTIONS"', rdma=True, env={"TSAN_OPTIONS": "ignore_noninstrumented_modules=0"})
    if output != "ignore_noninstrumented_modules=0\n":
        raise Failure(f"what the user says is changed: {output}")


# ---- valgrind and debuggers

def memcheck(link):
    """valgrind finds no error, and warns of no unknown call."""
    need("valgrind")
    program = start("valgrind", ["valgrind", "--error-exitcode=9", *PROGRAM], link)
    program.expect(100)
    if "Warning" in program.output() or "ERROR SUMMARY: 0 errors" not in program.output():
        raise Failure(program.output()[:3000])


def other_valgrind(tool):
    """helgrind and drd start. They do not understand lock-free queues: their reports do not count."""
    def case(link):
        need("valgrind")
        binary = compiled("gcc", source=OPEN)
        start(tool, ["valgrind", "-q", f"--tool={tool}", "--error-exitcode=0", binary], link).expect(100)
    return case


def may_trace():
    done = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"this process may not trace others: {done.stderr.strip()}")


BREAK = ["-batch", "-nx", "-iex", "set debuginfod enabled off", "-ex", "set breakpoint pending on",
         "-ex", "break rnic_exit", "-ex", "run", "-ex", "bt", "-ex", "continue"]


def gdb(link):
    """gdb stops in the device and prints a backtrace. Then the program finishes."""
    need("gdb", "strace")
    may_trace()
    binary = compiled("gcc", source=OPEN)
    inside = start("gdb-inside", ["gdb", *BREAK, "--args", binary], link)
    outside = start("gdb-outside", ["gdb", *BREAK, "--args", SCTPIW, "run", "--", binary], link, rdma=False)
    for program in inside, outside:
        program.expect(60)
        output = program.output()
        if "Breakpoint 1," not in output or not re.search(r"#\d+ .*rnic_exit", output) or "exited normally" not in output:
            raise Failure(f"{program.name}: {output}")


def tracers(link):
    """strace and ltrace, of the program and of the launcher."""
    need("strace", "ltrace")
    may_trace()
    binary = compiled("gcc", source=OPEN)
    for name, argv in ("strace", ["strace", "-f"]), ("ltrace", ["ltrace"]):
        trace = harness.log_file(name)
        start(name, [*argv, "-o", trace, binary], link).expect(60)
        if not re.search(r"exited (\(status 0\)|with 0)", trace.read_text(errors="replace")):
            raise Failure(f"{name} saw another end")
    trace = harness.log_file("outside")
    start("outside", ["strace", "-f", "-o", trace, SCTPIW, "run", "--", binary], link, rdma=False).expect(60)
    if f'execve("{binary}"' not in trace.read_text(errors="replace"):
        raise Failure("strace has not seen the program")


# ---- other libraries

def fakeroot(link):
    """On either side of the launcher: the device exists, and so do fakeroot's owners."""
    need("fakeroot")
    work = harness.log_file("owned")
    script = (f"ibv_devinfo -d {DEVICE} | grep -c PORT_ACTIVE; touch {work}; chown 12:34 {work}; stat -c %u:%g {work}; "
              f"python3 -c 'import os; print(os.stat(\"{work}\").st_uid, os.lstat(\"{work}\").st_gid)'")
    for name, argv in (("outside", ["fakeroot", SCTPIW, "run", "--", "sh", "-c", script]),
                       ("inside", [SCTPIW, "run", "--", "fakeroot", "sh", "-c", script])):
        program = start(name, argv, link, rdma=False)
        program.expect(30)
        if program.output() != "1\n12:34\n12 34\n":
            raise Failure(f"{name}: {program.output()}")


def library(name):
    """The path of a library that the dynamic loader finds."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    found = re.search(rf"{re.escape(name)}\S* .*=> (\S+)", known)
    places = [*pathlib.Path("/usr/lib").glob(f"*/rsocket/{name}"), *pathlib.Path("/usr/lib64").glob(f"rsocket/{name}")]
    if not found and not places:
        raise Skip(f"needs the library {name}, which is not installed")
    return found[1] if found else places[0]


def neighbour(name):
    """Another library before and after libsctpiw-preload.so: the program runs with its device."""
    def case(link):
        other = library(name)
        ours = BUILD / "lib/libsctpiw-preload.so"
        for order in f"{other}:{ours}", f"{ours}:{other}":
            script = f'eval "$({SCTPIW} env)"; LD_PRELOAD={order}; exec {shlex.join(map(str, PROGRAM))}'
            in_shell(link, script)
    return case


def device_lost(link):
    """A program sets LD_PRELOAD for another program, without libsctpiw-preload.so: one line warns, once."""
    other = library("libeatmydata.so")
    need("bash")
    one = f"LD_PRELOAD={other} /bin/true"
    output = in_shell(link, f"exec bash -c '{one}; {one}; {one}; true'", rdma=True)
    if output.count("\n") != 1 or "has no RDMA device" not in output or f"LD_PRELOAD={other} lacks" not in output:
        raise Failure(f"three programs without the device: {output}")
    quiet = (f"LD_PRELOAD={other}:$LD_PRELOAD /bin/true; LD_PRELOAD= /bin/true; env -i /bin/true; "
             "env -u LD_PRELOAD /bin/true; /bin/true")
    output = in_shell(link, quiet, rdma=True)
    if output:
        raise Failure(output)
    for call in ("os.system('true')", "os.popen('true').close()", "os.execl('/bin/true', 'true')",
                 "os.execvp('true', ['true'])", "subprocess.run(['true'])", "os.execve('/bin/true', ['true'], os.environ)",
                 "os.posix_spawn('/bin/true', ['true'], os.environ)", "os.spawnlp(os.P_WAIT, 'true', 'true')"):
        code = f"import os, subprocess; os.environ['LD_PRELOAD'] = '{other}'; {call}"
        output = in_shell(link, f"exec python3 -c {shlex.quote(code)}", rdma=True)
        if output.count("has no RDMA device") != 1:
            raise Failure(f"{call}: {output}")


if __name__ == "__main__":
    sys.exit(harness.main([
        ("address.gcc", sanitized("gcc", "-fsanitize=address")),
        ("address.clang", sanitized("clang", "-fsanitize=address")),
        ("thread.gcc", sanitized("gcc", "-fsanitize=thread")),
        ("thread.clang", sanitized("clang", "-fsanitize=thread")),
        ("undefined", sanitized("gcc", "-fsanitize=undefined", "-fno-sanitize-recover=all")),
        ("address.faults", faults("gcc", "-fsanitize=address")),
        ("thread.faults", faults("clang", "-fsanitize=thread")),
        ("address.finds", finds("gcc", "-fsanitize=address", OVERFLOW, "heap-buffer-overflow")),
        ("thread.locks", locks),
        ("thread.finds", finds("clang", "-fsanitize=thread", RACE, "data race")),
        ("environment", environment),
        ("memcheck", memcheck),
        ("helgrind", other_valgrind("helgrind")),
        ("drd", other_valgrind("drd")),
        ("gdb", gdb),
        ("tracers", tracers),
        ("fakeroot", fakeroot),
        ("neighbour.jemalloc", neighbour("libjemalloc.so")),
        ("neighbour.eatmydata", neighbour("libeatmydata.so")),
        ("neighbour.rspreload", neighbour("librspreload.so")),
        ("device-lost", device_lost),
    ]))
