/* The permutation and the Zipf law behind two of the orders. */
#include <math.h>

#include "order.h"
#include "random.h"

/*
 * A balanced Feistel network is a bijection of 2^(2 h) values whatever its round function (Luby and Rackoff, SIAM J.
 * Computing 17, 1988); results outside [0, n) are permuted again until one is inside, which keeps the bijection
 * (cycle walking: Black and Rogaway, CT-RSA 2002). Needs no memory and at most four walks in the mean.
 */
void permutation_init(struct permutation *permutation, uint64_t n, uint64_t seed)
{
	permutation->n = n;
	permutation->half_bits = 1;
	while (permutation->half_bits < 32 && ((uint64_t)1 << (2 * permutation->half_bits)) < n)
		permutation->half_bits++;
	for (uint64_t i = 0; i < 4; i++)
		permutation->keys[i] = random_mix(seed ^ random_mix(i));
}

static uint64_t permute_once(const struct permutation *permutation, uint64_t index)
{
	unsigned bits = permutation->half_bits;
	uint64_t mask = ((uint64_t)1 << bits) - 1;
	uint64_t left = index >> bits, right = index & mask;

	for (int round = 0; round < 4; round++) {
		uint64_t mixed = (right ^ permutation->keys[round]) * UINT64_C(0x9e3779b97f4a7c15);
		uint64_t next = left ^ ((mixed >> 32) & mask);

		left = right;
		right = next;
	}
	return left << bits | right;
}

uint64_t permutation_at(const struct permutation *permutation, uint64_t index)
{
	do
		index = permute_once(permutation, index);
	while (index >= permutation->n);
	return index;
}

/*
 * Rejection-inversion sampling for monotone discrete distributions (Hörmann and Derflinger, ACM TOMACS 6(3), 1996):
 * constant time and no table, for any exponent above 0. integral() is the antiderivative of x^-exponent that is 0
 * at x = 1, written so that exponent 1 needs no case of its own beyond the limit of expm1(t)/t.
 */
static double integral(const struct zipf *zipf, double x)
{
	double t = (1 - zipf->exponent) * log(x);

	return fabs(t) < 1e-9 ? log(x) : expm1(t) / (1 - zipf->exponent);
}

static double integral_inverse(const struct zipf *zipf, double y)
{
	double t = y * (1 - zipf->exponent);

	return fabs(t) < 1e-9 ? exp(y) : exp(log1p(t) / (1 - zipf->exponent));
}

static double weight(const struct zipf *zipf, double x)
{
	return exp(-zipf->exponent * log(x));
}

void zipf_init(struct zipf *zipf, uint64_t n, double exponent)
{
	*zipf = (struct zipf){ .n = (double)n, .exponent = exponent };
	zipf->low = integral(zipf, 1.5) - 1;
	zipf->high = integral(zipf, zipf->n + 0.5);
	zipf->shortcut = 2 - integral_inverse(zipf, integral(zipf, 2.5) - weight(zipf, 2));
}

uint64_t zipf_next(const struct zipf *zipf, struct random *random)
{
	for (;;) {
		double y = zipf->high + random_unit(random) * (zipf->low - zipf->high);
		double x = integral_inverse(zipf, y);
		double rank = floor(x + 0.5);

		rank = fmin(fmax(rank, 1), zipf->n);
		if (rank - x <= zipf->shortcut || y >= integral(zipf, rank + 0.5) - weight(zipf, rank))
			return (uint64_t)rank;
	}
}
