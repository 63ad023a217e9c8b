package load

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/rooted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// source is one text to read. name is the path as the user gave it.
type source struct {
	name string
	// read returns the whole text, or fails beyond limit bytes.
	read func(limit int64) ([]byte, error)
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
	case !info.Mode().IsRegular() && !handed(arg, info):
		c.errs.Add(irregular(arg))
	default:
		c.sources = append(c.sources, file(arg))
	}
}

// descriptor is where a shell's <(command) stands.
var descriptor = regexp.MustCompile(`^(/dev|/proc/self)/fd/[0-9]+$`)

// handed reports whether a pipe was opened by the shell: reading it ends when the
// command does, where a pipe of the file system may wait for a writer for ever.
func handed(name string, info fs.FileInfo) bool {
	return info.Mode().Type() == fs.ModeNamedPipe && descriptor.MatchString(name)
}

func irregular(name string) error {
	return &resource.Error{File: name, Err: errors.New("is no regular file (a device, a pipe or a socket)"), Hint: "pipe the manifests in and name them as -f -"}
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

// below is a file of a directory that a person named: its name comes from the directory.
func below(root *rooted.Root, name, path string) source {
	return source{name: name, read: func(limit int64) ([]byte, error) {
		info, err := root.Stat(path)
		if err == nil && info.Size() > limit {
			return nil, tooLarge(name, limit)
		}
		b, err := root.ReadFile(path)
		switch {
		case errors.Is(err, rooted.ErrIrregular):
			return nil, irregular(name)
		case errors.Is(err, rooted.ErrOutside):
			return nil, leaves(name)
		case err != nil:
			return nil, unreadable(name, err)
		case int64(len(b)) > limit:
			return nil, tooLarge(name, limit)
		}
		return b, nil
	}}
}

// file is a file that a person typed.
func file(name string) source {
	return source{name: name, read: func(limit int64) ([]byte, error) {
		f, err := os.Open(name)
		if err != nil {
			return nil, unreadable(name, err)
		}
		defer f.Close() //nolint:errcheck // it was only read
		info, err := f.Stat()
		if err != nil {
			return nil, unreadable(name, err)
		}
		if !info.Mode().IsRegular() && !handed(name, info) {
			return nil, irregular(name)
		}
		return readAll(name, f, info.Size(), limit)
	}}
}
