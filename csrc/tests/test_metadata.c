/* Metadata phases: a set of names through its whole life, in every arrangement. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "check.h"
#include "engine.h"
#include "names.h"

enum { NAMES = 50 };

static struct engine_metadata base(void)
{
	return (struct engine_metadata){
		.root = check_folder, .workers = 2, .random_letters = 12, .suffix = "", .new_suffix = ".new",
		.names = NAMES, .directories = 1, .depth = 1, .file_bytes = 100, .xattr_bytes = 30, .seed = 3,
		.bin_s = 0.1,
	};
}

static void run(struct engine_metadata *phase, enum engine_kind kind, uint64_t expected)
{
	struct engine_failure failure;
	struct engine_run *running;
	uint64_t done = 0;

	phase->kind = kind;
	CHECK(engine_start_metadata(phase, &failure, &running) == 0);
	CHECK(engine_wait(running, 10000) == 1);
	for (uint32_t i = 0; i < phase->workers; i++) {
		const struct engine_report *report = engine_report(running, i);

		if (report->ending != ENGINE_COMPLETE)
			fprintf(stderr, "kind %d: %s at %llu\n", kind, strerror(report->failure.error),
				(unsigned long long)report->failure.offset);
		CHECK(report->ending == ENGINE_COMPLETE);
		done += report->tallies[kind].latency.count;
	}
	CHECK(done == expected);
	engine_free(running);
}

static void a_life(enum engine_placement placement, enum engine_naming naming, uint32_t directories, uint32_t depth,
		   uint32_t flags)
{
	struct engine_metadata phase = base();
	const uint64_t all = 2 * NAMES;
	uint64_t trees = placement == ENGINE_APART ? 2 : 1;

	phase.placement = placement;
	phase.naming = naming;
	phase.directories = directories;
	phase.depth = depth;
	phase.flags = flags;
	run(&phase, ENGINE_CREATE, all);
	phase.shuffled = 1;
	run(&phase, ENGINE_STAT, all);
	run(&phase, ENGINE_OPEN, all);
	run(&phase, ENGINE_READ, all);
	run(&phase, ENGINE_READDIR, trees * directories);
	run(&phase, ENGINE_LINK, all);
	phase.suffix = ".new";
	run(&phase, ENGINE_UNLINK, all);
	phase.suffix = "";
	run(&phase, ENGINE_SYMLINK, all);
	phase.suffix = ".new";
	run(&phase, ENGINE_READ, all);          /* through the links */
	run(&phase, ENGINE_UNLINK, all);
	phase.suffix = "";
	run(&phase, ENGINE_RENAME, all);
	phase.suffix = ".new";
	run(&phase, ENGINE_UNLINK, all);
	run(&phase, ENGINE_MKDIR, all);
	phase.shuffled = 0;
	run(&phase, ENGINE_RMDIR, all);
}

static void an_error_tells_the_name(void)
{
	struct engine_metadata phase = base();
	struct engine_failure failure;
	struct engine_run *running;
	const struct engine_report *report;
	char path[256], whole[512];

	phase.workers = 1;
	run(&phase, ENGINE_CREATE, NAMES);
	engine_metadata_path(&phase, 0, 17, path, sizeof(path));
	snprintf(whole, sizeof(whole), "%s/%s", check_folder, path);
	CHECK(unlink(whole) == 0);
	phase.kind = ENGINE_STAT;
	CHECK(engine_start_metadata(&phase, &failure, &running) == 0);
	CHECK(engine_wait(running, 10000) == 1);
	report = engine_report(running, 0);
	CHECK(report->ending == ENGINE_FAILED && report->failure.error == ENOENT && report->failure.offset == 17);
	CHECK(report->tallies[ENGINE_STAT].latency.count == 17);
	engine_free(running);
	phase.kind = ENGINE_CREATE;
	phase.root = "/nonexistent";
	CHECK(engine_start_metadata(&phase, &failure, &running) == ENOENT);
	CHECK(failure.kind == ENGINE_MKDIR);
}

static void names_sort_by_creation_where_the_number_is_first(void)
{
	struct engine_metadata phase = base();
	char before[256] = "", path[256];
	unsigned falling = 0;

	for (uint64_t i = 0; i < NAMES; i++) {
		engine_metadata_path(&phase, 0, i, path, sizeof(path));
		CHECK(strcmp(before, path) < 0);
		strcpy(before, path);
	}
	phase.naming = ENGINE_NUMBER_LAST;
	for (uint64_t i = 0; i < NAMES; i++) {
		engine_metadata_path(&phase, 0, i, path, sizeof(path));
		falling += strcmp(before, path) > 0;
		strcpy(before, path);
	}
	CHECK(falling > 15);
}

int main(void)
{
	char command[300];

	CHECK(mkdtemp(check_folder) != NULL);
	names_sort_by_creation_where_the_number_is_first();
	a_life(ENGINE_TOGETHER, ENGINE_NUMBER_FIRST, 1, 1, 0);
	a_life(ENGINE_APART, ENGINE_NUMBER_LAST, 1, 1, ENGINE_PROCESSES);
	a_life(ENGINE_TOGETHER, ENGINE_NUMBER_LAST, 7, 3, ENGINE_PIN);
	a_life(ENGINE_APART, ENGINE_NUMBER_FIRST, 3, 1, 0);
	an_error_tells_the_name();
	snprintf(command, sizeof(command), "rm -rf %s", check_folder);
	CHECK(system(command) == 0);
	return 0;
}
