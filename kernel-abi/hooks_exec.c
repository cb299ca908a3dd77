/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hooks on functions that start a program. All they do is print a warning. If a program sets
 * LD_PRELOAD for another program, and drops the previous value, the other program loses the device.
 * The warning names this cause. If LD_PRELOAD is unset or empty in the new environment, this is
 * deliberate, and no warning is printed.
 */
#define _GNU_SOURCE
#include "hooks.h"

#include <alloca.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define OUR_FILE "libsctpiw-preload.so"
#define VARIABLE "LD_PRELOAD="

static atomic_bool said_here;
/*
 * True once the line was printed. After share_said(), this is memory that the process shares with
 * its children of fork().
 */
static atomic_bool *said = &said_here;

static __attribute__((constructor)) void share_said(void)
{
	void *page = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);

	if (page != MAP_FAILED)
		said = page;
}

/* Returns the value of LD_PRELOAD in the environment env, or NULL. */
static const char *preloaded(char *const *env)
{
	for (; env && *env; env++)
		if (!strncmp(*env, VARIABLE, strlen(VARIABLE)))
			return *env + strlen(VARIABLE);
	return NULL;
}

static struct iovec piece(const char *text)
{
	return (struct iovec){ .iov_base = (void *)text, .iov_len = strlen(text) };
}

/*
 * Prints a warning if a program that is started with this environment will have no device. Prints
 * only once. Neither allocates nor locks, since the caller may be the child of a vfork().
 */
static void look_at(const char *program, char *const *env)
{
	const char *list = preloaded(env);
	struct iovec line[] = {
		piece("sctpiw: "),
		piece(program && *program ? program : "a program"),
		piece(" has no RDMA device: its " VARIABLE),
		piece(list ? list : ""),
		piece(" lacks " OUR_FILE
		      "; set LD_PRELOAD=MINE:$LD_PRELOAD to keep its present value\n"),
	};
	int saved = errno;

	if (likely(!list || !*list || strstr(list, OUR_FILE)) || atomic_exchange(said, true))
		return;
	if (writev(STDERR_FILENO, line, sizeof(line) / sizeof(line[0])) < 0)
		errno = saved;
}

HOOK int execve(const char *path, char *const argv[], char *const env[])
{
	look_at(path, env);
	return REAL(execve)(path, argv, env);
}

HOOK int execv(const char *path, char *const argv[])
{
	look_at(path, environ);
	return REAL(execv)(path, argv);
}

HOOK int execvp(const char *file, char *const argv[])
{
	look_at(file, environ);
	return REAL(execvp)(file, argv);
}

HOOK int execvpe(const char *file, char *const argv[], char *const env[])
{
	look_at(file, env);
	return REAL(execvpe)(file, argv, env);
}

HOOK int execveat(int dirfd, const char *path, char *const argv[], char *const env[], int flags)
{
	look_at(path, env);
	return REAL(execveat)(dirfd, path, argv, env, flags);
}

HOOK int fexecve(int fd, char *const argv[], char *const env[])
{
	look_at("a program", env);
	return REAL(fexecve)(fd, argv, env);
}

/*
 * A function with a variable list of arguments cannot pass the list on, so it calls the variant
 * with an array.
 */

/* Returns the number of arguments, including `first` and the final NULL. */
static size_t count_arguments(const char *first, va_list ap)
{
	size_t n = 1;

	for (; first; first = va_arg(ap, char *))
		n++;
	return n;
}

#define EXEC_LIST(first, more, call)                                                               \
	do {                                                                                       \
		char **argv;                                                                       \
		va_list ap;                                                                        \
		size_t n;                                                                          \
                                                                                                   \
		va_start(ap, first);                                                               \
		n = count_arguments(first, ap);                                                    \
		va_end(ap);                                                                        \
		argv = alloca(n * sizeof(*argv));                                                  \
		argv[0] = (char *)first;                                                           \
		va_start(ap, first);                                                               \
		for (size_t i = 1; i < n; i++)                                                     \
			argv[i] = va_arg(ap, char *);                                              \
		more;                                                                              \
		va_end(ap);                                                                        \
		return call;                                                                       \
	} while (0)

HOOK int execl(const char *path, const char *arg, ...)
{
	EXEC_LIST(arg, look_at(path, environ), REAL(execv)(path, argv));
}

HOOK int execlp(const char *file, const char *arg, ...)
{
	EXEC_LIST(arg, look_at(file, environ), REAL(execvp)(file, argv));
}

HOOK int execle(const char *path, const char *arg, ...)
{
	char *const *env;

	EXEC_LIST(arg, (env = va_arg(ap, char *const *), look_at(path, env)),
		  REAL(execve)(path, argv, env));
}

HOOK int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attr, char *const argv[], char *const env[])
{
	look_at(path, env);
	return REAL(posix_spawn)(pid, path, actions, attr, argv, env);
}

HOOK int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		      const posix_spawnattr_t *attr, char *const argv[], char *const env[])
{
	look_at(file, env);
	return REAL(posix_spawnp)(pid, file, actions, attr, argv, env);
}

HOOK int system(const char *line)
{
	look_at(line, environ);
	return REAL(system)(line);
}

HOOK FILE *popen(const char *line, const char *mode)
{
	look_at(line, environ);
	return REAL(popen)(line, mode);
}
