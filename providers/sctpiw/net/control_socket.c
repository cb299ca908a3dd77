/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/log.h"
#include "sys/control.h"
#include "sys/sys.h"

#define BACKLOG 16

/* True if a process listens at addr: the same PID may exist in another PID namespace. */
static bool is_alive(const struct sockaddr_un *addr)
{
	int fd = sys_socket(AF_UNIX, SOCK_STREAM, 0);
	bool alive;

	if (fd < 0)
		return false;
	alive = !sys_connect(fd, (const struct sockaddr *)addr, sizeof(*addr));
	sys_close(fd);
	return alive;
}

/* Binds and listens under a temporary name, so that a socket with the final name always listens. */
static int listen_at(int fd, const char *dir, struct sockaddr_un *addr)
{
	struct sockaddr_un fresh;
	char name[32], fresh_name[40];
	int ret;

	snprintf(name, sizeof(name), "%d", (int)getpid());
	snprintf(fresh_name, sizeof(fresh_name), "%s.new", name);
	if (!control_address(dir, fresh_name, &fresh) || !control_address(dir, name, addr))
		return -ENAMETOOLONG;
	if (is_alive(addr))
		return -EADDRINUSE;
	sys_unlink(fresh.sun_path);
	ret = sys_bind(fd, (struct sockaddr *)&fresh, sizeof(fresh));
	if (ret)
		return ret;
	ret = sys_listen(fd, BACKLOG);
	if (!ret)
		ret = sys_rename(fresh.sun_path, addr->sun_path);
	if (ret)
		sys_unlink(fresh.sun_path);
	return ret;
}

static int open_in(const char *dir, struct sockaddr_un *addr)
{
	int fd, ret = sys_mkdir(dir, S_IRWXU);

	if (ret && ret != -EEXIST)
		return ret;
	if (!control_dir_is_private(dir, sys_uid()))
		return -EPERM;
	fd = sys_socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0)
		return fd;
	/* bind() gives the file the mode of the socket. */
	ret = sys_fchmod(fd, S_IRUSR | S_IWUSR);
	if (!ret)
		ret = listen_at(fd, dir, addr);
	if (!ret)
		return fd;
	sys_close(fd);
	return ret;
}

void control_socket_open(struct control_socket *s)
{
	char dir[CONTROL_PATH_MAX];
	int fd = -ENOENT;

	for (unsigned int i = 0; i < CONTROL_DIRS && fd < 0; i++) {
		if (!control_dir(i, sys_uid(), dir))
			continue;
		fd = open_in(dir, &s->addr);
		if (fd < 0)
			log_debug("no control socket in %s: %s", dir, strerror(-fd));
	}
	s->fd = fd < 0 ? -1 : sys_keep(fd);
}

void control_socket_remove(const struct control_socket *s)
{
	if (s->fd >= 0)
		sys_unlink(s->addr.sun_path);
}

void control_socket_forget(struct control_socket *s)
{
	sys_close(s->fd);
	s->fd = -1;
}

int control_socket_accept(const struct control_socket *s)
{
	struct sockaddr_storage unused;
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int fd = sys_accept(s->fd, &unused);

	if (fd < 0)
		return fd;
	if (!sys_getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	    (peer.uid == sys_uid() || !peer.uid))
		return fd;
	sys_close(fd);
	return -EPERM;
}
