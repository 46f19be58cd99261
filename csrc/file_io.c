/* read and write, pread and pwrite, preadv2 and pwritev2. */
#define _GNU_SOURCE
#include <sys/uio.h>
#include <unistd.h>

#include "loop.h"

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
	ssize_t got = read(target->descriptor, buffer, bytes);

	target->position += got > 0 ? (uint64_t)got : 0;
	return got;
}

static ssize_t call_write(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	if (seek_to(target, offset) != 0)
		return -1;
	ssize_t put = write(target->descriptor, buffer, bytes);

	target->position += put > 0 ? (uint64_t)put : 0;
	return put;
}

static ssize_t call_pread(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	return pread(target->descriptor, buffer, bytes, (off_t)offset);
}

static ssize_t call_pwrite(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	return pwrite(target->descriptor, buffer, bytes, (off_t)offset);
}

static ssize_t call_preadv2(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	struct iovec segment = { buffer, bytes };

	return preadv2(target->descriptor, &segment, 1, (off_t)offset, 0);
}

static ssize_t call_pwritev2(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	struct iovec segment = { buffer, bytes };

	return pwritev2(target->descriptor, &segment, 1, (off_t)offset, 0);
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
