/*
 * io_uring with a queue of many operations. Latency is from just before an operation is handed to the kernel until
 * the loop sees its completion.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "worker.h"

#if __has_include(<linux/io_uring.h>)

#include "ring.h"

/* A place in the queue, with the buffer of the same index. */
struct place {
	struct step step;
	uint64_t begin;
	uint32_t done;          /* bytes, after short transfers */
	enum engine_kind kind;  /* of the operation in progress: an update reads, then writes */
};

struct queue {
	struct worker *worker;
	struct ring ring;
	struct place *places;
	unsigned *free_places;
	unsigned free_count;
	unsigned in_flight;
};

int io_uring_error(void)
{
	struct ring ring;
	int error = ring_open(&ring, 1);

	if (!error)
		ring_close(&ring);
	return error;
}

static unsigned char *buffer_of(const struct queue *queue, unsigned index)
{
	return queue->worker->buffers + (size_t)index * queue->worker->buffer_bytes;
}

static void register_all(struct queue *queue)
{
	const struct worker *worker = queue->worker;
	unsigned count = worker->phase->target_count, depth = worker->phase->queue_depth;
	int *descriptors = calloc(count, sizeof(*descriptors));
	struct iovec *buffers = calloc(depth, sizeof(*buffers));

	if (descriptors && buffers) {
		for (unsigned i = 0; i < count; i++)
			descriptors[i] = worker->targets[i].descriptor;
		for (unsigned i = 0; i < depth; i++)
			buffers[i] = (struct iovec){ buffer_of(queue, i), worker->buffer_bytes };
		ring_register(&queue->ring, descriptors, count, buffers, depth);
	}
	free(descriptors);
	free(buffers);
}

int queue_open(struct worker *worker)
{
	unsigned depth = worker->phase->queue_depth;
	struct queue *queue = calloc(1, sizeof(*queue));
	int error = queue ? ring_open(&queue->ring, depth) : ENOMEM;

	if (error) {
		free(queue);
		worker_fail(worker, ENGINE_OPEN, worker->order.first_target, 0, error);
		return 0;
	}
	worker->queue = queue;
	queue->worker = worker;
	queue->places = calloc(depth, sizeof(*queue->places));
	queue->free_places = calloc(depth, sizeof(*queue->free_places));
	if (!queue->places || !queue->free_places) {
		worker_fail(worker, ENGINE_OPEN, worker->order.first_target, 0, ENOMEM);
		return 0;
	}
	for (unsigned i = 0; i < depth; i++)
		queue->free_places[queue->free_count++] = i;
	register_all(queue);
	return 1;
}

void queue_release(struct worker *worker)
{
	if (worker->queue)
		ring_release_files(&worker->queue->ring);
}

void queue_close(struct worker *worker)
{
	if (!worker->queue)
		return;
	ring_close(&worker->queue->ring);
	free(worker->queue->places);
	free(worker->queue->free_places);
	free(worker->queue);
	worker->queue = NULL;
}

/* Hand the rest of a place's operation to the ring. */
static void prepare(struct queue *queue, unsigned index)
{
	const struct place *place = &queue->places[index];
	struct io_uring_sqe *entry = ring_prepare(&queue->ring);
	int writing = place->kind == ENGINE_WRITE;

	if (queue->ring.buffers_registered) {
		entry->opcode = writing ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED;
		entry->buf_index = (uint16_t)index;
	} else {
		entry->opcode = writing ? IORING_OP_WRITE : IORING_OP_READ;
	}
	if (queue->ring.files_registered) {
		entry->fd = place->step.target;
		entry->flags = IOSQE_FIXED_FILE;
	} else {
		entry->fd = queue->worker->targets[place->step.target].descriptor;
	}
	entry->addr = (uint64_t)(uintptr_t)(buffer_of(queue, index) + place->done);
	entry->len = place->step.bytes - place->done;
	entry->off = place->step.offset + place->done;
	entry->user_data = index;
	queue->in_flight++;
}

static void begin_step(struct queue *queue, const struct step *step, uint64_t due)
{
	unsigned index = queue->free_places[--queue->free_count];
	struct place *place = &queue->places[index];

	*place = (struct place){ .step = *step, .kind = step->kind == STEP_WRITE ? ENGINE_WRITE : ENGINE_READ };
	if (place->kind == ENGINE_WRITE)
		worker_fill(queue->worker, step, buffer_of(queue, index));
	place->begin = due ? due : clock_ticks();
	prepare(queue, index);
}

