/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "fdtable.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libc.h"

#define POOL_CHUNK 128
#define POOL_CHUNKS 8192 /* the pool has room for one kfile per slot */

struct pool_chunk {
	struct kfile kf[POOL_CHUNK];
};

_Atomic(struct fdtable_page *) fdtable_pages[FDTABLE_PAGES];

static _Atomic(struct pool_chunk *) pool[POOL_CHUNKS];

/*
 * Returns memory filled with zeros that is never freed, or NULL. It does not call malloc(), which
 * signal handlers must not call.
 */
static void *map_zeroed(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/*
 * The mark of this process. It is 0 until the process opens a device, and differs from the marks of
 * all ancestors. The mark is alone on its page. In a child, the kernel replaces this page by zeros,
 * no matter how the child is made. So a process that reads the mark knows if it is the process that
 * opened a descriptor. getpid() would not be sufficient: a child in a new PID namespace may have
 * the process id of its parent.
 */
static _Atomic(_Atomic uint32_t *) mark_page;
static _Atomic uint32_t marks; /* number of marks that this process and its ancestors have used */
/* true if the kernel clears the page; false if only the handler of libc's fork() does */
static _Atomic bool wiped;

static void after_fork_in_child(void)
{
	atomic_store(atomic_load(&mark_page), 0);
}

/*
 * Makes the kernel clear the page in children (Linux 4.14). Returns false if this fails. Also
 * returns false under qemu-user, which accepts any advice, but ignores most.
 */
static bool wipe_in_children(void *page, size_t len)
{
	return madvise(page, len, -1) && !madvise(page, len, MADV_WIPEONFORK);
}

/* Makes the page of the mark if necessary. Returns 0 or -ENOMEM. */
static int make_mark_page(void)
{
	_Atomic uint32_t *page = NULL, *fresh;

	if (atomic_load(&mark_page))
		return 0;
	fresh = map_zeroed(sizeof(*fresh));
	if (!fresh)
		return -ENOMEM;
	if (wipe_in_children(fresh, sizeof(*fresh)))
		atomic_store(&wiped, true);
	if (atomic_compare_exchange_strong(&mark_page, &page, fresh))
		pthread_atfork(NULL, NULL, after_fork_in_child);
	else
		munmap(fresh, sizeof(*fresh));
	return 0;
}

/* Returns the mark of this process. Makes a new mark if it has none. */
static uint32_t own_mark(void)
{
	_Atomic uint32_t *page = atomic_load(&mark_page);
	uint32_t mark = atomic_load(page), fresh;

	if (mark)
		return mark;
	fresh = atomic_fetch_add(&marks, 1) + 1;
	return atomic_compare_exchange_strong(page, &mark, fresh) ? fresh : mark;
}

bool kfile_alive(const struct kfile *kf)
{
	return kf->mark == atomic_load(atomic_load(&mark_page)) &&
	       (atomic_load_explicit(&wiped, memory_order_relaxed) || kf->pid == getpid());
}

/*
 * True if this process may release kf. A child of vfork() has its parent's mark, but another pid.
 */
static bool is_own(const struct kfile *kf)
{
	return kfile_alive(kf) && kf->pid == getpid();
}

/*
 * Makes LeakSanitizer search this memory for pointers. LeakSanitizer does not search memory of
 * mmap() by itself, and would report objects that only a kfile points to. The function is NULL if
 * the program has no LeakSanitizer.
 */
void __lsan_register_root_region(const void *p, size_t size) __attribute__((weak));

/* Returns chunk i of the pool, which it makes if necessary, or NULL if out of memory. */
static struct pool_chunk *pool_chunk(unsigned int i)
{
	struct pool_chunk *chunk = atomic_load(&pool[i]), *fresh;

	if (chunk)
		return chunk;
	fresh = map_zeroed(sizeof(*fresh));
	if (!fresh)
		return NULL;
	if (atomic_compare_exchange_strong(&pool[i], &chunk, fresh)) {
		if (__lsan_register_root_region)
			__lsan_register_root_region(fresh, sizeof(*fresh));
		return fresh;
	}
	munmap(fresh, sizeof(*fresh));
	return chunk;
}

static struct kfile *kfile_alloc(void)
{
	for (unsigned int i = 0; i < POOL_CHUNKS; i++) {
		struct pool_chunk *chunk = pool_chunk(i);

		if (!chunk)
			return NULL;
		for (unsigned int j = 0; j < POOL_CHUNK; j++) {
			uint32_t none = 0;

			if (atomic_compare_exchange_strong(&chunk->kf[j].refs, &none, 1))
				return &chunk->kf[j];
		}
	}
	return NULL;
}

static bool kfile_tryget(struct kfile *kf)
{
	uint32_t refs = atomic_load(&kf->refs);

	while (refs)
		if (atomic_compare_exchange_weak(&kf->refs, &refs, refs + 1))
			return true;
	return false;
}

/*
 * The thread that drops the last reference first calls release(), and then drops the reference. So
 * the pool cannot reuse the kfile during release(). Meanwhile, a thread that has read the slot
 * earlier may take a reference. This thread then finds that the slot has changed, and puts the
 * kfile again. The thread that decrements the count to 0 returns the kfile to the pool.
 */
void kfile_put(struct kfile *kf)
{
	uint32_t refs = atomic_load(&kf->refs);

	for (;;) {
		if (refs == 1 && kf->ops) {
			const struct kfile_ops *ops = kf->ops;

			kf->ops = NULL;
			if (ops->release && is_own(kf))
				ops->release(kf);
			refs = atomic_load(&kf->refs);
			continue;
		}
		if (atomic_compare_exchange_weak(&kf->refs, &refs, refs - 1))
			return;
	}
}

/*
 * Returns the slot of fd, or NULL if the page with this slot does not exist. If `create` is true,
 * makes the page if possible.
 */
static _Atomic(struct kfile *) *slot_of(int fd, bool create)
{
	unsigned int page = (unsigned int)fd / FDTABLE_PAGE;
	struct fdtable_page *p, *fresh;

	if (page >= FDTABLE_PAGES)
		return NULL;
	p = atomic_load(&fdtable_pages[page]);
	if (!p && create) {
		fresh = map_zeroed(sizeof(*fresh));
		if (!fresh)
			return NULL;
		if (atomic_compare_exchange_strong(&fdtable_pages[page], &p, fresh))
			p = fresh;
		else
			munmap(fresh, sizeof(*fresh));
	}
	return p ? &p->slot[(unsigned int)fd % FDTABLE_PAGE] : NULL;
}

/* True if the descriptor fd has the inode of the kfile. */
static bool kfile_has(const struct kfile *kf, int fd)
{
	struct stat st;

	return !libc_fstat(fd, &st) && st.st_dev == kf->dev && st.st_ino == kf->ino;
}

int fdtable_install(int fd, const struct kfile_ops *ops, struct rnic_channel *chan, char *path)
{
	_Atomic(struct kfile *) *slot;
	struct kfile *kf, *old;
	struct stat st;
	int ret = libc_fstat(fd, &st);

	if (!ret)
		ret = make_mark_page();
	if (ret)
		return ret;
	slot = slot_of(fd, true);
	if (!slot)
		return -EMFILE;
	kf = kfile_alloc();
	if (!kf)
		return -ENOMEM;
	kf->chan = chan;
	kf->path = path;
	atomic_store_explicit(&kf->flags, libc_fcntl(fd, F_GETFL, 0), memory_order_relaxed);
	atomic_store_explicit(&kf->taker, 0, memory_order_relaxed);
	kf->dev = st.st_dev;
	kf->ino = st.st_ino;
	kf->pid = getpid();
	kf->mark = own_mark();
	kf->ops = ops;
	old = atomic_exchange(slot, kf);
	if (old)
		kfile_put(old);
	return 0;
}

/*
 * Returns the kfile of the slot with a reference, or NULL if the slot is empty. The caller must
 * still verify the kfile.
 */
static struct kfile *slot_get(_Atomic(struct kfile *) *slot)
{
	struct kfile *kf;

	while ((kf = atomic_load(slot))) {
		if (!kfile_tryget(kf))
			continue; /* another thread has just emptied the slot */
		if (atomic_load(slot) == kf)
			return kf;
		kfile_put(kf);
	}
	return NULL;
}

static void slot_drop(_Atomic(struct kfile *) *slot, struct kfile *kf)
{
	struct kfile *expected = kf;

	if (atomic_compare_exchange_strong(slot, &expected, NULL))
		kfile_put(kf);
}

/*
 * Returns kf, the result of slot_get(), if fd still has the inode of kf. Otherwise puts kf, empties
 * the slot, and returns NULL.
 */
static struct kfile *verified(_Atomic(struct kfile *) *slot, struct kfile *kf, int fd)
{
	if (kfile_has(kf, fd))
		return kf;
	if (is_own(kf))
		slot_drop(slot, kf);
	kfile_put(kf);
	return NULL;
}

struct kfile *fdtable_get(int fd)
{
	_Atomic(struct kfile *) *slot = slot_of(fd, false);
	struct kfile *kf = slot ? slot_get(slot) : NULL;

	return kf ? verified(slot, kf, fd) : NULL;
}

struct kfile *fdtable_get_for_write(int fd, const void *buf, size_t len, const void *from)
{
	_Atomic(struct kfile *) *slot = slot_of(fd, false);
	struct kfile *kf = slot ? slot_get(slot) : NULL;

	if (kf && kf->ops->is_meant && kfile_alive(kf) && kf->ops->is_meant(buf, len, from))
		return kf;
	return kf ? verified(slot, kf, fd) : NULL;
}

bool fdtable_holds(int fd, const struct kfile *kf)
{
	_Atomic(struct kfile *) *slot = slot_of(fd, false);

	return slot && atomic_load(slot) == kf;
}

bool fdtable_is_stale(int fd, const struct kfile *kf)
{
	/* Check the inode first: close() empties the slot before fd is used again. */
	return !kfile_has(kf, fd) && fdtable_holds(fd, kf);
}

struct kfile *fdtable_take(int fd)
{
	struct kfile *kf = fdtable_get(fd);

	if (!kf)
		return NULL;
	if (is_own(kf)) {
		if (kf->ops->before_close)
			kf->ops->before_close(kf);
		slot_drop(slot_of(fd, false), kf);
		return kf;
	}
	kfile_put(kf);
	return NULL;
}

void fdtable_dup(int oldfd, int newfd)
{
	struct kfile *kf, *old;
	_Atomic(struct kfile *) *slot;

	if (oldfd == newfd || (!fdtable_maybe(oldfd) && !fdtable_maybe(newfd)))
		return;
	kf = fdtable_get(oldfd);
	if (kf && !is_own(kf)) {
		kfile_put(kf);
		kf = NULL;
	}
	slot = slot_of(newfd, kf != NULL);
	if (!kf) {
		/*
		 * If newfd was a served descriptor before, its slot is stale now. fdtable_get()
		 * detects this and empties the slot.
		 */
		kf = slot ? fdtable_get(newfd) : NULL;
		if (kf)
			kfile_put(kf);
		return;
	}
	if (!slot) {
		kfile_put(kf);
		return;
	}
	old = atomic_exchange(slot, kf);
	if (old)
		kfile_put(old);
}

void fdtable_reap(unsigned int first, unsigned int last)
{
	for (unsigned int page = first / FDTABLE_PAGE; page < FDTABLE_PAGES; page++) {
		unsigned int fd = page * FDTABLE_PAGE;

		if (fd > last)
			return;
		if (!atomic_load(&fdtable_pages[page]))
			continue;
		for (unsigned int i = 0; i < FDTABLE_PAGE; i++, fd++) {
			struct kfile *kf;

			if (fd < first || fd > last || !fdtable_maybe((int)fd))
				continue;
			kf = fdtable_get((int)fd); /* empties a stale slot */
			if (kf)
				kfile_put(kf);
		}
	}
}
