// Rows keeps four databases of SQLite's in memory, all of which is C's, and asks and changes them all the time. It is well.
package main

/*
#cgo LDFLAGS: -lsqlite3
#include <sqlite3.h>
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"os"
	"time"
	"unsafe"
)

type database struct {
	handle *C.sqlite3
	id     int
}

var databases = map[string]*database{}

func exec(d *database, text string) {
	query := C.CString(text)
	defer C.free(unsafe.Pointer(query))
	if C.sqlite3_exec(d.handle, query, nil, nil, nil) != C.SQLITE_OK {
		panic(C.GoString(C.sqlite3_errmsg(d.handle)))
	}
}

func main() {
	for i := 0; i < 4; i++ {
		d := &database{id: i}
		name := C.CString(":memory:")
		C.sqlite3_open(name, &d.handle)
		C.free(unsafe.Pointer(name))
		exec(d, "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, data BLOB); CREATE INDEX i ON t (name)")
		exec(d, "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20000) "+
			"INSERT INTO t SELECT n, 'name' || n, randomblob(300) FROM c")
		databases[fmt.Sprint(i)] = d
	}
	fmt.Println("ready")
	go func() {
		for {
			for _, d := range databases {
				exec(d, "SELECT count(*) FROM t WHERE name LIKE '%77%'")
				exec(d, "UPDATE t SET data = randomblob(200) WHERE id % 100 = 7")
			}
			time.Sleep(time.Millisecond)
		}
	}()
	os.Stdin.Read(make([]byte, 1))
}
