/* clang-format off */
/* remote_stub [LIE...] PROGRAM: a stub of GDB's remote serial protocol whose one process, of one
 * thread, is the amd64 program PROGRAM as it is loaded, before its first instruction. It prints the
 * port it listens on, serves one connection, and at its end prints how much was asked of it. The
 * protocol is specified in GDB's manual, "GDB Remote Serial Protocol". What it can be told to lie
 * about:
 *
 *	patch=OFFSET:SIZE:VALUE  the SIZE bytes at OFFSET in the program, as they are in memory
 *	auxv=TYPE:VALUE          an entry of the auxiliary vector
 *	memory=all               there is memory, of zeros, at every address
 *	file=none|endless        there is no file; each read of it gives as many bytes as asked for
 *	fd=TEXT                  what it answers to the opening of the file
 *	part=BYTES               the most that it gives of the file or of memory in an answer
 *	threads=COUNT            how many threads there are
 *	pid=TEXT                 the number of the process, hexadecimal
 *	exec=PATH                what the process's program is called
 *	packet=SIZE              the largest packet
 *	slow=MS                  how long each answer takes, from the first packet about a file on
 *	drop=N                   the connection is closed at the packet N, counted from that on
 *	freeze=N                 from the packet N on nothing is answered
 *	garbage=N                from the packet N on the answers are random bytes
 *
 * The first packet about a file is not GDB's own: without the name of a program GDB opens none. */
/* clang-format on */
#include <arpa/inet.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST 0x20000 /* of an answer, in bytes */

struct patch {
	uint64_t offset;
	uint64_t size;
	uint64_t value;
};

static struct {
	struct patch patches[16];
	size_t npatches;
	struct {
		uint64_t type;
		uint64_t value;
	} auxv[16];
	size_t nauxv;
	bool all_memory, no_file, endless;
	const char *fd, *pid, *exec;
	unsigned long part, threads, packet, slow, drop, freeze, garbage;
} lies = {.fd = "F5",
	  .pid = "1234",
	  .part = MOST,
	  .threads = 1,
	  .packet = 0x4000,
	  .drop = -1UL,
	  .freeze = -1UL,
	  .garbage = -1UL};

static uint8_t *program; /* its file; the copy is in memory */
static uint8_t *loaded;
static size_t program_size;
static int connection;
static bool acks = true;
static unsigned long packets, counted, memory_bytes, file_bytes;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* The program's own headers, not what is said of them. */
static const Elf64_Ehdr *header(void)
{
	return (const void *)program;
}

static const Elf64_Phdr *segment(size_t index)
{
	return (const void *)(program + header()->e_phoff + index * sizeof(Elf64_Phdr));
}

static bool read_lie(const char *text)
{
	struct patch *patch = &lies.patches[lies.npatches];
	unsigned long *numbers[] = {&lies.part, &lies.threads, &lies.packet, &lies.slow,
				    &lies.drop, &lies.freeze,  &lies.garbage};
	static const char *const names[] = {
	    "part=", "threads=", "packet=", "slow=", "drop=", "freeze=", "garbage="};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(text, names[i], strlen(names[i])) == 0) {
			*numbers[i] = strtoul(text + strlen(names[i]), NULL, 0);
			return true;
		}
	if (sscanf(text, "patch=%" SCNi64 ":%" SCNi64 ":%" SCNi64, (int64_t *)&patch->offset,
		   (int64_t *)&patch->size, (int64_t *)&patch->value) == 3)
		lies.npatches++;
	else if (sscanf(text, "auxv=%" SCNi64 ":%" SCNi64, (int64_t *)&lies.auxv[lies.nauxv].type,
			(int64_t *)&lies.auxv[lies.nauxv].value) == 2)
		lies.nauxv++;
	else if (strcmp(text, "memory=all") == 0)
		lies.all_memory = true;
	else if (strcmp(text, "file=none") == 0)
		lies.no_file = true;
	else if (strcmp(text, "file=endless") == 0)
		lies.endless = true;
	else if (strncmp(text, "fd=", 3) == 0)
		lies.fd = text + 3;
	else if (strncmp(text, "pid=", 4) == 0)
		lies.pid = text + 4;
	else if (strncmp(text, "exec=", 5) == 0)
		lies.exec = text + 5;
	else
		return false;
	return true;
}

static void load(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) != 0)
		die(path);
	program_size = (size_t)st.st_size;
	program = mmap(NULL, program_size, PROT_READ, MAP_PRIVATE, fd, 0);
	loaded = mmap(NULL, program_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (program == MAP_FAILED || loaded == MAP_FAILED)
		die(path);
	for (size_t i = 0; i < lies.npatches; i++)
		memcpy(loaded + lies.patches[i].offset, &lies.patches[i].value,
		       lies.patches[i].size);
}

/* The byte at ADDRESS of memory, -1 if there is none. */
static int peek(uint64_t address)
{
	for (size_t i = 0; i < header()->e_phnum; i++) {
		const Elf64_Phdr *load = segment(i);
		uint64_t offset = address - load->p_vaddr;
		if (load->p_type == PT_LOAD && offset < load->p_memsz)
			return offset < load->p_filesz ? loaded[load->p_offset + offset] : 0;
	}
	return lies.all_memory ? 0 : -1;
}

