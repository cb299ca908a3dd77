#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the recipes of contrib/ as their readers do: containers.py

The test contacts no registry. mmdebstrap makes the base image, under the name that the recipes use for Debian's.
podman builds and runs the recipes, in its own store and network namespace. Fedora is not available: its Containerfile
is built on a Debian where a script replaces dnf. Needs root, podman, and Debian's package servers."""

import contextlib
import json
import os
import pathlib
import re
import sys
import tempfile

import yaml

sys.dont_write_bytecode = True
from common import DIST, Failure, ROOT, output, verdict  # noqa: E402
from fresh import MIRROR  # noqa: E402

CONTRIB = ROOT / "contrib"
IMAGE = "localhost/sctpiw"
SUITE = "bookworm"
DEBIAN = "docker.io/library/debian:12"
FEDORA_STAND_IN = "localhost/fedora-stand-in"
# Restrictions under which the recipes must work.
CGROUPS = pathlib.Path("/sys/fs/cgroup")
CAREFUL = ["--read-only", "--read-only-tmpfs=false", "--cap-drop=all", "--security-opt=no-new-privileges", "--network=none"]

# Neither a journal nor the right to raise limits is needed.
CONFIG = """
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
"""

# Replacements of Fedora's dnf and rpmbuild. Packages that dnf would install from Fedora's servers are already
# installed.
DNF = """#!/bin/sh -eu
echo "$*" >>/var/log/dnf
[ "$1" = install ] || exit 0
for package; do
	case $package in
	*.rpm) rpm2cpio "$package" | (cd / && cpio --extract --make-directories --unconditional --quiet) ;;
	esac
done
"""
RPMBUILD = """#!/bin/sh -eu
exec /usr/bin/rpmbuild --load /usr/local/share/macros --nodeps "$@"
"""
# Debian's names of the packages in the spec and the recipe.
FEDORA_PACKAGES = """cmake gcc libgnutls28-dev libibverbs-dev libinih-dev libisal-dev librdmacm-dev libsctp-dev nettle-dev ninja-build pkg-config
scdoc systemtap-sdt-dev rpm rpm2cpio cpio debugedit elfutils tar xz-utils ibverbs-utils rdmacm-utils perftest passwd""".split()

# A sample project, whose test is an RDMA program of its own.
MAKEFILE = """check: probe
\t./probe
probe: probe.c
\tcc -Wall -Werror -o $@ $< -libverbs
"""
PROBE = """#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	int count = 0;
	struct ibv_device **devices = ibv_get_device_list(&count);
	struct ibv_context *context = count ? ibv_open_device(devices[0]) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;

	printf("device %s, domain %s\\n", count ? ibv_get_device_name(devices[0]) : "none", pd ? "yes" : "no");
	return !pd || strcmp(ibv_get_device_name(devices[0]), "sctpiw0");
}
"""


def say(line):
    print(line, flush=True)


class Podman:
    """podman with its own store below a directory."""

    def __init__(self, place):
        (place / "containers.conf").write_text(CONFIG)
        driver = "vfs" if output(["stat", "--file-system", "--format=%T", place]).strip() == "overlayfs" else "overlay"
        self.program = place / "podman"
        self.program.write_text(f"""#!/bin/sh
export CONTAINERS_CONF={place}/containers.conf
exec /usr/bin/podman --root {place}/storage --runroot {place}/run --tmpdir {place}/tmp \\
	--network-config-dir {place}/networks --storage-driver {driver} "$@"
""")
        self.program.chmod(0o755)

    def __call__(self, *words, **kwargs):
        return output([self.program, *words], **kwargs)

    def build(self, recipe, context, *words, tag=IMAGE):
        self("build", "--isolation=chroot", "--network=host", "--layers", "--tag", tag, "--file", recipe, *words, context)

    def run(self, *words, image=IMAGE, options=()):
        return self("run", "--rm", *CAREFUL, *options, image, *words)


