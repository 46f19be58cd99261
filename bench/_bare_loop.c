/* The least a program can do: random 4 KiB preads for so long, nothing measured but the whole. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, BETWEEN_LOOKS = 1000 };

static char buffer[BLOCK] __attribute__((aligned(BLOCK)));

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Arguments: file, its bytes, seconds. Prints operations, CPU seconds, seconds. */
int main(int count, char **arguments)
{
	int descriptor = count == 4 ? open(arguments[1], O_RDONLY) : -1;
	uint64_t blocks, state = 88172645463325252u, done = 0;
	double begin, end, begin_cpu;

	if (descriptor < 0)
		return 1;
	blocks = strtoull(arguments[2], NULL, 10) / BLOCK;
	begin_cpu = cpu_seconds();
	begin = seconds();
	end = begin + strtod(arguments[3], NULL);
	do {
		for (int i = 0; i < BETWEEN_LOOKS; i++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			if (pread(descriptor, buffer, BLOCK, (off_t)(state % blocks * BLOCK)) != BLOCK)
				return 1;
		}
		done += BETWEEN_LOOKS;
	} while (seconds() < end);
	printf("%llu %.9f %.9f\n", (unsigned long long)done, cpu_seconds() - begin_cpu, seconds() - begin);
	return 0;
}
