/* What the names of functions are made of, and the shorter ones that people type for them. */
#ifndef GH_PCLNTAB_FUNC_NAME_H
#define GH_PCLNTAB_FUNC_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Length in bytes of the package path that the function name NAME starts with, as the linker spells
 * it (a dot in its last element is "%2e"); 0 if it has none. What the compiler makes (equality
 * functions "type..eq.T", "go:buildid" and their kind) and the local labels of assembly files are
 * in no package. */
size_t gh_package_length(const char *name);

/* A part of a name, in it. */
struct gh_name_part {
	const char *text; /* not ended by a NUL */
	size_t size;      /* in bytes */
};

/* The name of a function or method that the source declares: net/http.(*Server).Serve. Type
 * parameters, "[...]" after the type or the function, are left out. */
struct gh_func_name {
	struct gh_name_part package; /* net/http */
	struct gh_name_part
	    element; /* http: what the package is called in the source, most often */
	struct gh_name_part receiver; /* Server; of no bytes if it is no method */
	bool pointer;                 /* the receiver is one */
	struct gh_name_part base;     /* Serve */
};

/* Takes NAME apart, as the linker spells it, which outlives OUT. False if it is that of a closure
 * or of something else that no source declares by a name. */
bool gh_func_name_parse(struct gh_func_name *out, const char *name);

/* The ways to write it. The first is the linker's but for type parameters. */
enum gh_name_form {
	GH_NAME_WHOLE,            /* net/http.(*Server).Serve */
	GH_NAME_BASE,             /* Serve */
	GH_NAME_RECEIVER,         /* Server.Serve */
	GH_NAME_ELEMENT,          /* http.Server.Serve, http.Get, main.Server.handle */
	GH_NAME_ELEMENT_POINTER,  /* http.(*Server).Serve */
	GH_NAME_PACKAGE_RECEIVER, /* net/http.Server.Serve */
	GH_NAME_FORMS,            /* how many there are */
};

/* The longest that is written, in bytes with its NUL. */
#define GH_NAME_FORM_SIZE 512

/* Writes NAME to TEXT, of GH_NAME_FORM_SIZE bytes, in the form FORM. Returns its length; 0 if it
 * has none, if that is another form's, or if it is longer than that. */
size_t gh_func_name_write(const struct gh_func_name *name, enum gh_name_form form, char *text);

#endif
