package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/rooted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// source is one text to read. name is the path as the user gave it.
type source struct {
	name string
	// read returns the whole text, or fails beyond limit bytes.
	read func(limit int64) ([]byte, error)
	// places are filled in by read where the text was built; nil for files.
	places *buildPlaces
}

// collector turns -f arguments into sources.
type collector struct {
	ctx     context.Context //nolint:containedctx // it lives as long as the call that it belongs to
	opt     Options
	roots   []*rooted.Root
	named   map[string]bool
	sources []source
	errs    resource.Errors
}

// collect returns what the arguments of -f name; done closes the directories, once all
// is read.
func collect(ctx context.Context, opt Options) (sources []source, errs resource.Errors, done func()) {
	c := &collector{ctx: ctx, opt: opt, named: map[string]bool{}}
	for _, arg := range opt.Files {
		c.add(arg)
	}
	return c.sources, c.errs, func() {
		for _, root := range c.roots {
			_ = root.Close()
		}
	}
}

func (c *collector) fail(file, hint, msg string) {
	c.errs.Add(&resource.Error{File: file, Err: errors.New(msg), Hint: hint})
}

var url = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

func (c *collector) add(arg string) {
	key := arg
	if arg != "-" {
		key = filepath.Clean(arg)
	}
	switch {
	case arg == "":
		c.fail("", "name a file, a directory or - after -f", "the name of a file is empty")
	case c.named[key]:
		c.fail(arg, "name it once", "is named twice")
	case arg == "-":
		c.sources = append(c.sources, stdin(c.opt.Stdin))
	case url.MatchString(arg):
		c.fail(arg, "download it, look at it, and name the file: rendering opens no connection", "is a URL")
	default:
		c.path(arg)
	}
	c.named[key] = true
}

func (c *collector) path(arg string) {
	info, err := os.Stat(arg)
	switch {
	case err != nil:
		c.errs.Add(unreadable(arg, err))
	case info.IsDir():
		c.root(arg)
	case !isReadable(arg, info):
		c.errs.Add(irregularFileError(arg))
	default:
		c.sources = append(c.sources, typedFile(arg))
	}
}

// File reads a file that a person named and that has no manifests, such as a plan; "-" is stdin.
// It takes what -f takes: no more than limit bytes (0 means the default), and no device or pipe,
// which might never end.
func File(name string, in io.Reader, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = DefaultMaxFileBytes
	}
	if name == "-" {
		return stdin(in).read(limit)
	}
	return typedFile(name).read(limit)
}

// isReadable reports whether reading what a person named comes to an end: that of a pipe which the
// shell has opened does when the command does, where a pipe of the file system may wait for a
// writer for ever.
func isReadable(name string, info fs.FileInfo) bool {
	return info.Mode().IsRegular() || info.Mode().Type() == fs.ModeNamedPipe && descriptor.MatchString(name)
}

// descriptor matches the path of a shell's <(command).
var descriptor = regexp.MustCompile(`^(/dev|/proc/self)/fd/[0-9]+$`)

func irregularFileError(name string) error {
	return &resource.Error{File: name, Err: errors.New("is no regular file (a device, a pipe or a socket)"), Hint: "pipe the text in and name it -"}
}

func unreadable(name string, err error) error {
	e := &resource.Error{File: name, Err: err}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		e.Err = pe.Err
	}
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(name, "*?[") {
		e.Hint = "patterns are the shell's business: do not quote them"
	}
	return e
}

func stdin(r io.Reader) source {
	return source{name: "-", read: func(limit int64) ([]byte, error) {
		if r == nil {
			return nil, &resource.Error{File: "-", Err: errors.New("standard input is not to be had: something else reads it")}
		}
		return readAll("-", r, 0, limit)
	}}
}

