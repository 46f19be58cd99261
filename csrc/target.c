/* Targets: made before the start, opened by each worker before the gate, synced and closed in the worker's time. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "worker.h"

static int writes(const struct engine_phase *phase)
{
	return phase->write_weight > 0 || phase->update_weight > 0;
}

static int reads(const struct engine_phase *phase)
{
	return phase->read_weight > 0 || phase->update_weight > 0;
}

static int failed(struct engine_failure *failure, enum engine_kind kind, uint32_t target)
{
	*failure = (struct engine_failure){ .error = errno, .kind = (int32_t)kind, .target = (int32_t)target };
	return errno;
}

/* A mapping cannot grow its file. */
static int lengthen(int descriptor, uint64_t bytes)
{
	struct stat status;

	if (fstat(descriptor, &status) != 0)
		return -1;
	return (uint64_t)status.st_size < bytes ? ftruncate(descriptor, (off_t)bytes) : 0;
}

static int allocate(int descriptor, uint64_t bytes, struct engine_report *report)
{
	uint64_t begin = clock_ticks();
	int result;

	do
		result = fallocate(descriptor, 0, 0, (off_t)bytes);
	while (result != 0 && errno == EINTR);
	if (result == 0)
		histogram_add(&report->tallies[ENGINE_ALLOCATE].latency, clock_ns(clock_ticks() - begin));
	return result;
}

static int prepare_one(const struct engine_phase *phase, uint32_t number, struct engine_report *report,
		       struct engine_failure *failure)
{
	const struct engine_target *target = &phase->targets[number];
	int flags = O_RDWR | O_CLOEXEC | (phase->flags & ENGINE_CREATE_TARGETS ? O_CREAT : 0) |
		    (phase->flags & ENGINE_TRUNCATE_TARGETS ? O_TRUNC : 0);
	int descriptor = open(target->path, flags, 0600);
	int error = 0;

	if (descriptor < 0)
		return failed(failure, phase->flags & ENGINE_CREATE_TARGETS ? ENGINE_CREATE : ENGINE_OPEN, number);
	if ((phase->flags & ENGINE_ALLOCATE_TARGETS) && allocate(descriptor, target->bytes, report) != 0)
		error = failed(failure, ENGINE_ALLOCATE, number);
	else if (phase->api == ENGINE_MMAP && writes(phase) && lengthen(descriptor, target->bytes) != 0)
		error = failed(failure, ENGINE_ALLOCATE, number);
	close(descriptor);
	return error;
}

int targets_prepare(const struct engine_phase *phase, struct engine_report *report, struct engine_failure *failure)
{
	const uint32_t preparing = ENGINE_CREATE_TARGETS | ENGINE_TRUNCATE_TARGETS | ENGINE_ALLOCATE_TARGETS;
	int error = 0;

	if (!(phase->flags & preparing) && !(phase->api == ENGINE_MMAP && writes(phase)))
		return 0;
	for (uint32_t i = 0; i < phase->target_count && !error; i++)
		error = prepare_one(phase, i, report, failure);
	return error;
}

static int open_flags(const struct engine_phase *phase)
{
	int flags = O_CLOEXEC;

	if (!writes(phase))
		flags |= O_RDONLY;
	else
		flags |= reads(phase) || phase->api == ENGINE_MMAP ? O_RDWR : O_WRONLY;
	if (phase->flags & ENGINE_O_DIRECT)
		flags |= O_DIRECT;
	if (phase->flags & ENGINE_O_SYNC)
		flags |= O_SYNC;
	if (phase->flags & ENGINE_O_DSYNC)
		flags |= O_DSYNC;
	return flags;
}

/* The stream is this worker's alone: no lock a character, as in a program of one thread. */
static int open_stream(const struct engine_phase *phase, struct open_target *target)
{
	const char *mode = !writes(phase) ? "r" : reads(phase) ? "r+" : "w";

	target->stream = fdopen(target->descriptor, mode);
	if (!target->stream)
		return -1;
	__fsetlocking(target->stream, FSETLOCKING_BYCALLER);
	return 0;
}

/* Pages beyond the end of a shorter file fault with SIGBUS, which loop_mmap turns into an error. */
static int map(const struct engine_phase *phase, struct open_target *target)
{
	int protection = PROT_READ | (writes(phase) ? PROT_WRITE : 0);
	void *map;

	if (target->bytes == 0)
		return 0;
	map = mmap(NULL, target->bytes, protection, MAP_SHARED, target->descriptor, 0);
	if (map == MAP_FAILED)
		return -1;
	target->map = map;
	return 0;
}

static int open_one(struct worker *worker, struct open_target *target)
{
	const struct engine_phase *phase = worker->phase;

	target->descriptor = open(phase->targets[target->number].path, open_flags(phase));
	if (target->descriptor < 0)
		return -1;
	if (phase->api == ENGINE_STDIO)
		return open_stream(phase, target);
	return phase->api == ENGINE_MMAP ? map(phase, target) : 0;
}

int targets_open(struct worker *worker)
{
	const struct engine_phase *phase = worker->phase;

	worker->targets = calloc(phase->target_count, sizeof(*worker->targets));
	if (!worker->targets) {
		worker_fail(worker, ENGINE_OPEN, 0, 0, ENOMEM);
		return 0;
	}
	for (uint32_t i = 0; i < phase->target_count; i++)
		worker->targets[i] = (struct open_target){
			.descriptor = -1,
			.number = i,
			.bytes = phase->targets[i].bytes,
		};
	for (uint32_t i = worker->order.first_target; i <= worker->order.last_target; i++)
		if (open_one(worker, &worker->targets[i]) != 0) {
			worker_fail(worker, ENGINE_OPEN, i, 0, errno);
			return 0;
		}
	return 1;
}

static int close_one(struct open_target *target)
{
	if (target->map)
		munmap(target->map, target->bytes);
	if (target->stream)
		return fclose(target->stream);
	return close(target->descriptor);
}

void targets_close(struct worker *worker)
{
	if (!worker->targets)
		return;
	queue_release(worker);
	for (uint32_t i = worker->order.first_target; i <= worker->order.last_target; i++) {
		uint64_t begin = clock_ticks();

		if (worker->targets[i].descriptor < 0)
			continue;
		if (close_one(&worker->targets[i]) == 0)
			record_aside(&worker->recorder, ENGINE_CLOSE, begin, clock_ticks());
		else
			worker_fail(worker, ENGINE_CLOSE, i, worker->targets[i].position, errno);
	}
	free(worker->targets);
	worker->targets = NULL;
}

static int sync_one(const struct engine_phase *phase, struct open_target *target)
{
	int result;

	if (target->stream && fflush(target->stream) != 0)
		return -1;
	do
		result = phase->sync_call == ENGINE_FSYNC ? fsync(target->descriptor) : fdatasync(target->descriptor);
	while (result != 0 && errno == EINTR);
	return result;
}

int worker_sync(struct worker *worker)
{
	const struct engine_phase *phase = worker->phase;

	worker->next_sync = phase->sync_every ? worker->writes + phase->sync_every : UINT64_MAX;
	for (uint32_t i = worker->order.first_target; i <= worker->order.last_target; i++) {
		uint64_t begin = clock_ticks();

		if (sync_one(phase, &worker->targets[i]) != 0) {
			worker_fail(worker, ENGINE_SYNC, i, 0, errno);
			return 0;
		}
		record_aside(&worker->recorder, ENGINE_SYNC, begin, clock_ticks());
	}
	return 1;
}
