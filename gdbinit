# goheap in GDB: gives stripped Go programs their symbols, once goheap.so is loaded:
#
#	(gdb) jit-reader-load goheap.so
#
# GDB can read this at every start: until goheap.so is loaded it does nothing. $goheap_stale is
# void then; afterwards it is 1 while GDB may have a program that goheap has not seen, else 0.
#
# This has to work whatever language GDB is set to, the program's or the user's choice. `if' knows
# numbers, function calls and `-' in all of them, but `not', `equals' and assignments are spelled
# differently.

# Where this is read a second time, GDB is not to ask about each command.
set $goheap_confirm = $_gdb_setting("confirm")
set confirm off

# To change the language meanwhile would have GDB look for the main function, and remember what it found.
define _goheap_set
  pipe show language | ! grep -Eq '[ "](ada|modula-2|pascal)"'
  # If that is interrupted there is no exit code.
  if $_shell_exitcode
    set $arg0 := $arg1
  else
    set $arg0 = $arg1
  end
end
document _goheap_set
Set a convenience variable in any language: _goheap_set VARIABLE VALUE (internal).
end

# Commands that goheap has GDB run itself, by `with history remove-duplicates 19937 -- COMMAND', are not to be
# looked into: GDB puts that setting, which means nothing here, back when the command ends, as it does when the
# command fails or is interrupted.
define _goheap_held
  pipe show history remove-duplicates | ! grep -q 19937
end
document _goheap_held
Have $_shell_exitcode be 1 while goheap has GDB run a command itself (internal).
end

define _goheap_look
  if $_isvoid($goheap_stale)
  else
    _goheap_held
    if $_shell_exitcode
    else
      pipe info files | { trap "exit 2" INT; "$GOHEAP_PROGRAM" session || exit 1; }
      if $_shell_exitcode
        # If it was interrupted, the program is still to be looked at.
        if $_shell_exitcode - 1
        else
          _goheap_set $goheap_stale 0
        end
      else
        _goheap_set $goheap_stale 0
        # The session's directory, which goheap.so holds open here.
        source /proc/self/fd/1000/boot.gdb
      end
    end
  end
end
document _goheap_look
Give GDB's program its symbols if it is a stripped Go program (internal).
end

define _goheap_stale
  if $_isvoid($goheap_stale)
  else
    _goheap_held
    if $_shell_exitcode
    else
      _goheap_set $goheap_stale 1
    end
  end
end
document _goheap_stale
Note that GDB may come to have another program (internal).
end

define _goheap_look_if_stale
  if $_isvoid($goheap_stale)
  else
    if $goheap_stale
      _goheap_look
    end
  end
end
document _goheap_look_if_stale
Give GDB's program its symbols if it may be another than before (internal).
end

define _goheap_leave
  if $_isvoid($goheap_goroutine)
  else
    _goheap_set $goheap_goroutine $goheap_void
    shell rm -f "$GOHEAP_SESSION"/dump.frames
    pipe maint flush register-cache | cat >/dev/null
  end
end
document _goheap_leave
Show the selected thread's own stack again (internal).
end

define _goheap_move
  _goheap_look_if_stale
  _goheap_leave
end
document _goheap_move
Prepare for a command that has the program go on (internal).
end

# Stepping. GDB steps through a thread, and ends it where that thread comes; but what blocks goes on in
# any thread. So the goroutine is locked to its thread, as by runtime.LockOSThread, while GDB steps
# through it: what GDB waits for in the thread is then the goroutine's. Meanwhile the thread gets no
# SIGURG, by which Go preempts goroutines, since GDB would step into the handler. The variables are
# the debug file's: lib/debugfile/dwarf_goroutine.h. What is said here can be said in Go and in C, the
# languages of a program's frames, and not in each that the user may have chosen.

set $goheap_goid = 0
set $goheap_held = 0
set $goheap_quiet = 0

define _goheap_note_here
  set variable $goheap_goid = _goheap_goid
end
document _goheap_note_here
Note which goroutine the program goes on from (internal).
end

define _goheap_hold_here
  _goheap_note_here
  if _goheap_hold == 1
    set variable $goheap_thread = $_thread
    set variable $goheap_held = 1
    dump binary value /proc/self/fd/1000/step _goheap_g
    append binary value /proc/self/fd/1000/step _goheap_stack
    append binary value /proc/self/fd/1000/step $sp
    append binary value /proc/self/fd/1000/step _goheap_text
    set variable _goheap_lockedm = _goheap_m
    set variable _goheap_lockedg = _goheap_g
    if _goheap_preempted == 0
      set variable _goheap_preempted = 1
      set variable $goheap_quiet = 1
    end
  end
