/* What registers hold, as far as the instructions of a function tell. */
#include "tests/unit/codewalk.h"
#include "tests/unit/suites.h"

START_TEST(registers_hold_what_is_moved_and_added)
{
	static const struct code_value rows[] = {
	    {CODE(""), 0, ARG(0, 0, 0)},                    /* nothing */
	    {CODE(""), 7, ARG(7, 0, 0)},                    /* nothing */
	    {CODE(""), 15, ARG(15, 0, 0)},                  /* nothing */
	    {CODE("\x48\x89\xc1"), 1, ARG(0, 0, 0)},        /* mov rcx,rax */
	    {CODE("\x48\x8b\xc8"), 1, ARG(0, 0, 0)},        /* mov rcx,rax, the other form */
	    {CODE("\x4d\x89\xc1"), 9, ARG(8, 0, 0)},        /* mov r9,r8 */
	    {CODE("\x89\xc1"), 1, UNKNOWN},                 /* mov ecx,eax */
	    {CODE("\x89\xc1"), 0, ARG(0, 0, 0)},            /* mov ecx,eax */
	    {CODE("\x66\x89\xc1"), 1, UNKNOWN},             /* mov cx,ax */
	    {CODE("\x48\x8b\x48\x08"), 1, ARG(0, 1, 8, 0)}, /* mov rcx,[rax+8] */
	    {CODE("\x8b\x48\x08"), 1, UNKNOWN},             /* mov ecx,[rax+8] */
	    {CODE("\x48\x8b\x48\x08\x48\x8b\x51\x10"), 2,
	     ARG(0, 2, 8, 16, 0)}, /* mov rcx,[rax+8]; mov rdx,[rcx+16] */
	    {CODE("\x48\x8b\x48\x08\x48\x8b\x49\x10\x48\x8b\x49\xf8"), 1,
	     ARG(0, 3, 8, 16, -8, 0)}, /* mov rcx,[rax+8]; mov rcx,[rcx+16]; mov rcx,[rcx-8] */
	    {CODE("\x48\x8b\x48\x08\x48\x8b\x49\x10\x48\x8b\x09\x48\x8b\x09"), 1,
	     UNKNOWN}, /* mov rcx,[rax+8]; mov rcx,[rcx+16]; mov rcx,[rcx]; mov rcx,[rcx] */
	    {CODE("\x48\x8b\x0c\x10"), 1, UNKNOWN},                 /* mov rcx,[rax+rdx] */
	    {CODE("\x48\x8b\x0c\x25\x00\x10\x00\x00"), 1, UNKNOWN}, /* mov rcx,[0x1000] */
	    {CODE("\x48\x8d\x48\x08"), 1, ARG(0, 0, 8)},            /* lea rcx,[rax+8] */
	    {CODE("\x48\x8d\x0c\x10"), 1, UNKNOWN},                 /* lea rcx,[rax+rdx] */
	    {CODE("\x8d\x48\x08"), 1, UNKNOWN},                     /* lea ecx,[rax+8] */
	    {CODE("\x48\x8d\x48\x08\x48\x8b\x51\x08"), 2,
	     ARG(0, 1, 16, 0)},                           /* lea rcx,[rax+8]; mov rdx,[rcx+8] */
	    {CODE("\x48\x83\xc1\x10"), 1, ARG(1, 0, 16)}, /* add rcx,16 */
	    {CODE("\x48\x81\xc1\x00\x10\x00\x00"), 1, ARG(1, 0, 0x1000)}, /* add rcx,0x1000 */
	    {CODE("\x48\x8b\x48\x08\x48\x83\xc1\x10"), 1,
	     ARG(0, 1, 8, 16)},                                  /* mov rcx,[rax+8]; add rcx,16 */
	    {CODE("\x83\xc1\x10"), 1, UNKNOWN},                  /* add ecx,16 */
	    {CODE("\x48\x83\xe9\x10"), 1, UNKNOWN},              /* sub rcx,16 */
	    {CODE("\x48\x01\xc1"), 1, UNKNOWN},                  /* add rcx,rax */
	    {CODE("\x48\x83\x00\x10"), 0, ARG(0, 0, 0)},         /* add qword ptr [rax],16 */
	    {CODE("\x48\xff\xc1"), 1, UNKNOWN},                  /* inc rcx */
	    {CODE("\x31\xc9"), 1, UNKNOWN},                      /* xor ecx,ecx */
	    {CODE("\x31\xc9"), 0, ARG(0, 0, 0)},                 /* xor ecx,ecx */
	    {CODE("\xb9\x05\x00\x00\x00"), 1, UNKNOWN},          /* mov ecx,5 */
	    {CODE("\xb9\x05\x00\x00\x00"), 0, ARG(0, 0, 0)},     /* mov ecx,5 */
	    {CODE("\x41\xb9\x05\x00\x00\x00"), 9, UNKNOWN},      /* mov r9d,5 */
	    {CODE("\x41\xb9\x05\x00\x00\x00"), 1, ARG(1, 0, 0)}, /* mov r9d,5 */
	    {CODE("\x48\x39\xc1"), 1, ARG(1, 0, 0)},             /* cmp rcx,rax */
	    {CODE("\x48\x85\xc9"), 1, ARG(1, 0, 0)},             /* test rcx,rcx */
	    {CODE("\x90"), 1, ARG(1, 0, 0)},                     /* nop */
	    {CODE("\x0f\x92\xc1"), 1, UNKNOWN},                  /* setb cl */
	    {CODE("\x48\x0f\xaf\xc8"), 1, UNKNOWN},              /* imul rcx,rax */
	    {CODE("\x48\x0f\xaf\xc8"), 0, ARG(0, 0, 0)},         /* imul rcx,rax */
	};
	CHECK(codewalk_reading, rows);
}
END_TEST

