package factory

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
)

// How long work may be silent before a line says what it is, on a terminal and, where that
// was asked for, in a pipe; and how often a terminal is drawn on.
const (
	silence     = 2 * time.Second
	pipeSilence = 10 * time.Second
	redraw      = time.Second
)

// Working says on stderr what is being done, once that has taken two seconds without any
// other output: in one line of a terminal, which is cleared before anything else is written,
// or in lines of a pipe where --progress=always asks for it. It ends with stop. Within
// another Working, only the words change.
func (f *Factory) Working(format string, args ...any) (stop func()) {
	what := text.Line(fmt.Sprintf(format, args...))
	switch {
	case f.working != nil:
		return f.working.instead(what)
	case f.Progress == "never", f.Progress != "always" && !f.draws():
		return func() {}
	}
	w := &working{what: what, to: text.Unwrap(f.Streams.Err), draws: f.draws(), width: f.Streams.Width, ascii: ASCII(f.Streams.Getenv), over: make(chan struct{})}
	out, errs := f.Streams.Out, f.Streams.Err
	f.Streams.Out, f.Streams.Err, f.working = &clearing{out, w}, &clearing{errs, w}, w
	w.began = time.Now()
	w.last = w.began
	w.gone.Go(w.watch)
	return func() {
		w.stop()
		f.Streams.Out, f.Streams.Err, f.working = out, errs, nil
	}
}

// draws reports whether a line on stderr can be drawn over.
func (f *Factory) draws() bool {
	return f.Streams.ErrTTY && (f.Streams.Getenv == nil || f.Streams.Getenv("TERM") != "dumb")
}

// working is what is being done.
type working struct {
	to           io.Writer
	draws, ascii bool
	width        int
	over         chan struct{}
	gone         sync.WaitGroup

	mu    sync.Mutex
	what  string
	began time.Time
	// last is when something was written last; shown is true while the line is there, drawn is
	// how many columns it takes.
	last  time.Time
	shown bool
	drawn int
	beats int
}

func (w *working) instead(what string) (back func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.what
	w.what = what
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.what = before
	}
}

func (w *working) watch() {
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		select {
		case <-w.over:
			return
		case now := <-ticker.C:
			w.beat(now)
		}
	}
}

// beat shows the line where nothing else was printed for a while.
func (w *working) beat(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := fmt.Sprintf("%s: %s", w.what, now.Sub(w.began).Round(time.Second))
	switch {
	case w.draws && (w.shown || now.Sub(w.last) >= silence):
		w.beats++
		line = w.fit(w.spin() + " " + line)
		w.clear()
		_, _ = io.WriteString(w.to, line)
		w.shown, w.drawn = true, len([]rune(line))
	case !w.draws && now.Sub(w.last) >= pipeSilence:
		_, _ = io.WriteString(w.to, line+"\n")
		w.last = now
	}
}

func (w *working) spin() string {
	list := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	if w.ascii {
		list = []string{"|", "/", "-", "\\"}
	}
	return list[w.beats%len(list)]
}

// fit cuts the line, which would be drawn over two lines of a narrow terminal.
func (w *working) fit(line string) string {
	width := w.width
	if width <= 0 {
		width = 80
	}
	if r := []rune(line); len(r) >= width {
		line = string(r[:width-1])
	}
	return line
}

// clear overwrites the line with spaces, so that no escape sequence is written where colours are off;
// the lock is held.
func (w *working) clear() {
	if w.shown {
		_, _ = io.WriteString(w.to, "\r"+strings.Repeat(" ", w.drawn)+"\r")
		w.shown = false
	}
}

func (w *working) stop() {
	close(w.over)
	w.gone.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clear()
}

// clearing is a stream of the verb: what is written takes the line away first.
type clearing struct {
	to io.Writer
	w  *working
}

// Columns is where lines are broken behind it.
func (h *clearing) Columns() int { return text.Columns(h.to) }

// Write writes, and counts as a sign of life.
func (h *clearing) Write(p []byte) (int, error) {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	h.w.clear()
	h.w.last = time.Now()
	return h.to.Write(p)
}

// CheckProgress returns an error for a value that --progress does not have.
func CheckProgress(value string) error {
	switch value {
	case "auto", "always", "never":
		return nil
	}
	return fmt.Errorf("--progress: unknown value %q", value)
}
