/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes a file to a logical unit of an iSCSI target by libiscsi, in requests of several sizes.
 * Reads the file back in requests of other sizes, and compares every byte.
 *
 *   iser iser://ADDRESS:PORT/TARGET/LUN INITIATOR FILE
 */
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 512
#define LARGEST (256 << 10) /* of a request; longer requests do not fit libiscsi's buffers */
#define FILE_SIZE ((size_t)8 << 20)

static struct iscsi_context *iscsi;
static struct iscsi_url *url;
static unsigned char data[FILE_SIZE];

static void check(int fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "FAIL iser.c: %s: %s\n", what, iscsi ? iscsi_get_error(iscsi) : "");
	exit(1);
}

static void load(const char *name)
{
	FILE *file = fopen(name, "rb");

	check(file && fread(data, 1, FILE_SIZE, file) == FILE_SIZE, name);
	fclose(file);
}

/* Returns sizes from a block to LARGEST, in a different order for each seed. */
static uint32_t size_of(size_t at, unsigned int *seed)
{
	size_t size;

	*seed = *seed * 1103515245 + 12345;
	size = (size_t)BLOCK << (*seed >> 16) % 10;
	if ((*seed >> 28) & 1)
		size = size * 3 / 4 / BLOCK * BLOCK + BLOCK;
	if (size > LARGEST)
		size = LARGEST;
	return (uint32_t)(size < FILE_SIZE - at ? size : FILE_SIZE - at);
}

static void write_all(void)
{
	struct scsi_task *task;
	unsigned int seed = 1;
	uint32_t size;

	for (size_t at = 0; at < FILE_SIZE; at += size) {
		size = size_of(at, &seed);
		task = iscsi_write16_sync(iscsi, url->lun, at / BLOCK, data + at, size, BLOCK, 0, 0,
					  0, 0, 0);
		check(task && task->status == SCSI_STATUS_GOOD, "write");
		scsi_free_scsi_task(task);
	}
}

static void read_all(void)
{
	static unsigned char into[LARGEST];
	struct scsi_iovec iov = { .iov_base = into };
	struct scsi_task *task;
	unsigned int seed = 2;
	uint32_t size;

	for (size_t at = 0; at < FILE_SIZE; at += size) {
		size = size_of(at, &seed);
		memset(into, 0, size);
		iov.iov_len = size;
		task = iscsi_read16_iov_sync(iscsi, url->lun, at / BLOCK, size, BLOCK, 0, 0, 0, 0,
					     0, &iov, 1);
		check(task && task->status == SCSI_STATUS_GOOD, "read");
		scsi_free_scsi_task(task);
		check(!memcmp(into, data + at, size), "what was read is not what was written");
	}
}

int main(int argc, char **argv)
{
	check(argc == 4, "usage: iser URL INITIATOR FILE");
	load(argv[3]);
	iscsi = iscsi_create_context(argv[2]);
	check(iscsi != NULL, "no context");
	url = iscsi_parse_full_url(iscsi, argv[1]);
	check(url && url->transport == ISER_TRANSPORT, "the URL is not of iSER");
	check(!iscsi_set_targetname(iscsi, url->target), "target");
	check(!iscsi_set_session_type(iscsi, ISCSI_SESSION_NORMAL), "session");
	check(!iscsi_full_connect_sync(iscsi, url->portal, url->lun), "login");
	write_all();
	read_all();
	check(!iscsi_logout_sync(iscsi), "logout");
	iscsi_destroy_url(url);
	iscsi_destroy_context(iscsi);
	printf("%zu octets right\n", FILE_SIZE);
	return 0;
}
