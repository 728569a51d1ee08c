// Gosym prints what Go's own debug/gosym reads from the pclntab of a Go program: the answers that
// goheap's must equal. It is built with the toolchain whose programs are looked at, or, for programs
// of others, with the newest, which reads every format.
//
//	gosym -funcs FILE   entry, end, name
//	gosym -lines FILE   start, end, file, line, function
//	gosym -at FILE      address, file, line, function, for each of the addresses on standard input
//
// Addresses are hexadecimal, columns are separated by tabs. debug/gosym answers for one pc at a time,
// and it is asked for every pc that the pc quantum allows, so that a boundary it does not know
// of cannot be missed. Where it knows no file that is ?, and where it knows no line that is 0.
package main

import (
	"bufio"
	"debug/elf"
	"debug/gosym"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
)

var (
	funcsFlag = flag.Bool("funcs", false, "print functions")
	linesFlag = flag.Bool("lines", false, "print lines")
	atFlag    = flag.Bool("at", false, "print the lines of addresses from standard input")
	everyFlag = flag.Int("every", 1, "print the lines of one function in so many")
	textFlag  = flag.Uint64("text", 0, "the address of runtime.text, where the file does not tell")
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: gosym -funcs|-lines|-at [-every N] [-text ADDR] FILE")
		flag.PrintDefaults()
	}
	flag.Parse()
	modes := 0
	for _, mode := range []bool{*funcsFlag, *linesFlag, *atFlag} {
		if mode {
			modes++
		}
	}
	if flag.NArg() != 1 || modes != 1 {
		flag.Usage()
		os.Exit(2)
	}
	in, err := open(flag.Arg(0))
	if err == nil {
		err = in.print(os.Stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "gosym: %s: %v\n", flag.Arg(0), err)
		os.Exit(1)
	}
}

type input struct {
	symtab  []byte // Go 1.0 and 1.1
	pclntab []byte
	text    uint64
	quantum uint64
}

func open(name string) (*input, error) {
	f, err := elf.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	data, err := pclntab(f)
	if err != nil {
		return nil, err
	}
	if !hasHeader(f, data) {
		return openOld(f, data)
	}
	text, err := runtimeText(f, data)
	if err != nil {
		return nil, err
	}
	return &input{pclntab: data, text: text, quantum: uint64(data[6])}, nil
}

// hasHeader tells a pclntab from the bare byte codes of Go 1.0 and 1.1.
func hasHeader(f *elf.File, pclntab []byte) bool {
	switch f.ByteOrder.Uint32(pclntab) {
	case 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1:
		return true
	}
	return false
}

// openOld opens a program of Go 1.0 or 1.1, whose symbol table has the functions.
func openOld(f *elf.File, pclntab []byte) (*input, error) {
	symtab, text := f.Section(".gosymtab"), f.Section(".text")
	if symtab == nil || text == nil {
		return nil, fmt.Errorf("no .gosymtab or .text section")
	}
	data, err := symtab.Data()
	return &input{symtab: data, pclntab: pclntab, text: text.Addr, quantum: 1}, err
}

func pclntab(f *elf.File) ([]byte, error) {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if section := f.Section(name); section != nil {
			data, err := relocated(f, section)
			if err == nil && len(data) < 16 {
				err = fmt.Errorf("pclntab of %d bytes", len(data))
			}
			return data, err
		}
	}
	// The C linker makes one section of all that is named .data.rel.ro.*: up to Go 1.25 that takes in the
	// table of a position-independent program.
	section := f.Section(".data.rel.ro")
	if section == nil {
		return nil, fmt.Errorf("no pclntab section")
	}
	data, err := relocated(f, section)
	if err != nil {
		return nil, err
	}
	size := pointerSize(f)
	for at := uint64(0); at+16 <= uint64(len(data)); at += size {
		header := data[at:]
		if hasHeader(f, header) && header[4] == 0 && header[5] == 0 && uint64(header[7]) == size {
			return header, nil
		}
	}
	return nil, fmt.Errorf("no pclntab section, and no pclntab in .data.rel.ro")
}