static void send_all(const void *data, size_t size)
{
	const char *bytes = data;
	while (size > 0) {
		ssize_t sent = send(connection, bytes, size, MSG_NOSIGNAL);
		if (sent <= 0)
			return;
		bytes += sent;
		size -= (size_t)sent;
	}
}

static void answer_bytes(const void *data, size_t size)
{
	static char out[MOST + 8];
	uint8_t sum = 0;
	const uint8_t *bytes = data;
	out[0] = '$';
	memcpy(out + 1, bytes, size);
	for (size_t i = 0; i < size; i++)
		sum = (uint8_t)(sum + bytes[i]);
	sprintf(out + 1 + size, "#%02x", sum);
	send_all(out, size + 4);
}

static void answer(const char *text)
{
	answer_bytes(text, strlen(text));
}

/* The same with SIZE bytes at DATA, as binary data is written, after TEXT. */
static void answer_binary(const char *text, const uint8_t *data, size_t size)
{
	static uint8_t out[MOST];
	size_t length = strlen(text);
	memcpy(out, text, length);
	for (size_t i = 0; i < size; i++) {
		bool special = memchr("}#$*", data[i], 4) != NULL;
		if (special)
			out[length++] = '}';
		out[length++] = special ? data[i] ^ 0x20 : data[i];
	}
	answer_bytes(out, length);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void read_memory(const char *text)
{
	static char out[MOST + 8];
	uint64_t address;
	size_t size;
	size_t done = 0;
	if (sscanf(text, "m%" SCNx64 ",%zx", &address, &size) != 2)
		size = 0;
	size = least(least(size, lies.part), (lies.packet - 8) / 2);
	for (int byte; done < size && (byte = peek(address + done)) >= 0; done++)
		sprintf(out + 2 * done, "%02x", (unsigned)byte);
	memory_bytes += done;
	answer(done > 0 ? out : "E01");
}

static void read_auxv(uint64_t out[2 * 8])
{
	uint64_t start = segment(0)->p_vaddr - segment(0)->p_offset;
	for (size_t i = 0; i < header()->e_phnum; i++)
		if (segment(i)->p_type == PT_LOAD && segment(i)->p_offset == 0)
			start = segment(i)->p_vaddr;
	uint64_t entries[2 * 8] = {
	    AT_PHDR,  start + header()->e_phoff, AT_PHENT, sizeof(Elf64_Phdr),
	    AT_PHNUM, header()->e_phnum,         AT_BASE,  0,
	    AT_ENTRY, header()->e_entry};
	for (size_t i = 0; i < lies.nauxv; i++)
		for (size_t j = 0; j < 2 * 5; j += 2)
			if (entries[j] == lies.auxv[i].type)
				entries[j + 1] = lies.auxv[i].value;
	memcpy(out, entries, sizeof(entries));
}

/* Answers with the part that TEXT, "OFFSET,LENGTH", asks for of an object. */
static void answer_part(const char *text, const void *object, size_t size)
{
	size_t offset = 0;
	size_t length = 0;
	sscanf(text, "%zx,%zx", &offset, &length);
	offset = least(offset, size);
	length = least(length, size - offset);
	answer_binary(offset + length == size ? "l" : "m", (const uint8_t *)object + offset,
		      length);
}

static void transfer(const char *text)
{
	static const char target[] = "<target><architecture>i386:x86-64</architecture>"
				     "<osabi>GNU/Linux</osabi></target>";
	uint64_t auxv[2 * 8];
	const char *part = strrchr(text, ':') + 1;
	read_auxv(auxv);
	if (strncmp(text, "qXfer:auxv:read:", 16) == 0)
		answer_part(part, auxv, 12 * sizeof(auxv[0]));
	else if (strncmp(text, "qXfer:features:read:target.xml:", 31) == 0)
		answer_part(part, target, strlen(target));
	else if (lies.exec != NULL && strncmp(text, "qXfer:exec-file:read:", 21) == 0)
		answer_part(part, lies.exec, strlen(lies.exec));
	else
		answer("");
}

static void stat_file(void)
{
	uint8_t out[64] = {0};
	out[10] = 0x81; /* a regular file */
	out[11] = 0xed;
	for (unsigned i = 0; i < 8; i++)
		out[28 + i] = (uint8_t)((uint64_t)program_size >> (56 - 8 * i));
	answer_binary("F40;", out, sizeof(out));
}

static void read_file(const char *text)
{
	char before[32];
	uint64_t fd;
	size_t count;
	uint64_t offset;
	if (sscanf(text, "%" SCNx64 ",%zx,%" SCNx64, &fd, &count, &offset) != 3) {
		answer("F-1,16");
		return;
	}
	count = least(least(count, lies.part), lies.packet / 2);
	if (!lies.endless)
		count = offset < program_size ? least(count, program_size - offset) : 0;
	static uint8_t zeros[MOST];
	file_bytes += count;
	sprintf(before, "F%zx;", count);
	answer_binary(before, offset + count <= program_size ? program + offset : zeros, count);
}

static void file(const char *text)
{
	if (strncmp(text, "vFile:open:", 11) == 0)
		/* ".../exe", or as the process's program is called. */
		answer(lies.no_file || (strncmp(strchr(text, ',') - 6, "657865", 6) != 0 &&
					lies.exec == NULL)
			   ? "F-1,2"
			   : lies.fd);
	else if (strncmp(text, "vFile:fstat:", 12) == 0)
		stat_file();
	else if (strncmp(text, "vFile:pread:", 12) == 0)
		read_file(text + 12);
	else
		answer("F0");
}

static void list_threads(bool first)
{
	static char out[MOST];
	static unsigned long next;
	size_t length = 0;
	next = first ? 1 : next;
	if (next > lies.threads) {
		answer("l");
		return;
	}
	for (; next <= lies.threads && length < lies.packet - 40; next++)
		length += (size_t)sprintf(out + length, "%cp%s.%lx", length > 0 ? ',' : 'm',
					  lies.pid, next);
	answer(out);
}

static void read_registers(void)
{
	uint8_t bytes[17 * 8 + 7 * 4] = {0};
	char out[2 * sizeof(bytes) + 1];
	memcpy(bytes + (uint64_t)16 * 8, &header()->e_entry, 8);
	for (size_t i = 0; i < sizeof(bytes); i++)
		sprintf(out + 2 * i, "%02x", bytes[i]);
	answer(out);
}

static void answer_thread(const char *before, const char *after)
{
	char text[128];
	snprintf(text, sizeof(text), "%sp%s.1%s", before, lies.pid, after);
	answer(text);
}

static void supported(void)
{
	char text[256];
	snprintf(
	    text, sizeof(text),
	    "PacketSize=%lx;QStartNoAckMode+;multiprocess+;qXfer:auxv:read+;qXfer:features:read+%s",
	    lies.packet, lies.exec != NULL ? ";qXfer:exec-file:read+" : "");
	answer(text);
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void serve(const char *text)
{
	if (begins(text, "qSupported"))
		supported();
	else if (begins(text, "qXfer:"))
		transfer(text);
	else if (begins(text, "vFile:"))
		file(text);
	else if (text[0] == 'm')
		read_memory(text);
	else if (text[0] == 'g')
		read_registers();
	else if (begins(text, "qC"))
		answer_thread("QC", "");
	else if (begins(text, "qfThreadInfo") || begins(text, "qsThreadInfo"))
		list_threads(text[1] == 'f');
	else if (begins(text, "qAttached"))
		answer("1");
	else if (begins(text, "vCont?"))
		answer("vCont;c;C;s;S");
	else if (text[0] == '?' || text[0] == 'c' || text[0] == 's' || begins(text, "vCont;"))
		answer_thread("T05thread:", ";");
	else if (begins(text, "QStartNoAckMode") || strchr("HTDk", text[0]) != NULL ||
		 begins(text, "vKill"))
		answer("OK");
	else
		answer("");
	if (begins(text, "QStartNoAckMode"))
		acks = false;
}

static void lie_about(const char *text)
{
	packets++;
	if (counted > 0 || strncmp(text, "vFile:", 6) == 0)
		counted++;
	if (counted > 0)
		nanosleep(&(struct timespec){.tv_sec = (time_t)lies.slow / 1000,
					     .tv_nsec = (long)lies.slow % 1000 * 1000000},
			  NULL);
	if (counted >= lies.drop)
		shutdown(connection, SHUT_RDWR);
	else if (counted >= lies.garbage) {
		uint8_t bytes[32];
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(random() % 90 + '0');
		answer_bytes(bytes, sizeof(bytes));
	} else if (counted < lies.freeze)
		serve(text);
}

static void talk(FILE *in)
{
	static char text[MOST + 1];
	for (int c; (c = getc(in)) != EOF;) {
		size_t size = 0;
		if (c != '$')
			continue;
		while ((c = getc(in)) != EOF && c != '#' && size < MOST)
			text[size++] = (char)c;
		text[size] = '\0';
		getc(in);
		getc(in);
		if (acks)
			send_all("+", 1);
		lie_about(text);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	for (int i = 1; i < argc - 1; i++)
		if (!read_lie(argv[i])) {
			fprintf(stderr, "remote_stub: no such lie: %s\n", argv[i]);
			return 2;
		}
	if (argc < 2) {
		fputs("usage: remote_stub [LIE...] PROGRAM\n", stderr);
		return 2;
	}
	load(argv[argc - 1]);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
	    listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) != 0)
		die("listen");
	printf("Listening on port %d\n", ntohs(address.sin_port));
	fflush(stdout);
	connection = accept(listener, NULL, NULL);
	FILE *in = connection >= 0 ? fdopen(connection, "r") : NULL;
	if (in == NULL)
		die("accept");
	talk(in);
	printf("packets %lu\nmemory %lu\nfile %lu\n", packets, memory_bytes, file_bytes);
	return 0;
}
