/* In which order blocks are visited: batches of steps, made ahead so that the loops that issue them stay tight. */
#ifndef FSTRIAL_ORDER_H
#define FSTRIAL_ORDER_H

#include <stdint.h>

#include "engine.h"
#include "random.h"

/* What a step does with its block. */
enum step_kind { STEP_READ, STEP_WRITE, STEP_UPDATE };

struct step {
	uint64_t offset;
	uint32_t bytes;
	uint16_t target;        /* index among all targets of the phase */
	uint16_t kind;          /* enum step_kind */
};

/* A bijection of [0, n): a Feistel network over the next even power of two, walked until it lands inside. */
struct permutation {
	uint64_t n;
	uint64_t keys[4];
	unsigned half_bits;
};

void permutation_init(struct permutation *permutation, uint64_t n, uint64_t seed);
uint64_t permutation_at(const struct permutation *permutation, uint64_t index);

/* Ranks 1..n with probability proportional to rank^-exponent. */
struct zipf {
	double n;
	double exponent;
	double low;             /* integral at 1/2-shifted ends, see order.c */
	double high;
	double shortcut;
};

void zipf_init(struct zipf *zipf, uint64_t n, double exponent);
uint64_t zipf_next(const struct zipf *zipf, struct random *random);

/* The walk of one worker over its range of blocks. A block is `grid` bytes, the last of a target may be shorter. */
struct order {
	const struct engine_phase *phase;
	const uint64_t *first_block;    /* of each target, and the total behind the last */
	uint32_t grid;
	uint64_t low;                   /* the worker's range of blocks */
	uint64_t blocks;
	uint64_t next;                  /* steps made, or the stride's position */
	uint64_t residue;               /* of the stride */
	uint64_t pass;                  /* of the permutation */
	uint64_t seed;
	uint32_t target;                /* of the last block looked up */
	uint64_t cursor;                /* of a sequential walk with several sizes: bytes in `target` */
	uint32_t first_target;          /* of the range */
	uint32_t last_target;
	uint64_t total_weight;          /* of the sizes */
	struct random random;
	struct permutation permutation;
	struct zipf zipf;
};

/* Blocks of a target on a grid of so many bytes. */
static inline uint64_t order_blocks(uint64_t bytes, uint32_t grid)
{
	return (bytes + grid - 1) / grid;
}

/* The smallest of the phase's block sizes. */
uint32_t order_grid(const struct engine_phase *phase);

/* `first_block` has target_count + 1 entries and outlives the order. */
void order_init(struct order *order, const struct engine_phase *phase, const uint64_t *first_block,
		uint32_t worker);

/* Make the next `count` steps. */
void order_fill(struct order *order, struct step *steps, uint32_t count);

#endif
