#include "lib/value/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* In time.Time.wall: there is a monotonic reading in ext, and the seconds since 1885 here. */
#define HAS_MONOTONIC (UINT64_C(1) << 63)

/* Seconds from the year 1 to 1885, and to 1970. */
#define YEAR_1885 INT64_C(59453308800)
#define YEAR_1970 INT64_C(62135596800)

/* In sync.Mutex.state; the number of goroutines that wait is above. */
enum { MUTEX_LOCKED = 1, MUTEX_WAITERS_SHIFT = 3 };

/* In reflect.Value.flag: ptr points to the value; and it is a method of the value. */
enum { REFLECT_INDIRECT = 1 << 7, REFLECT_METHOD = 1 << 9 };

/* What a writer takes from sync.RWMutex.readerCount. */
#define MAX_READERS (1 << 30)

/* Source: type Time in src/time/time.go; before Go 1.9 it had other fields. In UTC. */
bool gh_value_time(struct gh_values *values, const struct gh_rtype *type, uint64_t address,
		   int64_t *seconds, unsigned *nanoseconds)
{
	uint64_t wall;
	uint64_t ext;
	if (!gh_value_field_uint(values, type, address, "wall", 8, &wall) ||
	    !gh_value_field_uint(values, type, address, "ext", 8, &ext))
		return false;
	int64_t since_year_1 = (int64_t)ext;
	if ((wall & HAS_MONOTONIC) != 0)
		since_year_1 = YEAR_1885 + (int64_t)(wall << 1 >> 31);
	*seconds = (int64_t)((uint64_t)since_year_1 - YEAR_1970);
	*nanoseconds = (unsigned)(wall & 0x3fffffff) % 1000000000;
	return true;
}