START_TEST(globals_are_at_their_addresses)
{
	static const struct code_value rows[] = {
	    {CODE("\x48\x8d\x0d\x00\x01\x00\x00"), 1,
	     GLOBAL(0, AT(7) + 0x100)}, /* lea rcx,[rip+0x100] */
	    {CODE("\x48\x8d\x0d\x00\xff\xff\xff"), 1,
	     GLOBAL(0, AT(7) - 0x100)}, /* lea rcx,[rip-0x100] */
	    {CODE("\x48\x8b\x0d\x00\x01\x00\x00"), 1,
	     GLOBAL(1, AT(7) + 0x100, 0)}, /* mov rcx,[rip+0x100] */
	    {CODE("\x48\x8b\x0d\x00\x01\x00\x00\x48\x8b\x49\x08"), 1,
	     GLOBAL(2, AT(7) + 0x100, 8, 0)}, /* mov rcx,[rip+0x100]; mov rcx,[rcx+8] */
	    {CODE("\x90\x48\x8b\x0d\x00\x01\x00\x00"), 1,
	     GLOBAL(1, AT(8) + 0x100, 0)}, /* nop; mov rcx,[rip+0x100] */
	};
	CHECK(codewalk_reading, rows);
}
END_TEST

START_TEST(words_of_the_frame_are_at_sp)
{
	static const struct code_value rows[] = {
	    {CODE("\x48\x8d\x4c\x24\x08"), 1, FRAME(0, 8)},    /* lea rcx,[rsp+8] */
	    {CODE("\x48\x8b\x4c\x24\x08"), 1, FRAME(1, 8, 0)}, /* mov rcx,[rsp+8] */
	    {CODE("\x48\x8b\x4c\x24\x08\x48\x8b\x49\x18"), 1,
	     FRAME(2, 8, 24, 0)}, /* mov rcx,[rsp+8]; mov rcx,[rcx+24] */
	    /* In a frame of 64 bytes, what calls are given, and give, is below the locals' 32. */
	    {CODE("\x48\x83\xec\x40\x48\x8b\x4c\x24\x18"), 1,
	     UNKNOWN}, /* sub rsp,64; mov rcx,[rsp+24] */
	    {CODE("\x48\x83\xec\x40\x48\x8b\x4c\x24\x20"), 1,
	     FRAME(1, 32, 0)}, /* sub rsp,64; mov rcx,[rsp+32] */
	    {CODE("\x48\x83\xec\x40\x48\x8d\x4c\x24\x18"), 1,
	     FRAME(0, 24)}, /* sub rsp,64; lea rcx,[rsp+24] */
	    {CODE("\x48\x81\xec\x00\x01\x00\x00\x48\x8b\x8c\x24\xd8\x00\x00\x00"), 1,
	     UNKNOWN}, /* sub rsp,0x100; mov rcx,[rsp+0xd8] */
	    {CODE("\x48\x81\xec\x00\x01\x00\x00\x48\x8b\x8c\x24\xe0\x00\x00\x00"), 1,
	     FRAME(1, 0xe0, 0)}, /* sub rsp,0x100; mov rcx,[rsp+0xe0] */
	    {CODE("\x55\x48\x83\xec\x40\x48\x8b\x4c\x24\x20"), 1,
	     UNKNOWN}, /* push rbp; sub rsp,64; mov rcx,[rsp+32] */
	    {CODE("\x55\x48\x83\xec\x40\x48\x8b\x4c\x24\x28"), 1,
	     FRAME(1, 40, 0)}, /* push rbp; sub rsp,64; mov rcx,[rsp+40] */
	    {CODE("\x55\x53\x48\x83\xec\x40\x48\x8b\x4c\x24\x28"), 1,
	     UNKNOWN}, /* push rbp; push rbx; sub rsp,64; mov rcx,[rsp+40] */
	    {CODE("\x55\x53\x48\x83\xec\x40\x48\x8b\x4c\x24\x30"), 1,
	     FRAME(1, 48, 0)}, /* push rbp; push rbx; sub rsp,64; mov rcx,[rsp+48] */
	    {CODE("\x48\x83\xec\x40\x48\x83\xec\x40\x48\x8b\x4c\x24\x20"), 1,
	     FRAME(1, 32, 0)}, /* sub rsp,64; sub rsp,64; mov rcx,[rsp+32] */
	    {CODE("\x48\x83\xc4\x40\x48\x8b\x4c\x24\x18"), 1,
	     FRAME(1, 24, 0)}, /* add rsp,64; mov rcx,[rsp+24] */
	    /* Where SP moves, what was at it is elsewhere. */
	    {CODE("\x48\x8d\x4c\x24\x08\x48\x83\xec\x40"), 1,
	     UNKNOWN},                                      /* lea rcx,[rsp+8]; sub rsp,64 */
	    {CODE("\x48\x8b\x4c\x24\x08\x50"), 1, UNKNOWN}, /* mov rcx,[rsp+8]; push rax */
	    {CODE("\x48\x8b\x48\x08\x48\x83\xec\x40"), 1,
	     ARG(0, 1, 8, 0)}, /* mov rcx,[rax+8]; sub rsp,64 */
	    {CODE("\x48\x8d\x4c\x24\x08\x48\x89\xec"), 1,
	     UNKNOWN},                           /* lea rcx,[rsp+8]; mov rsp,rbp */
	    {CODE("\x59"), 1, UNKNOWN},          /* pop rcx */
	    {CODE("\x59"), 0, ARG(0, 0, 0)},     /* pop rcx */
	    {CODE("\x41\x59"), 9, UNKNOWN},      /* pop r9 */
	    {CODE("\x41\x59"), 1, ARG(1, 0, 0)}, /* pop r9 */
	    {CODE("\x51"), 1, ARG(1, 0, 0)},     /* push rcx */
	};
	CHECK(codewalk_reading, rows);
}
END_TEST

