/* Data phases: the life of a worker around the loop of its API. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "clock.h"
#include "worker.h"

enum {
	PAGE = 4096,
	SPIN_NS = 60 * 1000,            /* spin so long before an arrival: a sleep may wake that late */
	SLEEP_NS = 10 * 1000 * 1000     /* and sleep no longer than this without looking at the stop flag */
};

/* ---- amounts ---- */

static void limit_to_one_pass(struct worker *worker)
{
	const struct order *order = &worker->order;

	if (worker->phase->size_count == 1) {
		worker->left_operations = order->blocks;
		return;
	}
	worker->left_bytes = 0;
	for (uint32_t i = order->first_target; order->blocks > 0 && i <= order->last_target; i++) {
		uint64_t first = order->first_block[i], low = order->low, high = order->low + order->blocks;
		uint64_t begin = low > first ? (low - first) * order->grid : 0;
		uint64_t end = high < order->first_block[i + 1] ? (high - first) * order->grid :
								  worker->phase->targets[i].bytes;

		worker->left_bytes += end - begin;
	}
}

static void set_limits(struct worker *worker)
{
	const struct engine_phase *phase = worker->phase;

	worker->left_operations = phase->limit_operations ? phase->limit_operations : UINT64_MAX;
	worker->left_bytes = phase->limit_bytes ? phase->limit_bytes : UINT64_MAX;
	if (!phase->limit_operations && !phase->limit_bytes && phase->limit_s <= 0)
		limit_to_one_pass(worker);
	if (worker->order.blocks == 0)
		worker->left_operations = 0;
}

/* Cut the batch where the bytes run out. */
static void spend_bytes(struct worker *worker)
{
	for (uint32_t i = 0; i < worker->batch; i++) {
		struct step *step = &worker->steps[i];

		if (worker->left_bytes == 0) {
			worker->batch = i;
			return;
		}
		if (step->bytes > worker->left_bytes)
			step->bytes = (uint32_t)worker->left_bytes;
		worker->left_bytes -= step->bytes;
	}
}

uint32_t worker_batch(struct worker *worker)
{
	worker->taken = 0;
	worker->batch = worker->left_operations < BATCH ? (uint32_t)worker->left_operations : BATCH;
	if (worker->batch > 0 && worker->left_bytes > 0)
		order_fill(&worker->order, worker->steps, worker->batch);
	if (worker->left_bytes != UINT64_MAX)
		spend_bytes(worker);
	if (worker->left_operations != UINT64_MAX)
		worker->left_operations -= worker->batch;
	return worker->batch;
}

/* ---- arrivals ---- */

uint64_t worker_due(const struct worker *worker)
{
	return worker->recorder.start +
	       (uint64_t)(worker->first_arrival + (double)worker->arrivals * worker->ticks_per_arrival);
}

static void set_arrivals(struct worker *worker, uint32_t number)
{
	double interval_s;

	if (worker->phase->rate_per_s <= 0)
		return;
	interval_s = 1 / worker->phase->rate_per_s;
	worker->first_arrival = (double)clock_ticks_of_s(interval_s) * number;
	worker->ticks_per_arrival = clock_state.ticks_per_s * interval_s * worker->phase->workers;
	prctl(PR_SET_TIMERSLACK, 1);    /* ns */
}

uint64_t worker_arrival(struct worker *worker)
{
	uint64_t due = worker_due(worker);

	if (due >= worker->recorder.deadline) {
		worker->recorder.expired = 1;
		return 0;
	}
	worker->arrivals++;
	for (;;) {
		uint64_t now = clock_ticks();

		if (now >= due)
			return due;
		uint64_t left_ns = clock_ns(due - now);

		if (left_ns > SPIN_NS) {
			uint64_t nap = left_ns - SPIN_NS < SLEEP_NS ? left_ns - SPIN_NS : SLEEP_NS;

			nanosleep(&(struct timespec){ .tv_nsec = (long)nap }, NULL);
		}
		if (worker_over(worker))
			return 0;
	}
}

/* ---- content ---- */