end
document _goheap_hold_here
Lock the goroutine to its thread (internal).
end

define _goheap_release_here
  if $goheap_quiet
    set variable _goheap_preempted = 0
    set variable $goheap_quiet = 0
  end
  if _goheap_hold == 2
    set variable _goheap_lockedg = 0
    set variable _goheap_lockedm = 0
    set variable $goheap_held = 0
  end
end
document _goheap_release_here
Undo _goheap_hold_here where the goroutine runs (internal).
end

define _goheap_release_thread
  if $_thread == $goheap_thread
    frame apply level 0 -q -s _goheap_release_here
  end
end
document _goheap_release_thread
Undo _goheap_hold_here if it was in this thread (internal).
end

# A goroutine that waits in its thread stays locked until it has gone on.
define _goheap_release
  if $goheap_held
    dump binary value /proc/self/fd/1000/step $goheap_held
    with language auto -- _goheap_release_thread
  end
  if $goheap_held
    with language auto -- thread apply all -q -s _goheap_release_thread
  end
end
document _goheap_release
Undo _goheap_hold_here where that can be done (internal).
end

define _goheap_switched_here
  if $goheap_goid != 0 && _goheap_goid != 0 && $goheap_goid != _goheap_goid
    printf "[Switching to goroutine %lu]\n", _goheap_goid
  end
end
document _goheap_switched_here
Tell that another goroutine has stopped (internal).
end

define _goheap_step
  _goheap_move
  if $_thread
    with language auto -- frame apply level 0 -q -s _goheap_hold_here
  end
end
document _goheap_step
Prepare for a command that is to stop in the same goroutine (internal).
end

define _goheap_continue
  _goheap_move
  if $_thread
    with language auto -- frame apply level 0 -q -s _goheap_note_here
  end
end
document _goheap_continue
Prepare for a command that may stop in any goroutine (internal).
end

# The commands that have the program go on are hooked, too.
define hook-stop
  _goheap_leave
  _goheap_release
  if $_thread
    with language auto -- frame apply level 0 -q -s _goheap_switched_here
  end
end

define hook-detach
  _goheap_release
end

# The reader that was loaded need not be goheap.so, nor have got a session: its directory is not open then.
define hookpost-jit-reader-load
  pipe echo | test -d /proc/$PPID/fd/1000/
  if $_shell_exitcode
  else
    _goheap_set $goheap_stale 1
    _goheap_look
  end
end

define hookpost-jit-reader-unload
  _goheap_set $goheap_stale $goheap_void
end

# Commands after which GDB may have another program.

define hookpost-file
  _goheap_look
end

define hookpost-exec-file
  _goheap_look
end

define hookpost-attach
  _goheap_look
end

define hookpost-core-file
  _goheap_look
end

define target hookpost-core
  _goheap_look
end

define target hookpost-remote
  _goheap_look
end

define target hookpost-extended-remote
  _goheap_look
end

# A program that was built again is read before its breakpoints are set again. A heap dump that is
# loaded still is so until then.

define hook-run
  _goheap_look
  _goheap_stale
end

define hook-start
  _goheap_look
  _goheap_stale
end

define hook-starti
  _goheap_look
  _goheap_stale
end

# Those hooks are not enough. GDB 13.1 forgets the hooks after a command that cannot be repeated with
# an empty line, if it was typed; `attach', typed, is done before GDB knows the program; and GDB tells
# nobody when it opens the files on its command line. So the program is looked at too, when there
# may be another, before the first command that needs symbols.

define hook-file
  _goheap_stale
end

define hook-attach
  _goheap_stale
end

define hook-core-file
  _goheap_stale
end

define target hook-core
  _goheap_stale
end

define target hook-remote
  _goheap_stale
end

define target hook-extended-remote
  _goheap_stale
end

define hook-break
  _goheap_look_if_stale
end

define hook-tbreak
  _goheap_look_if_stale
end

define hook-hbreak
  _goheap_look_if_stale
end

define hook-thbreak
  _goheap_look_if_stale
end

define hook-rbreak
  _goheap_look_if_stale
end

define hook-list
  _goheap_look_if_stale
end

define hook-backtrace
  _goheap_look_if_stale
end

define hook-frame
  _goheap_look_if_stale
end

define hook-up
  _goheap_look_if_stale
end

