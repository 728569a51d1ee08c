"""Types lines at a prompt on a terminal, each once the prompt is there, and prints what comes.

    prompt.py PROMPT LINE... -- COMMAND...

Of a LINE ^C, an interrupt is typed a second after the line before.
"""
import os
import pty
import sys
import time

end = sys.argv.index("--")
prompt, lines, command = sys.argv[1].encode(), sys.argv[2:end], sys.argv[end + 1:]
child, terminal = pty.fork()
if child == 0:
    os.execv(command[0], command)


def read_until(text):
    seen = b""
    while text is None or text not in seen:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            part = b""
        if part == b"":
            break
        seen += part
    sys.stdout.buffer.write(seen)


for line in lines:
    if line == "^C":
        time.sleep(1)
        os.write(terminal, b"\3")
    else:
        read_until(prompt)
        os.write(terminal, line.encode() + b"\n")
read_until(None)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
