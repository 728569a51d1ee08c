// Sqlite is a program that waits in a function of its own that SQLite has called, deep in that library. It prints "ready"
// before.
package main

/*
#cgo LDFLAGS: -lsqlite3
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

static void wait_forever(sqlite3_context *context, int count, sqlite3_value **values)
{
	int ends[2];
	char byte;
	(void)count;
	(void)values;
	if (pipe(ends))
		return;
	printf("ready\n");
	fflush(stdout);
	sqlite3_result_int(context, (int)read(ends[0], &byte, 1));
}

static int query(void)
{
	sqlite3 *db;
	if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
	    sqlite3_create_function(db, "wait", 0, SQLITE_UTF8, NULL, wait_forever, NULL, NULL) != SQLITE_OK)
		return 1;
	return sqlite3_exec(db, "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2); SELECT sum(n + wait()) FROM t ORDER BY n", NULL, NULL, NULL);
}
*/
import "C"

func main() {
	C.query()
}