define hook-down
  _goheap_look_if_stale
end

define hook-finish
  _goheap_step
end

define hook-until
  _goheap_step
end

define hook-advance
  _goheap_step
end

define hook-step
  _goheap_step
end

define hook-next
  _goheap_step
end

define hook-stepi
  _goheap_step
end

define hook-nexti
  _goheap_step
end

define hook-continue
  _goheap_continue
end

define hook-call
  _goheap_look_if_stale
end

define hook-print
  _goheap_look_if_stale
end

define hook-output
  _goheap_look_if_stale
end

define hook-x
  _goheap_look_if_stale
end

define hook-display
  _goheap_look_if_stale
end

define hook-watch
  _goheap_look_if_stale
end

define hook-ptype
  _goheap_look_if_stale
end

define hook-whatis
  _goheap_look_if_stale
end

define hook-jump
  _goheap_continue
end

define hook-dprintf
  _goheap_look_if_stale
end

define hook-disassemble
  _goheap_look_if_stale
end

define hook-complete
  _goheap_look_if_stale
end

define hook-thread
  _goheap_look_if_stale
end

define thread hook-apply
  _goheap_look_if_stale
end

define thread apply hook-all
  _goheap_look_if_stale
end

define frame hook-apply
  _goheap_look_if_stale
end

define info hook-functions
  _goheap_look_if_stale
end

define info hook-line
  _goheap_look_if_stale
end

define info hook-symbol
  _goheap_look_if_stale
end

define info hook-threads
  _goheap_look_if_stale
end

define info hook-scope
  _goheap_look_if_stale
end

define info hook-frame
  _goheap_look_if_stale
end

define info hook-address
  _goheap_look_if_stale
end

define info hook-source
  _goheap_look_if_stale
end

define info hook-types
  _goheap_look_if_stale
end

define-prefix goheap
document goheap
Commands for stripped Go programs and for heap dumps.
They need the plugin: jit-reader-load goheap.so

goheap info        -- Tell what the current program is and how it was built, or what the loaded heap dump has
goheap load        -- Open a heap dump
goheap print       -- Print a value of the program's memory
goheap crash       -- Tell what the process or core file crashed of
goheap goroutine   -- Show a goroutine's stack in a process or core file
goheap goroutines  -- Print goroutines as Go prints tracebacks
goheap frames      -- List the stack frames of the loaded heap dump
goheap types       -- List the types of the loaded heap dump
goheap itabs       -- List the itabs of the loaded heap dump
goheap roots       -- List what the objects of the loaded heap dump are reached from
goheap finalizers  -- List the finalizers (registered and queued) of the loaded heap dump
goheap defers      -- List the deferred calls of the loaded heap dump
goheap panics      -- List the panics of the loaded heap dump
goheap threads     -- List the OS threads of the loaded heap dump
goheap memstats    -- Print the memory statistics of the loaded heap dump
goheap params      -- Print the parameters of the loaded heap dump
goheap histogram   -- Count the objects of the loaded heap dump by type, size or place of allocation
goheap dominators  -- Print what keeps most of the loaded heap dump alive
goheap path        -- Tell what keeps an object of the loaded heap dump alive
goheap objects     -- Tell what is at an address of the loaded heap dump
goheap referrers   -- List what points to an object of the loaded heap dump
goheap reachable   -- Count what an object of the loaded heap dump leads to
goheap unreachable -- List the garbage of the loaded heap dump
goheap strings     -- List the longest and the most repeated strings of the loaded heap dump
goheap diff        -- List what has grown from another heap dump to the loaded one
goheap profile     -- Print the allocation profile of the loaded heap dump
goheap pprof       -- Write the allocation profile of the loaded heap dump for `go tool pprof'
goheap report      -- Write a page for a browser on what fills the loaded heap dump and what keeps it there
goheap hprof       -- Write the loaded heap dump as a Java heap dump
goheap dot         -- Draw what fills the loaded heap dump for Graphviz
goheap symbols     -- Give a Go program its symbols
end

# What the user types after `goheap' is data: a word of it ends up in no shell's command, and in no command of
# GDB's but these. `set logging file' takes what follows it as it is, and does no more than keep it; what `show'
# prints of it the program reads on its standard input. Each word goes that way, in the form in which it was
# typed; to take its quotes away is left to the program. It is ended here by a mark, as GDB drops a space at the
# end of a command, and begins with one, as it would take ~ for a directory. The program puts the words into a
# file, and its exit status is how many they are by then: numbers have no `set' that is good in every language.

