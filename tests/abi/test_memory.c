/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports to the RNIC for each call by which the program may unmap memory: the lost range, and the
 * order.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include "check.h"
#include "fake_rnic.h"

#define LEN ((size_t)1 << 20)

static struct fake_control *ctl;
static bool unloaded;

/* Makes [map, map + LEN) the region. */
static char *region(char *map)
{
	check(map != MAP_FAILED && map);
	*ctl = (struct fake_control){ .region = (uintptr_t)map, .region_len = LEN };
	return map;
}

static char *map(void)
{
	return mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Checks that one call was reported, with the loss of [from, from + len). */
static void check_lost(const char *from, size_t len)
{
	check(ctl->begun == 1 && ctl->ended == 1);
	check(ctl->lost == (uintptr_t)from && ctl->lost_len == len && !ctl->lost_unmapped);
	ctl->region_len = 0;
}

/* Checks that one call was reported, with the loss of the unmapped pages of len bytes. */
static void check_looked(const char *from, size_t len)
{
	check(ctl->begun == 1 && ctl->ended == 1);
	check(ctl->lost == (uintptr_t)from && ctl->lost_len == len && ctl->lost_unmapped);
	ctl->region_len = 0;
}

/* Checks that nothing was lost. seen: 1 if a call that might lose memory was reported. */
static void check_kept(int seen)
{
	check(ctl->begun == seen && ctl->ended == seen && !ctl->lost_len);
	ctl->region_len = 0;
}

static void test_mappings(void)
{
	char *at, *other;

	at = region(map());
	errno = EXDEV;
	check(munmap(at + LEN / 2, 1) == 0);
	check(errno == EXDEV);
	check_lost(at + LEN / 2, 1);
	region(at);
	check_fails(munmap(at + 1, 1), EINVAL);
	check_kept(1);
	region(at);
	check(mmap(at, 4096, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == at);
	check_lost(at, 4096);
	region(at);
	check(mmap64(at, 4096, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == at);
	check_lost(at, 4096);
	region(at);
	check(mmap(at, 4096, PROT_READ, MAP_FIXED_NOREPLACE | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	      MAP_FAILED);
	check(mmap(at, 4096, PROT_READ, MAP_FIXED | MAP_PRIVATE, -1, 0) == MAP_FAILED);
	check_looked(at, 4096);
	other = map();
	region(at);
	check(munmap(other, LEN) == 0);
	check_kept(0);
	munmap(at, LEN);
}

static void test_mremap(void)
{
	char *at = region(map()), *target = map();

	check(mremap(at, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target);
	check_lost(at, LEN);
	at = map();
	region(target);
	check(mremap(at, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target);
	check(ctl->begun == 1 && ctl->ended == 1);
	at = region(target);
	check(mremap(at, LEN, LEN / 2, 0) == at);
	check_looked(at + LEN / 2, LEN / 2);
	region(at);
	check(mremap(at, LEN / 2, LEN, 0) == at);
	check_kept(1);
	region(at);
	check(mremap(at, LEN, (size_t)1 << 46, MREMAP_MAYMOVE) == MAP_FAILED);
	check_kept(1);
	/* Some kernels unmap the target of such a call. */
	region(at);
	check(mremap((void *)4096, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED);
	check_looked(at, LEN);
	munmap(at, LEN);
}

static void test_segments(void)
{
	int id = shmget(IPC_PRIVATE, LEN, 0600);
	char *at = region(map());

	check(id >= 0);
	check(shmat(id, at, SHM_REMAP) == at);
	check_lost(at, LEN);
	region(at);
	check(shmdt(at) == 0);
	check_looked(NULL, SIZE_MAX);
	check(shmctl(id, IPC_RMID, NULL) == 0);
}

static void check_not_begun(void)
{
	check(!ctl->begun);
	unloaded = true;
}

/*
 * A library's destructors may use the device, and wait for other threads that use it. So no lock
 * may be held meanwhile.
 */
static void test_library(void)
{
	void *handle = dlopen(getenv("WRONG_PROVIDER"), RTLD_NOW);
	char *at = region(map());
	struct fake_control *of_library;

	check(handle);
	of_library = dlsym(handle, "fake_control");
	check(of_library);
	of_library->on_unload = check_not_begun;
	check(dlclose(handle) == 0);
	check(unloaded);
	check_looked(NULL, SIZE_MAX);
	munmap(at, LEN);
}

#ifndef SCTPIW_SANITIZED /* their malloc() keeps freed blocks, and the heap does not grow */
/* UCX patches the functions that dlsym() finds, to see libc's own calls. */
static void test_found(void)
{
	static const char *const names[] = { "brk",    "madvise", "mmap",  "mmap64", "mremap",
					     "munmap", "sbrk",	  "shmat", "shmdt" };
	Dl_info info;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		check(dladdr(dlsym(RTLD_DEFAULT, names[i]), &info));
		check(strstr(info.dli_fname, "/libc.so"));
	}
}

/* The block ends with its last page. */
static void test_blocks(void)
{
	char *volatile block;
	char *at, *new;

	check(mallopt(M_MMAP_THRESHOLD, 64 << 10) == 1);
	block = malloc(LEN);
	at = region(block);
	errno = EXDEV;
	free(at);
	check(errno == EXDEV);
	check(ctl->lost == (uintptr_t)block && ctl->lost_len >= LEN);
	check_looked(block, ctl->lost_len);
	block = malloc(LEN);
	at = region(block);
	new = realloc(at, LEN / 2);
	check(ctl->lost == (uintptr_t)block && ctl->lost_len >= LEN);
	check_looked(block, ctl->lost_len);
	new = region(reallocarray(new, 2, LEN));
	new = reallocarray(new, 4, LEN);
	check(ctl->begun == 1 && ctl->ended == 1);
	free(new);
	/* A small block has no page of its own. */
	block = malloc(100);
	region(block);
	free(block);
	check_kept(0);
	free(NULL);
}

static void test_heap(void)
{
	char *end;

	check(sbrk(LEN) != (void *)-1);
	end = sbrk(0);
	region(end - LEN);
	check(sbrk(-(intptr_t)(LEN / 2)) == end);
	check_looked(end - LEN / 2, LEN / 2);
	region(end - LEN);
	check(brk(end) == 0);
	check_kept(0);
	region(end - LEN);
	check(brk(end - LEN) == 0);
	check_looked(end - LEN, LEN);
}
#endif

int main(void)
{
	int fd;

	ctl = fake();
	check(ctl);
	fd = open("/dev/infiniband/uverbs0", O_RDWR);
	check(fd >= 0);
	test_mappings();
	test_mremap();
	test_segments();
	test_library();
#ifndef SCTPIW_SANITIZED
	test_found();
	test_blocks();
	test_heap();
#endif
	close(fd);
	return 0;
}
