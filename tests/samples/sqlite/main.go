// Sqlite is a program that waits in a function of its own that SQLite has called, deep in that library. It prints "ready"
// before.
//
//	sqlite load   instead, many goroutines use one connection, and never wait for long
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

static sqlite3 *shared;

static int open_shared(void)
{
	return sqlite3_open_v2(":memory:", &shared, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL) ||
	       sqlite3_exec(shared, "CREATE TABLE t (n)", NULL, NULL, NULL);
}

static int use(void)
{
	return sqlite3_exec(shared, "INSERT INTO t VALUES (1); SELECT count(*) FROM t; DELETE FROM t WHERE rowid % 7 = 0", NULL, NULL, NULL);
}
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
)

var mutex sync.Mutex

// Load uses the connection, and now and then as the only one.
func load(n int) {
	for i := 0; ; i++ {
		if i%20 == n {
			mutex.Lock()
			C.use()
			mutex.Unlock()
		}
		C.use()
	}
}

func main() {
	if len(os.Args) > 1 {
		C.open_shared()
		for n := 0; n < 20; n++ {
			go load(n)
		}
		fmt.Println("ready")
		select {}
	}
	C.query()
}
