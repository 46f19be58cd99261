/* Pseudo-random numbers: small, fast, the same on every machine for one seed. */
#ifndef FSTRIAL_RANDOM_H
#define FSTRIAL_RANDOM_H

#include <stdint.h>

/* Mixes one word (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t random_mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* A generator: SplitMix64. */
struct random {
	uint64_t state;
};

static inline struct random random_seeded(uint64_t seed, uint64_t stream)
{
	return (struct random){ random_mix(seed ^ random_mix(stream)) };
}

static inline uint64_t random_next(struct random *random)
{
	uint64_t x = random->state;

	random->state += UINT64_C(0x9e3779b97f4a7c15);
	return random_mix(x);
}

/* Uniform in [0, 1). */
static inline double random_unit(struct random *random)
{
	return (double)(random_next(random) >> 11) * 0x1p-53;
}

/* Uniform in [0, n), n below 2^53; the bias is below n / 2^53. */
static inline uint64_t random_below(struct random *random, uint64_t n)
{
	return (uint64_t)(random_unit(random) * (double)n);
}

#endif
