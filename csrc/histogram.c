/* The rest of the histogram: what runs once a phase. */
#include "histogram.h"

#include <string.h>

void engine_histogram_init(struct engine_histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
	histogram->min_ns = UINT64_MAX;
}

void engine_histogram_add(struct engine_histogram *histogram, uint64_t value_ns)
{
	histogram_add(histogram, value_ns);
}

void engine_histogram_merge(struct engine_histogram *into, const struct engine_histogram *from)
{
	into->count += from->count;
	into->total_ns += from->total_ns;
	if (from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	if (from->count == 0)   /* untouched pages stay untouched */
		return;
	for (unsigned i = 0; i < ENGINE_HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}
