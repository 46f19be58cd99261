/* A small io_uring: the system calls and the two rings, without a library (io_uring(7)). */
#ifndef FSTRIAL_RING_H
#define FSTRIAL_RING_H

#include <linux/io_uring.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct ring {
	int descriptor;
	int files_registered;
	int buffers_registered;
	unsigned entries;
	unsigned prepared;              /* entries filled and not yet submitted */
	unsigned *submit_tail, submit_mask;
	struct io_uring_sqe *submissions;
	unsigned *complete_head, *complete_tail, complete_mask;
	struct io_uring_cqe *completions;
	void *rings;
	size_t rings_bytes;
};

/* Room for `depth` operations; 0 or errno. */
int ring_open(struct ring *ring, unsigned depth);
void ring_close(struct ring *ring);

/* Spare the kernel the look-up of a descriptor and the pinning of a buffer a call; refused, they just cost more. */
void ring_register(struct ring *ring, const int *descriptors, unsigned count, const struct iovec *buffers,
		   unsigned buffer_count);

/*
 * Give the registered descriptors back. Closing the ring would do so too, but some time later: meanwhile their
 * filesystem could not be unmounted.
 */
void ring_release_files(struct ring *ring);

/* Submit what is prepared and wait for that many completions; 0 or errno. */
int ring_enter(struct ring *ring, unsigned wait_for);

/* The next entry to fill, zeroed. The caller never prepares more than `entries` at once. */
static inline struct io_uring_sqe *ring_prepare(struct ring *ring)
{
	unsigned tail = *ring->submit_tail + ring->prepared++;
	struct io_uring_sqe *entry = &ring->submissions[tail & ring->submit_mask];

	*entry = (struct io_uring_sqe){ 0 };
	return entry;
}

/* The oldest completion, or null. */
static inline const struct io_uring_cqe *ring_completion(const struct ring *ring)
{
	unsigned head = *ring->complete_head;

	if (head == __atomic_load_n(ring->complete_tail, __ATOMIC_ACQUIRE))
		return NULL;
	return &ring->completions[head & ring->complete_mask];
}

static inline void ring_seen(struct ring *ring)
{
	__atomic_store_n(ring->complete_head, *ring->complete_head + 1, __ATOMIC_RELEASE);
}

#endif
