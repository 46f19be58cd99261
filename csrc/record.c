/* The time series: bins of constant width that double when they run out. */
#include "record.h"

void recorder_init(struct recorder *recorder, struct engine_report *report, const atomic_uint *stop, double bin_s)
{
	*recorder = (struct recorder){
		.report = report,
		.stop = stop,
		.bin_ticks = clock_ticks_of_s(bin_s),
	};
	report->bin_s = bin_s;
	report->bad_target = -1;
	report->failure.target = -1;
	for (int kind = 0; kind < ENGINE_KINDS; kind++)
		report->tallies[kind].latency.min_ns = UINT64_MAX;
}

/* `event` stays 0, so that the first operation finds its way to recorder_event. */
void recorder_begin(struct recorder *recorder, uint64_t start, double limit_s)
{
	recorder->start = start;
	recorder->bin_end = start + recorder->bin_ticks;
	recorder->deadline = limit_s > 0 ? start + clock_ticks_of_s(limit_s) : UINT64_MAX;
	recorder->report->begin_ns = recorder_ns(recorder, clock_ticks());
}

/* Make room: pairs of bins become one of twice the width. */
static void fold(struct recorder *recorder)
{
	struct engine_report *report = recorder->report;

	for (unsigned i = 0; i < ENGINE_BINS / 2; i++) {
		struct engine_bin *pair = &report->series[2 * i];

		report->series[i] = (struct engine_bin){
			.operations = pair[0].operations + pair[1].operations,
			.bytes = pair[0].bytes + pair[1].bytes,
		};
	}
	report->bins = ENGINE_BINS / 2;
	report->bin_s *= 2;
	recorder->bin_ticks *= 2;
}

static void close_bin(struct recorder *recorder)
{
	struct engine_report *report = recorder->report;

	report->series[report->bins++] = (struct engine_bin){
		.operations = recorder->operations - recorder->bin_operations,
		.bytes = recorder->bytes - recorder->bin_bytes,
	};
	recorder->bin_operations = recorder->operations;
	recorder->bin_bytes = recorder->bytes;
	if (report->bins == ENGINE_BINS)
		fold(recorder);
	recorder->bin_end += recorder->bin_ticks;
}

void recorder_event(struct recorder *recorder, uint64_t now)
{
	struct engine_report *report = recorder->report;

	if (report->first_done_ns == 0)
		report->first_done_ns = recorder_ns(recorder, now);
	while (now >= recorder->bin_end)
		close_bin(recorder);
	recorder->expired = now >= recorder->deadline;
	recorder->event = recorder->bin_end < recorder->deadline ? recorder->bin_end : recorder->deadline;
}

void recorder_end(struct recorder *recorder, uint64_t end)
{
	recorder->report->last_done_ns = recorder_ns(recorder, end);
	while (end >= recorder->bin_end)
		close_bin(recorder);
	close_bin(recorder);
}
