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

struct known {
	struct gh_values *values;
	const struct gh_rtype *type;
	uint64_t address;
};

/* Reads the integer of SIZE bytes that the field NAME has, or begins with. */
static bool read_field(const struct known *known, const char *name, unsigned size, uint64_t *value)
{
	struct gh_rtype_part part;
	*value = 0;
	return gh_value_field(known->values->types, known->type, name, &part) &&
	       gh_process_constant_uint(known->values->process, known->address + part.offset, size,
					value);
}

/* Source: type Time in src/time/time.go; before Go 1.9 it had other fields. In UTC. */
bool gh_value_time(struct gh_values *values, const struct gh_rtype *type, uint64_t address,
		   int64_t *seconds, unsigned *nanoseconds)
{
	const struct known known = {values, type, address};
	uint64_t wall;
	uint64_t ext;
	if (!read_field(&known, "wall", 8, &wall) || !read_field(&known, "ext", 8, &ext))
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

static bool add_time(const struct known *known)
{
	return gh_value_add_time(known->values, known->type, known->address);
}

/* Source: type Mutex in src/sync/mutex.go; from Go 1.24 on it is another's, mu. */
static bool add_mutex(const struct known *known)
{
	uint64_t state;
	if (!gh_process_constant_uint(known->values->process, known->address, 4, &state))
		return false;
	uint64_t waiting = state >> MUTEX_WAITERS_SHIFT;
	gh_value_add(known->values, "%s", (state & MUTEX_LOCKED) != 0 ? "locked" : "unlocked");
	if (waiting > 0)
		gh_value_add(known->values, ", %" PRIu64 " waiting", waiting);
	return true;
}

/* Source: type RWMutex in src/sync/rwmutex.go. */
static bool add_rwmutex(const struct known *known)
{
	uint64_t count;
	uint64_t leaving;
	if (!read_field(known, "readerCount", 4, &count) ||
	    !read_field(known, "readerWait", 4, &leaving))
		return false;
	int32_t readers = (int32_t)count;
	if (readers == 0)
		gh_value_add(known->values, "unlocked");
	else if (readers > 0)
		gh_value_add(known->values, "%d reading", readers);
	else if (leaving == 0)
		gh_value_add(known->values, "locked, %d waiting to read", readers + MAX_READERS);
	else
		gh_value_add(known->values, "%" PRIu64 " reading, one waiting to write", leaving);
	return true;
}

/* Source: type WaitGroup in src/sync/waitgroup.go. To Go 1.19 its number is at the next multiple
 * of 8. */
static bool add_wait_group(const struct known *known)
{
	struct gh_rtype_part part;
	uint64_t state;
	if (!gh_value_field(known->values->types, known->type, "state", &part) &&
	    !gh_value_field(known->values->types, known->type, "state1", &part))
		return false;
	uint64_t at = known->address + part.offset;
	if (!gh_process_constant_uint(known->values->process, at + (at % 8 != 0 ? 4 : 0), 8,
				      &state))
		return false;
	gh_value_add(known->values, "%d, %u waiting", (int32_t)(state >> 32),
		     (unsigned)(state & INT32_MAX));
	return true;
}

/* Source: type Once in src/sync/once.go. */
static bool add_once(const struct known *known)
{
	uint64_t done;
	if (!read_field(known, "done", 4, &done))
		return false;
	gh_value_add(known->values, "%s", done != 0 ? "done" : "not done");
	return true;
}

/* Source: src/sync/atomic/type.go and value.go: what each holds is v. A Pointer's says only by the
 * array of none before it what it points to. */
static bool add_atomic(const struct known *known)
{
	struct gh_values *values = known->values;
	const struct gh_rtypes *types = values->types;
	struct gh_rtype_part held;
	struct gh_rtype_part array;
	uint64_t bits;
	if (!gh_value_field(types, known->type, "v", &held))
		return false;
	uint32_t number = held.type;
	if (types->items[number].kind == GH_KIND_UNSAFE_POINTER) {
		if (!gh_rtype_part(types, known->type, 0, &array) ||
		    types->items[array.type].kind != GH_KIND_ARRAY)
			return false;
		number = gh_rtype_elem(types, &types->items[array.type]);
		if (number == GH_NO_RTYPE)
			return false;
	}
	if (gh_rtype_text_is(known->type->text, "atomic.Bool") &&
	    gh_process_constant_uint(values->process, known->address + held.offset, 4, &bits))
		gh_value_add(values, "%s", bits != 0 ? "true" : "false");
	else
		gh_value_add_any(values, number, known->address + held.offset, false);
	return true;
}

/* Source: type Value in src/reflect/value.go. */
static bool add_reflected(const struct known *known)
{
	struct gh_values *values = known->values;
	struct gh_rtype_part part;
	uint64_t flag;
	uint64_t descriptor;
	uint64_t data;
	if (!read_field(known, "flag", values->process->tab->pointer_size, &flag) ||
	    (!gh_value_field(values->types, known->type, "typ_", &part) &&
	     !gh_value_field(values->types, known->type, "typ", &part)) ||
	    !gh_value_word(values, known->address + part.offset, &descriptor) ||
	    (flag & REFLECT_METHOD) != 0 ||
	    !gh_value_field(values->types, known->type, "ptr", &part))
		return false;
	data = known->address + part.offset;
	uint32_t number = gh_rtypes_at(values->types, descriptor - values->process->bias);
	if (flag == 0) {
		gh_value_add_either(values, "reflect.Value(nil)", "null");
		return true;
	}
	if (number == GH_NO_RTYPE ||
	    ((flag & REFLECT_INDIRECT) != 0 && !gh_value_word(values, data, &data)))
		return false;
	gh_value_add_dynamic(values, known->type, number, data);
	return true;
}

static bool add_netip(const struct known *known)
{
	return gh_value_add_netip(known->values, known->type, known->address);
}

static bool add_big(const struct known *known)
{
	return gh_value_add_big(known->values, known->type, known->address);
}

static bool add_prefix(const struct known *known)
{
	return gh_value_add_prefix(known->values, known->type, known->address);
}

static bool add_ip(const struct known *known)
{
	return gh_value_add_ip(known->values, known->address);
}

static bool add_rat(const struct known *known)
{
	return gh_value_add_rat(known->values, known->type, known->address);
}

static bool add_big_float(const struct known *known)
{
	return gh_value_add_big_float(known->values, known->type, known->address);
}

/* Source: type Builder in src/strings/builder.go. */
static bool add_builder(const struct known *known)
{
	struct gh_rtype_part buf;
	return gh_value_field(known->values->types, known->type, "buf", &buf) &&
	       gh_value_add_bytes(known->values, known->address + buf.offset, 0);
}

/* Source: type Buffer in src/bytes/buffer.go: what is before off has been read. */
static bool add_buffer(const struct known *known)
{
	struct gh_rtype_part buf;
	uint64_t off;
	return gh_value_field(known->values->types, known->type, "buf", &buf) &&
	       read_field(known, "off", known->values->process->tab->pointer_size, &off) &&
	       gh_value_add_bytes(known->values, known->address + buf.offset, off);
}

static bool add_hchan(const struct known *known)
{
	return gh_value_add_hchan(known->values, known->address);
}

static bool add_context(const struct known *known)
{
	return gh_value_add_context(known->values, known->type, known->address);
}

/* How what is appended is told apart from other values: as T(...), in JSON as a text or a value of
 * its own; or not at all. */
enum form { FORM_TEXT, FORM_VALUE, FORM_WHOLE };

static bool add_in_form(const struct known *known, enum form form,
			bool (*add)(const struct known *known))
{
	struct gh_buffer *out = &known->values->out;
	size_t before = out->size;
	if (form == FORM_WHOLE)
		return add(known);
	if (!known->values->json)
		gh_buffer_bytes(out, known->type->text.start, known->type->text.length);
	const char *quote = form == FORM_TEXT ? "\"" : "";
	gh_value_add_either(known->values, "(", quote);
	bool added = add(known);
	gh_value_add_either(known->values, ")", quote);
	if (!added && !out->failed)
		out->size = before;
	return added;
}

bool gh_value_add_known(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	static const struct {
		const char *name;
		const char *package;
		bool (*add)(const struct known *known);
		enum form form;
	} all[] = {
	    {"time.Time", "time", add_time, FORM_TEXT},
	    {"sync.Mutex", "sync", add_mutex, FORM_TEXT},
	    {"sync.RWMutex", "sync", add_rwmutex, FORM_TEXT},
	    {"sync.WaitGroup", "sync", add_wait_group, FORM_TEXT},
	    {"sync.Once", "sync", add_once, FORM_TEXT},
	    {"netip.Addr", "net/netip", add_netip, FORM_TEXT},
	    {"netip.Prefix", "net/netip", add_prefix, FORM_TEXT},
	    {"net.IP", "net", add_ip, FORM_TEXT},
	    {"big.Int", "math/big", add_big, FORM_VALUE},
	    {"big.Rat", "math/big", add_rat, FORM_TEXT},
	    {"big.Float", "math/big", add_big_float, FORM_TEXT},
	    {"strings.Builder", "strings", add_builder, FORM_VALUE},
	    {"bytes.Buffer", "bytes", add_buffer, FORM_VALUE},
	    {"reflect.Value", "reflect", add_reflected, FORM_WHOLE},
	    {"runtime.hchan", "runtime", add_hchan, FORM_WHOLE},
	};
	static const char atomic[] = "atomic.";
	static const char context[] = "context.";
	const struct known known = {values, type, address};
	if (!type->named)
		return false;
	if (type->text.length > strlen(atomic) &&
	    memcmp(type->text.start, atomic, strlen(atomic)) == 0)
		return gh_rtype_text_is(gh_rtype_package(values->types, type), "sync/atomic") &&
		       add_in_form(&known, FORM_VALUE, add_atomic);
	if (type->text.length > strlen(context) &&
	    memcmp(type->text.start, context, strlen(context)) == 0)
		return gh_value_is_context(values, type) &&
		       add_in_form(&known, FORM_TEXT, add_context);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (gh_rtype_text_is(type->text, all[i].name) &&
		    gh_rtype_text_is(gh_rtype_package(values->types, type), all[i].package))
			return add_in_form(&known, all[i].form, all[i].add);
	return false;
}
