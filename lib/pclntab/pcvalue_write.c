#include "lib/pclntab/pcvalue_write.h"

void gh_pcvalue_write_start(struct gh_pcvalue_writer *writer, struct gh_buffer *out, uint64_t entry,
			    uint8_t quantum)
{
	*writer = (struct gh_pcvalue_writer){
	    .out = out, .pc = entry, .end = entry, .quantum = quantum, .written = -1};
}

/* Writes the run that is pending. */
static void flush(struct gh_pcvalue_writer *writer)
{
	uint32_t delta = (uint32_t)writer->value - (uint32_t)writer->written;
	gh_buffer_uleb128(writer->out, delta << 1 ^ -(delta >> 31));
	gh_buffer_uleb128(writer->out, (writer->end - writer->pc) / writer->quantum);
	writer->pc = writer->end;
	writer->written = writer->value;
}

void gh_pcvalue_write_run(struct gh_pcvalue_writer *writer, uint64_t end, int32_t value)
{
	if (end <= writer->end)
		return;
	if (writer->pending && writer->value != value)
		flush(writer);
	writer->pending = true;
	writer->value = value;
	writer->end = end;
}

void gh_pcvalue_write_end(struct gh_pcvalue_writer *writer)
{
	if (writer->pending)
		flush(writer);
	gh_buffer_u8(writer->out, 0);
}
