/* Data phases through every API, order and way of running, and how they end. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "check.h"
#include "engine.h"

enum { BLOCKS = 300, BLOCK = 4096, TAIL = 512 };

static const struct engine_size block_size[] = { { BLOCK, 1 } };
static struct engine_target targets[2];

static struct engine_phase base(void)
{
	targets[0] = (struct engine_target){ check_path("a"), BLOCKS * BLOCK + TAIL };
	targets[1] = (struct engine_target){ check_path("b"), BLOCKS * BLOCK };
	return (struct engine_phase){
		.targets = targets, .target_count = 2, .sizes = block_size, .size_count = 1, .workers = 2,
		.queue_depth = 1, .api = ENGINE_PREAD_PWRITE, .order = ENGINE_SEQUENTIAL, .sharing = ENGINE_SLICED,
		.stride_blocks = 7, .zipf_exponent = 1, .content = ENGINE_RANDOM, .compression_ratio = 1,
		.seed = 4, .bin_s = 0.001,
	};
}

static struct engine_run *start(const struct engine_phase *phase)
{
	struct engine_failure failure;
	struct engine_run *run = NULL;
	int error = engine_start(phase, &failure, &run);

	if (error)
		fprintf(stderr, "start: %s, kind %d\n", strerror(error), failure.kind);
	CHECK(error == 0);
	return run;
}

/* Runs to the end; operations of that kind, summed over workers. */
static uint64_t run(const struct engine_phase *phase, enum engine_kind kind, enum engine_ending ending)
{
	struct engine_run *running = start(phase);
	uint64_t operations = 0;

	CHECK(engine_wait(running, 20000) == 1);
	for (uint32_t i = 0; i < phase->workers; i++) {
		const struct engine_report *report = engine_report(running, i);
		uint64_t in_series = 0, in_tallies = report->tallies[ENGINE_READ].latency.count +
					     report->tallies[ENGINE_WRITE].latency.count;

		if (report->ending != ending)
			fprintf(stderr, "ending %d, error %s, kind %d, offset %llu\n", report->ending,
				strerror(report->failure.error), report->failure.kind,
				(unsigned long long)report->failure.offset);
		CHECK(report->ending == ending);
		for (uint32_t j = 0; j < report->bins; j++)
			in_series += report->series[j].operations;
		CHECK(in_series == in_tallies);
		CHECK(report->first_done_ns <= report->last_done_ns && report->last_done_ns <= report->end_ns);
		operations += report->tallies[kind].latency.count;
	}
	engine_free(running);
	return operations;
}

static void written_blocks_verify(enum engine_api api, enum engine_order order, uint32_t flags, uint32_t depth)
{
	struct engine_phase phase = base();

	unlink(targets[0].path);
	unlink(targets[1].path);
	phase.api = api;
	phase.order = order;
	phase.queue_depth = depth;
	phase.flags = flags | ENGINE_STAMP | ENGINE_CREATE_TARGETS | ENGINE_SYNC_AT_END;
	phase.write_weight = 1;
	phase.sync_every = 100;
	CHECK(run(&phase, ENGINE_WRITE, ENGINE_COMPLETE) == 2 * BLOCKS + 1);
	phase.flags = flags | ENGINE_VERIFY;
	phase.write_weight = 0;
	phase.read_weight = 1;
	phase.sync_every = 0;

	struct engine_run *running = start(&phase);
	uint64_t good = 0;

	CHECK(engine_wait(running, 20000) == 1);
	for (uint32_t i = 0; i < 2; i++)
		good += engine_report(running, i)->verdicts[ENGINE_GOOD];
	CHECK(good == 2 * BLOCKS + 1);
	CHECK(engine_report(running, 0)->bad_target == -1);
	engine_free(running);
}

static void every_api_and_order(void)
{
	static const enum engine_order orders[] = { ENGINE_SEQUENTIAL, ENGINE_BACKWARD, ENGINE_STRIDE,
						    ENGINE_PERMUTATION };

	for (int api = ENGINE_READ_WRITE; api <= ENGINE_IO_URING; api++) {
		if (engine_api_error(api) != 0)
			continue;
		for (unsigned i = 0; i < 4; i++)
			written_blocks_verify(api, orders[i], i % 2 ? ENGINE_PROCESSES : ENGINE_PIN,
					      api == ENGINE_IO_URING ? 8 : 1);
	}
}

static void mixed_work_counts_updates_twice(void)
{
	for (int api = ENGINE_READ_WRITE; api <= ENGINE_IO_URING; api++) {
		struct engine_phase phase = base();

		if (engine_api_error(api) != 0)
			continue;
		phase.api = api;
		phase.order = ENGINE_ZIPF;
		phase.update_weight = 1;
		phase.limit_operations = 200;
		CHECK(run(&phase, ENGINE_WRITE, ENGINE_COMPLETE) == 400);
		CHECK(run(&phase, ENGINE_READ, ENGINE_COMPLETE) == 400);
		phase.read_weight = 1;
		phase.write_weight = 1;
		phase.queue_depth = api == ENGINE_IO_URING ? 16 : 1;
		run(&phase, ENGINE_READ, ENGINE_COMPLETE);
	}
}

