/*
 * Copies from and to a shared mapping. The kernel tells of an I/O error, of a full filesystem and of a file that has
 * become shorter by SIGBUS alone; here it becomes the failure EIO of the operation in progress.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "loop.h"

struct touch {
	sigjmp_buf escape;
	volatile int armed;
	volatile uint64_t offset;
	volatile uint32_t target;
	volatile enum engine_kind kind;
};

static _Thread_local struct touch touch;

static pthread_mutex_t handler_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned handler_users;
static struct sigaction handler_before;

/* A fault that is not ours happens again under the handler that was there before. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	if (touch.armed)
		siglongjmp(touch.escape, 1);
	sigaction(number, &handler_before, NULL);
}

static void handler_take(void)
{
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER };

	sigemptyset(&action.sa_mask);
	pthread_mutex_lock(&handler_lock);
	if (handler_users++ == 0)
		sigaction(SIGBUS, &action, &handler_before);
	pthread_mutex_unlock(&handler_lock);
}

static void handler_drop(void)
{
	pthread_mutex_lock(&handler_lock);
	if (--handler_users == 0)
		sigaction(SIGBUS, &handler_before, NULL);
	pthread_mutex_unlock(&handler_lock);
}

static void touching(const struct open_target *target, enum engine_kind kind, uint64_t offset)
{
	touch.target = target->number;
	touch.kind = kind;
	touch.offset = offset;
	__asm__ volatile("" : : : "memory"); /* what is done so far is in memory when the copy faults */
}

static ssize_t call_copy_out(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	touching(target, ENGINE_READ, offset);
	memcpy(buffer, target->map + offset, bytes);
	__asm__ volatile("" : : "r"(buffer) : "memory"); /* keep the copy: nobody reads the buffer */
	return (ssize_t)bytes;
}

static ssize_t call_copy_in(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	touching(target, ENGINE_WRITE, offset);
	memcpy(target->map + offset, buffer, bytes);
	__asm__ volatile("" : : "r"(target->map) : "memory");
	return (ssize_t)bytes;
}

void loop_mmap(struct worker *worker)
{
	handler_take();
	if (sigsetjmp(touch.escape, 0) == 0) {
		touch.armed = 1;
		loop_all(worker, call_copy_out, call_copy_in);
	} else {
		record_pending(worker);
		worker_fail(worker, touch.kind, touch.target, touch.offset, EIO);
	}
	touch.armed = 0;
	handler_drop();
}