define _goheap_word
  set logging file {{$arg0
  pipe show logging file | "$GOHEAP_PROGRAM" word
end
document _goheap_word
Give the goheap program a word that the user has typed (internal).
end

define goheap _run
  if $_isvoid($goheap_stale)
    echo goheap.so is not loaded: jit-reader-load goheap.so\n
  else
    _goheap_look_if_stale
    eval "pipe echo | rm -f \"$GOHEAP_SESSION\"/words; [ %d -lt 120 ] || { echo goheap: more than 119 words >&2; exit 1; }", $argc
    if $_shell_exitcode
    else
      while $argc - $_shell_exitcode
        eval "with logging file {{ -- _goheap_word $arg%d}}", $_shell_exitcode
      end
      pipe info files | { trap "exit 1" INT; "$GOHEAP_PROGRAM" within || exit 1; }
      _goheap_finish
    end
  end
end
document goheap _run
Run a command of the goheap program's (internal).
end

# The last that a command does. What is an expression to GDB is not read as a part of a script, where an error
# would be said to be in a line of that.
define _goheap_then
end
define _goheap_finish
  if $_shell_exitcode
  else
    source /proc/self/fd/1000/boot.gdb
    _goheap_then
  end
end
document _goheap_finish
Do what the goheap program has said (internal).
end
document _goheap_then
Do what the goheap command that runs has left to do (internal).
end

define _goheap_serve
  shell : >"$GOHEAP_SESSION"/memory.wanted
  maint flush register-cache
  frame
end
document _goheap_serve
Have goheap.so serve memory to the program that this is piped to (internal).
end

define-prefix goheap symbols
document goheap symbols
Give a Go program its symbols.

goheap symbols memory -- Take them from the memory of the process, the target or the core file
end

define goheap symbols memory
  if $_isvoid($goheap_stale)
    echo goheap.so is not loaded: jit-reader-load goheap.so\n
  else
    pipe info auxv | { trap "exit 1" INT; "$GOHEAP_PROGRAM" fetch auxv --asked || exit 1; }
    if $_shell_exitcode
    else
      source /proc/self/fd/1000/boot.gdb
    end
  end
end
document goheap symbols memory
Take a Go program's symbols from the memory of the process, the target or the core file.
Usage: goheap symbols memory
This is for programs whose file GDB does not have. It is done by itself where it is cheap.
end

# GDB cannot be told an alias a second time.
if $_isvoid($goheap_aliases)
set $goheap_aliases = 1

alias goheap info = goheap _run info
document goheap info
Tell what the current program is and how it was built, or what the loaded heap dump has.
Usage: goheap info [--json]
end

alias goheap load = goheap _run load
document goheap load
Open a heap dump.
Usage: goheap load [-f] [--names PROGRAM] DUMP
DUMP is a file that runtime/debug.WriteHeapDump wrote. Its goroutines become threads, named by
why they wait, and its memory can be read. Name the program first, with the file command. A dump
that another program wrote is refused, unless -f is given. With --names, the source's variables
and types are those of PROGRAM, which is the program before it was stripped.
end

alias goheap crash = goheap _run crash
document goheap crash
Tell what the process or core file crashed of, as Go prints it.
Usage: goheap crash
The panics and their values, the fatal error, or the signal; then the stack of the goroutine that
crashed.
end

alias goheap goroutine = goheap _run goroutine
document goheap goroutine
Show a goroutine's stack, or the selected thread's own again.
Usage: goheap goroutine ID
The stack is below the top frame of the selected thread, until the program goes on. Registers and
memory stay as they are. An ID of 0 is for the thread's own stack.
end

alias goheap goroutines = goheap _run goroutines
document goheap goroutines
Print goroutines as Go prints tracebacks: of the loaded heap dump, process, or core file.
Usage: goheap goroutines [-s STATUS] [--grep RE] [--group] [--all] [--json]
end

alias goheap frames = goheap _run frames
document goheap frames
List the stack frames of the loaded heap dump.
Usage: goheap frames [--json]
end

alias goheap types = goheap _run types
document goheap types
List the types of the loaded heap dump.
Usage: goheap types [--json]
end

alias goheap itabs = goheap _run itabs
document goheap itabs
List the itabs of the loaded heap dump.
Usage: goheap itabs [--json]
end

alias goheap roots = goheap _run roots
document goheap roots
List what the objects of the loaded heap dump are reached from.
Usage: goheap roots [--json]
end

alias goheap finalizers = goheap _run finalizers
document goheap finalizers
List the finalizers (registered and queued) of the loaded heap dump.
Usage: goheap finalizers [--json]
end

alias goheap defers = goheap _run defers
document goheap defers
List the deferred calls of the loaded heap dump.
Usage: goheap defers [--json]
end

alias goheap panics = goheap _run panics
document goheap panics
List the panics of the loaded heap dump.
Usage: goheap panics [--json]
end

alias goheap threads = goheap _run threads
document goheap threads
List the OS threads of the loaded heap dump.
Usage: goheap threads [--json]
end

alias goheap memstats = goheap _run memstats
document goheap memstats
Print the memory statistics of the loaded heap dump.
Usage: goheap memstats [--json]
end

alias goheap params = goheap _run params
document goheap params
Print the parameters of the loaded heap dump.
Usage: goheap params [--json]
end

alias goheap histogram = goheap _run histogram
document goheap histogram
Count the objects of the loaded heap dump, the most bytes first.
Usage: goheap histogram [--by type|size|site] [--limit N] [--json]
Retained are the bytes that would go with them, those of other types too.
end

alias goheap dominators = goheap _run dominators
document goheap dominators
Print what keeps most of the loaded heap dump alive, as a tree.
Usage: goheap dominators [--limit N] [--json]
end

alias goheap path = goheap _run path
document goheap path
Tell what keeps an object of the loaded heap dump alive: the shortest way to it from a root.
Usage: goheap path ADDRESS
ADDRESS is an expression: goheap path $rax
end

alias goheap objects = goheap _run objects
document goheap objects
Tell what is at an address of the loaded heap dump: the object, and what its pointers point to.
Usage: goheap objects ADDRESS
ADDRESS is an expression: goheap objects $rax
end

alias goheap referrers = goheap _run referrers
document goheap referrers
List what points to an object of the loaded heap dump: roots and objects.
Usage: goheap referrers ADDRESS
ADDRESS is an expression: goheap referrers $rax
end

alias goheap reachable = goheap _run reachable
document goheap reachable
Count what an object of the loaded heap dump leads to, and how much of it would go with it.
Usage: goheap reachable ADDRESS
ADDRESS is an expression: goheap reachable $rax
end

alias goheap unreachable = goheap _run unreachable
document goheap unreachable
List the garbage of the loaded heap dump, the largest objects first.
Usage: goheap unreachable [--limit N] [--json]
end

alias goheap strings = goheap _run strings
document goheap strings
List the longest and the most repeated strings of the loaded heap dump.
Usage: goheap strings [--limit N] [--json]
end

alias goheap diff = goheap _run diff
document goheap diff
List what has grown from the heap dump OLD to the loaded one.
Usage: goheap diff [--by type|size|site] [--limit N] [--json] OLD
end

alias goheap profile = goheap _run profile
document goheap profile
Print the allocation profile of the loaded heap dump as Go does (debug=1): what was sampled.
Usage: goheap profile [--rate BYTES] [--json]
end

alias goheap pprof = goheap _run pprof
document goheap pprof
Write the allocation profile of the loaded heap dump for `go tool pprof'.
Usage: goheap pprof [--rate BYTES] [--raw] [--live] -o OUT
What was sampled is scaled to what there was, by the program's MemProfileRate if not 524288.
end

alias goheap report = goheap _run report
document goheap report
Write a page for a browser, in one file, that shows what fills the heap of the loaded heap dump, and what keeps it there.
Usage: goheap report -o PAGE
end

alias goheap hprof = goheap _run hprof
document goheap hprof
Write the loaded heap dump as a Java heap dump, for Eclipse MAT and VisualVM.
Usage: goheap hprof -o OUT
end

alias goheap dot = goheap _run dot
document goheap dot
Draw what retains most of the loaded heap dump, or what is around an address, for Graphviz.
Usage: goheap dot [--limit N] [-o OUT] [ADDR]
ADDR is hexadecimal.
end

alias goheap print = goheap _run print
document goheap print
Print a value of the program's memory: goheap print [TYPE] ADDRESS
TYPE is a type's name in single quotes, as info types lists it: goheap print 'main.Node' 0xc000012345
In a heap dump the type of an object can be left out, and is found: goheap print sp_0x18
end

end

if $goheap_confirm
  set confirm on
end

# --- build tree only ---
# What follows is not installed. GDB takes one reader only, so this one is loaded once.

if $_isvoid($goheap_stale)
  source plugin/load.gdb
end