def make_base(podman, place):
    """Makes the base image of the recipes."""
    root = place / "base.tar"
    output(["mmdebstrap", "--variant=minbase", SUITE, root, MIRROR])
    podman("import", "--quiet", root, DEBIAN)
    root.unlink()


def layers(podman, image):
    return json.loads(podman("image", "inspect", image))[0]["RootFS"]["Layers"]


def expect(text, wanted, what):
    if not re.search(wanted, text, re.MULTILINE):
        raise Failure(f"{what}: no {wanted!r} in:\n{text[-3000:]}")


def look_at_image(podman, name):
    """Checks that containers have a device without further options, that their user is not root, and that no package
    files remain."""
    expect(podman.run(), "PORT_ACTIVE", name)
    expect(podman.run("id"), "^uid=1000", name)
    expect(podman.run("env"), "^LD_PRELOAD=.*sctpiw", name)
    if podman("run", "--rm", "--network=none", "--user=0", "--entrypoint=find", IMAGE, "/", "-xdev", "-name",
              "*sctpiw*.[dr][ep][bm]"):
        raise Failure(f"{name}: packages are left in the image")
    more = len(layers(podman, IMAGE))
    say(f"{name}: the image has {more} layers, and the device sctpiw0 for an ordinary user without privileges")
    return more


def try_debian(podman):
    podman.build(CONTRIB / "Containerfile.debian", DIST)
    count = look_at_image(podman, "Containerfile.debian")
    if count - len(layers(podman, DEBIAN)) != 2:
        raise Failure(f"Containerfile.debian: {count} layers, which are not two more than the base")
    # Without the entry point, as in podman exec, only "sctpiw run" provides the device.
    expect(podman.run("-c", "! ibv_devinfo && sctpiw run -- ibv_devinfo", options=["--entrypoint=sh"]), "PORT_ACTIVE", "exec")


def bandwidth(text, what):
    expect(text, r"65536 +\d+ +[0-9.]+ +[0-9.]+\s", what)
    say(f"{what}: ib_write_bw has run between two containers")


def isolated(script, *words):
    """Runs a shell script in its own network namespace, so that bridges and their rules end with it."""
    return output(["unshare", "--net", "sh", "-ec", "ip link set lo up\n" + script, "sh", *words], timeout=300)


def try_compose(podman):
    said = isolated("""compose() { podman-compose --podman-path "$podman" --project-name recipe --file "$file" "$@"; }
podman=$1 file=$2
compose up --abort-on-container-exit || true # whose status is that of whichever ended first
"$podman" inspect --format 'client: status {{.State.ExitCode}}, read-only {{.HostConfig.ReadonlyRootfs}}' recipe_client_1
compose down
""", podman.program, CONTRIB / "compose.yaml")
    expect(said, "^client: status 0, read-only true$", "compose.yaml")
    bandwidth(said, "compose.yaml")
    output(["docker-compose", "--file", CONTRIB / "compose.yaml", "config", "--quiet"])


def try_kubernetes(podman):
    said = isolated('"$1" play kube "$2"; "$1" wait rdma-client-client; "$1" logs rdma-client-client; "$1" play kube --down "$2"',
                    podman.program, CONTRIB / "kubernetes.yaml")
    bandwidth(said, "kubernetes.yaml")


def project(place):
    """Makes a sample project, with the packages at the places that the recipes use."""
    (place / "ci").mkdir(parents=True)
    for package in DIST.glob("*.deb"):
        if "-dbgsym" not in package.name:
            output(["cp", package, place / "ci"])
    (place / "Makefile").write_text(MAKEFILE)
    (place / "probe.c").write_text(PROBE)
    return place


