/* What a Go program's file says about how it was built. */
#ifndef GH_ELF_BUILDINFO_H
#define GH_ELF_BUILDINFO_H

#include "lib/elf/image.h"

/* Each field is NULL where the program does not say. All are owned. */
struct gh_buildinfo {
	char *go_version;   /* as runtime.Version, e.g. "go1.22.5" */
	char *path;         /* import path of the main package */
	char *module;       /* path of the main module */
	char *go_build_id;  /* the text of the Go build id note */
	char *gnu_build_id; /* the GNU build id note, in lower-case hexadecimal */
};

/* Reads the notes (of segments, then of sections) and .go.buildinfo (documented in Go's
 * debug/buildinfo; both its forms, of Go 1.13 with pointers and of Go 1.18 with inline strings).
 * Before Go 1.13 there is only the version, in the program's data (runtime.buildVersion).
 * What is missing or malformed stays NULL. */
void gh_buildinfo_read(struct gh_buildinfo *info, const struct gh_image *image);

void gh_buildinfo_free(struct gh_buildinfo *info);

/* The minor release N of a version "go1.N...", or -1 if VERSION is NULL or of another form
 * ("devel ..."). */
int gh_go_minor(const char *version);

#endif