bool gh_value_add_time(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	int64_t seconds;
	unsigned nanoseconds;
	struct tm tm;
	if (!gh_value_time(values, type, address, &seconds, &nanoseconds))
		return false;
	time_t unix_time = (time_t)seconds;
	if (gmtime_r(&unix_time, &tm) == NULL)
		return false;
	gh_value_add(values, "%04lld-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900LL, tm.tm_mon + 1,
		     tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	char text[16];
	int length = snprintf(text, sizeof(text), ".%09u", nanoseconds);
	while (length > 0 && (text[length - 1] == '0' || text[length - 1] == '.'))
		text[--length] = '\0';
	gh_value_add(values, "%sZ", text);
	return true;
}

/* Source: type Mutex in src/sync/mutex.go; from Go 1.24 on it is another's, mu. */
static bool add_mutex(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	uint64_t state;
	(void)type;
	if (!gh_process_constant_uint(values->process, address, 4, &state))
		return false;
	uint64_t waiting = state >> MUTEX_WAITERS_SHIFT;
	gh_value_add(values, "%s", (state & MUTEX_LOCKED) != 0 ? "locked" : "unlocked");
	if (waiting > 0)
		gh_value_add(values, ", %" PRIu64 " waiting", waiting);
	return true;
}

/* Source: type RWMutex in src/sync/rwmutex.go. */
static bool add_rwmutex(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	uint64_t count;
	uint64_t leaving;
	if (!gh_value_field_uint(values, type, address, "readerCount", 4, &count) ||
	    !gh_value_field_uint(values, type, address, "readerWait", 4, &leaving))
		return false;
	int32_t readers = (int32_t)count;
	if (readers == 0)
		gh_value_add(values, "unlocked");
	else if (readers > 0)
		gh_value_add(values, "%d reading", readers);
	else if (leaving == 0)
		gh_value_add(values, "locked, %d waiting to read", readers + MAX_READERS);
	else
		gh_value_add(values, "%" PRIu64 " reading, one waiting to write", leaving);
	return true;
}

/* Source: type WaitGroup in src/sync/waitgroup.go. To Go 1.19 its number is at the next multiple
 * of 8. */
static bool add_wait_group(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	struct gh_rtype_part part;
	uint64_t state;
	if (!gh_value_field(values->types, type, "state", &part) &&
	    !gh_value_field(values->types, type, "state1", &part))
		return false;
	uint64_t at = address + part.offset;
	if (!gh_process_constant_uint(values->process, at + (at % 8 != 0 ? 4 : 0), 8, &state))
		return false;
	gh_value_add(values, "%d, %u waiting", (int32_t)(state >> 32),
		     (unsigned)(state & INT32_MAX));
	return true;
}

/* Source: type Once in src/sync/once.go. */
static bool add_once(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	uint64_t done;
	if (!gh_value_field_uint(values, type, address, "done", 4, &done))
		return false;
	gh_value_add(values, "%s", done != 0 ? "done" : "not done");
	return true;
}

/* Source: src/sync/atomic/type.go and value.go: what each holds is v. A Pointer's says only by the
 * array of none before it what it points to. */
static bool add_atomic(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	const struct gh_rtypes *types = values->types;
	struct gh_rtype_part held;
	struct gh_rtype_part array;
	uint64_t bits;
	if (!gh_value_field(types, type, "v", &held))
		return false;
	uint32_t number = held.type;
	if (types->items[number].kind == GH_KIND_UNSAFE_POINTER) {
		if (!gh_rtype_part(types, type, 0, &array) ||
		    types->items[array.type].kind != GH_KIND_ARRAY)
			return false;
		number = gh_rtype_elem(types, &types->items[array.type]);
		if (number == GH_NO_RTYPE)
			return false;
	}
	if (gh_rtype_text_is(type->text, "atomic.Bool") &&
	    gh_process_constant_uint(values->process, address + held.offset, 4, &bits))
		gh_value_add(values, "%s", bits != 0 ? "true" : "false");
	else
		gh_value_add_any(values, number, address + held.offset, false);
	return true;
}

/* Source: type Value in src/reflect/value.go. */
static bool add_reflected(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	struct gh_rtype_part part;
	uint64_t flag;
	uint64_t descriptor;
	uint64_t data;
	if (!gh_value_field_uint(values, type, address, "flag", values->process->tab->pointer_size,
				 &flag) ||
	    (!gh_value_field(values->types, type, "typ_", &part) &&
	     !gh_value_field(values->types, type, "typ", &part)) ||
	    !gh_value_word(values, address + part.offset, &descriptor) ||
	    (flag & REFLECT_METHOD) != 0 || !gh_value_field(values->types, type, "ptr", &part))
		return false;
	data = address + part.offset;
	uint32_t number = gh_rtypes_at(values->types, descriptor - values->process->bias);
	if (flag == 0) {
		gh_value_add_either(values, "reflect.Value(nil)", "null");
		return true;
	}
	if (number == GH_NO_RTYPE ||
	    ((flag & REFLECT_INDIRECT) != 0 && !gh_value_word(values, data, &data)))
		return false;
	gh_value_add_dynamic(values, type, number, data);
	return true;
}

/* Source: type Builder in src/strings/builder.go. */
static bool add_builder(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	struct gh_rtype_part buf;
	return gh_value_field(values->types, type, "buf", &buf) &&
	       gh_value_add_bytes(values, address + buf.offset, 0);
}

/* Source: type Buffer in src/bytes/buffer.go: what is before off has been read. */
static bool add_buffer(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	struct gh_rtype_part buf;
	uint64_t off;
	return gh_value_field(values->types, type, "buf", &buf) &&
	       gh_value_field_uint(values, type, address, "off", values->process->tab->pointer_size,
				   &off) &&
	       gh_value_add_bytes(values, address + buf.offset, off);
}

/* How what is appended is told apart from other values: as T(...), in JSON as a text or a value of
 * its own; or not at all. */
enum form { FORM_TEXT, FORM_VALUE, FORM_WHOLE };

/* A type, and how values of it are appended. */
struct known {
	const char *name; /* or, with a dot at its end, what all of the package begin with */
	const char *package;
	/* Appends what is between the parentheses. False if it cannot be told. */
	bool (*add)(struct gh_values *values, const struct gh_rtype *type, uint64_t address);
	enum form form;
};

static bool is_known(const struct gh_values *values, const struct gh_rtype *type,
		     const struct known *known)
{
	bool (*is)(struct gh_rtype_text text, const char *name) =
	    known->name[strlen(known->name) - 1] == '.' ? gh_rtype_text_starts : gh_rtype_text_is;
	return is(type->text, known->name) &&
	       gh_rtype_text_is(gh_rtype_package(values->types, type), known->package);
}

static bool add_in_form(struct gh_values *values, const struct gh_rtype *type, uint64_t address,
			const struct known *known)
{
	struct gh_buffer *out = &values->out;
	size_t before = out->size;
	if (known->form == FORM_WHOLE)
		return known->add(values, type, address);
	if (!values->json)
		gh_buffer_bytes(out, type->text.start, type->text.length);
	const char *quote = known->form == FORM_TEXT ? "\"" : "";
	gh_value_add_either(values, "(", quote);
	bool added = known->add(values, type, address);
	gh_value_add_either(values, ")", quote);
	if (!added && !out->failed)
		out->size = before;
	return added;
}

bool gh_value_add_known(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	static const struct known all[] = {
	    {"atomic.", "sync/atomic", add_atomic, FORM_VALUE},
	    {"context.", "context", gh_value_add_context, FORM_TEXT},
	    {"time.Time", "time", gh_value_add_time, FORM_TEXT},
	    {"sync.Mutex", "sync", add_mutex, FORM_TEXT},
	    {"sync.RWMutex", "sync", add_rwmutex, FORM_TEXT},
	    {"sync.WaitGroup", "sync", add_wait_group, FORM_TEXT},
	    {"sync.Once", "sync", add_once, FORM_TEXT},
	    {"netip.Addr", "net/netip", gh_value_add_netip, FORM_TEXT},
	    {"netip.Prefix", "net/netip", gh_value_add_prefix, FORM_TEXT},
	    {"net.IP", "net", gh_value_add_ip, FORM_TEXT},
	    {"big.Int", "math/big", gh_value_add_big, FORM_VALUE},
	    {"big.Rat", "math/big", gh_value_add_rat, FORM_TEXT},
	    {"big.Float", "math/big", gh_value_add_big_float, FORM_TEXT},
	    {"strings.Builder", "strings", add_builder, FORM_VALUE},
	    {"bytes.Buffer", "bytes", add_buffer, FORM_VALUE},
	    {"reflect.Value", "reflect", add_reflected, FORM_WHOLE},
	    {"runtime.hchan", "runtime", gh_value_add_hchan, FORM_WHOLE},
	};
	for (size_t i = 0; type->named && i < sizeof(all) / sizeof(all[0]); i++)
		if (is_known(values, type, &all[i]))
			return add_in_form(values, type, address, &all[i]);
	return false;
}
