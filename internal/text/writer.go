package text

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Writer returns a writer for people's text in front of w: whatever reaches it, no
// control character but newline, tab and our own colours gets through, and no line is
// a command to a CI runner (see [CI]), however the text is cut into calls. The few bytes at the end of a call that may be the beginning of such a
// thing wait for the next one. It may be used by several goroutines.
func Writer(w io.Writer) io.Writer {
	if ours, ok := w.(*writer); ok {
		return ours // twice would show our colours
	}
	return &writer{to: w}
}

// Unwrap returns what a [Writer] writes to, and any other writer as it is. It is for a
// program that draws on a terminal: it moves the cursor itself, and has every text pass
// [Painted] or [Page] before.
func Unwrap(w io.Writer) io.Writer {
	if ours, ok := w.(*writer); ok {
		return ours.to
	}
	return w
}

// Flush writes what a [Writer] or [JSON] holds back at the end of the text, where nothing
// more comes; any other writer has nothing. A stream that is gone is no matter then.
func Flush(w io.Writer) {
	if ours, ok := w.(interface{ flush() }); ok {
		ours.flush()
	}
}

// Buffer gathers writes and hands on whole lines, which a [Folding] breaks. What is left is
// written by Flush.
type Buffer struct {
	to   io.Writer
	held []byte
}

// Buffered returns a buffer in front of w.
func Buffered(w io.Writer) *Buffer { return &Buffer{to: w} }

// buffered is how much a buffer gathers before it writes.
const buffered = 4 << 10

// Write reports len(p), or the error of what is behind.
func (b *Buffer) Write(p []byte) (int, error) {
	b.held = append(b.held, p...)
	end := bytes.LastIndexByte(b.held, '\n') + 1
	if end < buffered {
		return len(p), nil
	}
	_, err := b.to.Write(b.held[:end])
	b.held = b.held[:copy(b.held, b.held[end:])]
	return len(p), err
}

// Columns is where lines are broken behind the buffer.
func (b *Buffer) Columns() int { return Columns(b.to) }

// Flush writes what is left.
func (b *Buffer) Flush() error {
	_, err := b.to.Write(b.held)
	b.held = nil
	return err
}

func (w *writer) flush() {
	w.lock.Lock()
	defer w.lock.Unlock()
	_, _ = io.WriteString(w.to, escape(w.held, "", false))
	w.held = ""
}

type writer struct {
	to   io.Writer
	lock sync.Mutex
	held string
	// begun indicates that the present line holds more than blanks and colours, within that it holds anything.
	begun, within bool
	// columns is where lines are broken (see [Folding]), 0 for nowhere.
	columns int
}

// unfinished is the end of a text that may be the beginning of what acts.
var unfinished = regexp.MustCompile(`(?:#|##[A-Za-z]{0,16}|` + brush + `(?:\[[0-9]{0,2})?)$`)

// mostUnfinished is how long it may be.
const mostUnfinished = 18

// pending is how many bytes at the end of s match unfinished.
func pending(s string) int {
	tail := s[max(0, len(s)-mostUnfinished):]
	if at := unfinished.FindStringIndex(tail); at != nil {
		return len(tail) - at[0]
	}
	return 0
}

// piece is how much is made harmless at a time: what is written may be an object of a
// hundred megabytes, and is copied several times.
const piece = 64 << 10

// pieces hands p to write, cut.
func pieces(p []byte, write func(string) error) (int, error) {
	for part := range slices.Chunk(p, piece) {
		if err := write(string(part)); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Write reports len(p) where all was written.
func (w *writer) Write(p []byte) (int, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	return pieces(p, w.write)
}

func (w *writer) write(s string) error {
	s = w.held + s
	s, w.held = w.parts(s)
	line := s
	if w.begun {
		line = "\u00b7" + line // whatever is no blank: the line has begun
	}
	line = CI(escape(line, "\n\t", true))
	if w.begun {
		line = strings.TrimPrefix(line, "\u00b7")
	}
	line = fold(line, w.columns, w.within)
	w.begun, w.within = w.mid(s), s != "" && !strings.HasSuffix(s, "\n") || s == "" && w.within
	_, err := io.WriteString(w.to, line)
	return err
}

// parts cuts off the end that has to wait.
func (w *writer) parts(s string) (now, later string) {
	cut := len(s)
	if n := pending(s); n > 0 {
		cut -= n
	} else if strings.HasSuffix(s, ":") && !w.mid(s[:len(s)-1]) {
		cut--
	} else {
		cut -= partial(s)
	}
	return s[:cut], s[cut:]
}

// mid reports whether the line that s ends in has begun.
func (w *writer) mid(s string) bool {
	i := strings.LastIndexByte(s, '\n')
	return i < 0 && w.begun || strings.TrimSpace(uncolored(s[i+1:])) != ""
}

// CI makes lines of text harmless in the log of a CI runner. GitHub's obeys lines that
// begin with :: (after blanks) and those that hold ##[, Azure's and TeamCity's those that
// hold ##vso[ and ##teamcity[. Other text stays as it is.
func CI(s string) string {
	if !strings.Contains(s, "::") && !strings.Contains(s, "##") {
		return s
	}
	lines := strings.SplitAfter(s, "\n")
	for i, line := range lines {
		rest := strings.TrimSpace(uncolored(line))
		if strings.HasPrefix(rest, "::") {
			line = strings.Replace(line, "::", `\u003a:`, 1)
		}
		lines[i] = hashless(line)
	}
	return strings.Join(lines, "")
}

// command matches what begins a command anywhere in a line.
var command = regexp.MustCompile(`##([A-Za-z]{0,16}\[)`)

// hashless is s without such beginnings.
func hashless(s string) string {
	if !strings.Contains(s, "##") {
		return s
	}
	return command.ReplaceAllString(s, `#\u0023$1`)
}

// uncolored is s without our colours at its beginning, which runners may strip.
func uncolored(s string) string {
	for {
		trimmed := strings.TrimLeft(s, " \t")
		n := max(colorAt(trimmed, brush), colorAt(trimmed, "\x1b"))
		if n == 0 {
			return trimmed
		}
		s = trimmed[n:]
	}
}

// Annotation makes s the message of one of GitHub's workflow commands; newlines stay in it,
// encoded.
func Annotation(s string) string {
	return strings.NewReplacer("%", "%25", "\n", "%0A").Replace(hashless(Block(s)))
}

// Property makes s the value of a property of one of GitHub's workflow commands.
func Property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(Annotation(s))
}
