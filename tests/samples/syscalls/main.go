// Syscalls is a program whose goroutines are in system calls that do not end, each in its own: in C, and one in Go. It prints a line
// for each: the Go function, the call's name, and its arguments as far as they are the program's choice. Then it prints "ready".
//
//	syscalls DIRECTORY
package main

/*
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static unsigned word;

static void in_futex(void) { syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0); }
static unsigned long word_address(void) { return (unsigned long)&word; }

static void in_flock(int fd) { flock(fd, LOCK_EX); }

static void in_lock(int fd, int command)
{
	struct flock lock = {.l_type = F_WRLCK, .l_start = 10, .l_len = 5};
	fcntl(fd, command, &lock);
}

static int take_lock(int fd)
{
	struct flock lock = {.l_type = F_WRLCK};
	return fcntl(fd, F_OFD_SETLK, &lock);
}

static int to_listen(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	for (int i = 0; path[i]; i++)
		address.sun_path[i] = path[i];
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 0) ? -1 : fd;
}

// It connects as often as there is room, and then waits for it.
static void in_connect(int fd, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	for (int i = 0; path[i]; i++)
		address.sun_path[i] = path[i];
	connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof(address));
	connect(fd, (struct sockaddr *)&address, sizeof(address));
}

static int new_socket(void) { return socket(AF_UNIX, SOCK_STREAM, 0); }

static int to_accept(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1) ? -1 : fd;
}

static int port_of(int fd)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	return getsockname(fd, (struct sockaddr *)&address, &size) ? -1 : ntohs(address.sin_port);
}

static void in_accept(int fd) { accept(fd, 0, 0); }

static int to_receive(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) ? -1 : fd;
}

static void in_recvfrom(int fd)
{
	char byte;
	recvfrom(fd, &byte, 1, 0, 0, 0);
}

static int new_epoll(void) { return epoll_create1(0); }
static void in_epoll(int fd)
{
	struct epoll_event event;
	epoll_wait(fd, &event, 1, 3600000);
}

static void in_nanosleep(void)
{
	struct timespec time = {7200, 0};
	clock_nanosleep(CLOCK_REALTIME, 0, &time, 0);
}

static void in_poll(int first, int second)
{
	struct pollfd polled[] = {{.fd = first, .events = POLLIN}, {.fd = second, .events = POLLIN}};
	poll(polled, 2, 1800000);
}
*/
import "C"

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

var directory = os.Args[1]

// Open opens a file of the directory.
func open(name string) int {
	fd, err := syscall.Open(directory+"/"+name, syscall.O_RDWR|syscall.O_CREAT, 0600)
	if err != nil {
		panic(err)
	}
	return fd
}

// Told is the line about a function.
func told(function, call string, descriptor int, arguments string) {
	fmt.Printf("%s\t%s\t%d\t%s\n", function, call, descriptor, arguments)
}

//go:noinline
func inFlockOfGo(fd int) { syscall.Flock(fd, syscall.LOCK_SH) }

//go:noinline
func inFlock(fd int) { C.in_flock(C.int(fd)) }

//go:noinline
func inLock(fd int) { C.in_lock(C.int(fd), C.F_OFD_SETLKW) }

//go:noinline
func inFutex() { C.in_futex() }

//go:noinline
func inConnect(fd C.int, path string) { C.in_connect(fd, C.CString(path)) }

//go:noinline
func inAccept(fd C.int) { C.in_accept(fd) }

//go:noinline
func inRecvfrom(fd C.int) { C.in_recvfrom(fd) }

//go:noinline
func inEpoll(fd C.int) { C.in_epoll(fd) }

//go:noinline
func inNanosleep() { C.in_nanosleep() }

//go:noinline
func inPoll(first, second C.int) { C.in_poll(first, second) }

func main() {
	held := open("flock.lock")
	syscall.Flock(held, syscall.LOCK_EX)
	fd := open("flock.lock")
	told("inFlock", "flock", fd, directory+"/flock.lock, LOCK_EX")
	go inFlock(fd)
	fd = open("flock.lock")
	told("inFlockOfGo", "flock", fd, directory+"/flock.lock, LOCK_SH")
	go inFlockOfGo(fd)
	if C.take_lock(C.int(open("range.lock"))) != 0 {
		panic("lock")
	}
	fd = open("range.lock")
	told("inLock", "fcntl", fd, directory+"/range.lock, F_OFD_SETLKW, F_WRLCK, from 10, 5 bytes")
	go inLock(fd)
	told("inFutex", "futex", -1, fmt.Sprintf("%#x", uint64(C.word_address())))
	go inFutex()
	path := directory + "/socket"
	C.to_listen(C.CString(path))
	client := C.new_socket()
	told("inConnect", "connect", int(client), "unix, "+path)
	go inConnect(client, path)
	server := C.to_accept()
	told("inAccept", "accept", int(server), fmt.Sprintf("tcp 127.0.0.1:%d, listening", C.port_of(server)))
	go inAccept(server)
	server = C.to_receive()
	udp := fmt.Sprintf("udp 127.0.0.1:%d", C.port_of(server))
	told("inRecvfrom", "recvfrom", int(server), udp)
	go inRecvfrom(server)
	epoll := C.new_epoll()
	told("inEpoll", "epoll_wait", int(epoll), "anon_inode:[eventpoll], 3600.00 s")
	go inEpoll(epoll)
	told("inNanosleep", "clock_nanosleep", -1, "7200.00 s")
	go inNanosleep()
	told("inPoll", "poll", -1, fmt.Sprintf("%d, %s; %d, anon_inode:[eventpoll], 1800.00 s", server, udp, epoll))
	go inPoll(server, epoll)
	time.Sleep(2500 * time.Millisecond)
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}
