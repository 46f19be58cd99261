/* What is written, and how a block that describes itself is judged. */
#ifndef FSTRIAL_CONTENT_H
#define FSTRIAL_CONTENT_H

#include <stdint.h>

#include "engine.h"

struct content {
	enum engine_content kind;
	int stamped;
	uint32_t generation;
	uint32_t piece_random_bytes;    /* of each 4 KiB piece; zeros follow */
	double duplicate_share;
	uint64_t seed;
};

void content_init(struct content *content, const struct engine_phase *phase);

/* The content of the block at `offset` of a target; `ordinal` counts the worker's writes from 0. */
void content_fill(const struct content *content, uint32_t target, uint64_t offset, uint64_t ordinal, void *buffer,
		  uint32_t bytes);

/* Incompressible bytes that depend on the key alone. */
void content_random(uint64_t key, void *buffer, uint32_t bytes);

/* stamp.c */
enum { STAMP_SECTOR = 512 };

void stamp_block(uint64_t seed, uint32_t target, uint64_t offset, uint32_t generation, void *block, uint32_t bytes);

#endif