START_TEST(words_written_once_hold_what_was_stored)
{
	static const struct code_value rows[] = {
	    {CODE("\x48\x89\x44\x24\x08\x48\x8b\x4c\x24\x08"), 1,
	     ARG(0, 0, 0)}, /* mov [rsp+8],rax; mov rcx,[rsp+8] */
	    {CODE("\x48\x89\x44\x24\x08\x48\x8b\x4c\x24\x10"), 1,
	     FRAME(1, 16, 0)}, /* mov [rsp+8],rax; mov rcx,[rsp+16] */
	    {CODE("\x48\x89\x44\x24\x08\x48\x8d\x4c\x24\x08"), 1,
	     FRAME(0, 8)}, /* mov [rsp+8],rax; lea rcx,[rsp+8] */
	    {CODE("\x48\x89\x44\x24\x08\x48\x8d\x54\x24\x08\x48\x8b\x4c\x24\x08"), 1,
	     FRAME(1, 8, 0)}, /* mov [rsp+8],rax; lea rdx,[rsp+8]; mov rcx,[rsp+8] */
	    {CODE("\x48\x89\x44\x24\x08\x48\x89\x54\x24\x08\x48\x8b\x4c\x24\x08"), 1,
	     FRAME(1, 8, 0)}, /* mov [rsp+8],rax; mov [rsp+8],rdx; mov rcx,[rsp+8] */
	    {CODE("\x48\x89\x44\x24\x08\x48\x89\x54\x24\x10\x48\x8b\x4c\x24\x08"), 1,
	     ARG(0, 0, 0)}, /* mov [rsp+8],rax; mov [rsp+16],rdx; mov rcx,[rsp+8] */
	    {CODE("\x48\x89\x44\x24\x08\x48\x89\x54\x24\x10\x48\x8b\x4c\x24\x10"), 1,
	     ARG(2, 0, 0)}, /* mov [rsp+8],rax; mov [rsp+16],rdx; mov rcx,[rsp+16] */
	    {CODE("\x89\x44\x24\x08\x48\x8b\x4c\x24\x08"), 1,
	     FRAME(1, 8, 0)}, /* mov [rsp+8],eax; mov rcx,[rsp+8] */
	    {CODE("\x48\x89\x44\x24\x08\x0f\x11\x04\x24\x48\x8b\x4c\x24\x08"), 1,
	     FRAME(1, 8, 0)}, /* mov [rsp+8],rax; movups [rsp],xmm0; mov rcx,[rsp+8] */
	    {CODE("\x48\x89\x44\x24\x08\x0f\x11\x44\x24\x10\x48\x8b\x4c\x24\x08"), 1,
	     ARG(0, 0, 0)}, /* mov [rsp+8],rax; movups [rsp+16],xmm0; mov rcx,[rsp+8] */
	    {CODE("\x48\x89\x44\x24\x08\x48\x89\x5a\x08\x48\x8b\x4c\x24\x08"), 1,
	     ARG(0, 0, 0)}, /* mov [rsp+8],rax; mov [rdx+8],rbx; mov rcx,[rsp+8] */
	    /* What was loaded from a word is no longer what is in it. */
	    {CODE("\x48\x8b\x4c\x24\x08\x89\x44\x24\x08"), 1,
	     UNKNOWN}, /* mov rcx,[rsp+8]; mov [rsp+8],eax */
	    {CODE("\x48\x8b\x4c\x24\x08\x48\x8b\x49\x08\x89\x44\x24\x08"), 1,
	     UNKNOWN}, /* mov rcx,[rsp+8]; mov rcx,[rcx+8]; mov [rsp+8],eax */
	    {CODE("\x48\x8b\x4c\x24\x08\x89\x44\x24\x10"), 1,
	     FRAME(1, 8, 0)}, /* mov rcx,[rsp+8]; mov [rsp+16],eax */
	    {CODE("\x48\x8d\x4c\x24\x08\x89\x44\x24\x08"), 1,
	     FRAME(0, 8)}, /* lea rcx,[rsp+8]; mov [rsp+8],eax */
	    {CODE("\x48\x8b\x48\x08\x89\x44\x24\x08"), 1,
	     ARG(0, 1, 8, 0)}, /* mov rcx,[rax+8]; mov [rsp+8],eax */
	    {CODE("\x48\x8b\x4c\x24\x08\x0f\x11\x44\x24\x08"), 1,
	     UNKNOWN}, /* mov rcx,[rsp+8]; movups [rsp+8],xmm0 */
	    {CODE("\x48\x8b\x4c\x24\x10\x0f\x11\x44\x24\x08"), 1,
	     UNKNOWN}, /* mov rcx,[rsp+16]; movups [rsp+8],xmm0 */
	    {CODE("\x48\x8b\x4c\x24\x18\x0f\x11\x44\x24\x08"), 1,
	     FRAME(1, 24, 0)}, /* mov rcx,[rsp+24]; movups [rsp+8],xmm0 */
	    {CODE("\x48\x8b\x4c\x24\x08\xc7\x44\x24\x08\x01\x00\x00\x00"), 1,
	     UNKNOWN}, /* mov rcx,[rsp+8]; mov dword ptr [rsp+8],1 */
	    /* What is not known is found where it is stored. */
	    {CODE("\x31\xc9\x48\x89\x4c\x24\x08"), 1,
	     FRAME(1, 8, 0)},                               /* xor ecx,ecx; mov [rsp+8],rcx */
	    {CODE("\x31\xc9\x89\x4c\x24\x08"), 1, UNKNOWN}, /* xor ecx,ecx; mov [rsp+8],ecx */
	    {CODE("\x31\xc9\x48\x89\x4c\x24\x08\x48\x89\x44\x24\x08"), 1,
	     UNKNOWN}, /* xor ecx,ecx; mov [rsp+8],rcx; mov [rsp+8],rax */
	    {CODE("\x31\xc9\x48\x89\x4a\x08"), 1, UNKNOWN}, /* xor ecx,ecx; mov [rdx+8],rcx */
	    {CODE("\x48\x83\xec\x40\x31\xc9\x48\x89\x4c\x24\x08"), 1,
	     UNKNOWN}, /* sub rsp,64; xor ecx,ecx; mov [rsp+8],rcx */
	};
	CHECK(codewalk_reading, rows);
}
END_TEST