void worker_fill(struct worker *worker, const struct step *step, void *buffer)
{
	uint64_t ordinal = worker->writes++;

	if (step->kind == STEP_UPDATE && !worker->content.stamped)
		((unsigned char *)buffer)[ordinal % step->bytes]++;
	else
		content_fill(&worker->content, step->target, step->offset, ordinal, buffer, step->bytes);
}

void worker_verify(struct worker *worker, const struct step *step, const void *buffer)
{
	struct engine_report *report = worker->report;
	enum engine_verdict verdict;

	if (!(worker->phase->flags & ENGINE_VERIFY))
		return;
	verdict = engine_judge(worker->phase->seed, step->target, step->offset, worker->phase->generation, buffer,
			       step->bytes);
	report->verdicts[verdict]++;
	if (verdict != ENGINE_GOOD && report->bad_target < 0) {
		report->bad_target = step->target;
		report->bad_offset = step->offset;
		report->bad_verdict = verdict;
	}
}

/* ---- the worker ---- */

static int make_buffers(struct worker *worker)
{
	const struct engine_phase *phase = worker->phase;
	uint32_t largest = 0;
	void *buffers;

	for (uint32_t i = 0; i < phase->size_count; i++)
		if (phase->sizes[i].bytes > largest)
			largest = phase->sizes[i].bytes;
	worker->buffer_bytes = (largest + PAGE - 1) / PAGE * PAGE;
	buffers = mmap(NULL, (size_t)worker->buffer_bytes * phase->queue_depth, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (buffers == MAP_FAILED) {
		worker_fail(worker, ENGINE_OPEN, 0, 0, errno);
		return 0;
	}
	worker->buffers = buffers;
	return 1;
}

static void free_buffers(struct worker *worker)
{
	if (worker->buffers)
		munmap(worker->buffers, (size_t)worker->buffer_bytes * worker->phase->queue_depth);
}

static int set_up(struct worker *worker)
{
	return make_buffers(worker) && targets_open(worker) &&
	       (worker->phase->api != ENGINE_IO_URING || queue_open(worker));
}

static void run_loop(struct worker *worker)
{
	static void (*const loops[])(struct worker *) = {
		[ENGINE_READ_WRITE] = loop_read_write, [ENGINE_PREAD_PWRITE] = loop_pread_pwrite,
		[ENGINE_PREADV2] = loop_preadv2,       [ENGINE_MMAP] = loop_mmap,
		[ENGINE_STDIO] = loop_stdio,           [ENGINE_IO_URING] = loop_io_uring,
	};

	loops[worker->phase->api](worker);
}

/* What is timed: from the gate to the last close. */
static void work_timed(struct worker *worker)
{
	struct engine_report *report = worker->report;
	uint32_t flags = worker->phase->flags;
	int process = (flags & ENGINE_PROCESSES) != 0;
	int amount_done;

	run_usage(report, -1, process);
	recorder_begin(&worker->recorder, worker->control->start, worker->phase->limit_s);
	run_loop(worker);
	recorder_end(&worker->recorder, clock_ticks());
	amount_done = worker->batch == 0 || worker->recorder.expired;
	if (amount_done && report->ending != ENGINE_FAILED && (flags & ENGINE_UNTIL_FIRST))
		run_finish(worker->control, report, 1, flags);
	if ((flags & ENGINE_SYNC_AT_END) && report->ending != ENGINE_FAILED)
		worker_sync(worker);
	targets_close(worker);
	report->end_ns = recorder_ns(&worker->recorder, clock_ticks());
	run_finish(worker->control, report, amount_done, flags);
	run_usage(report, 1, process);
}

static void work(const struct engine_run *run, uint32_t number)
{
	const struct data_plan *plan = run->plan;
	struct worker *worker = calloc(1, sizeof(*worker));
	struct engine_report *report = &run->control->reports[number];

	if (!worker) {
		run_fail(run->control, report, ENGINE_OPEN, -1, 0, ENOMEM);
		run_gate(run->control, run->workers);
		return;
	}
	worker->phase = &plan->phase;
	worker->control = run->control;
	worker->report = report;
	if (plan->phase.flags & ENGINE_PIN)
		run_pin(number);
	recorder_init(&worker->recorder, report, &run->control->stop, plan->phase.bin_s);
	order_init(&worker->order, &plan->phase, plan->first_block, number);
	content_init(&worker->content, &plan->phase);
	set_limits(worker);
	set_arrivals(worker, number);
	worker->next_sync = plan->phase.sync_every ? plan->phase.sync_every : UINT64_MAX;
	if (!set_up(worker)) {
		run_gate(run->control, run->workers);
		targets_close(worker);
	} else if (run_gate(run->control, run->workers)) {
		work_timed(worker);
	} else {
		targets_close(worker);
		run_finish(run->control, report, 0, 0);
	}
	queue_close(worker);
	free_buffers(worker);
	free(worker);
}

/* ---- the plan ---- */

static void free_plan(void *opaque)
{
	struct data_plan *plan = opaque;

	if (!plan)
		return;
	for (uint32_t i = 0; plan->phase.targets && i < plan->phase.target_count; i++)
		free((void *)plan->phase.targets[i].path);
	free((void *)plan->phase.targets);
	free((void *)plan->phase.sizes);
	free(plan->first_block);
	free(plan);
}

static int copy_targets(struct data_plan *plan, const struct engine_phase *phase)
{
	struct engine_target *targets = calloc(phase->target_count, sizeof(*targets));
	uint32_t grid = order_grid(phase);

	plan->phase.targets = targets;
	plan->first_block = calloc(phase->target_count + 1, sizeof(*plan->first_block));
	if (!targets || !plan->first_block)
		return ENOMEM;
	for (uint32_t i = 0; i < phase->target_count; i++) {
		targets[i] = (struct engine_target){ strdup(phase->targets[i].path), phase->targets[i].bytes };
		if (!targets[i].path)
			return ENOMEM;
		plan->first_block[i + 1] = plan->first_block[i] + order_blocks(targets[i].bytes, grid);
	}
	return 0;
}

static int copy_phase(const struct engine_phase *phase, struct data_plan **ret)
{
	struct data_plan *plan = calloc(1, sizeof(*plan));
	struct engine_size *sizes = calloc(phase->size_count, sizeof(*sizes));
	int error = plan && sizes ? 0 : ENOMEM;

	if (error) {
		free(plan);
		free(sizes);
		return error;
	}
	plan->phase = *phase;
	plan->phase.sizes = memcpy(sizes, phase->sizes, phase->size_count * sizeof(*sizes));
	error = copy_targets(plan, phase);
	if (error) {
		free_plan(plan);
		return error;
	}
	*ret = plan;
	return 0;
}

/* What would make a loop divide by zero or leave its buffers; the typed face says such things in words. */
static int is_sound(const struct engine_phase *phase)
{
	if (phase->target_count == 0 || phase->target_count > UINT16_MAX || phase->size_count == 0 ||
	    phase->workers == 0 || phase->queue_depth == 0 || phase->bin_s <= 0)
		return 0;
	for (uint32_t i = 0; i < phase->size_count; i++)
		if (phase->sizes[i].bytes == 0 || phase->sizes[i].weight == 0)
			return 0;
	return (uint64_t)phase->read_weight + phase->write_weight + phase->update_weight > 0 &&
	       phase->compression_ratio >= 1 && (phase->order != ENGINE_STRIDE || phase->stride_blocks > 0);
}

int engine_api_error(enum engine_api api)
{
	return api == ENGINE_IO_URING ? io_uring_error() : 0;
}

int engine_start(const struct engine_phase *phase, struct engine_failure *failure, struct engine_run **ret)
{
	static const struct workings workings = { work, free_plan };
	struct data_plan *plan;
	struct engine_run *run;
	int error = is_sound(phase) ? engine_api_error(phase->api) : EINVAL;

	*failure = (struct engine_failure){ .error = error, .kind = ENGINE_OPEN, .target = -1 };
	if (!error)
		error = copy_phase(phase, &plan);
	if (!error)
		error = run_new(phase->workers, phase->flags, &workings, plan, &run);
	if (error) {
		failure->error = error;
		return error;
	}
	clock_init();
	error = targets_prepare(&plan->phase, &run->control->reports[0], failure);
	if (!error) {
		error = run_start(run);
		failure->error = error;
	}
	if (error) {
		engine_free(run);
		return error;
	}
	*ret = run;
	return 0;
}
