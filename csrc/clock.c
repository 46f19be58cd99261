/*
 * Choice and calibration of the clock.
 *
 * The TSC is used where CPUID says that it is invariant (leaf 0x80000007, EDX bit 8: Intel SDM volume 3, "Invariant
 * TSC"; AMD APM volume 3, appendix E) and where two calibrations against CLOCK_MONOTONIC agree. Calibration matters
 * most in guests: in user-mode Linux a clock_gettime costs 40 µs, an rdtsc what it costs on the host.
 */
#include "clock.h"

#include <math.h>
#include <pthread.h>

#include "engine.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

struct clock_state clock_state = { .tsc = 0, .ns_per_tick = (uint64_t)1 << CLOCK_SHIFT, .ticks_per_s = 1e9 };

static pthread_once_t once = PTHREAD_ONCE_INIT;

#if defined(__x86_64__) || defined(__i386__)

enum { CALIBRATION_NS = 10 * 1000 * 1000, BRACKETS = 20 };

/* Two calibrations that differ by more than this share are not of an invariant clock. */
static const double tolerance = 1e-3;

static int tsc_is_invariant(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

/* One moment on both clocks: the reading of CLOCK_MONOTONIC that the TSC bracketed most tightly. */
static void read_both(uint64_t *tsc, uint64_t *ns)
{
	uint64_t narrowest = UINT64_MAX;

	for (int i = 0; i < BRACKETS; i++) {
		uint64_t before = __builtin_ia32_rdtsc();
		uint64_t now = clock_monotonic_ns();
		uint64_t width = __builtin_ia32_rdtsc() - before;

		if (width < narrowest) {
			narrowest = width;
			*tsc = before + width / 2;
			*ns = now;
		}
	}
}

static double measure_frequency(void)
{
	uint64_t tsc_before, ns_before, tsc_after, ns_after;
	struct timespec pause = { .tv_nsec = CALIBRATION_NS };

	read_both(&tsc_before, &ns_before);
	nanosleep(&pause, NULL);
	read_both(&tsc_after, &ns_after);
	return (double)(tsc_after - tsc_before) / (double)(ns_after - ns_before) * 1e9;
}

static void calibrate(void)
{
	if (!tsc_is_invariant())
		return;
	double first = measure_frequency();
	double second = measure_frequency();
	double mean = (first + second) / 2;

	/* below 0.5 GHz the fixed point would overflow, and no such CPU has an invariant TSC */
	if (mean < 5e8 || fabs(first - second) > tolerance * mean)
		return;
	clock_state.ticks_per_s = mean;
	clock_state.ns_per_tick = (uint64_t)(1e9 / mean * (double)((uint64_t)1 << CLOCK_SHIFT) + 0.5);
	clock_state.tsc = 1;
}

#else

static void calibrate(void)
{
}

#endif

void clock_init(void)
{
	pthread_once(&once, calibrate);
}

/* The cost of one timestamp: the least of several means, since interruptions only ever add. */
static double measure_timestamp_ns(void)
{
	double least = HUGE_VAL;

	for (int round = 0; round < 10; round++) {
		enum { READINGS = 1000 };
		volatile uint64_t sink;
		uint64_t begin = clock_ticks();

		for (int i = 0; i < READINGS; i++)
			sink = clock_ticks();
		(void)sink;
		least = fmin(least, (double)clock_ns(clock_ticks() - begin) / READINGS);
	}
	return least;
}

void engine_clock_facts(struct engine_clock *ret)
{
	clock_init();
	ret->tsc = clock_state.tsc;
	ret->ticks_per_s = clock_state.ticks_per_s;
	ret->timestamp_ns = measure_timestamp_ns();
}