def try_jobs(podman, place):
    """Runs the commands of the CI jobs, in the image that the jobs name."""
    job = yaml.safe_load((CONTRIB / "github.yml").read_text())["jobs"]["rdma"]
    jobs = {"github.yml": (job["container"], [step["run"] for step in job["steps"] if "run" in step])}
    job = yaml.safe_load((CONTRIB / "gitlab-ci.yml").read_text())["rdma"]
    jobs["gitlab-ci.yml"] = (job["image"], job["script"])
    for name, (image, commands) in jobs.items():
        if image != "debian:12":
            raise Failure(f"{name}: the image is {image}")
        where = project(place / name)
        said = podman("run", "--rm", "--network=host", f"--volume={where}:/project", "--workdir=/project", DEBIAN, "sh", "-ec",
                      "\n".join(commands))
        expect(said, "^device sctpiw0, domain yes$", name)
        say(f"{name}: its {len(commands)} commands have compiled and run an RDMA program")


def try_devcontainer(podman, place):
    """Runs a shell in the image of the dev container."""
    text = (CONTRIB / "devcontainer.json").read_text()
    container = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    here = project(place / "devcontainer") / "ci"
    output(["cp", CONTRIB / "Containerfile.debian", here])
    build = container["build"]
    podman.build(here / build["dockerfile"], here / build["context"], tag="localhost/devcontainer")
    said = podman("run", "--rm", "--network=none", f"--user={container['remoteUser']}", "--env=HOME=/home/dev",
                  "--entrypoint=bash", "localhost/devcontainer", "-c", f"{container['postCreateCommand']}; bash -ic ibv_devinfo")
    expect(said, "PORT_ACTIVE", "devcontainer.json")
    say("devcontainer.json: a shell in it has the device sctpiw0")


def try_fedora(podman, place):
    """Builds Containerfile.fedora on a Debian with the packages that dnf would install. Tests the order of its
    commands, and all their paths."""
    (place / "dnf").write_text(DNF)
    (place / "rpmbuild").write_text(RPMBUILD)
    output(["cp", ROOT / "redhat/macros", place])
    recipe = place / "Containerfile"
    recipe.write_text(f"""FROM {DEBIAN}
RUN apt-get update && apt-get install -y --no-install-recommends {' '.join(FEDORA_PACKAGES)}
COPY dnf rpmbuild /usr/local/bin/
COPY macros /usr/local/share/
RUN chmod 755 /usr/local/bin/*
""")
    podman.build(recipe, place, tag=FEDORA_STAND_IN)
    podman.build(CONTRIB / "Containerfile.fedora", DIST, "--build-arg", f"BASE={FEDORA_STAND_IN}")
    look_at_image(podman, "Containerfile.fedora, with Debian's rpm")


@contextlib.contextmanager
def control_groups():
    """Removes the control groups that podman leaves behind, unless they existed before."""
    parents = {path / "libpod_parent" for path in (CGROUPS, *CGROUPS.iterdir()) if path.is_dir()}
    parents = [path for path in parents if not path.exists()]
    try:
        yield
    finally:
        for parent in parents:
            for path in sorted((path for path in (parent, *parent.rglob("*")) if path.is_dir()), reverse=True):
                with contextlib.suppress(OSError):
                    path.rmdir()


def main():
    with control_groups(), tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        podman = Podman(place)
        try:
            make_base(podman, place)
            try_debian(podman)
            try_compose(podman)
            try_kubernetes(podman)
            try_jobs(podman, place)
            try_devcontainer(podman, place)
            try_fedora(podman, place)
        finally:
            with contextlib.suppress(Failure):
                podman("pod", "rm", "--all", "--force")
                podman("rm", "--all", "--force")


# podman's mounts end with this namespace. crun does not support a mixture of both versions of control groups.
INSIDE = """if mountpoint -q /sys/fs/cgroup/unified; then umount /sys/fs/cgroup/unified; fi
export SCTPIW_CONTAINERS=1; exec "$@" """

if __name__ == "__main__":
    if "SCTPIW_CONTAINERS" not in os.environ:
        os.execvp("unshare", ["unshare", "--mount", "sh", "-ec", INSIDE, "sh", sys.executable, *sys.argv])
    verdict("containers", main)
