/* The hot part of the histogram. */
#ifndef FSTRIAL_HISTOGRAM_H
#define FSTRIAL_HISTOGRAM_H

#include <stdint.h>

#include "engine.h"

/* HdrHistogram's countsArrayIndex for 256 sub-buckets and unit magnitude 0 (Tene, HdrHistogram, 2012). */
static inline unsigned histogram_index(uint64_t value)
{
	const uint64_t top = ((uint64_t)1 << ENGINE_HISTOGRAM_BITS) - 1;

	if (__builtin_expect(value > top, 0))
		value = top;
	unsigned octave = 56 - (unsigned)__builtin_clzll(value | 255);

	return (octave << 7) + (unsigned)(value >> octave);
}

static inline void histogram_add(struct engine_histogram *histogram, uint64_t value)
{
	histogram->count++;
	histogram->total_ns += value;
	if (__builtin_expect(value < histogram->min_ns, 0))
		histogram->min_ns = value;
	if (__builtin_expect(value > histogram->max_ns, 0))
		histogram->max_ns = value;
	histogram->buckets[histogram_index(value)]++;
}

#endif
