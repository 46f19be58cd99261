/*
 * The engine: issues filesystem operations from threads or processes and records what each one took.
 *
 * The whole public face. A caller fills a description (struct engine_phase or struct engine_metadata), starts it,
 * waits, reads one report per worker, and frees the run. Every time in a report is in nanoseconds since the moment
 * all workers were released together.
 *
 * cffi reads this file as its declarations: outside the preprocessor lines there are only types, enum constants
 * and prototypes. Functions that can fail return 0 or an errno value, and give their result by the last parameter.
 */
#ifndef FSTRIAL_ENGINE_H
#define FSTRIAL_ENGINE_H

#include <stdint.h>

/* ---- clock ---- */

struct engine_clock {
	int32_t tsc;            /* 1: invariant TSC, 0: clock_gettime(CLOCK_MONOTONIC) */
	double ticks_per_s;
	double timestamp_ns;    /* measured cost of one timestamp */
};

/* Facts about the clock; calibrates it when first used (about 20 ms). */
void engine_clock_facts(struct engine_clock *ret);

/* ---- latency histogram ---- */

/*
 * HdrHistogram's layout with 2 significant decimal digits and 1 ns as lowest value: values below 256 exactly, then
 * 128 buckets an octave (error at most 1/128). Values of 2^44 ns (4.9 h) and more count in the last bucket;
 * minimum, maximum and total are exact.
 */
enum {
	ENGINE_HISTOGRAM_BITS = 44,
	ENGINE_HISTOGRAM_BUCKETS = 4864
};

struct engine_histogram {
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns;        /* 2^64-1 while count is 0 */
	uint64_t max_ns;
	uint64_t buckets[ENGINE_HISTOGRAM_BUCKETS];
};

void engine_histogram_init(struct engine_histogram *histogram);
void engine_histogram_add(struct engine_histogram *histogram, uint64_t value_ns);
void engine_histogram_merge(struct engine_histogram *into, const struct engine_histogram *from);

/* ---- what can be counted ---- */

enum engine_kind {
	ENGINE_READ,
	ENGINE_WRITE,
	ENGINE_SYNC,
	ENGINE_OPEN,
	ENGINE_CREATE,
	ENGINE_STAT,
	ENGINE_RENAME,
	ENGINE_LINK,
	ENGINE_SYMLINK,
	ENGINE_MKDIR,
	ENGINE_RMDIR,
	ENGINE_READDIR,
	ENGINE_UNLINK,
	ENGINE_SETXATTR,
	ENGINE_GETXATTR,
	ENGINE_ALLOCATE,
	ENGINE_CLOSE,
	ENGINE_KINDS
};

/* ---- data phases ---- */

enum engine_api {
	ENGINE_READ_WRITE,      /* read(2), write(2), with lseek(2) where the order jumps */
	ENGINE_PREAD_PWRITE,
	ENGINE_PREADV2,         /* preadv2(2), pwritev2(2), one segment */
	ENGINE_MMAP,            /* memory copies from and to a shared mapping */
	ENGINE_STDIO,           /* getc(3), putc(3): a call per character */
	ENGINE_IO_URING
};

enum engine_order {
	ENGINE_SEQUENTIAL,
	ENGINE_BACKWARD,
	ENGINE_STRIDE,          /* every n-th block, then the next residue, until all are visited */
	ENGINE_UNIFORM,         /* random, with repeats */
	ENGINE_PERMUTATION,     /* random, each block once a pass */
	ENGINE_ZIPF             /* rank r with probability ~ r^-exponent, ranks scattered over the blocks */
};

enum engine_sharing {
	ENGINE_OWN,             /* worker i works on target i modulo the number of targets */
	ENGINE_SHARED,          /* every worker on all blocks of all targets */
	ENGINE_SLICED           /* worker i on its contiguous share of the blocks of all targets */
};

enum engine_content {
	ENGINE_ZEROS,
	ENGINE_NEAR_ZERO,       /* zeros; the n-th block increments byte n modulo the block's size (bonnie++) */
	ENGINE_COUNTING,        /* byte i is i modulo 128 (bonnie's putc) */
	ENGINE_RANDOM           /* shaped by compression and duplicates below */
};

