/* A worker of a data phase, and what the loops of all APIs share. */
#ifndef FSTRIAL_WORKER_H
#define FSTRIAL_WORKER_H

#include <errno.h>
#include <stdio.h>
#include <sys/types.h>

#include "content.h"
#include "engine.h"
#include "order.h"
#include "record.h"
#include "run.h"

enum { BATCH = 64 };

/* A target as one worker has it open. */
struct open_target {
	int descriptor;         /* -1: not one of this worker's */
	int writing;            /* stdio: the last call was putc */
	uint32_t number;
	uint64_t position;      /* of the descriptor or stream, where the API moves it */
	uint64_t bytes;
	FILE *stream;
	unsigned char *map;
};

/* A data phase, copied from the caller's description. */
struct data_plan {
	struct engine_phase phase;
	uint64_t *first_block;
};

struct worker {
	struct recorder recorder;
	const struct engine_phase *phase;
	struct control *control;
	struct engine_report *report;
	struct open_target *targets;
	struct order order;
	struct content content;
	struct queue *queue;            /* io_uring's */
	unsigned char *buffers;         /* one a place in the queue */
	uint32_t buffer_bytes;
	uint64_t left_operations;       /* UINT64_MAX: no such limit */
	uint64_t left_bytes;
	uint64_t arrivals;              /* steps begun, where there is an arrival rate */
	double ticks_per_arrival;       /* of this worker; 0: closed loop */
	double first_arrival;
	uint64_t writes;
	uint64_t next_sync;             /* the count of writes at which a sync is due; UINT64_MAX: never */
	uint32_t batch;                 /* steps made and not yet taken: steps[taken..batch) */
	uint32_t taken;
	struct step steps[BATCH];
	uint32_t pending;               /* reads of the batch that are done and not yet recorded */
	uint64_t pending_begin;
	uint64_t ends[BATCH];           /* ticks */
};

/* data.c */
/* Make the next steps, at most BATCH; how many. 0: the amount is done. */
uint32_t worker_batch(struct worker *worker);
/* Wait for the next arrival; the ticks at which it was due, or 0: the run is over before. */
uint64_t worker_arrival(struct worker *worker);
/* The ticks at which the next arrival is due; may lie in the future. */
uint64_t worker_due(const struct worker *worker);
/* Judge what a read brought. */
void worker_verify(struct worker *worker, const struct step *step, const void *buffer);
/* Make what a write brings. */
void worker_fill(struct worker *worker, const struct step *step, void *buffer);
/* Sync all targets of the worker; false: it failed. */
int worker_sync(struct worker *worker);

/* target.c */
int targets_prepare(const struct engine_phase *phase, struct engine_report *report, struct engine_failure *failure);
int targets_open(struct worker *worker);
void targets_close(struct worker *worker);

static inline void worker_fail(struct worker *worker, enum engine_kind kind, uint32_t target, uint64_t offset,
			       int error)
{
	run_fail(worker->control, worker->report, kind, (int)target, offset, error);
}

static inline int worker_over(const struct worker *worker)
{
	return recorder_over(&worker->recorder);
}

/* Whether nothing is to be done around a read but to time it. */
static inline int worker_only_reads(const struct worker *worker)
{
	const struct engine_phase *phase = worker->phase;

	return phase->write_weight == 0 && phase->update_weight == 0 && !(phase->flags & ENGINE_VERIFY) &&
	       phase->rate_per_s == 0;
}

/* The loops, one an API. Each runs until worker_batch gives no more or worker_over. */
void loop_read_write(struct worker *worker);
void loop_pread_pwrite(struct worker *worker);
void loop_preadv2(struct worker *worker);
void loop_mmap(struct worker *worker);
void loop_stdio(struct worker *worker);
void loop_io_uring(struct worker *worker);
int io_uring_error(void);
int queue_open(struct worker *worker);
/* Let go of the targets, so that closing them is closing them. */
void queue_release(struct worker *worker);
void queue_close(struct worker *worker);

#endif
