/*
 * Metadata phases: one kind of call over a set of names. Each worker has a working directory of its own
 * (unshare(2), CLONE_FS) at the phase's root, so that paths are short and xattr calls need no descriptor.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "clock.h"
#include "content.h"
#include "names.h"
#include "order.h"
#include "record.h"
#include "run.h"

enum { READ_BYTES = 65536, XATTR_LONGEST = 65536 };

static const char xattr_name[] = "user.fstrial";

struct metadata_worker {
	const struct engine_metadata *phase;
	struct recorder recorder;
	uint32_t number;
	uint64_t items;                 /* names, or directories to list */
	struct permutation permutation;
	uint64_t *starts;               /* of each item's path in `paths` */
	char *paths;
	unsigned char *buffer;          /* what is written, read or attached */
	size_t buffer_bytes;
	char made[PATH_MAX];            /* the path that RENAME, LINK and SYMLINK make */
};

/* An operation on a path: 0 or -1 with errno; *bytes is what it moved. */
typedef int (*operation)(struct metadata_worker *worker, const char *path, uint64_t *bytes);

static int write_all(int descriptor, const unsigned char *buffer, size_t bytes, uint64_t *done)
{
	while (*done < bytes) {
		ssize_t put = write(descriptor, buffer + *done, bytes - *done);

		if (put < 0 && errno != EINTR && errno != EAGAIN)
			return -1;
		*done += put > 0 ? (uint64_t)put : 0;
	}
	return 0;
}

/* Close, and let the first error win. */
static int close_after(int descriptor, int result)
{
	int error = errno;

	if (close(descriptor) != 0 && result == 0)
		return -1;
	errno = error;
	return result;
}

static int do_create(struct metadata_worker *worker, const char *path, uint64_t *bytes)
{
	int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (descriptor < 0)
		return -1;
	return close_after(descriptor, write_all(descriptor, worker->buffer, worker->phase->file_bytes, bytes));
}

static int do_open(struct metadata_worker *worker, const char *path, uint64_t *bytes)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);

	(void)worker;
	(void)bytes;
	return descriptor < 0 ? -1 : close(descriptor);
}

static int do_read(struct metadata_worker *worker, const char *path, uint64_t *bytes)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = 1;

	if (descriptor < 0)
		return -1;
	while (got != 0) {
		got = read(descriptor, worker->buffer, worker->buffer_bytes);
		if (got < 0 && errno != EINTR)
			break;
		*bytes += got > 0 ? (uint64_t)got : 0;
	}
	return close_after(descriptor, got < 0 ? -1 : 0);
}

static int do_stat(struct metadata_worker *worker, const char *path, uint64_t *bytes)
{
	struct stat status;

	(void)worker;
	(void)bytes;
	return lstat(path, &status);
}

/* The path with the new suffix instead of the one of every name. */
static const char *made_path(struct metadata_worker *worker, const char *path)
{
	int kept = (int)(strlen(path) - strlen(worker->phase->suffix));

	snprintf(worker->made, sizeof(worker->made), "%.*s%s", kept, path, worker->phase->new_suffix);
	return worker->made;
}

static int do_rename(struct metadata_worker *worker, const char *path, uint64_t *bytes)
{
	(void)bytes;
	return rename(path, made_path(worker, path));
}

static int do_link(struct metadata_worker *worker, const char *path, uint64_t *bytes)
{
	(void)bytes;
	return link(path, made_path(worker, path));
}

static int do_symlink(struct metadata_worker *worker, const char *path, uint64_t *bytes)
{
	const char *slash = strrchr(path, '/');

	(void)bytes;
	return symlink(slash ? slash + 1 : path, made_path(worker, path));
}

static int do_mkdir(struct metadata_worker *worker, const char *path, uint64_t *bytes)
{
	(void)worker;
	(void)bytes;
	return mkdir(path, 0700);
}

static int do_rmdir(struct metadata_worker *worker, const char *path, uint64_t *bytes)
{
	(void)worker;
	(void)bytes;
	return rmdir(path);
}

static int do_readdir(struct metadata_worker *worker, const char *path, uint64_t *bytes)
{
	DIR *directory = opendir(*path ? path : ".");
	int error;

	(void)worker;
	(void)bytes;
	if (!directory)
		return -1;
	do
		errno = 0;
	while (readdir(directory));
	error = errno;
	closedir(directory);
	errno = error;
	return error ? -1 : 0;
}