START_TEST(instructions_change_what_they_write)
{
	static const struct code_value rows[] = {
	    /* Vectors */
	    {CODE("\x0f\x10\x00"), 1, ARG(1, 0, 0)},         /* movups xmm0,[rax] */
	    {CODE("\x0f\x11\x02"), 1, ARG(1, 0, 0)},         /* movups [rdx],xmm0 */
	    {CODE("\x0f\x28\xc1"), 1, ARG(1, 0, 0)},         /* movaps xmm0,xmm1 */
	    {CODE("\x0f\x29\x0a"), 1, ARG(1, 0, 0)},         /* movaps [rdx],xmm1 */
	    {CODE("\x0f\x57\xc0"), 1, ARG(1, 0, 0)},         /* xorps xmm0,xmm0 */
	    {CODE("\x66\x0f\x6f\x00"), 1, ARG(1, 0, 0)},     /* movdqa xmm0,[rax] */
	    {CODE("\xf3\x0f\x7f\x00"), 1, ARG(1, 0, 0)},     /* movdqu [rax],xmm0 */
	    {CODE("\x66\x0f\xef\xc0"), 1, ARG(1, 0, 0)},     /* pxor xmm0,xmm0 */
	    {CODE("\x0f\x58\xc1"), 1, ARG(1, 0, 0)},         /* addps xmm0,xmm1 */
	    {CODE("\x66\x0f\x2e\xc1"), 1, ARG(1, 0, 0)},     /* ucomisd xmm0,xmm1 */
	    {CODE("\xf2\x48\x0f\x2a\xc0"), 1, ARG(1, 0, 0)}, /* cvtsi2sd xmm0,rax */
	    {CODE("\x48\xff\xc1"), 0, ARG(0, 0, 0)},         /* inc rcx */
	    {CODE("\x48\xff\xc9"), 1, UNKNOWN},              /* dec rcx */
	    /* Others may change any register. */
	    {CODE("\x0f\x14\xc1"), 1, UNKNOWN},              /* unpcklps xmm0,xmm1 */
	    {CODE("\x0f\xa2"), 1, UNKNOWN},                  /* cpuid */
	    {CODE("\x48\x92"), 1, UNKNOWN},                  /* xchg rax,rdx */
	    {CODE("\x48\x0f\xb1\x1a"), 1, UNKNOWN},          /* cmpxchg [rdx],rbx */
	    {CODE("\x48\x0f\xc1\x1a"), 1, UNKNOWN},          /* xadd [rdx],rbx */
	    {CODE("\xf0\x48\x0f\xb1\x1a"), 0, UNKNOWN},      /* lock cmpxchg [rdx],rbx */
	    {CODE("\xf0\x48\x0f\xb1\x1a"), 3, ARG(3, 0, 0)}, /* lock cmpxchg [rdx],rbx */
	    {CODE("\xf0\x48\x0f\xb1\x1a"), 1, ARG(1, 0, 0)}, /* lock cmpxchg [rdx],rbx */
	    {CODE("\xf0\x48\x0f\xc1\x1a"), 3, UNKNOWN},      /* lock xadd [rdx],rbx */
	    {CODE("\xf0\x48\x0f\xc1\x1a"), 0, ARG(0, 0, 0)}, /* lock xadd [rdx],rbx */
	    {CODE("\xf0\x48\x0f\xc1\x1a"), 1, ARG(1, 0, 0)}, /* lock xadd [rdx],rbx */
	};
	CHECK(codewalk_reading, rows);
}
END_TEST

