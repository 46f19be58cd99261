/* Orders of blocks: the walk of one worker over its range. */
#include "order.h"

#include "random.h"

uint32_t order_grid(const struct engine_phase *phase)
{
	uint32_t grid = phase->sizes[0].bytes;

	for (uint32_t i = 1; i < phase->size_count; i++)
		if (phase->sizes[i].bytes < grid)
			grid = phase->sizes[i].bytes;
	return grid;
}

static uint32_t target_of(const struct order *order, uint64_t block)
{
	uint32_t low = 0, high = order->phase->target_count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (order->first_block[middle] <= block)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The worker's share of all blocks. */
static void choose_range(struct order *order, uint32_t worker)
{
	const struct engine_phase *phase = order->phase;
	uint64_t all = order->first_block[phase->target_count];
	uint32_t own = worker % phase->target_count;

	switch (phase->sharing) {
	case ENGINE_OWN:
		order->low = order->first_block[own];
		order->blocks = order->first_block[own + 1] - order->low;
		break;
	case ENGINE_SHARED:
		order->low = 0;
		order->blocks = all;
		break;
	case ENGINE_SLICED:
		order->low = all / phase->workers * worker + all % phase->workers * worker / phase->workers;
		order->blocks = all / phase->workers * (worker + 1) +
				all % phase->workers * (worker + 1) / phase->workers - order->low;
		break;
	}
	order->first_target = target_of(order, order->low);
	order->last_target = order->blocks ? target_of(order, order->low + order->blocks - 1) : order->first_target;
}

void order_init(struct order *order, const struct engine_phase *phase, const uint64_t *first_block,
		uint32_t worker)
{
	*order = (struct order){
		.phase = phase,
		.first_block = first_block,
		.grid = order_grid(phase),
		.seed = phase->seed ^ random_mix(worker),
		.random = random_seeded(phase->seed, worker),
	};
	for (uint32_t i = 0; i < phase->size_count; i++)
		order->total_weight += phase->sizes[i].weight;
	choose_range(order, worker);
	order->target = order->first_target;
	order->cursor = (order->low - first_block[order->target]) * order->grid;
	if (phase->order == ENGINE_PERMUTATION)
		permutation_init(&order->permutation, order->blocks, order->seed);
	if (phase->order == ENGINE_ZIPF) {
		/* all workers agree which blocks are hot */
		permutation_init(&order->permutation, order->blocks, phase->seed);
		zipf_init(&order->zipf, order->blocks, phase->zipf_exponent);
	}
}

static uint64_t permuted(struct order *order)
{
	uint64_t position = permutation_at(&order->permutation, order->next);

	if (++order->next == order->blocks) {
		order->next = 0;
		permutation_init(&order->permutation, order->blocks, order->seed ^ random_mix(++order->pass));
	}
	return position;
}

static uint64_t strided(struct order *order)
{
	uint64_t position = order->next;

	order->next += order->phase->stride_blocks;
	if (order->next >= order->blocks) {
		order->residue = order->residue + 1 < order->phase->stride_blocks ? order->residue + 1 : 0;
		order->next = order->residue < order->blocks ? order->residue : 0;
	}
	return position;
}

static uint64_t counted(struct order *order)
{
	uint64_t position = order->next;

	if (++order->next == order->blocks)
		order->next = 0;
	return position;
}

static uint32_t size_drawn(struct order *order)
{
	const struct engine_size *size = order->phase->sizes;
	uint64_t mark;

	if (order->phase->size_count == 1)
		return size->bytes;
	mark = random_below(&order->random, order->total_weight);
	while (mark >= size->weight) {
		mark -= size->weight;
		size++;
	}
	return size->bytes;
}

/* The step on a block of the worker's range. */
static inline void place(struct order *order, struct step *step, uint64_t position)
{
	uint64_t block = order->low + position;
	uint32_t target = order->target;

	if (block - order->first_block[target] >= order->first_block[target + 1] - order->first_block[target])
		order->target = target = target_of(order, block);
	uint64_t offset = (block - order->first_block[target]) * order->grid;
	uint64_t left = order->phase->targets[target].bytes - offset;
	uint32_t bytes = size_drawn(order);

	step->offset = offset;
	step->bytes = bytes < left ? bytes : (uint32_t)left;
	step->target = (uint16_t)target;
}

/* Sequential steps of several sizes follow one another without gaps. */
static void place_at_cursor(struct order *order, struct step *step)
{
	uint64_t end = order->first_block[order->last_target];
	uint64_t left;

	end = order->target == order->last_target ? (order->low + order->blocks - end) * order->grid : UINT64_MAX;
	if (end > order->phase->targets[order->target].bytes)
		end = order->phase->targets[order->target].bytes;
	left = end - order->cursor;
	step->bytes = size_drawn(order);
	if (step->bytes > left)
		step->bytes = (uint32_t)left;
	step->offset = order->cursor;
	step->target = (uint16_t)order->target;
	order->cursor += step->bytes;
	if (order->cursor < end)
		return;
	order->cursor = 0;
	if (order->target++ == order->last_target) {
		order->target = order->first_target;
		order->cursor = (order->low - order->first_block[order->target]) * order->grid;
	}
}

static void place_all(struct order *order, struct step *steps, uint32_t count)
{
	switch (order->phase->order) {
	case ENGINE_SEQUENTIAL:
		for (uint32_t i = 0; i < count && order->phase->size_count == 1; i++)
			place(order, &steps[i], counted(order));
		for (uint32_t i = 0; i < count && order->phase->size_count > 1; i++)
			place_at_cursor(order, &steps[i]);
		break;
	case ENGINE_BACKWARD:
		for (uint32_t i = 0; i < count; i++)
			place(order, &steps[i], order->blocks - 1 - counted(order));
		break;
	case ENGINE_STRIDE:
		for (uint32_t i = 0; i < count; i++)
			place(order, &steps[i], strided(order));
		break;
	case ENGINE_UNIFORM:
		for (uint32_t i = 0; i < count; i++)
			place(order, &steps[i], random_below(&order->random, order->blocks));
		break;
	case ENGINE_PERMUTATION:
		for (uint32_t i = 0; i < count; i++)
			place(order, &steps[i], permuted(order));
		break;
	case ENGINE_ZIPF:
		for (uint32_t i = 0; i < count; i++)
			place(order, &steps[i],
			      permutation_at(&order->permutation, zipf_next(&order->zipf, &order->random) - 1));
		break;
	}
}

static void choose_kinds(struct order *order, struct step *steps, uint32_t count)
{
	const struct engine_phase *phase = order->phase;
	uint64_t all = (uint64_t)phase->read_weight + phase->write_weight + phase->update_weight;

	if (phase->read_weight == all || phase->write_weight == all || phase->update_weight == all) {
		uint16_t only = phase->read_weight ? STEP_READ : phase->write_weight ? STEP_WRITE : STEP_UPDATE;

		for (uint32_t i = 0; i < count; i++)
			steps[i].kind = only;
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint64_t mark = random_below(&order->random, all);

		steps[i].kind = mark < phase->read_weight			   ? STEP_READ :
				mark < phase->read_weight + phase->write_weight ? STEP_WRITE :
										     STEP_UPDATE;
	}
}

void order_fill(struct order *order, struct step *steps, uint32_t count)
{
	place_all(order, steps, count);
	choose_kinds(order, steps, count);
}
