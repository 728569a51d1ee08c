/* The labels that runtime/pprof's Do and SetGoroutineLabels give a goroutine.
 *
 * Layout: type labelMap in src/runtime/pprof/label.go; of a map, type hmap and type bmap in
 * src/runtime/map.go. */
#ifndef GH_PROCESS_LABELS_H
#define GH_PROCESS_LABELS_H

#include "lib/process/process.h"
#include "lib/util/buffer.h"

/* Longer labels are not read, in bytes. */
#define GH_LABEL_TEXT_MAX 4096

/* Reads those whose labelMap is at ADDRESS, and adds to OUT how many there are,
 * then the key and the value of each: a size and as many bytes. Numbers are uint32_t of this
 * machine. What is not in memory, is too long, or is one more than GH_DUMP_LABELS_MAX, is left out.
 */
void gh_labels_read(struct gh_buffer *out, struct gh_process *process, uint64_t address);

#endif
