//go:build unix

package rooted

import "syscall"

// nonblocking keeps the opening of a pipe from waiting for a writer.
const nonblocking = syscall.O_NONBLOCK
