// Checker reads packages of Go's own library and checks their types, as Go's tools do, and writes a heap dump with all
// that in memory.
//
//	checker DUMP GOROOT PACKAGE...    write the dump to DUMP
package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
)

// Checked is a package and what was found out about it.
type Checked struct {
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
}

var (
	fset    = token.NewFileSet()
	checked = map[string]*Checked{}
	goroot  string
	errors  int
)

// Import checks the package, if it was not yet.
func (c *Checked) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if done := checked[path]; done != nil {
		return done.pkg, nil
	}
	return check(path)
}

func check(path string) (*types.Package, error) {
	dir := filepath.Join(goroot, "src", path)
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Join(goroot, "src", "vendor", path)
	}
	found, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	done := &Checked{info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{},
		Uses:  map[*ast.Ident]types.Object{},
	}}
	for _, name := range found.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		done.files = append(done.files, file)
	}
	config := types.Config{Importer: done, FakeImportC: true, Error: func(error) { errors++ }}
	checked[path] = done
	done.pkg, _ = config.Check(path, fset, done.files, done.info)
	return done.pkg, nil
}

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: checker DUMP GOROOT PACKAGE...")
		os.Exit(2)
	}
	goroot = os.Args[2]
	build.Default.GOROOT = goroot
	build.Default.CgoEnabled = false
	for _, path := range os.Args[3:] {
		if _, err := check(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	dump, err := os.Create(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	runtime.GC()
	debug.WriteHeapDump(dump.Fd())
	fmt.Printf("packages\t%d\nerrors\t%d\n", len(checked), errors)
	runtime.KeepAlive(checked)
}
