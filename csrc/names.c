/* Names like bonnie++'s: a number and up to so many random letters, in directories filled one after the other. */
#define _GNU_SOURCE
#include "names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "random.h"

enum { LONGEST_LETTERS = 200 };

/* Children of one directory: the least number whose depth-th power holds all leaves. */
static uint32_t fan_out(const struct engine_metadata *phase)
{
	for (uint32_t children = 1;; children++) {
		uint64_t leaves = 1;

		for (uint32_t level = 0; level < phase->depth && leaves < phase->directories; level++)
			leaves *= children;
		if (leaves >= phase->directories)
			return children;
	}
}

int names_directory(const struct engine_metadata *phase, uint32_t worker, uint32_t leaf, char *buffer, size_t bytes)
{
	uint32_t children = fan_out(phase);
	uint64_t below = 1;
	int length = 0;

	buffer[0] = 0;
	if (phase->placement == ENGINE_APART)
		length = snprintf(buffer, bytes, "w%03u/", worker);
	if (phase->directories == 1)
		return length;
	for (uint32_t level = 1; level < phase->depth; level++)
		below *= children;
	for (uint32_t level = 0; level < phase->depth && length < (int)bytes; level++, below /= children)
		length += snprintf(buffer + length, bytes - (size_t)length, "%05u/",
				   (uint32_t)(leaf / below % children));
	return length;
}

uint32_t names_leaf(const struct engine_metadata *phase, uint64_t name)
{
	uint64_t each = (phase->names + phase->directories - 1) / phase->directories;

	return (uint32_t)(name / each);
}

static int letters(const struct engine_metadata *phase, uint64_t number, char *buffer)
{
	static const char alphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	struct random random = random_seeded(phase->seed, number);
	uint32_t most = phase->random_letters < LONGEST_LETTERS ? phase->random_letters : LONGEST_LETTERS;
	int length = (int)random_below(&random, most + 1);

	for (int i = 0; i < length; i++)
		buffer[i] = alphabet[random_below(&random, sizeof(alphabet) - 1)];
	buffer[length] = 0;
	return length;
}

int engine_metadata_path(const struct engine_metadata *phase, uint32_t worker, uint64_t name, char *buffer,
			 uint32_t bytes)
{
	char random_part[LONGEST_LETTERS + 1];
	uint64_t number = worker * phase->names + name;
	int length = names_directory(phase, worker, names_leaf(phase, name), buffer, bytes);

	letters(phase, number, random_part);
	if (length >= (int)bytes)
		return length;
	if (phase->naming == ENGINE_NUMBER_FIRST)
		return length + snprintf(buffer + length, bytes - (uint32_t)length, "%07llu%s",
					 (unsigned long long)number, random_part);
	return length + snprintf(buffer + length, bytes - (uint32_t)length, "%s%07llu", random_part,
				 (unsigned long long)number);
}

/* mkdir of every prefix of a path that ends in a slash. */
static int make_path(int root, char *path)
{
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		int result;

		*slash = 0;
		result = mkdirat(root, path, 0700);
		*slash = '/';
		if (result != 0 && errno != EEXIST)
			return errno;
	}
	return 0;
}

int names_make_tree(const struct engine_metadata *phase)
{
	uint32_t roots = phase->placement == ENGINE_APART ? phase->workers : 1;
	int root = open(phase->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[PATH_MAX];
	int error = root < 0 ? errno : 0;

	for (uint32_t worker = 0; worker < roots && !error; worker++)
		for (uint32_t leaf = 0; leaf < phase->directories && !error; leaf++) {
			names_directory(phase, worker, leaf, path, sizeof(path));
			error = make_path(root, path);
		}
	if (root >= 0)
		close(root);
	return error;
}