static int do_unlink(struct metadata_worker *worker, const char *path, uint64_t *bytes)
{
	(void)worker;
	(void)bytes;
	return unlink(path);
}

static int do_setxattr(struct metadata_worker *worker, const char *path, uint64_t *bytes)
{
	*bytes = worker->phase->xattr_bytes;
	return setxattr(path, xattr_name, worker->buffer, worker->phase->xattr_bytes, 0);
}

static int do_getxattr(struct metadata_worker *worker, const char *path, uint64_t *bytes)
{
	ssize_t got = getxattr(path, xattr_name, worker->buffer, worker->buffer_bytes);

	*bytes = got > 0 ? (uint64_t)got : 0;
	return got < 0 ? -1 : 0;
}

static const operation operations[ENGINE_KINDS] = {
	[ENGINE_READ] = do_read,	 [ENGINE_OPEN] = do_open,	  [ENGINE_CREATE] = do_create,
	[ENGINE_STAT] = do_stat,	 [ENGINE_RENAME] = do_rename,	  [ENGINE_LINK] = do_link,
	[ENGINE_SYMLINK] = do_symlink,	 [ENGINE_MKDIR] = do_mkdir,	  [ENGINE_RMDIR] = do_rmdir,
	[ENGINE_READDIR] = do_readdir,	 [ENGINE_UNLINK] = do_unlink,	  [ENGINE_SETXATTR] = do_setxattr,
	[ENGINE_GETXATTR] = do_getxattr,
};

/* ---- the worker ---- */

/* READDIR: the leaves are dealt round where all workers share them. */
static uint64_t count_items(const struct engine_metadata *phase, uint32_t number)
{
	if (phase->kind != ENGINE_READDIR)
		return phase->names;
	if (phase->placement == ENGINE_APART)
		return phase->directories;
	return phase->directories / phase->workers + (number < phase->directories % phase->workers);
}

static int path_of(const struct metadata_worker *worker, uint64_t item, char *buffer, size_t bytes)
{
	const struct engine_metadata *phase = worker->phase;

	if (phase->kind == ENGINE_READDIR) {
		uint64_t leaf = phase->placement == ENGINE_APART ? item : item * phase->workers + worker->number;

		return names_directory(phase, worker->number, (uint32_t)leaf, buffer, bytes);
	}
	int length = engine_metadata_path(phase, worker->number, item, buffer, (uint32_t)bytes);

	return length + snprintf(buffer + length, bytes - (size_t)length, "%s", phase->suffix);
}

/* All paths before the start: the phase times calls, not the making of names. */
static int make_paths(struct metadata_worker *worker)
{
	size_t used = 0, room = 0;
	char path[PATH_MAX];

	worker->starts = calloc(worker->items + 1, sizeof(*worker->starts));
	if (!worker->starts)
		return ENOMEM;
	for (uint64_t item = 0; item < worker->items; item++) {
		size_t length = (size_t)path_of(worker, item, path, sizeof(path)) + 1;

		if (length > sizeof(path))
			return ENAMETOOLONG;
		if (used + length > room) {
			room = 2 * room + PATH_MAX;
			char *larger = realloc(worker->paths, room);

			if (!larger)
				return ENOMEM;
			worker->paths = larger;
		}
		memcpy(worker->paths + used, path, length);
		worker->starts[item] = used;
		used += length;
	}
	return 0;
}

static int make_buffer(struct metadata_worker *worker)
{
	const struct engine_metadata *phase = worker->phase;

	worker->buffer_bytes = phase->file_bytes > READ_BYTES ? phase->file_bytes : READ_BYTES;
	worker->buffer = malloc(worker->buffer_bytes);
	if (!worker->buffer)
		return ENOMEM;
	content_random(random_mix(phase->seed ^ worker->number), worker->buffer, (uint32_t)worker->buffer_bytes);
	return 0;
}

static int set_up(struct metadata_worker *worker)
{
	int error = make_buffer(worker);

	if (!error)
		error = make_paths(worker);
	if (error)
		return error;
	permutation_init(&worker->permutation, worker->items, worker->phase->seed ^ random_mix(worker->number));
	if (unshare(CLONE_FS) != 0 || chdir(worker->phase->root) != 0)
		return errno;
	return 0;
}

