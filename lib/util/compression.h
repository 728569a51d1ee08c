/* What a file may be compressed by that has to be unpacked before it is read: core files are kept
 * so by systemd-coredump(8) and others. */
#ifndef GH_UTIL_COMPRESSION_H
#define GH_UTIL_COMPRESSION_H

#include <stddef.h>
#include <string.h>

/* What is found in the place of a file's own format, for an error: OTHER, or by which program the
 * SIZE bytes at DATA, its first, are unpacked. Formats: RFC 8878, 3.1.1, RFC 1952, 2.3.1, and the
 * xz and LZ4 frame formats. */
static inline const char *gh_compression_found(const void *data, size_t size, const char *other)
{
	static const struct {
		const char *magic;
		const char *found;
	} formats[] = {
	    {"\x28\xb5\x2f\xfd", "what zstd compressed: unpack it with zstd -d"},
	    {"\x1f\x8b\x08", "what gzip compressed: unpack it with gzip -d"},
	    {"\xfd\x37\x7a\x58\x5a", "what xz compressed: unpack it with xz -d"},
	    {"\x04\x22\x4d\x18", "what lz4 compressed: unpack it with lz4 -d"},
	};
	for (size_t i = 0; data != NULL && i < sizeof(formats) / sizeof(formats[0]); i++) {
		size_t length = strlen(formats[i].magic);
		if (size >= length && memcmp(data, formats[i].magic, length) == 0)
			return formats[i].found;
	}
	return other;
}

#endif
