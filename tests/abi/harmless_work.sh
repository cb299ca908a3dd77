#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The work of harmless.sh, which prints the same, and makes the same files, each time.
set -e -o pipefail
dir=$1
mkdir "$dir"
cd "$dir"
mkdir -p tree/a/b tree/c
for i in $(seq 200); do echo "$((i * 7919 % 1000)) line $i" >>lines; done
sort -n lines >tree/a/sorted
sort -u -k2 lines | tac | cut -d' ' -f1 | paste -sd, >tree/a/b/cut
ln -s ../a/sorted tree/c/link
ln tree/a/sorted tree/c/hard
mkfifo tree/c/fifo
cp -a tree copy
diff -r --no-dereference tree/a copy/a
find tree copy | sort
find tree -type l -printf '%p -> %l\n'
find tree -name sorted -exec wc -l {} +
tar cf - --sort=name --mtime=@0 --owner=0 --group=0 tree/a | md5sum
tar cf archive.tar tree/a && mkdir out && tar xf archive.tar -C out && diff -r tree/a out/tree/a
rm archive.tar
gzip -nc lines | gunzip | cmp - lines
xargs -n 50 <tree/a/b/cut echo | head -c 200
grep -c line lines
awk '{ s += $1 } END { print s }' lines
sed -n '10,12p' lines
(echo one; echo two >&2) 2>&1 | cat
exec 9>nine; echo into nine >&9; exec 9>&-; cat nine
cat <<<"here string"
ls tree | while read -r name; do echo "$name"; done
realpath --relative-to=. tree/c/link
readlink tree/c/link
stat -c '%s %F' tree/c/*
ls /sys/class/net >/dev/null
ls -d /dev/null /dev/zero
cat /sys/class/infiniband_none 2>/dev/null || echo "no such class"
dd if=/dev/zero bs=1k count=100 2>/dev/null | md5sum
(sh -c 'kill -SEGV $$' || echo "status $?") 2>/dev/null
sh -c 'trap "echo trapped" USR1; kill -USR1 $$; exit 3' || echo "status $?"
timeout 0.2 sleep 5 || echo "status $?"
rm -f tree/c/fifo copy/c/fifo # diff -r does not compare pipes
python3 -c 1 2>/dev/null || exit 0
python3 - <<'PYTHON'
import multiprocessing, os, select, signal, socket, subprocess, sys, tempfile, threading

def square(x):
    return x * x

def closed_all():
    # A program that closes all unknown descriptors.
    pid = os.fork()
    if not pid:
        os.closerange(0, 4096)
        os._exit(5 if os.open('/dev/null', os.O_RDONLY) == 0 else 6)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

print(subprocess.run(['sort'], input=b'b\na\n', capture_output=True).stdout)
print(subprocess.run('exit 4', shell=True, close_fds=True).returncode)
with tempfile.TemporaryDirectory() as d:
    with tempfile.NamedTemporaryFile(dir=d) as f:
        f.write(b'x' * 100000)
        f.flush()
        print(os.stat(f.name).st_size, os.path.basename(os.path.realpath(d)) in f.name)
a, b = socket.socketpair()
a.setblocking(False)
try:
    a.recv(1)
except BlockingIOError:
    print('would block')
b.send(b'hello')
print(select.select([a], [], [], 1)[0] == [a], a.recv(10))
c = os.dup(a.fileno())
os.dup2(c, 77)
b.send(b'again')
print(os.read(77, 10))
with socket.create_server(('127.0.0.1', 0)) as s:
    t = threading.Thread(target=lambda: s.accept()[0].sendall(b'tcp'))
    t.start()
    print(socket.create_connection(s.getsockname()).recv(10))
    t.join()
if __name__ == '__main__':
    multiprocessing.set_start_method('fork')
    with multiprocessing.Pool(3) as pool:
        print(pool.map(square, range(10)))
    q = multiprocessing.Queue()
    p = multiprocessing.Process(target=q.put, args=([1, 2],))
    p.start()
    print(q.get())
    p.join()
print(closed_all())
signal.signal(signal.SIGALRM, lambda *_: print('alarm'))
signal.setitimer(signal.ITIMER_REAL, 0.05)
signal.pause()
print(subprocess.run([sys.executable, '-c', 'import os; os.abort()']).returncode)
print(signal.signal(signal.SIGSEGV, signal.SIG_DFL), signal.getsignal(signal.SIGBUS))
try:
    os.open('/sys/class/nothing', os.O_RDONLY)
except OSError as e:
    print(e)
PYTHON
