/* The names and the directory tree of metadata phases: functions of seed and number alone. */
#ifndef FSTRIAL_NAMES_H
#define FSTRIAL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "engine.h"

/* The directory that holds a worker's leaf number `leaf`, with a slash behind it; may be empty. As snprintf. */
int names_directory(const struct engine_metadata *phase, uint32_t worker, uint32_t leaf, char *buffer, size_t bytes);

/* In which leaf directory a worker's name stands. */
uint32_t names_leaf(const struct engine_metadata *phase, uint64_t name);

/* Make all directories of the tree below the root; 0 or errno. */
int names_make_tree(const struct engine_metadata *phase);

#endif
