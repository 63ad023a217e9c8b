//go:build unix

package rooted

import "syscall"

// Nonblocking keeps the opening of a pipe from waiting for a writer.
const Nonblocking = syscall.O_NONBLOCK
