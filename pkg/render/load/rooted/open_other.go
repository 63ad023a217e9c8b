//go:build !unix

package rooted

// nonblocking is nothing where file systems hold no pipes.
const nonblocking = 0
