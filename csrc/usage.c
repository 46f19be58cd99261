/* What the kernel charged to a worker. */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "run.h"

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

void run_usage(struct engine_report *report, int sign, int process)
{
	struct rusage usage;
	uint64_t factor = sign < 0 ? UINT64_MAX : 1;    /* minus one, modulo 2^64 */

	if (getrusage(process ? RUSAGE_SELF : RUSAGE_THREAD, &usage) != 0)
		return;
	report->user_s += sign * seconds_of(usage.ru_utime);
	report->sys_s += sign * seconds_of(usage.ru_stime);
	report->minor_faults += factor * (uint64_t)usage.ru_minflt;
	report->major_faults += factor * (uint64_t)usage.ru_majflt;
	report->voluntary_switches += factor * (uint64_t)usage.ru_nvcsw;
	report->involuntary_switches += factor * (uint64_t)usage.ru_nivcsw;
}
