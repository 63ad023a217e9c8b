package text

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns a writer for JSON in front of w. What acts where JSON is shown (control
// characters beyond ASCII, bidirectional and invisible ones, ##[ in the log of a CI runner)
// becomes \u escapes: it can only be inside of strings, so it is the same JSON. It may be
// used by several goroutines.
func JSON(w io.Writer) io.Writer { return &jsonWriter{to: w} }

type jsonWriter struct {
	to   io.Writer
	lock sync.Mutex
	// held is the beginning of such a thing, whose end has not been written yet.
	held string
}

// Write reports len(p) where all was written.
func (w *jsonWriter) Write(p []byte) (int, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	return pieces(p, w.write)
}

func (w *jsonWriter) write(s string) error {
	s = w.held + s
	cut := len(s) - partial(s)
	if cut == len(s) {
		cut -= pending(s)
	}
	s, w.held = s[:cut], s[cut:]
	if !plainJSON(s) {
		s = escapedJSON(s)
	}
	_, err := io.WriteString(w.to, hashless(s))
	return err
}

func (w *jsonWriter) flush() {
	w.lock.Lock()
	defer w.lock.Unlock()
	_, _ = io.WriteString(w.to, escapedJSON(w.held))
	w.held = ""
}

// plainJSON reports whether s is ASCII that may stay: what acts there is escaped in JSON
// already, but for the white space between values and DEL.
func plainJSON(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x7f {
			return false
		}
	}
	return true
}

func escapedJSON(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r < 0x7f || !acts(r) && (r != utf8.RuneError || n > 1):
			b.WriteString(s[i : i+n])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += n
	}
	return b.String()
}

// partial is how many bytes at the end of s are the beginning of a character.
func partial(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if c := s[len(s)-n]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
