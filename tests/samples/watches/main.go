// Watches has etcd watch a key, many times, each time in a stream of its own, as clients do that forget to end what they
// began: gRPC over one connection of HTTP/2.
//
//	watches ADDRESS COUNT
//
// It prints "watching" when etcd has answered that often, and ends with standard input.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
)

const (
	frameData         = 0
	frameHeaders      = 1
	frameSettings     = 4
	frameWindowUpdate = 8

	endHeaders  = 4 // and all other flags are 0
	acknowledge = 1

	initialWindowSize = 4
	window            = 1 << 30
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// frame writes one of RFC 9113, section 4.1.
func frame(out *bufio.Writer, kind, flags byte, stream uint32, payload []byte) {
	var header [9]byte
	binary.BigEndian.PutUint32(header[:], uint32(len(payload))<<8|uint32(kind))
	header[4] = flags
	binary.BigEndian.PutUint32(header[5:], stream)
	out.Write(header[:])
	out.Write(payload)
}

// headers are literals without indexing (RFC 7541, section 6.2.2).
func headers(fields ...string) []byte {
	var block []byte
	for i, text := range fields {
		if i%2 == 0 {
			block = append(block, 0)
		}
		block = append(append(block, byte(len(text))), text...)
	}
	return block
}

// begin sends all the requests.
func begin(out *bufio.Writer, count int) {
	out.WriteString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	frame(out, frameSettings, 0, 0, []byte{0, initialWindowSize, window >> 24, 0, 0, 0})
	frame(out, frameWindowUpdate, 0, 0, []byte{window >> 24, 0, 0, 0})
	fields := headers(":method", "POST", ":scheme", "http", ":path", "/etcdserverpb.Watch/Watch", ":authority", "etcd",
		"content-type", "application/grpc", "te", "trailers")
	// A message of 6 bytes, not compressed: a WatchRequest whose create_request has the key "leak".
	message := []byte{0, 0, 0, 0, 8, 0x0a, 6, 0x0a, 4, 'l', 'e', 'a', 'k'}
	for i := 0; i < count; i++ {
		stream := uint32(2*i + 1)
		frame(out, frameHeaders, endHeaders, stream, fields)
		frame(out, frameData, 0, stream, message)
	}
	check(out.Flush())
}

// answers reads frames, and prints when COUNT of data have come.
func answers(in *bufio.Reader, settings chan bool, count int) {
	for seen := 0; ; {
		var header [9]byte
		_, err := io.ReadFull(in, header[:])
		check(err)
		_, err = io.CopyN(io.Discard, in, int64(binary.BigEndian.Uint32(header[:])>>8))
		check(err)
		if header[3] == frameSettings && header[4]&acknowledge == 0 {
			settings <- true
		}
		if header[3] == frameData {
			if seen++; seen == count {
				fmt.Println("watching")
			}
		}
	}
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: watches ADDRESS COUNT")
		os.Exit(2)
	}
	count, err := strconv.Atoi(os.Args[2])
	check(err)
	connection, err := net.Dial("tcp", os.Args[1])
	check(err)
	settings := make(chan bool, 1)
	go answers(bufio.NewReader(connection), settings, count)
	out := bufio.NewWriter(connection)
	begin(out, count)
	<-settings
	frame(out, frameSettings, acknowledge, 0, nil)
	check(out.Flush())
	io.Copy(io.Discard, os.Stdin)
}
