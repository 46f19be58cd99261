/* Setting up and entering an io_uring. */
#define _GNU_SOURCE
#if __has_include(<linux/io_uring.h>)

#include "ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The cheapest ways first: completions run in this thread when it asks for them (IORING_SETUP_DEFER_TASKRUN, Linux
 * 6.1), or at its next system call (IORING_SETUP_COOP_TASKRUN, 5.19), or by interrupting it.
 */
static const unsigned ways[] = {
#ifdef IORING_SETUP_DEFER_TASKRUN
	IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
#endif
#ifdef IORING_SETUP_COOP_TASKRUN
	IORING_SETUP_COOP_TASKRUN,
#endif
	0,
};

static int setup(unsigned entries, struct io_uring_params *params)
{
	int descriptor = -1;

	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways) && descriptor < 0; i++) {
		*params = (struct io_uring_params){ .flags = ways[i] };
		descriptor = (int)syscall(SYS_io_uring_setup, entries, params);
		if (descriptor < 0 && errno != EINVAL)
			break;
	}
	return descriptor;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Both rings in one mapping: IORING_FEAT_SINGLE_MMAP, Linux 5.4; older kernels are refused. */
static int map_rings(struct ring *ring, const struct io_uring_params *params)
{
	size_t submit_bytes = params->sq_off.array + params->sq_entries * sizeof(unsigned);
	size_t complete_bytes = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
	char *base;

	if (!(params->features & IORING_FEAT_SINGLE_MMAP))
		return ENOSYS;
	ring->rings_bytes = larger(submit_bytes, complete_bytes);
	ring->rings = mmap(NULL, ring->rings_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			   ring->descriptor, IORING_OFF_SQ_RING);
	ring->submissions = mmap(NULL, params->sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_POPULATE, ring->descriptor, IORING_OFF_SQES);
	if (ring->rings == MAP_FAILED || ring->submissions == MAP_FAILED)
		return errno;
	base = ring->rings;
	ring->submit_tail = (unsigned *)(base + params->sq_off.tail);
	ring->submit_mask = *(unsigned *)(base + params->sq_off.ring_mask);
	ring->complete_head = (unsigned *)(base + params->cq_off.head);
	ring->complete_tail = (unsigned *)(base + params->cq_off.tail);
	ring->complete_mask = *(unsigned *)(base + params->cq_off.ring_mask);
	ring->completions = (struct io_uring_cqe *)(base + params->cq_off.cqes);
	for (unsigned i = 0; i < params->sq_entries; i++)       /* place i of the ring is always entry i */
		((unsigned *)(base + params->sq_off.array))[i] = i;
	return 0;
}

int ring_open(struct ring *ring, unsigned depth)
{
	struct io_uring_params params;
	int error;

	*ring = (struct ring){ .rings = MAP_FAILED, .submissions = MAP_FAILED };
	ring->descriptor = setup(depth, &params);
	if (ring->descriptor < 0)
		return errno;
	ring->entries = params.sq_entries;
	error = map_rings(ring, &params);
	if (error)
		ring_close(ring);
	return error;
}

void ring_close(struct ring *ring)
{
	if (ring->rings != MAP_FAILED)
		munmap(ring->rings, ring->rings_bytes);
	if ((void *)ring->submissions != MAP_FAILED)
		munmap(ring->submissions, ring->entries * sizeof(struct io_uring_sqe));
	if (ring->descriptor >= 0)
		close(ring->descriptor);
	ring->descriptor = -1;
}

void ring_register(struct ring *ring, const int *descriptors, unsigned count, const struct iovec *buffers,
		   unsigned buffer_count)
{
	ring->files_registered = syscall(SYS_io_uring_register, ring->descriptor, IORING_REGISTER_FILES,
					 descriptors, count) == 0;
	ring->buffers_registered = syscall(SYS_io_uring_register, ring->descriptor, IORING_REGISTER_BUFFERS,
					   buffers, buffer_count) == 0;
}

void ring_release_files(struct ring *ring)
{
	if (ring->files_registered)
		syscall(SYS_io_uring_register, ring->descriptor, IORING_UNREGISTER_FILES, NULL, 0);
	ring->files_registered = 0;
}

int ring_enter(struct ring *ring, unsigned wait_for)
{
	__atomic_store_n(ring->submit_tail, *ring->submit_tail + ring->prepared, __ATOMIC_RELEASE);
	while (1) {
		long taken = syscall(SYS_io_uring_enter, ring->descriptor, ring->prepared, wait_for,
				     IORING_ENTER_GETEVENTS, NULL, 0);

		if (taken < 0 && errno != EINTR && errno != EAGAIN && errno != EBUSY)
			return errno;
		ring->prepared -= taken > 0 ? (unsigned)taken : 0;
		if (ring->prepared == 0)
			return 0;
	}
}

#endif
