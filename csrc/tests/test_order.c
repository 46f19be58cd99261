/* Orders against what defines them. */
#include <math.h>

#include "check.h"
#include "order.h"

static const struct engine_size four_kib[] = { { 4096, 1 } };

static void a_permutation_visits_every_index_once(void)
{
	static const uint64_t sizes[] = { 1, 2, 3, 5, 64, 1000, 65537 };
	static unsigned char seen[65537];
	struct permutation permutation;

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		memset(seen, 0, sizeof(seen));
		permutation_init(&permutation, sizes[i], 7 + i);
		for (uint64_t j = 0; j < sizes[i]; j++)
			seen[permutation_at(&permutation, j)]++;
		for (uint64_t j = 0; j < sizes[i]; j++)
			CHECK(seen[j] == 1);
	}
}

/* Neither close to sorted nor with neighbours kept together. */
static void a_permutation_is_no_order(void)
{
	enum { N = 10000 };
	struct permutation permutation;
	unsigned rising = 0, neighbours = 0;
	uint64_t last = 0;

	permutation_init(&permutation, N, 3);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t value = permutation_at(&permutation, i);

		rising += value > last;
		neighbours += value == last + 1;
		last = value;
	}
	CHECK(rising > N * 48 / 100 && rising < N * 52 / 100);
	CHECK(neighbours < 10);
}

/* Pearson's statistic over the 50 first ranks and the rest: 50 degrees of freedom, 86.7 at p = 0.001. */
static void zipf_follows_its_law(double exponent)
{
	enum { N = 1000, DRAWS = 200000, RANKS = 50 };
	static unsigned counts[N + 1];
	struct random random = random_seeded(11, 0);
	struct zipf zipf;
	double sum = 0, rest_expected = DRAWS, statistic = 0;
	unsigned rest = DRAWS;

	memset(counts, 0, sizeof(counts));
	zipf_init(&zipf, N, exponent);
	for (int i = 0; i < DRAWS; i++) {
		uint64_t rank = zipf_next(&zipf, &random);

		CHECK(rank >= 1 && rank <= N);
		counts[rank]++;
	}
	for (int rank = 1; rank <= N; rank++)
		sum += pow(rank, -exponent);
	for (int rank = 1; rank <= RANKS; rank++) {
		double expected = DRAWS * pow(rank, -exponent) / sum;

		statistic += (counts[rank] - expected) * (counts[rank] - expected) / expected;
		rest_expected -= expected;
		rest -= counts[rank];
	}
	statistic += (rest - rest_expected) * (rest - rest_expected) / rest_expected;
	CHECK(statistic < 86.7);
}

struct walk {
	struct engine_target targets[2];
	struct engine_phase phase;
	uint64_t first_block[3];
	struct order order;
	struct step steps[256];
};

static void walk_init(struct walk *walk, enum engine_order kind, uint64_t bytes_a, uint64_t bytes_b)
{
	memset(walk, 0, sizeof(*walk));
	walk->targets[0].bytes = bytes_a;
	walk->targets[1].bytes = bytes_b;
	walk->phase = (struct engine_phase){
		.targets = walk->targets, .target_count = bytes_b ? 2 : 1, .sizes = four_kib, .size_count = 1,
		.workers = 1, .order = kind, .sharing = ENGINE_SHARED, .read_weight = 1, .stride_blocks = 3,
		.zipf_exponent = 1.1, .seed = 5,
	};
}

static void walk_go(struct walk *walk, uint32_t worker, uint32_t count)
{
	for (uint32_t i = 0; i < walk->phase.target_count; i++)
		walk->first_block[i + 1] = walk->first_block[i] +
			order_blocks(walk->targets[i].bytes, order_grid(&walk->phase));
	order_init(&walk->order, &walk->phase, walk->first_block, worker);
	order_fill(&walk->order, walk->steps, count);
}

