/* Timestamps: the TSC where it is invariant, else clock_gettime. */
#ifndef FSTRIAL_CLOCK_H
#define FSTRIAL_CLOCK_H

#include <stdint.h>
#include <time.h>

struct clock_state {
	int tsc;
	uint64_t ns_per_tick;   /* fixed point, CLOCK_SHIFT bits after the point */
	double ticks_per_s;
};

extern struct clock_state clock_state;

/* Calibrate once; later calls return at once. Any thread. */
void clock_init(void);

enum { CLOCK_SHIFT = 30 };

static inline uint64_t clock_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
	if (__builtin_expect(clock_state.tsc, 1))
		return __builtin_ia32_rdtsc();
#endif
	return clock_monotonic_ns();
}

/* In two halves, so that 64-bit products do not overflow. */
static inline uint64_t clock_ns(uint64_t ticks)
{
	const uint64_t low = ((uint64_t)1 << CLOCK_SHIFT) - 1;

	return (ticks >> CLOCK_SHIFT) * clock_state.ns_per_tick +
	       (((ticks & low) * clock_state.ns_per_tick) >> CLOCK_SHIFT);
}

static inline uint64_t clock_ticks_of_s(double seconds)
{
	return (uint64_t)(seconds * clock_state.ticks_per_s);
}

#endif
