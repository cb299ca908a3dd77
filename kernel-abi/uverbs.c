/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "uverbs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "devnum.h"
#include "libc.h"
#include "rnic.h"

static int create_comp_channel(const void *in, size_t in_len, size_t out_len)
{
	const struct sctpiw_rnic_api *api = rnic_get();
	struct ib_uverbs_create_comp_channel_resp resp = { 0 };
	struct ib_uverbs_create_comp_channel cmd;
	struct rnic_channel *chan;
	int fd, ret;

	if (in_len < sizeof(cmd) || out_len < sizeof(resp))
		return -ENOSPC;
	memcpy(&cmd, in, sizeof(cmd));
	ret = user_write(cmd.response, &resp, sizeof(resp));
	if (ret)
		return ret;
	ret = api->comp_channel_create(&chan, &fd);
	if (ret)
		return ret;
	rnic_apply_open_flags(fd, O_CLOEXEC);
	ret = rnic_channel_install(fd, chan);
	if (ret)
		return ret;
	resp.fd = (uint32_t)fd;
	return user_write(cmd.response, &resp, sizeof(resp));
}

/*
 * The provider performs all other verbs without the kernel. So a program that uses libibverbs
 * writes no other command. Another command fails as in a kernel whose device does not support the
 * command.
 */
static ssize_t uverbs_write(struct kfile *kf, int fd, const void *buf, size_t len)
{
	struct ib_uverbs_cmd_hdr hdr;
	int ret;

	if (len < sizeof(hdr))
		return -EINVAL;
	memcpy(&hdr, buf, sizeof(hdr));
	if (hdr.command & IB_USER_VERBS_CMD_FLAG_EXTENDED)
		return len < sizeof(hdr) + sizeof(struct ib_uverbs_ex_cmd_hdr) ? -EINVAL :
										 -EOPNOTSUPP;
	if (hdr.command > IB_USER_VERBS_CMD_OPEN_QP || hdr.in_words * 4u != len)
		return -EINVAL;
	if (hdr.command != IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL)
		return -EOPNOTSUPP;
	ret = create_comp_channel((const char *)buf + sizeof(hdr), len - sizeof(hdr),
				  hdr.out_words * 4u);
	return ret ? ret : (ssize_t)len;
}

/* ---- ioctl() ---- */

/* The attributes of a command, which were copied from the program's memory. */
struct attrs {
	struct ib_uverbs_attr list[8];
	unsigned int n;
};

/* Returns the attribute with that number, or NULL if the program has not sent it. */
static const struct ib_uverbs_attr *find_attr(const struct attrs *attrs, unsigned int id)
{
	for (unsigned int i = 0; i < attrs->n; i++) {
		if (attrs->list[i].attr_id == id)
			return &attrs->list[i];
	}
	return NULL;
}

/*
 * Gets a number that the attribute itself contains, in 4 or 8 bytes. Works on hosts of either byte
 * order. Returns 0 or -EINVAL.
 */
static int attr_number(const struct attrs *attrs, unsigned int id, uint64_t *value)
{
	const struct ib_uverbs_attr *attr = find_attr(attrs, id);
	uint32_t word;

	if (!attr || (attr->len != sizeof(word) && attr->len != sizeof(*value)))
		return -EINVAL;
	memcpy(&word, &attr->data, sizeof(word));
	*value = attr->len == sizeof(word) ? word : attr->data;
	return 0;
}

static int query_gid_entry(const struct attrs *attrs)
{
	const struct ib_uverbs_attr *resp =
		find_attr(attrs, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY);
	struct ib_uverbs_gid_entry entry = { .gid_type = IB_UVERBS_GID_TYPE_ROCE_V2 };
	uint64_t port, index, flags;
	unsigned int ifindex;
	int ret;

	if (!resp || attr_number(attrs, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, &port) ||
	    attr_number(attrs, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, &index) ||
	    attr_number(attrs, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, &flags) || port != 1 ||
	    index > UINT32_MAX || flags)
		return -EINVAL;
	if (resp->len < sizeof(entry))
		return -ENOSPC;
	ret = rnic_get()->query_gid((unsigned int)index, (uint8_t *)entry.gid, &ifindex);
	if (ret)
		return ret;
	entry.port_num = (uint32_t)port;
	entry.gid_index = (uint32_t)index;
	entry.netdev_ifindex = ifindex;
	return user_write(resp->data, &entry, sizeof(entry));
}

/*
 * Performs the only command that libibverbs sends by ioctl() and not also by write(). All others
 * fail as in a kernel whose device has no ioctl(), and libibverbs then sends them by write().
 */
static int uverbs_ioctl(struct kfile *kf, unsigned long request, void *arg)
{
	struct ib_uverbs_ioctl_hdr hdr;
	struct attrs attrs;
	int ret;

	if (request != RDMA_VERBS_IOCTL)
		return -ENOTTY;
	ret = user_read((uintptr_t)arg, &hdr, sizeof(hdr));
	if (ret)
		return ret;
	if (hdr.object_id != UVERBS_OBJECT_DEVICE || hdr.method_id != UVERBS_METHOD_QUERY_GID_ENTRY)
		return -ENOTTY;
	attrs.n = hdr.num_attrs;
	if (attrs.n > sizeof(attrs.list) / sizeof(attrs.list[0]) ||
	    hdr.length != sizeof(hdr) + attrs.n * sizeof(attrs.list[0]))
		return -EINVAL;
	ret = user_read((uintptr_t)arg + sizeof(hdr), attrs.list, attrs.n * sizeof(attrs.list[0]));
	return ret ? ret : query_gid_entry(&attrs);
}

static ssize_t uverbs_read(struct kfile *kf, int fd, void *buf, size_t len)
{
	return -EINVAL;
}

static const struct kfile_ops uverbs_ops = {
	.read = uverbs_read,
	.write = uverbs_write,
	.ioctl = uverbs_ioctl,
	.cdev = true,
	.major = UVERBS_MAJOR,
	.minor = UVERBS_MINOR,
};

/*
 * Opens an empty, sealed memory file as the descriptor. Such a file has an inode of its own. As
 * with the kernel's device, the descriptor can be read and written, and is always ready.
 */
int uverbs_open(int flags)
{
	int fd, ret = rnic_open();

	if (ret)
		return ret;
	fdtable_reap(0, UINT_MAX);
	fd = memfd_create("uverbs0", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0) {
		ret = -errno;
		/* The program itself reports EMFILE. Print other errors, which a sandbox causes. */
		if (ret != -EMFILE)
			rnic_complain("memfd_create()", strerror(-ret));
		return ret;
	}
	/*
	 * If the program has closed its standard streams, the descriptor must not get one of their
	 * numbers: the program would write its output to the device.
	 */
	if (fd <= STDERR_FILENO) {
		ret = libc_fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		libc_close(fd);
		if (ret < 0)
			return ret;
		fd = ret;
	}
	libc_fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	rnic_apply_open_flags(fd, flags);
	ret = fdtable_install(fd, &uverbs_ops, NULL, NULL);
	if (ret) {
		libc_close(fd);
		return ret;
	}
	return fd;
}