/* Where arrivals are paced: the next one's due time; 0: none now. Waits only while nothing is in flight. */
static uint64_t next_due(struct queue *queue)
{
	if (queue->in_flight > 0 && worker_due(queue->worker) > clock_ticks())
		return 0;
	return worker_arrival(queue->worker);
}

/* Fill the free places. A sync that is due waits until the queue has drained. */
static void begin_steps(struct queue *queue)
{
	struct worker *worker = queue->worker;

	while (queue->free_count > 0 && !worker_over(worker)) {
		uint64_t due = 0;

		if (UNLIKELY(worker->writes >= worker->next_sync) && (queue->in_flight > 0 || !worker_sync(worker)))
			return;
		if (worker->taken == worker->batch && worker_batch(worker) == 0)
			return;
		if (worker->ticks_per_arrival > 0 && (due = next_due(queue)) == 0)
			return;
		begin_step(queue, &worker->steps[worker->taken++], due);
	}
}

/* A completed operation; an update goes on with its write in the same place. */
static void finish_operation(struct queue *queue, unsigned index, uint64_t now)
{
	struct worker *worker = queue->worker;
	struct place *place = &queue->places[index];

	record(&worker->recorder, place->kind, place->begin, now, place->step.bytes);
	if (place->kind == ENGINE_READ) {
		worker_verify(worker, &place->step, buffer_of(queue, index));
		if (place->step.kind == STEP_UPDATE && !worker_over(worker)) {
			worker_fill(worker, &place->step, buffer_of(queue, index));
			place->kind = ENGINE_WRITE;
			place->done = 0;
			place->begin = clock_ticks();
			prepare(queue, index);
			return;
		}
	}
	queue->free_places[queue->free_count++] = index;
}

static void give_up(struct queue *queue, unsigned index, int error)
{
	struct worker *worker = queue->worker;
	const struct place *place = &queue->places[index];

	worker->report->tallies[place->kind].bytes += place->done;
	if (error)
		worker_fail(worker, place->kind, place->step.target, place->step.offset + place->done, error);
	queue->free_places[queue->free_count++] = index;
}

/* One completion: done, short (goes on), to be tried again, or an error. */
static void complete(struct queue *queue, unsigned index, int result, uint64_t now)
{
	struct worker *worker = queue->worker;
	struct place *place = &queue->places[index];

	queue->in_flight--;
	if (result > 0) {
		place->done += (uint32_t)result;
		if (LIKELY(place->done == place->step.bytes)) {
			finish_operation(queue, index, now);
			return;
		}
		worker->report->short_transfers++;
	} else if (result == -EINTR || result == -EAGAIN) {
		worker->report->retries++;
		if (worker_over(worker)) {
			give_up(queue, index, 0);
			return;
		}
	} else {
		give_up(queue, index, result < 0 ? -result : place->kind == ENGINE_READ ? ENODATA : EIO);
		return;
	}
	prepare(queue, index);
}

static void reap(struct queue *queue)
{
	const struct io_uring_cqe *completion;
	uint64_t now = clock_ticks();

	while ((completion = ring_completion(&queue->ring)) != NULL) {
		unsigned index = (unsigned)completion->user_data;
		int result = completion->res;

		ring_seen(&queue->ring);
		complete(queue, index, result, now);
	}
}

/* Free places with an arrival rate mean that the next arrival is not due: look, do not wait. */
void loop_io_uring(struct worker *worker)
{
	struct queue *queue = worker->queue;

	worker->batch = worker->taken = BATCH; /* a batch that is used up */
	for (;;) {
		int error, polling;

		begin_steps(queue);
		if (queue->in_flight == 0)
			break;
		polling = worker->ticks_per_arrival > 0 && queue->free_count > 0;
		error = ring_enter(&queue->ring, polling ? 0 : 1);
		if (error) {
			worker_fail(worker, ENGINE_READ, worker->order.first_target, 0, error);
			break;
		}
		reap(queue);
	}
}

#else

int io_uring_error(void)
{
	return ENOSYS;
}

int queue_open(struct worker *worker)
{
	worker_fail(worker, ENGINE_OPEN, 0, 0, ENOSYS);
	return 0;
}

void queue_release(struct worker *worker)
{
	(void)worker;
}

void queue_close(struct worker *worker)
{
	(void)worker;
}

void loop_io_uring(struct worker *worker)
{
	(void)worker;
}

#endif
