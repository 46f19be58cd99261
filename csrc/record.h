/* Recording what operations took: tallies, time series, deadline. No locks: a recorder belongs to one worker. */
#ifndef FSTRIAL_RECORD_H
#define FSTRIAL_RECORD_H

#include <stdatomic.h>
#include <stdint.h>

#include "clock.h"
#include "engine.h"
#include "histogram.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

struct recorder {
	struct engine_report *report;
	const atomic_uint *stop;        /* of the whole run */
	uint64_t start;                 /* ticks at which all workers were released */
	uint64_t event;                 /* the next tick at which recorder_event has work: a bin's end, the deadline */
	uint64_t deadline;              /* UINT64_MAX: none */
	uint64_t bin_ticks;
	uint64_t bin_end;
	uint64_t operations;            /* of the series, so far */
	uint64_t bytes;
	uint64_t bin_operations;        /* the same when the bin began */
	uint64_t bin_bytes;
	int expired;                    /* the deadline has passed */
};

void recorder_init(struct recorder *recorder, struct engine_report *report, const atomic_uint *stop, double bin_s);
void recorder_begin(struct recorder *recorder, uint64_t start, double limit_s);
void recorder_end(struct recorder *recorder, uint64_t end);
void recorder_event(struct recorder *recorder, uint64_t now);

static inline uint64_t recorder_ns(const struct recorder *recorder, uint64_t ticks)
{
	return clock_ns(ticks - recorder->start);
}

/* Whether the worker has to end before its amount is done. */
static inline int recorder_over(const struct recorder *recorder)
{
	return UNLIKELY(atomic_load_explicit(recorder->stop, memory_order_relaxed) != 0) || recorder->expired;
}

/* An operation that is not part of the phase's rate (a sync, a close): tallied only. */
static inline void record_aside(struct recorder *recorder, enum engine_kind kind, uint64_t begin, uint64_t end)
{
	histogram_add(&recorder->report->tallies[kind].latency, clock_ns(end - begin));
}

/* An operation of the phase. */
static inline void record(struct recorder *recorder, enum engine_kind kind, uint64_t begin, uint64_t end,
			  uint64_t bytes)
{
	struct engine_tally *tally = &recorder->report->tallies[kind];

	if (UNLIKELY(end >= recorder->event))
		recorder_event(recorder, end);
	histogram_add(&tally->latency, clock_ns(end - begin));
	tally->bytes += bytes;
	recorder->operations++;
	recorder->bytes += bytes;
}

#endif
