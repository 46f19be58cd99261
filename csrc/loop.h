/*
 * The loop of the synchronous APIs, made anew for each by inlining it with that API's two calls: no branch of the
 * loop asks which API it is.
 */
#ifndef FSTRIAL_LOOP_H
#define FSTRIAL_LOOP_H

#include "worker.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Transfer up to so many bytes at an offset: how many, 0 at the end of the file, -1 with errno. */
typedef ssize_t (*transfer_call)(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset);

/*
 * What is left of a transfer whose first call gave `got` instead of all bytes: short transfers go on, EINTR and
 * EAGAIN are tried again, anything else fails the worker at the first byte not transferred. True: done.
 */
static __attribute__((noinline, unused)) int transfer_rest(struct worker *worker, transfer_call call,
							   enum engine_kind kind, const struct step *step,
							   unsigned char *buffer, ssize_t got)
{
	struct open_target *target = &worker->targets[step->target];
	size_t done = 0;
	int error = 0;

	for (;;) {
		if (got > 0) {
			done += (size_t)got;
			if (done == step->bytes)
				return 1;
			worker->report->short_transfers++;
		} else {
			error = got < 0 ? errno : kind == ENGINE_READ ? ENODATA : EIO;
			if (error != EINTR && error != EAGAIN)
				break;
			worker->report->retries++;
			if (worker_over(worker))
				break;
		}
		got = call(target, buffer + done, step->bytes - done, step->offset + done);
	}
	worker->report->tallies[kind].bytes += done;
	if (error != EINTR && error != EAGAIN)
		worker_fail(worker, kind, step->target, step->offset + done, error);
	return 0;
}

ALWAYS_INLINE int transfer(struct worker *worker, transfer_call call, enum engine_kind kind, const struct step *step,
			   unsigned char *buffer)
{
	ssize_t got = call(&worker->targets[step->target], buffer, step->bytes, step->offset);

	return LIKELY(got == (ssize_t)step->bytes) || transfer_rest(worker, call, kind, step, buffer, got);
}

/* Record the reads that are done and not yet recorded: each began where the one before ended. */
static __attribute__((noinline, unused)) void record_pending(struct worker *worker)
{
	uint64_t begin = worker->pending_begin;

	for (uint32_t i = 0; i < worker->pending; i++) {
		record(&worker->recorder, ENGINE_READ, begin, worker->ends[i], worker->steps[i].bytes);
		begin = worker->ends[i];
	}
	worker->pending = 0;
}

/*
 * Reads and nothing else. One timestamp an operation, since between two reads there are but a few nanoseconds of
 * ours; and a batch is recorded when it is done, because a read of the page cache leaves little of the first-level
 * cache to others: what recording needs is fetched once a batch instead of once an operation.
 */
ALWAYS_INLINE void loop_reads(struct worker *worker, transfer_call read_call)
{
	const uint64_t deadline = worker->recorder.deadline;
	const atomic_uint *stop = worker->recorder.stop;
	uint32_t count, done;

	while ((count = worker_batch(worker)) > 0) {
		int going = 1;

		worker->pending_begin = clock_ticks();
		for (done = 0; going && done < count; worker->pending = ++done) {
			if (!transfer(worker, read_call, ENGINE_READ, &worker->steps[done], worker->buffers))
				break;
			worker->ends[done] = clock_ticks();
			going = worker->ends[done] < deadline && !atomic_load_explicit(stop, memory_order_relaxed);
		}
		record_pending(worker);
		if (done < count || worker_over(worker))
			return;
	}
}

/*
 * The operations of one step: latencies are from `due` where there is an arrival rate (0: there is none), else from
 * the call. An update is a read and a write, both counted. False: the worker has to end.
 */
ALWAYS_INLINE int loop_step(struct worker *worker, transfer_call read_call, transfer_call write_call,
			    const struct step *step, uint64_t due)
{
	unsigned char *buffer = worker->buffers;

	if (step->kind != STEP_WRITE) {
		uint64_t begin = due ? due : clock_ticks();

		if (!transfer(worker, read_call, ENGINE_READ, step, buffer))
			return 0;
		record(&worker->recorder, ENGINE_READ, begin, clock_ticks(), step->bytes);
		worker_verify(worker, step, buffer);
	}
	if (step->kind != STEP_READ) {
		worker_fill(worker, step, buffer);
		uint64_t begin = due && step->kind == STEP_WRITE ? due : clock_ticks();

		if (!transfer(worker, write_call, ENGINE_WRITE, step, buffer))
			return 0;
		record(&worker->recorder, ENGINE_WRITE, begin, clock_ticks(), step->bytes);
		if (UNLIKELY(worker->writes >= worker->next_sync) && !worker_sync(worker))
			return 0;
	}
	return !worker_over(worker);
}

ALWAYS_INLINE void loop_all(struct worker *worker, transfer_call read_call, transfer_call write_call)
{
	if (worker_only_reads(worker)) {
		loop_reads(worker, read_call);
		return;
	}
	while (worker_batch(worker))
		for (; worker->taken < worker->batch; worker->taken++) {
			uint64_t due = 0;

			if (worker->ticks_per_arrival > 0 && (due = worker_arrival(worker)) == 0)
				return;
			if (!loop_step(worker, read_call, write_call, &worker->steps[worker->taken], due))
				return;
		}
}

#endif
