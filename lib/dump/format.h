/* The formats of Go heap dumps. */
#ifndef GH_DUMP_FORMAT_H
#define GH_DUMP_FORMAT_H

/* The formats, named after the Go release whose name is in the file's first line; later ones
 * compare greater. 1.5 and 1.6 differ in that line only. */
enum gh_dump_format {
	GH_DUMP_PROTOTYPE, /* before Go 1.3 was released; its first line says 1.3 */
	GH_DUMP_1_3,
	GH_DUMP_1_4,
	GH_DUMP_1_5,
	GH_DUMP_1_6,
	GH_DUMP_1_7, /* every release from 1.7 on */
};

#endif
