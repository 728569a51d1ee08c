package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

type contextKey string

type ownContext struct{ context.Context }

var (
	withValue  = regexp.MustCompile(`\.WithValue\([^)]*\)`)
	timeLeft   = regexp.MustCompile(`\.WithDeadline\([^)]*\)`)
	background = regexp.MustCompile(`^context\.(Background|TODO)`)
)

// The text of ctx is that of its String, with what that leaves out: the values of keys, and why it ended.
func contextText(ctx context.Context, ended string) string {
	text := withValue.ReplaceAllLiteralString(fmt.Sprint(ctx), `.WithValue(main.contextKey "key", string "held")`)
	if at, ok := ctx.Deadline(); ok {
		text = timeLeft.ReplaceAllLiteralString(text, ".WithDeadline("+at.UTC().Format(time.RFC3339Nano)+")")
	}
	name := reflect.TypeOf(ctx).String()
	if strings.HasSuffix(name, "emptyCtx") {
		return "context.Context(*context.emptyCtx) *context.Background?"
	}
	var minor int
	fmt.Sscanf(runtime.Version(), "go1.%d", &minor)
	if minor < 21 {
		text = background.ReplaceAllLiteralString(text, "context.Background?")
	}
	star := ""
	if name[0] == '*' {
		star = "*"
	}
	if minor > 24 {
		ended = strings.Replace(ended, "error(", "interface {}(", 1)
	}
	return "context.Context(" + name + ") " + star + strings.TrimPrefix(name, "*") + "(" + text + ended + ")"
}

func contexts() {
	first := context.Background()
	row(&first, contextText(first, ""))
	todo := context.TODO()
	row(&todo, contextText(todo, ""))
	value := context.WithValue(todo, contextKey("key"), "held")
	row(&value, contextText(value, ""))
	canceled, cancel := context.WithCancel(value)
	later, cancelLater := context.WithTimeout(canceled, time.Hour)
	deep := context.WithValue(later, contextKey("key"), "held")
	for i := 0; i < 10; i++ {
		deep = context.WithValue(deep, contextKey("key"), "held")
	}
	row(&later, contextText(later, ""))
	row(&deep, contextText(deep, ""))
	ended, cancelEnded := context.WithCancel(first)
	cancelEnded()
	row(&ended, contextText(ended, `{err: error(*errors.errorString) *{s: "context canceled"}}`))
	missed, cancelMissed := context.WithDeadline(first, time.Unix(10, 0))
	row(&missed, contextText(missed, `{err: error(context.deadlineExceededError) {}}`))
	outer := &ownContext{first}
	own, cancelOwn := context.WithCancel(outer)
	_, _, _, _ = cancel, cancelLater, cancelMissed, cancelOwn
	row(&own, fmt.Sprintf("context.Context(*context.cancelCtx) *context.cancelCtx((*main.ownContext)(%p).WithCancel)", outer))
	newerContexts(value)
}

// Values of packages, each with the text that its own String makes.
func packages() {
	ip := net.ParseIP("192.0.2.7")
	row(&ip, "net.IP("+ip.String()+")")
	long := net.ParseIP("2001:db8::7:0:0:1")
	row(&long, "net.IP("+long.String()+")")
	unspecified := net.ParseIP("::")
	row(&unspecified, "net.IP("+unspecified.String()+")")
	var none net.IP
	row(&none, "net.IP len: 0, cap: 0, nil")
	address := net.TCPAddr{IP: ip, Port: 80}
	row(&address, "net.TCPAddr {IP: net.IP("+ip.String()+`), Port: 80, Zone: ""}`)
	for _, number := range []float64{0, 3.25, -1e-30, 1 / 3.0, 6e23} {
		float := big.NewFloat(number)
		row(float, fmt.Sprintf("big.Float(%v)", number))
	}
	rat := big.NewRat(-22, 7)
	row(rat, "big.Rat("+rat.String()+")")
	zero := new(big.Rat)
	row(zero, "big.Rat("+zero.String()+")")
	buffer := bytes.NewBufferString("read and left")
	buffer.Next(9)
	row(buffer, fmt.Sprintf("bytes.Buffer(%q)", buffer.String()))
	var builder strings.Builder
	builder.WriteString("built\x00")
	row(&builder, fmt.Sprintf("strings.Builder(%q)", builder.String()))
	raw := json.RawMessage(`{"a":["é"]}`)
	row(&raw, fmt.Sprintf("%T len: %d, cap: %d, %q", raw, len(raw), cap(raw), raw))
	text := []byte("two\nlines")
	row(&text, fmt.Sprintf("[]uint8 len: %d, cap: %d, %q", len(text), cap(text), text))
	binary := []byte{'a', 0xff}
	row(&binary, "[]uint8 len: 2, cap: 2, [97,255]")
	number := syscall.ECONNREFUSED
	row(&number, "ECONNREFUSED (111)")
	month, day := time.March, time.Tuesday
	row(&month, month.String()+" (3)")
	row(&day, day.String()+" (2)")
	err := error(&os.SyscallError{Syscall: "connect", Err: syscall.ENOENT})
	row(&err, `error(*os.SyscallError) *{Syscall: "connect", Err: error(syscall.Errno) ENOENT (2)}`)
	wrapped := fmt.Errorf("open: %w", errors.New("inner"))
	print(&wrapped)
}
