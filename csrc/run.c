/* Starting, releasing, stopping and joining workers. */
#define _GNU_SOURCE
#include "run.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if __has_include(<linux/close_range.h>)
#include <linux/close_range.h>
#endif

enum { GLANCE_MS = 20 };        /* how often a waiter looks for what does not wake it */

static void futex_wait(atomic_uint *word, unsigned value, int64_t timeout_ms)
{
	struct timespec timeout = { .tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, NULL, 0);
}

static void futex_wake_all(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static size_t control_bytes(uint32_t workers)
{
	return sizeof(struct control) + workers * sizeof(struct engine_report);
}

int run_new(uint32_t workers, uint32_t flags, const struct workings *workings, void *plan, struct engine_run **ret)
{
	struct engine_run *run = calloc(1, sizeof(*run));

	if (!run) {
		workings->free_plan(plan);
		return ENOMEM;
	}
	run->workers = workers;
	run->flags = flags;
	run->workings = workings;
	run->plan = plan;
	run->threads = calloc(workers, sizeof(*run->threads));
	run->processes = calloc(workers, sizeof(*run->processes));
	run->control = mmap(NULL, control_bytes(workers), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (run->control == MAP_FAILED)
		run->control = NULL;
	if (!run->threads || !run->processes || !run->control) {
		engine_free(run);
		return ENOMEM;
	}
	*ret = run;
	return 0;
}

static void stop_for(struct control *control, enum stop_reason reason)
{
	unsigned not_yet = STOP_NOT;

	atomic_compare_exchange_strong(&control->stop, &not_yet, reason);
}

void engine_stop(struct engine_run *run)
{
	stop_for(run->control, STOP_ASKED);
}

/* ---- in the workers ---- */

static void report_end(struct control *control)
{
	atomic_fetch_add(&control->ended, 1);
	futex_wake_all(&control->ended);
}

struct start_argument {
	const struct engine_run *run;
	uint32_t worker;
};

/*
 * A descriptor table of its own, empty but for the standard streams. The kernel counts references to a file at each
 * call on a shared table (fs/file.c, fdget), which would make a thread slower than the program it stands for.
 */
static void own_descriptors(void)
{
#if defined(SYS_close_range) && defined(CLOSE_RANGE_UNSHARE)
	syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_UNSHARE);
#endif
}

static void *thread_main(void *opaque)
{
	struct start_argument argument = *(struct start_argument *)opaque;

	free(opaque);
	own_descriptors();
	argument.run->workings->work(argument.run, argument.worker);
	report_end(argument.run->control);
	return NULL;
}

/* Ctrl-C goes to all processes of a terminal's group: the parent hears it too and stops us. */
static _Noreturn void process_main(const struct engine_run *run, uint32_t worker, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	run->workings->work(run, worker);
	report_end(run->control);
	_exit(0);
}

int run_gate(struct control *control, uint32_t workers)
{
	if (atomic_fetch_add(&control->arrived, 1) + 1 == workers) {
		control->start = clock_ticks();
		atomic_store(&control->open, 1);
		futex_wake_all(&control->open);
	}
	while (!atomic_load(&control->open) && !atomic_load(&control->stop))
		futex_wait(&control->open, 0, GLANCE_MS);
	return atomic_load(&control->open) && !atomic_load(&control->stop);
}

void run_fail(struct control *control, struct engine_report *report, enum engine_kind kind, int target,
	      uint64_t offset, int error)
{
	report->tallies[kind].errors++;
	if (report->ending == ENGINE_FAILED)
		return;
	report->ending = ENGINE_FAILED;
	report->failure = (struct engine_failure){
		.error = error,
		.kind = (int32_t)kind,
		.target = target,
		.offset = offset,
	};
	stop_for(control, STOP_FAILURE);
}

void run_finish(struct control *control, struct engine_report *report, int amount_done, uint32_t flags)
{
	static const enum engine_ending endings[] = {
		[STOP_NOT] = ENGINE_COMPLETE,
		[STOP_ASKED] = ENGINE_STOPPED,
		[STOP_FIRST_DONE] = ENGINE_OTHER_FIRST,
		[STOP_FAILURE] = ENGINE_OTHER_FAILED,
	};

	if (report->ending == ENGINE_FAILED)
		return;
	if (!amount_done) {
		report->ending = endings[atomic_load(&control->stop)];
		return;
	}
	report->ending = ENGINE_COMPLETE;
	if (flags & ENGINE_UNTIL_FIRST)
		stop_for(control, STOP_FIRST_DONE);
}

void run_pin(uint32_t worker)
{
	cpu_set_t allowed, one;
	unsigned wanted;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	wanted = worker % (unsigned)CPU_COUNT(&allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || wanted-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

/* ---- in the caller ---- */

static int start_thread(struct engine_run *run, uint32_t worker)
{
	struct start_argument *argument = malloc(sizeof(*argument));
	int error;

	if (!argument)
		return ENOMEM;
	*argument = (struct start_argument){ run, worker };
	error = pthread_create(&run->threads[worker], NULL, thread_main, argument);
	if (error)
		free(argument);
	return error;
}

static int start_process(struct engine_run *run, uint32_t worker)
{
	pid_t self = getpid();
	pid_t child = fork();

	if (child < 0)
		return errno;
	if (child == 0)
		process_main(run, worker, self);
	run->processes[worker] = child;
	return 0;
}

/* Workers take no signals but those of their own faults: they are the caller's to handle. */
int run_start(struct engine_run *run)
{
	sigset_t all, before;
	int error = 0;

	clock_init();
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (uint32_t i = 0; i < run->workers && !error; i++) {
		error = run->flags & ENGINE_PROCESSES ? start_process(run, i) : start_thread(run, i);
		run->started += !error;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		stop_for(run->control, STOP_FAILURE);
	return error;
}

/* A process that ended without a report was killed: the others cannot go on without it. */
static void note_lost(struct engine_run *run, uint32_t worker, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	run->control->reports[worker].ending = ENGINE_LOST;
	stop_for(run->control, STOP_FAILURE);
}

static int all_processes_ended(struct engine_run *run)
{
	int all = 1;

	for (uint32_t i = 0; i < run->started; i++) {
		int status;

		if (run->processes[i] == 0)
			continue;
		if (waitpid(run->processes[i], &status, WNOHANG) == 0) {
			all = 0;
			continue;
		}
		note_lost(run, i, status);
		run->processes[i] = 0;
	}
	return all;
}

static int all_threads_ended(struct engine_run *run)
{
	if (atomic_load(&run->control->ended) < run->started)
		return 0;
	for (uint32_t i = 0; i < run->started && !run->joined; i++)
		pthread_join(run->threads[i], NULL);
	run->joined = 1;
	return 1;
}

static int all_ended(struct engine_run *run)
{
	return run->flags & ENGINE_PROCESSES ? all_processes_ended(run) : all_threads_ended(run);
}

int engine_wait(struct engine_run *run, int32_t timeout_ms)
{
	uint64_t deadline = clock_monotonic_ns() + (uint64_t)timeout_ms * 1000000u;

	for (;;) {
		unsigned ended = atomic_load(&run->control->ended);
		uint64_t now = clock_monotonic_ns();

		if (all_ended(run))
			return 1;
		if (now >= deadline)
			return 0;
		int64_t left_ms = (int64_t)((deadline - now) / 1000000u) + 1;

		/* a process's last word is its exit, shortly after the futex: look again soon */
		if (ended >= run->started)
			left_ms = 1;
		futex_wait(&run->control->ended, ended, left_ms < GLANCE_MS ? left_ms : GLANCE_MS);
	}
}

const struct engine_report *engine_report(const struct engine_run *run, uint32_t worker)
{
	return &run->control->reports[worker];
}

void engine_free(struct engine_run *run)
{
	if (!run)
		return;
	if (run->control) {
		engine_stop(run);
		while (!engine_wait(run, 1000))
			continue;
		munmap(run->control, control_bytes(run->workers));
	}
	run->workings->free_plan(run->plan);
	free(run->threads);
	free(run->processes);
	free(run);
}
