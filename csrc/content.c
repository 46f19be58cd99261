/*
 * Content generators. All are pure functions of seed, target, offset and generation: any block can be made again.
 *
 * Random bytes come from four interleaved xorshift128+ generators (Vigna, "Further scramblings of Marsaglia's
 * xorshift generators", 2014): only shifts, exclusive-ors and additions, which compilers turn into vector
 * instructions, so that making a block costs a fraction of writing it.
 */
#include "content.h"

#include <string.h>

#include "random.h"

enum { PIECE = 4096, DUPLICATES = 16 };

typedef uint64_t lanes __attribute__((vector_size(32)));

void content_init(struct content *content, const struct engine_phase *phase)
{
	*content = (struct content){
		.kind = phase->content,
		.stamped = (phase->flags & ENGINE_STAMP) != 0,
		.generation = phase->generation,
		.piece_random_bytes = (uint32_t)(PIECE / phase->compression_ratio + 0.5),
		.duplicate_share = phase->duplicate_share,
		.seed = phase->seed,
	};
}

void content_random(uint64_t key, void *buffer, uint32_t bytes)
{
	struct random random = { key };
	unsigned char *out = buffer;
	lanes a, b;

	for (int i = 0; i < 4; i++) {
		a[i] = random_next(&random);
		b[i] = random_next(&random) | 1;        /* the state must not be all zero */
	}
	for (uint32_t done = 0; done < bytes; done += sizeof(lanes)) {
		lanes x = a, y = b, value = a + b;
		uint32_t left = bytes - done;

		a = y;
		x ^= x << 23;
		b = x ^ y ^ (x >> 18) ^ (y >> 5);
		memcpy(out + done, &value, left < sizeof(value) ? left : sizeof(value));
	}
}

static void fill_piece(const struct content *content, uint64_t place, unsigned char *piece, uint32_t bytes)
{
	uint32_t random_bytes = content->piece_random_bytes < bytes ? content->piece_random_bytes : bytes;
	uint64_t key = random_mix(place);

	if (content->duplicate_share > 0 && (double)(key >> 11) * 0x1p-53 < content->duplicate_share)
		key = random_mix(content->seed ^ key % DUPLICATES);
	content_random(key, piece, random_bytes);
	memset(piece + random_bytes, 0, bytes - random_bytes);
}

static void fill_random(const struct content *content, uint32_t target, uint64_t offset, unsigned char *buffer,
			uint32_t bytes)
{
	uint64_t stream = random_mix(content->seed ^ random_mix((uint64_t)target << 32 | content->generation));

	for (uint32_t done = 0; done < bytes; done += PIECE) {
		uint32_t left = bytes - done;

		fill_piece(content, stream ^ (offset + done), buffer + done, left < PIECE ? left : PIECE);
	}
}

/* Block n of bonnie++: n + 1 increments, one byte each, have gone around the buffer. */
static void fill_near_zero(uint64_t ordinal, unsigned char *buffer, uint32_t bytes)
{
	uint32_t raised = (uint32_t)(ordinal % bytes) + 1;
	int rounds = (int)(ordinal / bytes);

	memset(buffer, rounds + 1, raised);
	memset(buffer + raised, rounds, bytes - raised);
}

void content_fill(const struct content *content, uint32_t target, uint64_t offset, uint64_t ordinal, void *buffer,
		  uint32_t bytes)
{
	unsigned char *out = buffer;

	switch (content->kind) {
	case ENGINE_ZEROS:
		memset(out, 0, bytes);
		break;
	case ENGINE_NEAR_ZERO:
		fill_near_zero(ordinal, out, bytes);
		break;
	case ENGINE_COUNTING:
		for (uint32_t i = 0; i < bytes; i++)
			out[i] = i & 127;
		break;
	case ENGINE_RANDOM:
		fill_random(content, target, offset, out, bytes);
		break;
	}
	if (content->stamped)
		stamp_block(content->seed, target, offset, content->generation, out, bytes);
}

void engine_fill(const struct engine_phase *phase, uint32_t target, uint64_t offset, uint64_t ordinal, void *buffer,
		 uint32_t bytes)
{
	struct content content;

	content_init(&content, phase);
	content_fill(&content, target, offset, ordinal, buffer, bytes);
}
