//go:build !unix

package rooted

// Nonblocking is nothing where file systems hold no pipes.
const Nonblocking = 0