static void sequential_crosses_targets_and_cuts_the_last_block(void)
{
	static struct walk walk;

	walk_init(&walk, ENGINE_SEQUENTIAL, 8192 + 100, 4096);
	walk_go(&walk, 0, 5);
	CHECK(walk.steps[0].offset == 0 && walk.steps[1].offset == 4096);
	CHECK(walk.steps[2].offset == 8192 && walk.steps[2].bytes == 100 && walk.steps[2].target == 0);
	CHECK(walk.steps[3].offset == 0 && walk.steps[3].target == 1);
	CHECK(walk.steps[4].offset == 0 && walk.steps[4].target == 0);
}

static void backward_and_stride_visit_all(void)
{
	static const uint64_t strided[] = { 0, 3, 6, 1, 4, 7, 2, 5, 0 };
	static struct walk walk;

	walk_init(&walk, ENGINE_BACKWARD, 8 * 4096, 0);
	walk_go(&walk, 0, 8);
	for (unsigned i = 0; i < 8; i++)
		CHECK(walk.steps[i].offset == (7 - i) * 4096);
	walk_init(&walk, ENGINE_STRIDE, 8 * 4096, 0);
	walk_go(&walk, 0, 9);
	for (unsigned i = 0; i < 9; i++)
		CHECK(walk.steps[i].offset == strided[i] * 4096);
}

static void slices_cover_all_blocks_once(void)
{
	static struct walk walk;
	unsigned seen[17] = { 0 };

	for (uint32_t worker = 0; worker < 3; worker++) {
		walk_init(&walk, ENGINE_PERMUTATION, 10 * 4096, 7 * 4096);
		walk.phase.sharing = ENGINE_SLICED;
		walk.phase.workers = 3;
		walk_go(&walk, worker, 0);
		order_fill(&walk.order, walk.steps, (uint32_t)walk.order.blocks);
		for (unsigned i = 0; i < walk.order.blocks; i++)
			seen[walk.steps[i].target * 10 + walk.steps[i].offset / 4096]++;
	}
	for (unsigned i = 0; i < 17; i++)
		CHECK(seen[i] == 1);
}

static void several_sizes_in_sequence_leave_no_gap(void)
{
	static const struct engine_size sizes[] = { { 700, 2 }, { 1500, 1 } };
	static struct walk walk;
	uint64_t expected = 0;
	unsigned large = 0;

	walk_init(&walk, ENGINE_SEQUENTIAL, 1000000, 0);
	walk.phase.sizes = sizes;
	walk.phase.size_count = 2;
	walk_go(&walk, 0, 256);
	for (unsigned i = 0; i < 256; i++) {
		CHECK(walk.steps[i].offset == expected);
		expected += walk.steps[i].bytes;
		large += walk.steps[i].bytes == 1500;
	}
	CHECK(large > 60 && large < 110);
}

static void kinds_follow_their_weights_and_the_seed_decides(void)
{
	static struct walk walk, again;
	unsigned kinds[3] = { 0 };

	walk_init(&walk, ENGINE_UNIFORM, 1 << 20, 0);
	walk.phase.read_weight = 2;
	walk.phase.write_weight = 1;
	walk.phase.update_weight = 1;
	again = walk;
	walk_go(&walk, 0, 256);
	again.phase.targets = again.targets;
	walk_go(&again, 0, 256);
	CHECK(memcmp(walk.steps, again.steps, sizeof(walk.steps)) == 0);
	walk_go(&again, 1, 256);
	CHECK(memcmp(walk.steps, again.steps, sizeof(walk.steps)) != 0);
	for (unsigned i = 0; i < 256; i++)
		kinds[walk.steps[i].kind]++;
	CHECK(kinds[STEP_READ] > 100 && kinds[STEP_WRITE] > 40 && kinds[STEP_UPDATE] > 40);
}

int main(void)
{
	a_permutation_visits_every_index_once();
	a_permutation_is_no_order();
	zipf_follows_its_law(0.6);
	zipf_follows_its_law(1.0);
	zipf_follows_its_law(1.3);
	sequential_crosses_targets_and_cuts_the_last_block();
	backward_and_stride_visit_all();
	slices_cover_all_blocks_once();
	several_sizes_in_sequence_leave_no_gap();
	kinds_follow_their_weights_and_the_seed_decides();
	return 0;
}
