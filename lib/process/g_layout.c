#include "lib/process/internal.h"

/* The newest release that is known. */
#define NEWEST 27

/* Go 1.2 to 1.4, whose runtime.g was C's: by release, for pointers of 8 bytes and of 4. */
/* clang-format off */
static const struct gh_g_layout c_layouts[][2] = {
    {
	{.stack_low = 120, .stack_high = 8, .top_panic = 32, .top_defer = 24, .thread = 200,
	 .sched = 40, .context = 72, .lr = 80, .syscall_sp = 96, .status = 160, .id = 168,
	 .wait_reason = 176, .creator = 272, .signal_before = 56, .system = 193,
	 .next = 144, .segmented = true, .form = GH_G_REASON_C_STRING},
	{.stack_low = 64, .stack_high = 4, .top_panic = 20, .top_defer = 16, .thread = 112,
	 .sched = 24, .context = 40, .lr = 44, .syscall_sp = 52, .status = 84, .id = 88,
	 .wait_reason = 96, .creator = 152, .signal_before = 32, .system = 105,
	 .next = 76, .segmented = true, .form = GH_G_REASON_C_STRING},
    },
    {
	{.stack_low = 120, .stack_high = 8, .top_panic = 32, .top_defer = 24, .thread = 200,
	 .sched = 40, .context = 64, .lr = 80, .syscall_sp = 96, .status = 152, .id = 160,
	 .wait_since = 168, .wait_reason = 176, .creator = 256, .signal_before = 40,
	 .system = 193, .segmented = true, .form = GH_G_REASON_C_STRING, .no_capacity = true},
	{.stack_low = 60, .stack_high = 4, .top_panic = 16, .top_defer = 12, .thread = 112,
	 .sched = 20, .context = 32, .lr = 40, .syscall_sp = 48, .status = 76, .id = 80,
	 .wait_since = 88, .wait_reason = 96, .creator = 144, .signal_before = 24,
	 .system = 105, .segmented = true, .form = GH_G_REASON_C_STRING, .no_capacity = true},
    },
    {
	{.stack_low = 0, .stack_high = 8, .top_panic = 32, .top_defer = 40, .thread = 176,
	 .sched = 48, .context = 72, .lr = 88, .syscall_sp = 96, .status = 120, .id = 128,
	 .wait_since = 136, .wait_reason = 144, .creator = 248, .signal_before = 56,
	 .system = 168, .form = GH_G_REASON_STRING},
	{.stack_low = 0, .stack_high = 4, .top_panic = 16, .top_defer = 20, .thread = 100,
	 .sched = 24, .context = 36, .lr = 44, .syscall_sp = 48, .status = 60, .id = 64,
	 .wait_since = 72, .wait_reason = 80, .creator = 136, .signal_before = 28, .system = 92,
	 .form = GH_G_REASON_STRING},
    },
};
/* clang-format on */

/* Fills in where lockedm and sig are. Between lockedm and gopc are sig of 4 bytes, writebuf,
 * sigcode0, sigcode1 and sigpc; from Go 1.21 on parentGoid. Before sig are flags: none up to
 * Go 1.23, 4 bytes in 1.24 and 1.25, 5 that take 8 in 1.26 and 1.27; after it, from 1.26 on, secret
 * of 4 bytes. */
static void place_signal(struct gh_g_layout *layout, uint32_t word, int minor)
{
	uint32_t flags = minor < 24 ? 0 : minor < 26 ? 4 : 8;
	uint32_t numbers = flags + (minor < 26 ? 4 : 8);
	numbers += (word - numbers % word) % word;
	layout->locked_before = word + numbers + 6 * word + layout->parent_before;
	layout->signal_before = layout->locked_before - word - flags;
}

/* Go 1.5 and later. The fields up to m are the same: stack.lo, stack.hi, two stack guards, _panic,
 * _defer, m. stackAlloc and the four words of stkbar went in Go 1.9; stktopsp came in 1.6,
 * syscallbp in 1.23; sched lost its field ret in 1.25. After the status are, to 1.10, goid,
 * waitsince, and waitreason; later goid, schedlink, waitsince, and waitreason. ancestors came
 * between gopc and startpc in 1.11. */
struct gh_g_layout gh_g_layout_of(uint32_t word, int minor)
{
	if (minor >= 2 && minor <= 4)
		return c_layouts[minor - 2][word == 8 ? 0 : 1];
	bool unknown = minor == GH_GO_UNKNOWN;
	if (unknown)
		minor = NEWEST;
	uint32_t barriers = minor < 9 ? 4 : 0;
	uint32_t stack_alloc = barriers > 0 ? 1 : 0;
	uint32_t top_sp = minor >= 6 ? 1 : 0;
	uint32_t ret = minor < 25 ? 1 : 0;
	uint32_t syscall_bp = minor >= 23 ? 1 : 0;
	bool text = minor < 11;
	struct gh_g_layout layout = {
	    .stack_high = word,
	    .top_panic = 4 * word,
	    .top_defer = 5 * word,
	    .thread = 6 * word,
	    .sched = (7 + stack_alloc) * word,
	    .form = text ? GH_G_REASON_STRING : GH_G_REASON_NUMBER,
	};
	layout.context = layout.sched + 3 * word;
	layout.lr = layout.sched + (4 + ret) * word;
	layout.syscall_sp = layout.lr + 2 * word;
	layout.status = layout.syscall_sp + (3 + syscall_bp + barriers + top_sp) * word;
	layout.id = layout.status + 4 + 4; /* atomicstatus, stackLock */
	layout.wait_since = layout.id + 8 + (text ? 0 : word);
	layout.wait_reason = layout.wait_since + 8;
	layout.start_after = (text ? 1 : 2) * word;
	layout.parent_before = minor >= 21 ? 8 : 0;
	place_signal(&layout, word, minor);
	/* Between startpc and labels are racectx, waiting and cgoCtxt. */
	if (minor >= 9)
		layout.labels_after = layout.start_after + 6 * word;
	/* Between labels and xRegs are timer, sleepWhen, selectDone, goroutineProfiled, coroarg and
	   bubble. Go 1.26 has xRegs, too, but its collector does not look there. */
	if (minor >= 27 && word == 8)
		layout.vectors_after = layout.labels_after + 6 * word;
	if (unknown)
		layout.locked_before = 0;
	return layout;
}
