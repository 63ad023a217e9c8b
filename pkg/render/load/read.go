package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// readAll reads r to its end. size is what to expect, 0 when unknown.
func readAll(name string, r io.Reader, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, tooLarge(name, limit)
	}
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead)
	if _, err := b.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return nil, unreadable(name, err)
	}
	if int64(b.Len()) > limit {
		return nil, tooLarge(name, limit)
	}
	return b.Bytes(), nil
}

func tooLarge(name string, limit int64) error {
	return &resource.Error{File: name, Err: sizeError{limit}, Hint: "split it into several files"}
}

// sizeError says that a file is larger than it may be.
type sizeError struct{ limit int64 }

// Error names the limit.
func (e sizeError) Error() string { return "is larger than " + size(e.limit) }

func largeError(err error) (sizeError, bool) { return errors.AsType[sizeError](err) }

func size(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return counted.Of(int(n), "byte")
}

// text refuses what is no UTF-8 text, naming the line where it stops to be.
func text(name string, b []byte) error {
	fault := &resource.Error{File: name, Hint: "manifests are UTF-8 text"}
	if bytes.HasPrefix(b, []byte{0xff, 0xfe}) || bytes.HasPrefix(b, []byte{0xfe, 0xff}) {
		fault.Err, fault.Hint = errors.New("is UTF-16 text"), "save it as UTF-8"
		return fault
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		fault.Err, fault.Line = errors.New("is a binary file: it holds a NUL byte"), line(b, i)
		return fault
	}
	if utf8.Valid(b) {
		return nil
	}
	at := 0
	for {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		at += n
	}
	fault.Err, fault.Line = errors.New("is not UTF-8 text"), line(b, at)
	return fault
}

// line returns the number of the line that byte i of b stands on, from 1.
func line(b []byte, i int) int { return 1 + bytes.Count(b[:i], []byte{'\n'}) }
