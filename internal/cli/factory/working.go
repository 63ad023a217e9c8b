package factory

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// How long work may be silent before a line says what it is, on a terminal and, where that
// was asked for, in a pipe; and how often a terminal is drawn on.
const (
	silence     = 2 * time.Second
	pipeSilence = 10 * time.Second
	redraw      = time.Second
)

// Working says on stderr what is being done, and how much of it, once that has taken two seconds
// without any other output: in one line of a terminal, which is cleared before anything else is
// written, or in lines of a pipe where --progress=always asks for it. It ends with Stop. Within
// another Working, only the words change.
func (f *Factory) Working(format string, args ...any) *Work {
	what := task{what: text.Line(fmt.Sprintf(format, args...))}
	switch {
	case f.working != nil:
		line := f.working
		before := line.instead(what)
		return &Work{line: line, before: &before}
	case f.Silent, f.Progress == "never", f.Progress != "always" && !f.draws():
		return &Work{}
	}
	w := &progressLine{task: what, to: text.Unwrap(f.Streams.Err), draws: f.draws(), width: f.Streams.ErrWidth, ascii: ASCII(f.Streams.Getenv), over: make(chan struct{})}
	work := &Work{line: w, factory: f, out: f.Streams.Out, err: f.Streams.Err}
	f.Streams.Out, f.Streams.Err, f.working = &lineClearer{work.out, w}, &lineClearer{work.err, w}, w
	w.began = time.Now()
	w.last = w.began
	w.gone.Go(w.watch)
	return work
}

// Work is what a verb does, from [Factory.Working] to Stop. Its methods may be called from several goroutines.
type Work struct {
	line *progressLine
	// before is what was done, if this is within another Working; else out and err are what
	// the streams of the factory were.
	before   *task
	factory  *Factory
	out, err io.Writer
}

// Stop ends it.
func (w *Work) Stop() {
	switch {
	case w.line == nil:
	case w.before != nil:
		w.line.instead(*w.before)
	default:
		w.line.stop()
		w.factory.Streams.Out, w.factory.Streams.Err, w.factory.working = w.out, w.err, nil
	}
}

// Of says of how many things the work is, and returns it: "rendering" of 3,334 objects.
func (w *Work) Of(total int, noun string) *Work {
	w.change(func(t *task) { t.total, t.noun, t.done = total, noun, 0 })
	return w
}

// Done says how many of them are done.
func (w *Work) Done(n int) {
	w.change(func(t *task) { t.done = max(t.done, min(float64(n)/float64(max(t.total, 1)), 1)) })
}

// Part says the same as a part of the whole, from 0 to 1. What was done stays done.
func (w *Work) Part(done float64) {
	w.change(func(t *task) { t.done = max(t.done, min(done, 1)) })
}

// Progress is what an engine reports to, nil where nothing is shown.
func (w *Work) Progress() resource.Progress {
	if w.line == nil {
		return nil
	}
	return w.Part
}

// Each is the progress of one of several parts of the same size.
func (w *Work) Each(i, all int) resource.Progress {
	return w.Progress().Within(float64(i)/float64(all), float64(i+1)/float64(all))
}

// Reported is a context with which work reports to it.
func (w *Work) Reported(ctx context.Context) context.Context {
	if w.line == nil {
		return ctx
	}
	return resource.WithProgress(ctx, w.Part)
}

// Hold keeps the terminal as it is until release: a person is asked something there.
func (f *Factory) Hold() (release func()) {
	w := f.working
	if w == nil {
		return func() {}
	}
	hold := func(held bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.clear()
		w.held, w.last = held, time.Now()
	}
	hold(true)
	return func() { hold(false) }
}

func (w *Work) change(how func(*task)) {
	if w.line == nil {
		return
	}
	w.line.mu.Lock()
	defer w.line.mu.Unlock()
	how(&w.line.task)
}

// task is what is being done in words, and which part of how many things is done.
type task struct {
	what, noun string
	total      int
	done       float64
}

// String is "rendering 1,200 of 3,334 objects", or "loading manifests, 40%" where it is not known how many they are.
func (t task) String() string {
	switch {
	case t.total > 0:
		_, things, _ := strings.Cut(counted.Of(t.total, t.noun), " ")
		return fmt.Sprintf("%s %s of %s %s", t.what, grouped(int(t.done*float64(t.total)+rounding)), grouped(t.total), things)
	case t.done > 0:
		return fmt.Sprintf("%s, %d%%", t.what, int(t.done*100+rounding))
	}
	return t.what
}

// rounding keeps a number whole that was divided and multiplied.
const rounding = 1e-6

// grouped is a number with commas between its thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// draws reports whether a line on stderr can be drawn over.
func (f *Factory) draws() bool {
	return f.Streams.ErrTTY && f.Streams.Getenv("TERM") != "dumb"
}

// progressLine is what is being done.
type progressLine struct {
	to           io.Writer
	draws, ascii bool
	width        int
	over         chan struct{}
	gone         sync.WaitGroup

	mu    sync.Mutex
	task  task
	began time.Time
	// last is when something was written last; shown is true while the line is there, drawn is
	// how many columns it takes.
	last  time.Time
	shown bool
	drawn int
	// held is true while nothing may be shown.
	held  bool
	beats int
}

func (w *progressLine) instead(what task) (before task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, w.task = w.task, what
	return before
}

func (w *progressLine) watch() {
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
func (w *progressLine) beat(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := fmt.Sprintf("%s: %s", w.task, now.Sub(w.began).Round(time.Second))
	switch {
	case w.held:
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

func (w *progressLine) spin() string {
	list := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	if w.ascii {
		list = []string{"|", "/", "-", "\\"}
	}
	return list[w.beats%len(list)]
}

// fit cuts the line, which would be drawn over two lines of a narrow terminal.
func (w *progressLine) fit(line string) string {
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
func (w *progressLine) clear() {
	if w.shown {
		_, _ = io.WriteString(w.to, "\r"+strings.Repeat(" ", w.drawn)+"\r")
		w.shown = false
	}
}

func (w *progressLine) stop() {
	close(w.over)
	w.gone.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clear()
}

// lineClearer is a stream of the verb: what is written takes the line away first.
type lineClearer struct {
	to io.Writer
	w  *progressLine
}

// Columns is where lines are broken behind it.
func (h *lineClearer) Columns() int { return text.Columns(h.to) }

// Write writes, and counts as a sign of life.
func (h *lineClearer) Write(p []byte) (int, error) {
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
