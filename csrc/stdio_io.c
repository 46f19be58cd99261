/* One getc(3) or putc(3) a character, as bonnie's "per char" columns have it. A step's latency is of its block. */
#include <stdio.h>

#include "loop.h"

/* The C standard asks for a seek between reading and writing one stream. */
static int stream_to(struct open_target *target, uint64_t offset, int writing)
{
	if (target->position == offset && target->writing == writing)
		return 0;
	if (fseeko(target->stream, (off_t)offset, SEEK_SET) != 0)
		return -1;
	target->position = offset;
	target->writing = writing;
	return 0;
}

static ssize_t call_getc(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	size_t done;

	if (stream_to(target, offset, 0) != 0)
		return -1;
	for (done = 0; done < bytes; done++) {
		int character = getc(target->stream);

		if (character == EOF)
			break;
		buffer[done] = (unsigned char)character;
	}
	target->position += done;
	return done == 0 && ferror(target->stream) ? -1 : (ssize_t)done;
}

static ssize_t call_putc(struct open_target *target, unsigned char *buffer, size_t bytes, uint64_t offset)
{
	size_t done;

	if (stream_to(target, offset, 1) != 0)
		return -1;
	for (done = 0; done < bytes; done++)
		if (putc(buffer[done], target->stream) == EOF)
			break;
	target->position += done;
	return done < bytes && done == 0 ? -1 : (ssize_t)done;
}

void loop_stdio(struct worker *worker)
{
	loop_all(worker, call_getc, call_putc);
}