enum engine_sync_call {
	ENGINE_FSYNC,
	ENGINE_FDATASYNC
};

enum engine_flag {
	ENGINE_CREATE_TARGETS = 1,
	ENGINE_TRUNCATE_TARGETS = 2,
	ENGINE_ALLOCATE_TARGETS = 4,    /* fallocate(2) before the start */
	ENGINE_O_DIRECT = 8,
	ENGINE_O_SYNC = 16,
	ENGINE_O_DSYNC = 32,
	ENGINE_SYNC_AT_END = 64,        /* each worker syncs its targets before it closes them, in its time */
	ENGINE_PROCESSES = 128,         /* workers are processes instead of threads */
	ENGINE_PIN = 256,               /* worker i on the i-th CPU the caller may use */
	ENGINE_UNTIL_FIRST = 512,       /* the first worker that is done stops the others */
	ENGINE_STAMP = 1024,            /* blocks describe themselves */
	ENGINE_VERIFY = 2048            /* reads check that description */
};

struct engine_target {
	const char *path;
	uint64_t bytes;
};

struct engine_size {
	uint32_t bytes;
	uint32_t weight;
};

struct engine_phase {
	const struct engine_target *targets;
	uint32_t target_count;
	const struct engine_size *sizes;        /* one, or a distribution */
	uint32_t size_count;
	uint32_t workers;
	uint32_t queue_depth;                   /* above 1 for io_uring only */
	uint32_t flags;                         /* enum engine_flag */
	enum engine_api api;
	enum engine_order order;
	enum engine_sharing sharing;
	uint32_t read_weight;
	uint32_t write_weight;
	uint32_t update_weight;                 /* read a block, change a byte, write it back */
	uint32_t stride_blocks;
	double zipf_exponent;
	uint64_t limit_operations;              /* a worker's amounts; 0: not limited so; all 0: one pass */
	uint64_t limit_bytes;
	double limit_s;
	double rate_per_s;                      /* arrivals at all workers together; 0: closed loop */
	uint64_t sync_every;                    /* writes of a worker; 0: never */
	enum engine_sync_call sync_call;
	enum engine_content content;
	double compression_ratio;               /* 1: incompressible */
	double duplicate_share;                 /* share of 4 KiB pieces that repeat one of sixteen */
	uint32_t generation;                    /* of stamped blocks: written, or expected by a verifying read */
	uint64_t seed;
	double bin_s;                           /* width of a bin of the time series */
};

/* ---- metadata phases ---- */

enum engine_placement {
	ENGINE_TOGETHER,        /* all workers' names in the same directories */
	ENGINE_APART            /* each worker in directories of its own */
};

enum engine_naming {
	ENGINE_NUMBER_FIRST,    /* 0000042 and then random letters: names sort in order of creation */
	ENGINE_NUMBER_LAST      /* random letters, then the number: they do not */
};

struct engine_metadata {
	const char *root;               /* an existing folder; CREATE and MKDIR make the tree below it before the start */
	enum engine_kind kind;          /* READ (open, read all, close), OPEN and what follows it up to GETXATTR */
	enum engine_placement placement;
	enum engine_naming naming;
	uint32_t workers;
	uint32_t flags;                 /* ENGINE_PROCESSES, ENGINE_PIN, ENGINE_UNTIL_FIRST */
	uint32_t shuffled;              /* 1: names in a random order */
	uint32_t random_letters;        /* at most so many in a name, their number uniform from 0 */
	const char *suffix;             /* of every name */
	const char *new_suffix;         /* instead of it, of what RENAME, LINK and SYMLINK make */
	uint64_t names;                 /* of one worker */
	uint32_t directories;           /* leaf directories of a tree, filled one after the other; 1: its root alone */
	uint32_t depth;                 /* levels of the tree, at least 1 */
	uint32_t file_bytes;            /* written by CREATE, incompressible */
	uint32_t xattr_bytes;
	uint64_t seed;
	double limit_s;                 /* 0: every name once (READDIR: every directory) */
	double bin_s;
};

/* ---- what a worker reports ---- */

