"""Accept TCP connections and keep them until the other end closes them: `python holder.py LISTENERS SECONDS`.

Prints the port. Each listener is a process of its own, so that the limit of open files of one process does not bound
the connections of all; they share the port (SO_REUSEPORT). Nothing is read or sent. It ends with standard input, or
after SECONDS at the latest.
"""

import os
import select
import socket
import sys
import time

BACKLOG = 4096


def listen(port: int) -> socket.socket:
    """Open a listener on the port that other listeners share; 0 picks one."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(BACKLOG)
    listener.setblocking(False)
    return listener


def keep(listener: socket.socket, stop: int, deadline: float) -> None:
    """Accept until the descriptor `stop` is readable or the deadline is over."""
    kept: dict[int, socket.socket] = {}
    poll = select.epoll()
    poll.register(listener, select.EPOLLIN)
    poll.register(stop, select.EPOLLIN)
    while (left_s := deadline - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(left_s):
            if descriptor == stop:
                return
            if descriptor != listener.fileno():
                kept.pop(descriptor).close()
                continue
            try:
                while True:
                    connection = listener.accept()[0]
                    kept[connection.fileno()] = connection
                    poll.register(connection, select.EPOLLRDHUP)
            except BlockingIOError:
                pass
            except OSError:
                # The limit of open files: what more comes stays in the backlog.
                poll.unregister(listener)


def main(listeners: int, seconds: float) -> None:
    """Start a process for each listener, print the port, and wait for the end."""
    deadline = time.monotonic() + seconds
    sockets = [listen(0)]
    port = sockets[0].getsockname()[1]
    sockets += [listen(port) for _ in range(listeners - 1)]
    children = []
    for own in sockets:
        child = os.fork()
        if child == 0:
            for other in sockets:
                if other is not own:
                    other.close()
            keep(own, 0, deadline)
            os._exit(0)
        children.append(child)
    for own in sockets:
        own.close()
    print(port, flush=True)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
