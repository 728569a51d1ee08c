#include <elf.h>
#include <string.h>

#include "lib/elf/elf.h"

/* What an ELF file is by the SIZE bytes at DATA, its first: e_type in the file's byte order. */
static const char *type_of_elf(const uint8_t *data, size_t size)
{
	if (size < EI_NIDENT + 2)
		return "the start of an ELF file";
	bool is_big_endian = data[EI_DATA] == ELFDATA2MSB;
	unsigned type = data[EI_NIDENT + is_big_endian] + 256U * data[EI_NIDENT + !is_big_endian];
	switch (type) {
	case ET_REL:
		return "an object file";
	case ET_EXEC:
		return "an executable";
	case ET_DYN:
		return "an executable or a shared object";
	case ET_CORE:
		return "a core file";
	default:
		return "an ELF file of no known type";
	}
}

/* The first line of a heap dump has the release whose format it is of, from Go 1.3 to 1.7. Format:
 * dumphdr in src/runtime/heapdump.go. */
static bool is_heap_dump(const uint8_t *data, size_t size)
{
	static const char start[] = "go1.";
	static const char end[] = " heap dump\n";
	size_t digit = strlen(start);
	return size > digit + strlen(end) && memcmp(data, start, digit) == 0 &&
	       data[digit] >= '3' && data[digit] <= '7' &&
	       memcmp(data + digit + 1, end, strlen(end)) == 0;
}

/* A profile of pprof's begins with its sample types, as goheap and others write it, or the period's
 * type, as Go does: messages whose first field is 1. Format: profile.proto, Profile (fields 1 and
 * 11) and ValueType. */
static bool is_profile(const uint8_t *data, size_t size)
{
	return size > 2 && (data[0] == 0x0a || data[0] == 0x5a) && data[1] < 0x80 &&
	       data[2] == 0x08;
}

const char *gh_file_kind(const void *data, size_t size)
{
	static const struct {
		const char *magic;
		const char *kind;
	} formats[] = {
	    {"\x28\xb5\x2f\xfd", "what zstd compressed: unpack it with zstd -d"},
	    {"\x1f\x8b\x08", "what gzip compressed: unpack it with gzip -d"},
	    {"\xfd\x37\x7a\x58\x5a", "what xz compressed: unpack it with xz -d"},
	    {"\x04\x22\x4d\x18", "what lz4 compressed: unpack it with lz4 -d"},
	    {"heap profile: ", "a profile as text"},
	};
	if (size == 0)
		return "an empty file";
	if (size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0)
		return type_of_elf(data, size);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		size_t length = strlen(formats[i].magic);
		if (size >= length && memcmp(data, formats[i].magic, length) == 0)
			return formats[i].kind;
	}
	if (is_heap_dump(data, size))
		return "a Go heap dump";
	return is_profile(data, size) ? "a profile of pprof's" : "another format";
}
