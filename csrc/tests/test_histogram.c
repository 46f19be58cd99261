/* The histogram against exact sorted values, and merging against recording in one place. */
#include "check.h"
#include "histogram.h"
#include "random.h"

enum { VALUES = 100000 };

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The highest value that shares a bucket with those at that rank. */
static uint64_t value_at_rank(const struct engine_histogram *histogram, uint64_t rank)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < ENGINE_HISTOGRAM_BUCKETS; i++) {
		seen += histogram->buckets[i];
		if (seen >= rank) {
			unsigned octave = i < 256 ? 0 : (i >> 7) - 1;
			uint64_t low = (uint64_t)(i - (octave << 7)) << octave;

			return low + ((uint64_t)1 << octave) - 1;
		}
	}
	return 0;
}

static void percentiles_are_those_of_the_sorted_values(void)
{
	static struct engine_histogram histogram;
	static uint64_t values[VALUES];
	struct random random = random_seeded(1, 0);

	engine_histogram_init(&histogram);
	for (unsigned i = 0; i < VALUES; i++) {
		values[i] = random_next(&random) >> (20 + random_below(&random, 40));   /* all magnitudes */
		engine_histogram_add(&histogram, values[i]);
	}
	qsort(values, VALUES, sizeof(*values), by_value);
	CHECK(histogram.count == VALUES);
	CHECK(histogram.min_ns == values[0]);
	CHECK(histogram.max_ns == values[VALUES - 1]);
	for (unsigned percent = 1; percent <= 100; percent++) {
		uint64_t rank = (uint64_t)VALUES * percent / 100;
		uint64_t exact = values[rank - 1], found = value_at_rank(&histogram, rank);

		CHECK(found >= exact);
		CHECK((double)(found - exact) <= 0.0079 * (double)exact);
	}
}

static void every_bucket_begins_where_the_one_before_ends(void)
{
	unsigned last = 0;

	for (uint64_t value = 0; value < 100000; value++) {
		unsigned index = histogram_index(value);

		CHECK(index == last || index == last + 1);
		last = index;
	}
	CHECK(histogram_index(((uint64_t)1 << ENGINE_HISTOGRAM_BITS) - 1) == ENGINE_HISTOGRAM_BUCKETS - 1);
	CHECK(histogram_index(UINT64_MAX) == ENGINE_HISTOGRAM_BUCKETS - 1);
}

static void merging_parts_gives_the_whole(void)
{
	static struct engine_histogram whole, parts[3];
	struct random random = random_seeded(2, 0);

	engine_histogram_init(&whole);
	for (int i = 0; i < 3; i++)
		engine_histogram_init(&parts[i]);
	for (int i = 0; i < 1000; i++) {
		uint64_t value = random_next(&random) >> 30;

		engine_histogram_add(&whole, value);
		engine_histogram_add(&parts[i % 2], value);     /* the third stays empty */
	}
	engine_histogram_merge(&parts[2], &parts[0]);
	engine_histogram_merge(&parts[2], &parts[1]);
	CHECK(memcmp(&whole, &parts[2], sizeof(whole)) == 0);
}

int main(void)
{
	percentiles_are_those_of_the_sorted_values();
	every_bucket_begins_where_the_one_before_ends();
	merging_parts_gives_the_whole();
	return 0;
}