enum engine_ending {
	ENGINE_COMPLETE,
	ENGINE_OTHER_FIRST,     /* another worker was done first (ENGINE_UNTIL_FIRST) */
	ENGINE_STOPPED,         /* by engine_stop */
	ENGINE_FAILED,          /* this worker met an error */
	ENGINE_OTHER_FAILED,    /* another worker met an error */
	ENGINE_LOST             /* the worker's process vanished */
};

struct engine_tally {
	uint64_t bytes;
	uint64_t errors;
	struct engine_histogram latency;        /* its count is the number of operations */
};

struct engine_failure {
	int32_t error;                  /* errno; ENODATA: the file ended before the block */
	int32_t kind;                   /* enum engine_kind */
	int32_t target;                 /* index of the target, or -1 */
	uint64_t offset;                /* of the first byte not transferred; in metadata phases the name's number */
};

enum engine_verdict {
	ENGINE_GOOD,
	ENGINE_EMPTY,           /* zeros: never written, or lost */
	ENGINE_STALE,           /* a whole block of another generation */
	ENGINE_TORN,            /* parts of several generations, or parts missing */
	ENGINE_FOREIGN,         /* a sound block of another file or offset */
	ENGINE_DAMAGED,         /* neither: wrong checksum or no stamp */
	ENGINE_VERDICTS
};

struct engine_bin {
	uint64_t operations;
	uint64_t bytes;
};

enum { ENGINE_BINS = 8192 };

struct engine_report {
	enum engine_ending ending;
	struct engine_failure failure;
	uint64_t begin_ns;              /* this worker left the barrier */
	uint64_t first_done_ns;         /* its first operation was done; 0: none was */
	uint64_t last_done_ns;          /* its last operation was done, before syncs at the end and close */
	uint64_t end_ns;                /* all done, syncs at the end and close included */
	uint64_t short_transfers;
	uint64_t retries;               /* after EINTR and EAGAIN */
	double user_s;
	double sys_s;
	uint64_t minor_faults;
	uint64_t major_faults;
	uint64_t voluntary_switches;
	uint64_t involuntary_switches;
	uint64_t verdicts[ENGINE_VERDICTS];
	int32_t bad_target;             /* of the first block that was not good, or -1 */
	uint64_t bad_offset;
	enum engine_verdict bad_verdict;
	double bin_s;                   /* may be the asked width times a power of two */
	uint32_t bins;
	struct engine_bin series[ENGINE_BINS];
	struct engine_tally tallies[ENGINE_KINDS];
};

/* ---- running ---- */

struct engine_run;

/* 0, or the errno with which this kernel or build refuses the API. */
int engine_api_error(enum engine_api api);

/*
 * Prepare the targets, start the workers, let them go together. On an error nothing runs and *failure says where.
 * The description is copied: it need not outlive the call.
 */
int engine_start(const struct engine_phase *phase, struct engine_failure *failure, struct engine_run **ret);
int engine_start_metadata(const struct engine_metadata *phase, struct engine_failure *failure, struct engine_run **ret);

/* Wait for the end at most so long. 1: every worker has ended. Only one thread may wait. */
int engine_wait(struct engine_run *run, int32_t timeout_ms);

/* Ask the workers to end after the operation in progress. Safe from any thread and from a signal handler. */
void engine_stop(struct engine_run *run);

/* A worker's report, to be read once engine_wait has said 1. */
const struct engine_report *engine_report(const struct engine_run *run, uint32_t worker);

/* Stop what still runs, wait for it, free everything. */
void engine_free(struct engine_run *run);

/* The path of a worker's name below the root, without its suffix. Returns its length, as snprintf does. */
int engine_metadata_path(const struct engine_metadata *phase, uint32_t worker, uint64_t name, char *buffer,
			 uint32_t bytes);

/* ---- self-describing blocks, for those who look at files from outside ---- */

/* Write the content of a phase's block at `offset` of target number `target` into a buffer. */
void engine_fill(const struct engine_phase *phase, uint32_t target, uint64_t offset, uint64_t ordinal, void *buffer,
		 uint32_t bytes);

/* Judge a block that should be the stamped block at `offset` of target number `target`. */
enum engine_verdict engine_judge(uint64_t seed, uint32_t target, uint64_t offset, uint32_t generation,
				 const void *block, uint32_t bytes);

#endif