func pointer(f *elf.File, b []byte) uint64 {
	if f.Class == elf.ELFCLASS32 {
		return uint64(f.ByteOrder.Uint32(b))
	}
	return f.ByteOrder.Uint64(b)
}

func pointerSize(f *elf.File) uint64 {
	if f.Class == elf.ELFCLASS32 {
		return 4
	}
	return 8
}

// relocated returns a section as it would be in a process that is loaded at address 0. With REL
// relocations the section holds that already; with RELA ones it may hold zeros.
func relocated(f *elf.File, section *elf.Section) ([]byte, error) {
	data, err := section.Data()
	if err != nil || f.Type != elf.ET_DYN {
		return data, err
	}
	var relative uint32
	switch f.Machine {
	case elf.EM_X86_64:
		relative = uint32(elf.R_X86_64_RELATIVE)
	case elf.EM_AARCH64:
		relative = uint32(elf.R_AARCH64_RELATIVE)
	case elf.EM_S390:
		relative = uint32(elf.R_390_RELATIVE)
	case elf.EM_PPC64:
		relative = 22 // R_PPC64_RELATIVE
	case elf.EM_RISCV:
		relative = uint32(elf.R_RISCV_RELATIVE)
	case 258: // EM_LOONGARCH, R_LARCH_RELATIVE
		relative = 3
	default:
		return data, nil
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA || f.Class != elf.ELFCLASS64 {
			continue
		}
		rela, err := s.Data()
		if err != nil {
			return nil, err
		}
		for ; len(rela) >= 24; rela = rela[24:] {
			at := f.ByteOrder.Uint64(rela)
			info := f.ByteOrder.Uint64(rela[8:])
			if uint32(info) != relative || at < section.Addr || at+8 > section.Addr+uint64(len(data)) {
				continue
			}
			f.ByteOrder.PutUint64(data[at-section.Addr:], f.ByteOrder.Uint64(rela[16:]))
		}
	}
	return data, nil
}

// runtimeText returns the address that pcs of Go 1.18 and later are relative to, which debug/gosym
// wants to be told. It is not where .text begins if the C linker put its start-up code before it.
func runtimeText(f *elf.File, pclntab []byte) (uint64, error) {
	if *textFlag != 0 {
		return *textFlag, nil
	}
	if symbols, err := f.Symbols(); err == nil {
		for _, s := range symbols {
			if s.Name == "runtime.text" {
				return s.Value, nil
			}
		}
	}
	size := pointerSize(f)
	if f.ByteOrder.Uint32(pclntab)&^1 == 0xfffffff0 && uint64(len(pclntab)) >= 8+3*size {
		if text := pointer(f, pclntab[8+2*size:]); text != 0 {
			return text, nil
		}
	}
	// From Go 1.26 the header has none. runtime.moduledata.text is its 23rd word, after the header's
	// address, six slices, and findfunctab, minpc and maxpc.
	if section := f.Section(".go.module"); section != nil {
		module, err := relocated(f, section)
		if err != nil {
			return 0, err
		}
		if uint64(len(module)) >= 23*size {
			return pointer(f, module[22*size:]), nil
		}
	}
	section := f.Section(".text")
	if section == nil {
		return 0, fmt.Errorf("no .text section")
	}
	return section.Addr, nil
}

// table makes a table of one's own for each goroutine: debug/gosym caches names as it reads them.
func (in *input) table() (*gosym.Table, error) {
	// It rewrites the names in place.
	symtab := append([]byte(nil), in.symtab...)
	table, err := gosym.NewTable(symtab, gosym.NewLineTable(in.pclntab, in.text))
	if err == nil && in.symtab != nil {
		err = endFunctions(table)
	}
	return table, err
}

