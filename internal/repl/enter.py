def enter(fd):
    """Installs the filter that the host sends through socket fd, and sends back its listener.

    It runs before anything that is not ours. Afterwards neither this process nor those that
    it starts have the socket or the listener. A failure ends the program, which has no other
    filter.
    """
    import _ctypes
    import _socket
    import array
    import os
    import sys

    host = _socket.socket(fileno=fd)
    message = host.recv(1 << 17)
    program = array.array("B", message[4:])
    address, size = program.buffer_info()
    sock_fprog = (size // 8).to_bytes(8, sys.byteorder) + address.to_bytes(8, sys.byteorder)
    syscall = _ctypes.dlsym(_ctypes.dlopen(None, 0), "syscall")
    # seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &sock_fprog)
    listener = _ctypes.call_function(syscall, (int.from_bytes(message[:4], sys.byteorder), 1, 8, sock_fprog))
    if listener < 0:
        raise OSError("the kernel gives no listener for refused system calls")
    host.sendmsg([b"!"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, listener.to_bytes(4, sys.byteorder))])
    os.close(listener)
    host.close()