START_TEST(what_is_known_does_not_depend_on_the_way)
{
	static const struct code_value rows[] = {
	    {CODE("\x74\x01\x90"), 1, ARG(1, 0, 0)},         /* je 1f; nop; 1: */
	    {CODE("\x74\x03\x48\x89\xc1"), 1, UNKNOWN},      /* je 1f; mov rcx,rax; 1: */
	    {CODE("\x74\x03\x48\x89\xc1"), 2, ARG(2, 0, 0)}, /* je 1f; mov rcx,rax; 1: */
	    {CODE("\x74\x03\x48\x89\xc9"), 1, ARG(1, 0, 0)}, /* je 1f; mov rcx,rcx; 1: */
	    {CODE("\x48\x89\xc1\x74\x03\x48\x89\xc1"), 1,
	     ARG(0, 0, 0)}, /* mov rcx,rax; je 1f; mov rcx,rax; 1: */
	    {CODE("\x48\x8b\x08\x74\x04\x48\x8b\x48\x08"), 1,
	     UNKNOWN}, /* mov rcx,[rax]; je 1f; mov rcx,[rax+8]; 1: */
	    {CODE("\x48\x8b\x08\x74\x03\x48\x89\xc1"), 1,
	     UNKNOWN}, /* mov rcx,[rax]; je 1f; mov rcx,rax; 1: */
	    {CODE("\x48\x8b\x08\x74\x03\x48\x8b\x0a"), 1,
	     UNKNOWN}, /* mov rcx,[rax]; je 1f; mov rcx,[rdx]; 1: */
	    {CODE("\x48\x8b\x08\x74\x03\x48\x8b\x08"), 1,
	     ARG(0, 1, 0, 0)}, /* mov rcx,[rax]; je 1f; mov rcx,[rax]; 1: */
	    {CODE("\x48\x8b\x0c\x24\x74\x03\x48\x8b\x08"), 1,
	     UNKNOWN}, /* mov rcx,[rsp]; je 1f; mov rcx,[rax]; 1: */
	    {CODE("\x74\x05\x48\x89\xc1\xeb\x03\x48\x89\xc1"), 1,
	     ARG(0, 0, 0)}, /* je 1f; mov rcx,rax; jmp 2f; 1: mov rcx,rax; 2: */
	    {CODE("\x74\x05\x48\x89\xc1\xeb\x03\x48\x89\xd1"), 1,
	     UNKNOWN}, /* je 1f; mov rcx,rax; jmp 2f; 1: mov rcx,rdx; 2: */
	    {CODE("\x74\x05\x74\x03\x48\x89\xc1"), 1, UNKNOWN}, /* je 1f; je 1f; mov rcx,rax; 1: */
	    {CODE("\xeb\x00\x48\x89\xc1"), 1, ARG(0, 0, 0)},    /* jmp 1f; 1: mov rcx,rax */
	    /* jmp 1f; nop; 1: the NOP may be come to from anywhere */
	    {CODE("\xeb\x01\x90"), 1, UNKNOWN},
	    /* The next instruction is come to from nowhere. */
	    {CODE("\xc3"), 1, UNKNOWN},             /* ret */
	    {CODE("\x0f\x0b"), 1, UNKNOWN},         /* ud2 */
	    {CODE("\xeb\x40"), 1, UNKNOWN},         /* jmp past the code */
	    {CODE("\xc3\x48\x89\xc1"), 1, UNKNOWN}, /* ret; mov rcx,rax */
	    {CODE("\xc3\x48\x8d\x0d\x00\x00\x00\x00"), 1,
	     GLOBAL(0, AT(8))}, /* ret; lea rcx,[rip] */
	    /* In loops what holds at first need not hold later. */
	    {CODE("\x90\x90\x74\xfd\x48\x89\xc1"), 1,
	     UNKNOWN},                                      /* nop; 1: nop; je 1b; mov rcx,rax */
	    {CODE("\x90\x48\x89\xd1\x74\xfb"), 1, UNKNOWN}, /* nop; 1: mov rcx,rdx; je 1b */
	    {CODE("\x90\x48\x8d\x0c\x24\x74\xfa"), 1,
	     FRAME(0, 0)},                          /* nop; 1: lea rcx,[rsp]; je 1b */
	    {CODE("\x90\x90\xeb\xfd"), 1, UNKNOWN}, /* nop; 1: nop; jmp 1b */
	};
	CHECK(codewalk_reading, rows);
}
END_TEST

