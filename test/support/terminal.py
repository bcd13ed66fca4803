"""Runs a command in a pseudo-terminal of 100 columns, types its standard input there, and copies
what the command prints to the standard output.

    python3 test/support/terminal.py <command> <argument> …
Ends the command with SIGTERM when its own standard input ends.
"""
import fcntl, os, pty, select, signal, struct, sys, termios

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
watched = [terminal, 0]
while True:
    ready, _, _ = select.select(watched, [], [])
    if 0 in ready:
        typed = os.read(0, 4_096)
        if typed:
            os.write(terminal, typed)
        else:
            watched.remove(0)
            os.kill(pid, signal.SIGTERM)
    if terminal in ready:
        try:
            printed = os.read(terminal, 65_536)
        except OSError:  # Linux reports the end of a terminal in this way.
            break
        if not printed:
            break
        os.write(1, printed)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