static void limits_end_a_phase(void)
{
	struct engine_phase phase = base();

	phase.read_weight = 1;
	phase.limit_bytes = 10 * BLOCK + 100;
	CHECK(run(&phase, ENGINE_READ, ENGINE_COMPLETE) == 22);
	phase.limit_bytes = 0;
	phase.limit_s = 0.05;
	phase.order = ENGINE_UNIFORM;
	CHECK(run(&phase, ENGINE_READ, ENGINE_COMPLETE) > 22);
}

static void a_short_file_fails_with_its_offset(void)
{
	for (int api = ENGINE_READ_WRITE; api <= ENGINE_IO_URING; api++) {
		struct engine_phase phase = base();
		struct engine_run *running;
		const struct engine_report *report;

		if (engine_api_error(api) != 0)
			continue;
		CHECK(truncate(targets[0].path, 40 * BLOCK) == 0);
		phase.api = api;
		phase.target_count = 1;
		phase.workers = 1;
		phase.read_weight = 1;
		running = start(&phase);
		CHECK(engine_wait(running, 20000) == 1);
		report = engine_report(running, 0);
		CHECK(report->ending == ENGINE_FAILED);
		CHECK(report->failure.error == (api == ENGINE_MMAP ? EIO : ENODATA));
		CHECK(report->failure.offset == 40 * BLOCK);
		CHECK(report->failure.kind == ENGINE_READ && report->failure.target == 0);
		CHECK(report->tallies[ENGINE_READ].latency.count == 40);
		CHECK(report->tallies[ENGINE_READ].errors == 1);
		engine_free(running);
	}
}

static void a_stop_ends_threads_and_processes(uint32_t flags)
{
	struct engine_phase phase = base();
	struct engine_run *running;

	phase.api = ENGINE_PREADV2;
	phase.order = ENGINE_UNIFORM;
	phase.read_weight = 1;
	phase.limit_s = 1000;
	phase.flags = flags;
	CHECK(truncate(targets[0].path, (off_t)targets[0].bytes) == 0);
	running = start(&phase);
	CHECK(engine_wait(running, 50) == 0);
	engine_stop(running);
	CHECK(engine_wait(running, 5000) == 1);
	CHECK(engine_report(running, 0)->ending == ENGINE_STOPPED);
	CHECK(engine_report(running, 1)->ending == ENGINE_STOPPED);
	CHECK(engine_report(running, 1)->tallies[ENGINE_READ].latency.count > 0);
	engine_free(running);
	engine_free(start(&phase));     /* freed while it runs */
}

static void the_first_done_stops_the_others(void)
{
	struct engine_phase phase = base();
	struct engine_run *running;

	targets[0].bytes = 4 * BLOCK;
	phase.sharing = ENGINE_OWN;
	phase.order = ENGINE_SEQUENTIAL;
	phase.read_weight = 1;
	phase.rate_per_s = 2000;
	phase.flags = ENGINE_UNTIL_FIRST;
	running = start(&phase);
	CHECK(engine_wait(running, 20000) == 1);
	CHECK(engine_report(running, 0)->ending == ENGINE_COMPLETE);
	CHECK(engine_report(running, 1)->ending == ENGINE_OTHER_FIRST);
	CHECK(engine_report(running, 1)->tallies[ENGINE_READ].latency.count < 20);
	engine_free(running);
}

static void long_series_fold(void)
{
	struct engine_phase phase = base();

	phase.read_weight = 1;
	phase.order = ENGINE_UNIFORM;
	phase.limit_s = 0.1;
	phase.bin_s = 1e-6;     /* 100 000 bins do not fit into 8192 */
	run(&phase, ENGINE_READ, ENGINE_COMPLETE);
}

static void a_missing_target_stops_all_before_the_start(void)
{
	struct engine_phase phase = base();
	struct engine_run *running;

	unlink(targets[1].path);
	phase.sharing = ENGINE_OWN;
	phase.read_weight = 1;
	running = start(&phase);
	CHECK(engine_wait(running, 5000) == 1);
	CHECK(engine_report(running, 1)->ending == ENGINE_FAILED);
	CHECK(engine_report(running, 1)->failure.error == ENOENT);
	CHECK(engine_report(running, 1)->failure.kind == ENGINE_OPEN);
	CHECK(engine_report(running, 0)->tallies[ENGINE_READ].latency.count == 0);
	engine_free(running);
}

int main(void)
{
	CHECK(mkdtemp(check_folder) != NULL);
	every_api_and_order();
	mixed_work_counts_updates_twice();
	limits_end_a_phase();
	a_short_file_fails_with_its_offset();
	a_stop_ends_threads_and_processes(0);
	a_stop_ends_threads_and_processes(ENGINE_PROCESSES);
	the_first_done_stops_the_others();
	long_series_fold();
	a_missing_target_stops_all_before_the_start();
	unlink(check_path("a"));
	unlink(check_path("b"));
	CHECK(rmdir(check_folder) == 0);
	return 0;
}
