package scale

import (
	"bytes"
	"io"
)

// read reads until a text has come, or the end: it reports which.
func read(r io.Reader, text string) bool {
	var last []byte
	buf := make([]byte, 1<<16)
	for {
		n, err := r.Read(buf)
		last = append(last, buf[:n]...)
		if bytes.Contains(last, []byte(text)) {
			return true
		}
		if err != nil {
			return false
		}
		last = last[max(0, len(last)-len(text)):]
	}
}

// watchFor reads what a program draws until it ends; drawn is closed once a text was
// there.
func watchFor(r io.Reader, text string) (drawn, ended <-chan struct{}) {
	seen, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		if read(r, text) {
			close(seen)
		}
		_, _ = io.Copy(io.Discard, r) // a terminal ends with an error
	}()
	return seen, over
}