// endFunctions ends the last function where the text ends, and leaves out the symbol of the text's
// start, which is taken for a function of no length.
func endFunctions(table *gosym.Table) error {
	end := table.LookupSym("etext")
	if end == nil || len(table.Funcs) == 0 {
		return fmt.Errorf("no symbol of the end of the text, or no functions")
	}
	table.Funcs[len(table.Funcs)-1].End = end.Value
	if table.Funcs[0].Entry == table.Funcs[0].End {
		table.Funcs = table.Funcs[1:]
	}
	return nil
}

func (in *input) print(out io.Writer) error {
	w := bufio.NewWriterSize(out, 1<<20)
	table, err := in.table()
	if err != nil {
		return err
	}
	if len(table.Funcs) == 0 {
		return fmt.Errorf("debug/gosym of %s finds no functions", runtime.Version())
	}
	if *funcsFlag {
		for i := range table.Funcs {
			f := &table.Funcs[i]
			fmt.Fprintf(w, "%#x\t%#x\t%s\n", f.Entry, f.End, f.Name)
		}
		return w.Flush()
	}
	if *atFlag {
		return at(w, table)
	}

	// Functions are handed out in chunks, and the chunks are printed in order.
	const chunk = 64
	type job struct {
		first, last int
		rows        chan []byte
	}
	workers := runtime.GOMAXPROCS(0)
	jobs := make(chan job, 2*workers)
	order := make(chan job, 2*workers)
	for i := 0; i < workers; i++ {
		own, err := in.table()
		if err != nil {
			return err
		}
		go func() {
			for j := range jobs {
				var rows []byte
				for n := j.first; n < j.last; n++ {
					if n%*everyFlag == 0 {
						rows = in.lines(rows, own, &own.Funcs[n])
					}
				}
				j.rows <- rows
			}
		}()
	}
	go func() {
		for first := 0; first < len(table.Funcs); first += chunk {
			last := first + chunk
			if last > len(table.Funcs) {
				last = len(table.Funcs)
			}
			j := job{first, last, make(chan []byte, 1)}
			order <- j
			jobs <- j
		}
		close(order)
		close(jobs)
	}()
	for j := range order {
		if _, err := w.Write(<-j.rows); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (in *input) lines(rows []byte, table *gosym.Table, f *gosym.Func) []byte {
	start := f.Entry
	file, line := "", 0
	row := func(end uint64) {
		rows = append(rows, fmt.Sprintf("%#x\t%#x\t%s\t%d\t%s\n", start, end, file, line, f.Name)...)
	}
	for pc := f.Entry; pc < f.End; pc += in.quantum {
		thisFile, thisLine := position(table, pc)
		if pc != f.Entry && (thisFile != file || thisLine != line) {
			row(pc)
			start = pc
		}
		file, line = thisFile, thisLine
	}
	if start < f.End {
		row(f.End)
	}
	return rows
}

// at is for benchmarks: it asks once for each row that there is to find.
func at(w *bufio.Writer, table *gosym.Table) error {
	addresses := bufio.NewScanner(os.Stdin)
	for addresses.Scan() {
		pc, err := strconv.ParseUint(addresses.Text(), 0, 64)
		if err != nil {
			return err
		}
		file, line, fn := table.PCToLine(pc)
		if fn == nil {
			return fmt.Errorf("no function at %#x", pc)
		}
		fmt.Fprintf(w, "%#x\t%s\t%d\t%s\n", pc, file, line, fn.Name)
	}
	if err := addresses.Err(); err != nil {
		return err
	}
	return w.Flush()
}

// position makes one answer of the several by which debug/gosym says that it does not know: for a
// function without tables it decodes whatever is at offset 0, and the line may be any negative number.
func position(table *gosym.Table, pc uint64) (file string, line int) {
	file, line, _ = table.PCToLine(pc)
	if file == "" {
		return "?", 0
	}
	if line < 0 {
		return file, 0
	}
	return file, line
}