static void note_jump_back(struct gh_reading *reading)
{
	struct last_call *last = reading->context;
	last->goes_back = true;
}

static struct gh_reading again(struct last_call *last)
{
	struct gh_reading reading = codewalk_reading(last);
	reading.on_jump_back = note_jump_back;
	return reading;
}

START_TEST(where_only_jumps_back_lead_is_known_what_they_agree_on)
{
	static const struct code_value rows[] = {
	    /* jmp 2f; 1: jmp 3f; 2: mov rcx,rax; jmp 1b; 3: */
	    {CODE("\xeb\x02\xeb\x05\x48\x89\xc1\xeb\xf9"), 1, ARG(0, 0, 0)},
	    /* jmp 2f; 1: jmp 3f; 2: mov rcx,rax; je 1b; mov rcx,rax; jmp 1b; 3: */
	    {CODE("\xeb\x02\xeb\x0a\x48\x89\xc1\x74\xf9\x48\x89\xc1\xeb\xf4"), 1, ARG(0, 0, 0)},
	    /* the same with mov rcx,rdx after the first jump */
	    {CODE("\xeb\x02\xeb\x0a\x48\x89\xc1\x74\xf9\x48\x89\xd1\xeb\xf4"), 1, UNKNOWN},
	    /* je 2f; 1: jmp 3f; 2: mov rcx,rax; jmp 1b; 3: */
	    {CODE("\x74\x02\xeb\x05\x48\x89\xc1\xeb\xf9"), 1, UNKNOWN},
	    /* je 1f; jmp 2f; 1: jmp 3f; 2: mov rcx,rax; jmp 1b; 3: */
	    {CODE("\x74\x02\xeb\x02\xeb\x05\x48\x89\xc1\xeb\xf9"), 1, UNKNOWN},
	    /* A table of jumps may lead anywhere: je 0f; jmp rax; 0: jmp 2f; 1: jmp 3f; 2: mov
	     * rcx,rax; jmp 1b; 3: */
	    {CODE("\x74\x02\xff\xe0\xeb\x02\xeb\x05\x48\x89\xc1\xeb\xf9"), 1, UNKNOWN},
	    /* What a word that is written once holds: jmp 2f; 1: jmp 3f; 2: mov [rsp+8],rax; mov
	     * rcx,[rsp+8]; jmp 1b; 3: */
	    {CODE("\xeb\x02\xeb\x0c\x48\x89\x44\x24\x08\x48\x8b\x4c\x24\x08\xeb\xf2"), 1,
	     ARG(0, 0, 0)},
	};
	CHECK(again, rows);
}
END_TEST

