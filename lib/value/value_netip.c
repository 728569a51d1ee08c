/* Addresses of packages net and net/netip.
 *
 * Source: type Addr in src/net/netip/netip.go: 128 bits, and what tells addresses of IPv4 from
 * those of IPv6, with their zones; type Prefix there; type IP in src/net/ip.go: 4 or 16 bytes. */
#include "lib/value/internal.h"

#include <inttypes.h>

/* The longest zone that is printed, in bytes. */
#define MOST_ZONE 64

/* The groups of an address of IPv6. */
#define GROUPS 8

/* Which of these it is. */
enum family { INVALID, IPV4, IPV6, EITHER };

/* Finds the family by what z, at AT, points to from Go 1.23 on: a value of TYPE. *ZONE is where the
 * string is that is the zone. */
static bool find_by_detail(struct gh_values *values, const struct gh_rtype *type, uint64_t at,
			   enum family *family, uint64_t *zone)
{
	struct gh_rtype_part part;
	uint64_t set;
	if (!gh_value_field_uint(values, type, at, "isV6", 1, &set) ||
	    !gh_value_field(values->types, type, "zoneV6", &part))
		return false;
	*family = set != 0 ? IPV6 : IPV4;
	*zone = at + part.offset;
	return true;
}

/* The same to Go 1.22: what z points to has only the zone. Without one an address of IPv4 and the
 * same in IPv6 differ by where it points. */
static bool find_by_zone(struct gh_values *values, const struct gh_rtype *type, uint64_t at,
			 enum family *family, uint64_t *zone)
{
	struct gh_rtype_part part;
	uint32_t dynamic;
	uint64_t descriptor;
	if (!gh_value_field(values->types, type, "cmpVal", &part) ||
	    !gh_value_dynamic(values, &values->types->items[part.type], at + part.offset, &dynamic,
			      &descriptor, zone))
		return false;
	*family = descriptor != 0 ? IPV6 : EITHER;
	if (descriptor == 0)
		*zone = 0;
	return true;
}

static bool find_family(struct gh_values *values, const struct gh_rtype *type, uint64_t address,
			enum family *family, uint64_t *zone)
{
	const struct gh_rtypes *types = values->types;
	struct gh_rtype_part z;
	struct gh_rtype_part part;
	uint64_t at;
	*zone = 0;
	*family = INVALID;
	if (!gh_value_field(types, type, "z", &z) ||
	    !gh_value_word(values, address + z.offset, &at))
		return false;
	if (at == 0)
		return true;
	bool has_handle = gh_value_field(types, &types->items[z.type], "value", &part);
	uint32_t target = gh_rtype_elem(types, &types->items[has_handle ? part.type : z.type]);
	return target != GH_NO_RTYPE && (has_handle ? find_by_detail : find_by_zone)(
					    values, &types->items[target], at, family, zone);
}

static void add_ipv4(struct gh_values *values, uint64_t bits)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		gh_value_add(values, "%u%s", (unsigned)(bits >> shift & 0xff),
			     shift > 0 ? "." : "");
}

/* The longest run of groups that are 0, of two or more, the first of several: *START to *END. */
static void find_zeros(const uint16_t groups[GROUPS], unsigned *start, unsigned *end)
{
	*start = *end = GROUPS;
	for (unsigned i = 0; i < GROUPS; i++) {
		unsigned j = i;
		while (j < GROUPS && groups[j] == 0)
			j++;
		if (j - i >= 2 && j - i > *end - *start) {
			*start = i;
			*end = j;
		}
	}
}

static void add_ipv6(struct gh_values *values, uint64_t high, uint64_t low)
{
	uint16_t groups[GROUPS];
	unsigned start;
	unsigned end;
	for (unsigned i = 0; i < GROUPS; i++)
		groups[i] = (uint16_t)((i < 4 ? high : low) >> (48 - 16 * (i % 4)));
	find_zeros(groups, &start, &end);
	for (unsigned i = 0; i < GROUPS; i++) {
		if (i == start) {
			gh_value_add(values, "::");
			i = end;
			if (i >= GROUPS)
				break;
		} else if (i > 0) {
			gh_value_add(values, ":");
		}
		gh_value_add(values, "%x", groups[i]);
	}
}

/* Appends the zone, a string at ADDRESS. */
static void add_zone(struct gh_values *values, uint64_t address)
{
	char zone[MOST_ZONE];
	uint64_t start;
	uint64_t size;
	if (address == 0 || !gh_value_slice(values, address, &start, &size) || size == 0 ||
	    size > sizeof(zone) || !gh_process_read_constant(values->process, start, zone, size))
		return;
	gh_value_add(values, "%%");
	for (uint64_t i = 0; i < size; i++)
		gh_value_add(values, "%c",
			     zone[i] > ' ' && zone[i] < 0x7f && zone[i] != '"' && zone[i] != '\\'
				 ? zone[i]
				 : '?');
}

bool gh_value_add_netip(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	struct gh_rtype_part part;
	enum family family;
	uint64_t zone;
	uint64_t high;
	uint64_t low;
	if (!gh_value_field(values->types, type, "addr", &part) ||
	    !gh_process_constant_uint(values->process, address + part.offset, 8, &high) ||
	    !gh_process_constant_uint(values->process, address + part.offset + 8, 8, &low) ||
	    !find_family(values, type, address, &family, &zone))
		return false;
	bool is_mapped = high == 0 && low >> 32 == 0xffff;
	if (family == INVALID) {
		gh_value_add(values, "invalid IP");
		return true;
	}
	if (is_mapped && family == IPV6)
		gh_value_add(values, "::ffff:");
	if (is_mapped || family == IPV4)
		add_ipv4(values, low);
	else
		add_ipv6(values, high, low);
	add_zone(values, zone);
	if (is_mapped && family == EITHER)
		gh_value_add(values, "?");
	return true;
}

bool gh_value_add_prefix(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	struct gh_rtype_part ip;
	enum family family;
	uint64_t zone;
	uint64_t bits;
	/* To Go 1.20 it is the number itself, in two bytes. */
	bool plus_one = gh_value_field_uint(values, type, address, "bitsPlusOne", 1, &bits);
	if ((!plus_one && !gh_value_field_uint(values, type, address, "bits", 2, &bits)) ||
	    !gh_value_field(values->types, type, "ip", &ip) ||
	    !find_family(values, &values->types->items[ip.type], address + ip.offset, &family,
			 &zone))
		return false;
	if (family == INVALID || (plus_one ? bits == 0 : bits > 128)) {
		gh_value_add(values, "invalid Prefix");
		return true;
	}
	if (!gh_value_add_netip(values, &values->types->items[ip.type], address + ip.offset))
		return false;
	gh_value_add(values, "/%u", (unsigned)bits - plus_one);
	return true;
}

bool gh_value_add_ip(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	uint8_t bytes[16] = {0};
	uint64_t start;
	uint64_t size;
	uint64_t high = 0;
	uint64_t low = 0;
	(void)type;
	if (!gh_value_slice(values, address, &start, &size) ||
	    (size != 4 && size != sizeof(bytes)) ||
	    !gh_process_read_constant(values->process, start, bytes, (size_t)size))
		return false;
	for (size_t i = 0; i < size; i++) {
		high = high << 8 | low >> 56;
		low = low << 8 | bytes[i];
	}
	if (size == 4 || (high == 0 && low >> 32 == 0xffff))
		add_ipv4(values, low);
	else
		add_ipv6(values, high, low);
	return true;
}