/* Every item once; the number of items done. */
static uint64_t run_items(struct metadata_worker *worker, struct control *control)
{
	const struct engine_metadata *phase = worker->phase;
	const operation call = operations[phase->kind];
	uint64_t begin = clock_ticks();

	for (uint64_t i = 0; i < worker->items; i++) {
		uint64_t item = phase->shuffled ? permutation_at(&worker->permutation, i) : i;
		uint64_t bytes = 0;
		int result;

		do
			result = call(worker, worker->paths + worker->starts[item], &bytes);
		while (UNLIKELY(result != 0) && errno == EINTR && bytes == 0 && ++worker->recorder.report->retries);
		uint64_t end = clock_ticks();

		if (UNLIKELY(result != 0)) {
			worker->recorder.report->tallies[phase->kind].bytes += bytes;
			run_fail(control, worker->recorder.report, phase->kind, -1, item, errno);
			return i;
		}
		record(&worker->recorder, phase->kind, begin, end, bytes);
		begin = end;
		if (recorder_over(&worker->recorder))
			return i + 1;
	}
	return worker->items;
}

static void work_timed(struct metadata_worker *worker, struct control *control)
{
	const struct engine_metadata *phase = worker->phase;
	struct engine_report *report = worker->recorder.report;
	int process = (phase->flags & ENGINE_PROCESSES) != 0;
	uint64_t done;

	run_usage(report, -1, process);
	recorder_begin(&worker->recorder, control->start, phase->limit_s);
	done = run_items(worker, control);
	recorder_end(&worker->recorder, clock_ticks());
	report->end_ns = report->last_done_ns;
	run_finish(control, report, done == worker->items || worker->recorder.expired, phase->flags);
	run_usage(report, 1, process);
}

static void work(const struct engine_run *run, uint32_t number)
{
	struct metadata_worker *worker = calloc(1, sizeof(*worker));
	struct engine_report *report = &run->control->reports[number];
	int error = ENOMEM;

	if (worker) {
		worker->phase = run->plan;
		worker->number = number;
		worker->items = count_items(run->plan, number);
		recorder_init(&worker->recorder, report, &run->control->stop, worker->phase->bin_s);
		if (worker->phase->flags & ENGINE_PIN)
			run_pin(number);
		error = set_up(worker);
	}
	if (error)
		run_fail(run->control, report, ENGINE_OPEN, -1, 0, error);
	if (run_gate(run->control, run->workers))
		work_timed(worker, run->control);
	else
		run_finish(run->control, report, 0, 0);
	if (worker) {
		free(worker->starts);
		free(worker->paths);
		free(worker->buffer);
	}
	free(worker);
}

/* ---- the plan ---- */

static void free_plan(void *opaque)
{
	struct engine_metadata *plan = opaque;

	free((void *)plan->root);
	free((void *)plan->suffix);
	free((void *)plan->new_suffix);
	free(plan);
}

static int copy_phase(const struct engine_metadata *phase, struct engine_metadata **ret)
{
	struct engine_metadata *plan = malloc(sizeof(*plan));

	if (!plan)
		return ENOMEM;
	*plan = *phase;
	plan->root = strdup(phase->root);
	plan->suffix = strdup(phase->suffix);
	plan->new_suffix = strdup(phase->new_suffix);
	if (!plan->root || !plan->suffix || !plan->new_suffix) {
		free_plan(plan);
		return ENOMEM;
	}
	*ret = plan;
	return 0;
}

static int is_sound(const struct engine_metadata *phase)
{
	return (unsigned)phase->kind < ENGINE_KINDS && operations[phase->kind] && phase->workers > 0 &&
	       phase->names > 0 && phase->directories > 0 && phase->depth > 0 && phase->bin_s > 0 &&
	       phase->xattr_bytes <= XATTR_LONGEST;
}

int engine_start_metadata(const struct engine_metadata *phase, struct engine_failure *failure, struct engine_run **ret)
{
	static const struct workings workings = { work, free_plan };
	struct engine_metadata *plan;
	struct engine_run *run;
	int error = is_sound(phase) ? 0 : EINVAL;

	*failure = (struct engine_failure){ .kind = ENGINE_OPEN, .target = -1 };
	if (!error && (phase->kind == ENGINE_CREATE || phase->kind == ENGINE_MKDIR)) {
		failure->kind = ENGINE_MKDIR;
		error = names_make_tree(phase);
	}
	if (!error)
		error = copy_phase(phase, &plan);
	if (!error)
		error = run_new(phase->workers, phase->flags, &workings, plan, &run);
	failure->error = error;
	if (error)
		return error;
	error = run_start(run);
	failure->error = error;
	if (error) {
		engine_free(run);
		return error;
	}
	*ret = run;
	return 0;
}