static struct gh_reading settling(struct last_call *last)
{
	struct gh_reading reading = codewalk_reading(last);
	reading.settles = true;
	return reading;
}

START_TEST(ways_agree_where_one_has_nothing)
{
	static const struct code_value rows[] = {
	    {CODE(""), 1, ARG(1, 0, 0)},
	    {CODE("\x31\xc9"), 1, ZERO},                 /* xor ecx,ecx */
	    {CODE("\x33\xc9"), 1, ZERO},                 /* the other form */
	    {CODE("\x31\xc1"), 1, UNKNOWN},              /* xor ecx,eax */
	    {CODE("\x31\xc9\x48\x8b\x51\x08"), 2, ZERO}, /* xor ecx,ecx; mov rdx,[rcx+8] */
	    {CODE("\x74\x02\x31\xc9"), 1, ARG(1, 0, 0)}, /* je 1f; xor ecx,ecx; 1: */
	    {CODE("\x74\x03\x48\x89\xc1"), 1, UNKNOWN},  /* je 1f; mov rcx,rax; 1: */
	    {CODE("\x31\xc9\x74\x03\x48\x89\xc1"), 1, ARG(0, 0, 0)},
	    /* xor ecx,ecx; je 1f; mov rcx,rax; 1: */
	    {CODE("\x31\xc9\x48\x89\xca\x48\x89\xc1\x74\xf8"), 2,
	     ARG(0, 0, 0)}, /* xor ecx,ecx; 1: mov rdx,rcx; mov rcx,rax; je 1b */
	    {CODE("\x90\x48\x89\xca\x48\x89\xc1\x74\xf8"), 2,
	     UNKNOWN}, /* nop; 1: mov rdx,rcx; mov rcx,rax; je 1b */
	    {CODE("\x48\x89\xca\x48\x89\xc1\x74\xf8"), 2,
	     UNKNOWN}, /* 1: mov rdx,rcx; mov rcx,rax; je 1b */
	    /* jmp 2f; 1: mov rcx,rax; 2: je 1b */
	    {CODE("\xeb\x03\x48\x89\xc1\x74\xfb"), 1, UNKNOWN},
	    {CODE("\xeb\x03\x48\x89\xc9\x74\xfb"), 1, ARG(1, 0, 0)}, /* the same with mov rcx,rcx */
	    {CODE("\xeb\x01\x90"), 1, ARG(1, 0, 0)},                 /* jmp 1f; nop; 1: */
	    {CODE("\xeb\x03\x48\x89\xc1"), 1, UNKNOWN},              /* jmp 1f; mov rcx,rax; 1: */
	    {CODE("\x74\x02\xff\xe0"), 1, UNKNOWN},                  /* je 1f; jmp rax; 1: */
	};
	CHECK(settling, rows);
}
END_TEST

