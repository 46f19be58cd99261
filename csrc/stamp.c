/*
 * Blocks that describe themselves: every 512-byte sector begins with a stamp that says which run, target, offset and
 * generation wrote it, under a checksum of the whole sector. A stamp a sector, because a sector is what devices
 * write whole: a block torn by a crash shows sectors of two generations.
 */
#include <stdint.h>
#include <string.h>

#include "content.h"
#include "random.h"

struct stamp {
	uint64_t checksum;      /* of the rest of the sector */
	uint64_t offset;        /* of this sector in its target */
	uint64_t run;           /* the seed, mixed: blocks of other runs are foreign */
	uint32_t target;
	uint32_t generation;
};

static const uint64_t run_mark = UINT64_C(0x667374726961316c);    /* "fstria1l" */

/* FNV-1a's step on words, in four lanes that the CPU overlaps; an error of up to a word is always seen. */
static uint64_t checksum_of(const unsigned char *sector)
{
	uint64_t words[STAMP_SECTOR / 8];
	uint64_t lane[4] = { 1, 2, 3, 4 };

	memcpy(words, sector, sizeof(words));
	words[0] = 0;           /* the checksum itself */
	for (int i = 0; i < STAMP_SECTOR / 8; i += 4)
		for (int j = 0; j < 4; j++)
			lane[j] = (lane[j] ^ words[i + j]) * UINT64_C(0x9e3779b97f4a7c15);
	return random_mix(random_mix(random_mix(lane[0]) ^ lane[1]) ^ random_mix(random_mix(lane[2]) ^ lane[3]));
}

void stamp_block(uint64_t seed, uint32_t target, uint64_t offset, uint32_t generation, void *block, uint32_t bytes)
{
	unsigned char *sector = block;
	struct stamp stamp = { .run = run_mark ^ random_mix(seed), .target = target, .generation = generation };

	for (uint32_t done = 0; done + STAMP_SECTOR <= bytes; done += STAMP_SECTOR, sector += STAMP_SECTOR) {
		stamp.offset = offset + done;
		memcpy(sector, &stamp, sizeof(stamp));
		stamp.checksum = checksum_of(sector);
		memcpy(sector, &stamp.checksum, sizeof(stamp.checksum));
	}
}

static int is_zero(const unsigned char *sector)
{
	return sector[0] == 0 && memcmp(sector, sector + 1, STAMP_SECTOR - 1) == 0;
}

/* One sector. STALE means sound and of another generation, which *generation tells. */
static enum engine_verdict judge_sector(const struct stamp *expected, const unsigned char *sector,
					uint32_t *generation)
{
	struct stamp found;

	memcpy(&found, sector, sizeof(found));
	*generation = found.generation;
	if (found.checksum != checksum_of(sector))
		return is_zero(sector) ? ENGINE_EMPTY : ENGINE_DAMAGED;
	if (found.run != expected->run || found.target != expected->target || found.offset != expected->offset)
		return ENGINE_FOREIGN;
	return found.generation == expected->generation ? ENGINE_GOOD : ENGINE_STALE;
}

/*
 * A block whose sectors agree is what they are. Where they differ, damage and foreign content outweigh the rest;
 * only then is it torn: good, stale and empty sectors, or stale ones of several generations.
 */
enum engine_verdict engine_judge(uint64_t seed, uint32_t target, uint64_t offset, uint32_t generation,
				 const void *block, uint32_t bytes)
{
	const unsigned char *sector = block;
	struct stamp expected = { .run = run_mark ^ random_mix(seed), .target = target, .generation = generation };
	unsigned seen = 0;
	uint32_t first_generation = 0;
	int generations_differ = 0;

	for (uint32_t done = 0; done + STAMP_SECTOR <= bytes; done += STAMP_SECTOR, sector += STAMP_SECTOR) {
		uint32_t found;

		expected.offset = offset + done;
		seen |= 1u << judge_sector(&expected, sector, &found);
		if (done == 0)
			first_generation = found;
		generations_differ |= found != first_generation;
	}
	if (seen & (1u << ENGINE_DAMAGED))
		return ENGINE_DAMAGED;
	if (seen & (1u << ENGINE_FOREIGN))
		return ENGINE_FOREIGN;
	if (seen & (seen - 1))
		return ENGINE_TORN;
	if (seen == 1u << ENGINE_STALE && generations_differ)
		return ENGINE_TORN;
	return (enum engine_verdict)__builtin_ctz(seen);
}