// rootedFile is a file of a directory that a person named: its name comes from the directory.
func rootedFile(root *rooted.Root, name, path string) source {
	return source{name: name, read: func(limit int64) ([]byte, error) {
		info, err := root.Stat(path)
		if err == nil && info.Size() > limit {
			return nil, tooLarge(name, limit)
		}
		b, err := root.ReadFile(path)
		switch {
		case errors.Is(err, rooted.ErrIrregular):
			return nil, irregularFileError(name)
		case errors.Is(err, rooted.ErrOutside):
			return nil, leavesRoot(name)
		case err != nil:
			return nil, unreadable(name, err)
		case int64(len(b)) > limit:
			return nil, tooLarge(name, limit)
		}
		return b, nil
	}}
}

// typedFile is a file that a person typed.
func typedFile(name string) source {
	return source{name: name, read: func(limit int64) ([]byte, error) {
		// Opening a pipe may already wait for its other end.
		info, err := os.Stat(name)
		if err != nil {
			return nil, unreadable(name, err)
		}
		if info.IsDir() {
			return nil, &resource.Error{File: name, Err: errors.New("is a directory"), Hint: "name a file"}
		}
		if !isReadable(name, info) {
			return nil, irregularFileError(name)
		}
		return readSeen(name, info, limit)
	}}
}

// readSeen reads a file that a person typed and that was info when it was looked at.
func readSeen(name string, info fs.FileInfo, limit int64) ([]byte, error) {
	how := os.O_RDONLY
	if info.Mode().IsRegular() {
		how |= rooted.Nonblocking // it may be a pipe by now, and no other end may ever come
	}
	f, err := os.OpenFile(name, how, 0)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	if info, err = f.Stat(); err != nil {
		return nil, unreadable(name, err)
	}
	if !isReadable(name, info) {
		return nil, irregularFileError(name)
	}
	return readAll(name, f, info.Size(), limit)
}

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

// sizeError is the error for a file that is larger than allowed.
type sizeError struct{ limit int64 }

// Error names the limit.
func (e sizeError) Error() string { return "is larger than " + size(e.limit) }

func size(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return counted.Of(int(n), "byte")
}

// checkText refuses what is no UTF-8 text, naming the line where it stops to be.
func checkText(name string, b []byte) error {
	fault := &resource.Error{File: name, Hint: "manifests are UTF-8 text"}
	if bytes.HasPrefix(b, []byte{0xff, 0xfe}) || bytes.HasPrefix(b, []byte{0xfe, 0xff}) {
		fault.Err, fault.Hint = errors.New("is UTF-16 text"), "save it as UTF-8"
		return fault
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		fault.Err, fault.Line = errors.New("is a binary file: it holds a NUL byte"), lineOf(b, i)
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
	fault.Err, fault.Line = errors.New("is not UTF-8 text"), lineOf(b, at)
	return fault
}

// lineOf returns the number of the line of byte i of b, from 1.
func lineOf(b []byte, i int) int { return 1 + bytes.Count(b[:i], []byte{'\n'}) }

// Below returns a reader of files in and below dir, for what a function config
// names: absolute paths, paths with .. that leave dir, and symlinks that do are
// refused, and so is a file beyond DefaultMaxFileBytes.
func Below(dir string) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		root, err := rooted.Open(context.Background(), dir, rooted.Limits{FileBytes: DefaultMaxFileBytes})
		if err != nil {
			return nil, unreadable(dir, err)
		}
		defer root.Close() //nolint:errcheck // it was only read
		if filepath.IsAbs(path) {
			return nil, refusalText(path, rooted.ErrOutside)
		}
		b, err := root.ReadFile(path)
		if err != nil {
			return nil, refusalText(path, err)
		}
		return b, nil
	}
}

// refusalText puts a refusal into words for a file that the content of another one names.
func refusalText(path string, err error) error {
	e := &resource.Error{File: path, Err: errors.Unwrap(err)}
	switch {
	case errors.Is(err, rooted.ErrOutside):
		e.Err, e.Hint = rooted.ErrOutside, "name a file in or below the working directory, by a relative path"
	case errors.Is(err, rooted.ErrIrregular), errors.Is(err, rooted.ErrFolder):
		e.Hint = "pipe the manifests in and name them as -f -"
	case errors.Is(err, rooted.ErrTooLarge):
		return tooLarge(path, DefaultMaxFileBytes)
	default:
		return unreadable(path, err)
	}
	return e
}