START_TEST(words_hold_what_all_that_write_them_agree_on)
{
	static const struct code_value rows[] = {
	    {CODE("\x48\x8b\x4c\x24\x08"), 1, FRAME(1, 8, 0)}, /* mov rcx,[rsp+8] */
	    {CODE("\x48\x89\x44\x24\x08\x48\x89\x44\x24\x08\x48\x8b\x4c\x24\x08"), 1,
	     ARG(0, 0, 0)}, /* mov [rsp+8],rax; mov [rsp+8],rax; mov rcx,[rsp+8] */
	    {CODE("\x48\x89\x44\x24\x08\x48\x89\x54\x24\x08\x48\x8b\x4c\x24\x08"), 1,
	     FRAME(1, 8, 0)}, /* mov [rsp+8],rax; mov [rsp+8],rdx; mov rcx,[rsp+8] */
	    {CODE("\x31\xd2\x48\x89\x44\x24\x08\x48\x89\x54\x24\x08\x48\x8b\x4c\x24\x08"), 1,
	     ARG(0, 0, 0)}, /* xor edx,edx before those */
	    {CODE("\x48\x89\x44\x24\x08\x48\xc7\x44\x24\x08\x00\x00\x00\x00\x48\x8b\x4c\x24\x08"),
	     1, ARG(0, 0, 0)}, /* mov [rsp+8],rax; mov qword ptr [rsp+8],0; mov rcx,[rsp+8] */
	    {CODE("\x48\x89\x44\x24\x08\x48\xc7\x44\x24\x08\x01\x00\x00\x00\x48\x8b\x4c\x24\x08"),
	     1, FRAME(1, 8, 0)}, /* the same with 1 */
	    {CODE("\x48\x89\x44\x24\x08\x44\x0f\x11\x3c\x24\x48\x8b\x4c\x24\x08"), 1,
	     ARG(0, 0, 0)}, /* mov [rsp+8],rax; movups [rsp],xmm15; mov rcx,[rsp+8] */
	    {CODE("\x48\x89\x44\x24\x08\x0f\x11\x04\x24\x48\x8b\x4c\x24\x08"), 1,
	     FRAME(1, 8, 0)}, /* the same with xmm0 */
	    {CODE("\x48\x89\x44\x24\x08\x89\x44\x24\x08\x48\x8b\x4c\x24\x08"), 1,
	     FRAME(1, 8, 0)}, /* mov [rsp+8],rax; mov [rsp+8],eax; mov rcx,[rsp+8] */
	    {CODE("\x90\x48\x8b\x4c\x24\x08\x48\x89\x44\x24\x08\x74\xf4"), 1,
	     ARG(0, 0, 0)}, /* nop; 1: mov rcx,[rsp+8]; mov [rsp+8],rax; je 1b */
	    {CODE("\x48\x89\x44\x24\x08\x48\x8d\x54\x24\x08\x48\x8b\x4c\x24\x08"), 1,
	     FRAME(1, 8, 0)}, /* mov [rsp+8],rax; lea rdx,[rsp+8]; mov rcx,[rsp+8] */
	    {CODE("\x48\x8d\x14\x24\x48\x89\x44\x24\x08\x48\x89\x5a\x08\x48\x8b\x4c\x24\x08"), 1,
	     FRAME(1, 8, 0)}, /* lea rdx,[rsp]; mov [rsp+8],rax; mov [rdx+8],rbx; mov rcx,[rsp+8] */
	    {CODE("\x48\x8d\x14\x24\x48\x89\x44\x24\x08\x48\x89\x42\x08\x48\x8b\x4c\x24\x08"), 1,
	     ARG(0, 0, 0)}, /* the same with mov [rdx+8],rax */
	};
	CHECK(settling, rows);
}
END_TEST

void known_values_tests(TCase *tests)
{
	tcase_add_test(tests, ways_agree_where_one_has_nothing);
	tcase_add_test(tests, where_only_jumps_back_lead_is_known_what_they_agree_on);
	tcase_add_test(tests, words_hold_what_all_that_write_them_agree_on);
	tcase_add_test(tests, registers_hold_what_is_moved_and_added);
	tcase_add_test(tests, globals_are_at_their_addresses);
	tcase_add_test(tests, words_of_the_frame_are_at_sp);
	tcase_add_test(tests, words_written_once_hold_what_was_stored);
	tcase_add_test(tests, instructions_change_what_they_write);
	tcase_add_test(tests, what_is_known_does_not_depend_on_the_way);
}
