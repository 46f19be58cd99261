/* Content is a function of its place; stamped blocks tell what is wrong with them. */
#include "check.h"
#include "content.h"

static struct engine_phase base(void)
{
	return (struct engine_phase){ .content = ENGINE_RANDOM, .compression_ratio = 1, .seed = 9, .generation = 2,
				      .flags = ENGINE_STAMP };
}

static enum engine_verdict judged(const unsigned char *block)
{
	return engine_judge(9, 1, 8192, 2, block, 4096);
}

static void random_content_depends_on_every_part_of_its_place(void)
{
	static unsigned char block[4096], other[4096];
	struct engine_phase phase = base(), changed = base();

	phase.flags = changed.flags = 0;
	engine_fill(&phase, 1, 8192, 0, block, 4096);
	engine_fill(&phase, 1, 8192, 7, other, 4096);
	CHECK(memcmp(block, other, 4096) == 0);
	engine_fill(&phase, 2, 8192, 0, other, 4096);
	CHECK(memcmp(block, other, 4096) != 0);
	engine_fill(&phase, 1, 4096, 0, other, 4096);
	CHECK(memcmp(block, other, 4096) != 0);
	changed.generation = 3;
	engine_fill(&changed, 1, 8192, 0, other, 4096);
	CHECK(memcmp(block, other, 4096) != 0);
	changed = phase;
	changed.seed = 10;
	engine_fill(&changed, 1, 8192, 0, other, 4096);
	CHECK(memcmp(block, other, 4096) != 0);
}

static void near_zero_is_what_increments_leave(void)
{
	unsigned char buffer[10] = { 0 }, made[10];
	struct engine_phase phase = base();

	phase.content = ENGINE_NEAR_ZERO;
	phase.flags = 0;
	for (uint64_t n = 0; n < 35; n++) {
		buffer[n % sizeof(buffer)]++;
		engine_fill(&phase, 0, 0, n, made, sizeof(made));
		CHECK(memcmp(buffer, made, sizeof(made)) == 0);
	}
}

static void verdicts(void)
{
	static unsigned char block[4096], stale[4096], older[4096], foreign[4096];
	struct engine_phase phase = base(), run = base();

	engine_fill(&phase, 1, 8192, 0, block, 4096);
	engine_fill(&phase, 1, 4096, 0, foreign, 4096);
	phase.generation = 1;
	engine_fill(&phase, 1, 8192, 0, stale, 4096);
	phase.generation = 0;
	engine_fill(&phase, 1, 8192, 0, older, 4096);
	CHECK(judged(block) == ENGINE_GOOD);
	CHECK(judged(stale) == ENGINE_STALE);
	CHECK(judged(foreign) == ENGINE_FOREIGN);
	run.seed = 8;
	engine_fill(&run, 1, 8192, 0, foreign, 4096);
	CHECK(judged(foreign) == ENGINE_FOREIGN);

	memcpy(older + 2048, stale + 2048, 2048);       /* two old generations, none of them ours */
	CHECK(judged(older) == ENGINE_TORN);
	memcpy(stale, block, 512);                      /* the first sector made it, the rest did not */
	CHECK(judged(stale) == ENGINE_TORN);
	memset(stale + 512, 0, 4096 - 512);
	CHECK(judged(stale) == ENGINE_TORN);
	memset(stale, 0, 512);
	CHECK(judged(stale) == ENGINE_EMPTY);
	for (unsigned at = 0; at < 4096; at += 37) {    /* one flipped bit anywhere */
		block[at] ^= 16;
		CHECK(judged(block) == ENGINE_DAMAGED);
		block[at] ^= 16;
	}
	CHECK(judged(block) == ENGINE_GOOD);
}

int main(void)
{
	random_content_depends_on_every_part_of_its_place();
	near_zero_is_what_increments_leave();
	verdicts();
	return 0;
}
