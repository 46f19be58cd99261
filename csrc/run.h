/* Workers of any kind: threads or processes that start together, can be stopped, and report. */
#ifndef FSTRIAL_RUN_H
#define FSTRIAL_RUN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine.h"
#include "record.h"

/* Why all workers have to end; the first reason stays. */
enum stop_reason { STOP_NOT, STOP_ASKED, STOP_FIRST_DONE, STOP_FAILURE };

/* Lies in shared memory with the reports behind it, so that processes serve as well as threads. */
struct control {
	atomic_uint stop;       /* enum stop_reason */
	atomic_uint arrived;    /* workers at the gate */
	atomic_uint open;       /* the gate; a futex */
	atomic_uint ended;      /* workers that have reported; a futex */
	uint64_t start;         /* ticks */
	struct engine_report reports[];
};

/* The work of one kind of phase. */
struct workings {
	void (*work)(const struct engine_run *run, uint32_t worker);
	void (*free_plan)(void *plan);
};

struct engine_run {
	struct control *control;
	uint32_t workers;
	uint32_t flags;
	const struct workings *workings;
	void *plan;             /* the phase's description and what was derived from it */
	pthread_t *threads;     /* one of the two */
	pid_t *processes;       /* 0: reaped */
	uint32_t started;
	int joined;
};

/* Make a run that owns the plan, also when it fails. */
int run_new(uint32_t workers, uint32_t flags, const struct workings *workings, void *plan, struct engine_run **ret);
/* Start its workers. */
int run_start(struct engine_run *run);

/*
 * For workers. `run_gate` waits until all have arrived; false: the run was stopped before it began. `run_fail`
 * keeps the worker's first error and stops the run. `run_finish` tells how the worker ended.
 */
int run_gate(struct control *control, uint32_t workers);
void run_fail(struct control *control, struct engine_report *report, enum engine_kind kind, int target,
	      uint64_t offset, int error);
void run_finish(struct control *control, struct engine_report *report, int amount_done, uint32_t flags);
void run_pin(uint32_t worker);

/* What getrusage says of the calling worker, as a difference between two calls. */
void run_usage(struct engine_report *report, int sign, int process);

#endif
