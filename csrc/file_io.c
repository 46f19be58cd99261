/*
 * read and write, pread and pwrite, preadv2 and pwritev2. By syscall(2), because the C library's own wrappers are
 * points of thread cancellation: in a process of several threads they prepare for one at each call.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "loop.h"

_Static_assert(sizeof(long) == sizeof(off_t), "offsets go to system calls in one register: a 64-bit machine");

/* lseek(2) only where the order leaves the descriptor's own position; it counts in the operation's time. */
ALWAYS_INLINE int seek_to(struct open_target *target, uint64_t offset)
{
	if (target->position == offset)
		return 0;
	if (lseek(target->descriptor, (off_t)offset, SEEK_SET) < 0)
		return -1;
	target->position = offset;
	return 0;
}

static ssize_t call_read(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	if (seek_to(target, offset) != 0)
		return -1;
	ssize_t got = syscall(SYS_read, target->descriptor, buffer, bytes);

	target->position += got > 0 ? (uint64_t)got : 0;
	return got;
}

static ssize_t call_write(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	if (seek_to(target, offset) != 0)
		return -1;
	ssize_t put = syscall(SYS_write, target->descriptor, buffer, bytes);

	target->position += put > 0 ? (uint64_t)put : 0;
	return put;
}

static ssize_t call_pread(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	return syscall(SYS_pread64, target->descriptor, buffer, bytes, offset);
}

static ssize_t call_pwrite(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	return syscall(SYS_pwrite64, target->descriptor, buffer, bytes, offset);
}

static ssize_t call_preadv2(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	struct iovec segment = { buffer, bytes };

	return syscall(SYS_preadv2, target->descriptor, &segment, 1, offset, 0, 0);
}

static ssize_t call_pwritev2(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	struct iovec segment = { buffer, bytes };

	return syscall(SYS_pwritev2, target->descriptor, &segment, 1, offset, 0, 0);
}

void loop_read_write(struct worker *worker)
{
	loop_all(worker, call_read, call_write);
}

void loop_pread_pwrite(struct worker *worker)
{
	loop_all(worker, call_pread, call_pwrite);
}

void loop_preadv2(struct worker *worker)
{
	loop_all(worker, call_preadv2, call_pwritev2);
}
