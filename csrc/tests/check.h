/* What the engine's tests share: a check that says what failed, and a folder of their own. */
#ifndef FSTRIAL_CHECK_H
#define FSTRIAL_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                   \
	do {                                                                               \
		if (!(condition)) {                                                        \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
			exit(1);                                                           \
		}                                                                          \
	} while (0)

static char check_folder[] = "/tmp/fstrial-engine-XXXXXX";

static inline const char *check_path(const char *name)
{
	static char paths[8][256];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", check_folder, name);
	return path;
}

#endif
