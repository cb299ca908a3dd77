/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds causes on this host if the device is slow. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "launcher/doctor.h"
#include "launcher/doctor_report.h"
#include "sys/sys.h"

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define CPU_MAX "/sys/fs/cgroup/cpu.max"
#define TEXT_LEN 128

/* Reads the first line of a file. Returns false if the file does not exist or is empty. */
static bool read_line(const char *path, char text[TEXT_LEN])
{
	int fd = sys_open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : sys_read(fd, text, TEXT_LEN - 1);

	sys_close(fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return *text;
}

/*
 * Returns the number of processors that the control group may use at the same time. The file
 * contains "QUOTA PERIOD". Returns 0 if there is no limit.
 */
static double group_cores(void)
{
	double quota, period;
	char text[TEXT_LEN];

	if (!read_line(CPU_MAX, text) || sscanf(text, "%lf %lf", &quota, &period) != 2 ||
	    period <= 0)
		return 0;
	return quota / period;
}

void doctor_cores(struct doctor *d)
{
	static const char *const remedy =
		"give it two or more (taskset, docker run --cpus); programs that spin need one each";
	double group = group_cores();
	cpu_set_t set;
	/* cpu_set_t has room for only 1024 processors; with more, sched_getaffinity() fails. */
	int n = sched_getaffinity(0, sizeof(set), &set) ? get_nprocs() : CPU_COUNT(&set);

	doctor_number("processors", group > 0 && group < n ? group : n);
	if (group > 0 && group < 2)
		doctor_warning(remedy, "the control group gives a process the time of %g", group);
	else if (n < 2)
		doctor_warning(remedy, "a process may use one");
	else
		doctor_ok("a process may use %d", n);
}

void doctor_clock(struct doctor *d)
{
	/* With these clock sources, each of the many clock readings is a system call. */
	static const char *const slow[] = { "hpet", "acpi_pm", "jiffies", "pit",
					    "refined-jiffies" };
	char text[TEXT_LEN];

	if (!read_line(CLOCK_SOURCE, text)) {
		doctor_ok("the kernel does not name its clock source");
		return;
	}
	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
		if (strcmp(text, slow[i]))
			continue;
		doctor_warning("boot with a kernel that finds tsc reliable; dmesg has the reason",
			       "%s, which takes a system call each time it is read", text);
		return;
	}
	doctor_ok("%s", text);
}

/* ---- sockets ---- */

/*
 * Returns the number of bytes that a socket buffer of a carrier can hold. On failure, reports this
 * and returns 0.
 */
static size_t buffer(int name)
{
	int fd = sys_socket(AF_INET, SOCK_DGRAM, 0);
	size_t got = fd < 0 ? 0 : sys_raise_buffer(fd, name);

	sys_close(fd);
	if (fd < 0)
		doctor_failure(NULL, "no UDP socket: %s", strerror(-fd));
	got /= 2; /* the kernel uses half of this number for its own data */
	if (got)
		doctor_number("bytes", (double)got);
	return got;
}

void doctor_receive_buffer(struct doctor *d)
{
	size_t got = buffer(SO_RCVBUF);

	if (got && got < SYS_SOCKET_BUFFER)
		doctor_warning("sysctl -w net.core.rmem_max=4194304, as root",
			       "%zu KiB of the %u KiB that the device requests; with 208 KiB, RDMA "
			       "Writes of 64 KiB had 0.86 to 0.96 of their rate",
			       got >> 10, SYS_SOCKET_BUFFER >> 10);
	else if (got)
		doctor_ok("%zu KiB, as the device requests", got >> 10);
}

void doctor_send_buffer(struct doctor *d)
{
	size_t got = buffer(SO_SNDBUF);

	if (got && got < SYS_SOCKET_BUFFER)
		doctor_warning(
			"sysctl -w net.core.wmem_max=4194304, as root",
			"%zu KiB of the %u KiB that the device requests, so that it waits for "
			"the interface more often",
			got >> 10, SYS_SOCKET_BUFFER >> 10);
	else if (got)
		doctor_ok("%zu KiB, as the device requests", got >> 10);
}

void doctor_offload(struct doctor *d)
{
	int fd = sys_socket(AF_INET, SOCK_DGRAM, 0);
	int send = sys_setsockopt_int(fd, SOL_UDP, UDP_SEGMENT, 1400);
	int receive = sys_setsockopt_int(fd, SOL_UDP, UDP_GRO, 1);

	sys_close(fd);
	if (send || receive)
		doctor_warning(
			"use a kernel of Linux 5.0 or later, and let seccomp permit setsockopt",
			"no %s%s%s: each packet costs a system call of its own",
			send ? "UDP_SEGMENT" : "", send && receive ? " and " : "",
			receive ? "UDP_GRO" : "");
	else
		doctor_ok("UDP_SEGMENT and UDP_GRO: a system call for many packets");
}
