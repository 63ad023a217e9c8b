// Package rooted is the one door through which everything is opened that the content
// of a file names: kustomizations and all that they name, values of charts, the files
// of function configs and of options. A [Root] is a folder that nothing leads out of:
// no "..", no absolute name and no link, at any depth and at the moment of opening.
// Links that stay inside are followed. It opens without blocking and then looks at what
// it has opened, so a device, a pipe or a socket is refused and never read. It counts
// what it opens.
//
// Names that a person typed do not come through here, except for the root itself.
package rooted

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// The reasons of refusals. They are wrapped in an [*fs.PathError] whose path is the name
// that was asked for.
var (
	// ErrOutside is the reason of what leads out of the root.
	ErrOutside = errors.New("leads out of the root")
	// ErrIrregular is the reason of what is no file with an end.
	ErrIrregular = errors.New("is no regular file (a device, a pipe or a socket)")
	// ErrFolder is the reason of a folder where a file is due.
	ErrFolder = errors.New("is a directory, no regular file")
	// ErrTooLarge is the reason of a file above the limit.
	ErrTooLarge = errors.New("is too large")
	// ErrTooOften is the reason when too much has been opened.
	ErrTooOften = errors.New("too many files are opened")
)

// Limits bound what is read through a root; 0 in any of them is no limit.
type Limits struct {
	// FileBytes bounds one file, AllBytes all of them: a file that is read twice counts
	// twice.
	FileBytes, AllBytes int64
	// Files is how many files may be read, and Again how often one of them may be.
	Files, Again int
}

// Root is a folder that nothing leads out of. It is safe for concurrent use.
type Root struct {
	dir    string
	root   *os.Root
	limits Limits
	ctx    context.Context //nolint:containedctx // it ends what is opened by libraries that know no context

	mu      sync.Mutex
	folders map[string]string
	times   map[string]int
	files   int
	bytes   int64
	refused error
}

// Open opens a folder that a person named, links and all. Reading ends with ctx.
func Open(ctx context.Context, dir string, limits Limits) (*Root, error) {
	physical, err := filepath.EvalSymlinks(dir)
	if err == nil {
		physical, err = filepath.Abs(physical)
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(physical)
	if err != nil {
		return nil, err
	}
	return &Root{dir: physical, root: root, limits: limits, ctx: ctx, folders: map[string]string{}, times: map[string]int{}}, nil
}

// Close closes the folder; what was read stays valid.
func (r *Root) Close() error { return r.root.Close() }

// Dir is the absolute path of the root, without links.
func (r *Root) Dir() string { return r.dir }

// Refused is the first refusal, nil without one: libraries wrap errors, or ignore them.
func (r *Root) Refused() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// refuse remembers a refusal; one of having opened too much goes over others.
func (r *Root) refuse(name string, reason error) error {
	err := &fs.PathError{Op: "open", Path: name, Err: reason}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil || errors.Is(reason, ErrTooOften) {
		r.refused = err
	}
	return err
}

// Locate returns where a name leads, as a path below the root without links. Relative
// names count from the root.
func (r *Root) Locate(name string) (string, error) {
	if err := r.ctx.Err(); err != nil {
		return "", err
	}
	rel, err := r.relative(name, name)
	if err != nil {
		return "", err
	}
	last := filepath.Base(rel)
	if last == "." || last == ".." {
		return r.follow(name, ".", rel)
	}
	folder, err := r.folder(name, filepath.Dir(rel))
	if err != nil {
		return "", err
	}
	return r.follow(name, folder, last)
}

// relative takes an absolute path for one below the root, if it is.
func (r *Root) relative(name, path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if !filepath.IsAbs(path) {
		return path, nil
	}
	rel, err := filepath.Rel(r.dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", r.refuse(name, ErrOutside)
	}
	return rel, nil
}

// folder locates the folder of a name. Most names share one, so it is remembered; what
// opens the file looks at the whole path again.
func (r *Root) folder(name, rel string) (string, error) {
	r.mu.Lock()
	known, ok := r.folders[rel]
	r.mu.Unlock()
	if ok {
		return known, nil
	}
	found, err := r.follow(name, ".", rel)
	if err == nil {
		r.mu.Lock()
		r.folders[rel] = found
		r.mu.Unlock()
	}
	return found, err
}

// maxLinks is how many links one name may lead through, as on Linux.
const maxLinks = 40

// follow walks from a folder along a path and through links.
func (r *Root) follow(name, from, path string) (string, error) {
	at, todo, links := from, parts(path), 0
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		if part == ".." {
			if at == "." {
				return "", r.refuse(name, ErrOutside)
			}
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		info, err := r.root.Lstat(next)
		if err != nil {
			return "", r.judged(name, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "open", Path: name, Err: errors.New("too many links")}
		}
		target, err := r.root.Readlink(next)
		if err != nil {
			return "", r.judged(name, err)
		}
		if filepath.IsAbs(target) {
			at = "."
		}
		if target, err = r.relative(name, target); err != nil {
			return "", err
		}
		todo = slices.Concat(parts(target), todo)
	}
	return at, nil
}

// parts are the steps of a path.
func parts(path string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(p string) bool { return p == "" || p == "." })
}

// judged turns the system's error about a path that changes while it is followed into a refusal.
func (r *Root) judged(name string, err error) error {
	path, ok := errors.AsType[*fs.PathError](err)
	if link, renamed := errors.AsType[*os.LinkError](err); renamed {
		path, ok = &fs.PathError{Op: link.Op, Path: link.New, Err: link.Err}, true
	}
	if ok && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && strings.Contains(path.Err.Error(), "escapes") {
		return r.refuse(name, ErrOutside)
	}
	if ok {
		err = path.Err
	}
	return &fs.PathError{Op: "open", Path: name, Err: err}
}

// Stat reports what a name leads to, without opening it.
func (r *Root) Stat(name string) (fs.FileInfo, error) {
	at, err := r.Locate(name)
	if err != nil {
		return nil, err
	}
	info, err := r.root.Lstat(at)
	if err != nil {
		return nil, r.judged(name, err)
	}
	return info, nil
}

// ReadDir lists a folder by name.
func (r *Root) ReadDir(name string) ([]fs.DirEntry, error) {
	_, f, info, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("is no directory")}
	}
	list, err := f.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// ReadFile reads a regular file, whole.
func (r *Root) ReadFile(name string) ([]byte, error) {
	at, f, info, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	switch {
	case info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrFolder}
	case !info.Mode().IsRegular() || endless(f):
		return nil, r.refuse(name, ErrIrregular)
	}
	limit, err := r.admit(name, at, info.Size())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
	if _, err := b.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, r.judged(name, err)
	}
	if int64(b.Len()) > limit {
		return nil, r.refuse(name, ErrTooLarge)
	}
	return b.Bytes(), nil
}

// Replace puts a file in the place of one that is there, at once and with the mode of that one. What
// the name leads to may change meanwhile: nothing outside of the root is written.
func (r *Root) Replace(name string, body []byte) error {
	at, err := r.Locate(name)
	if err != nil {
		return err
	}
	info, err := r.root.Lstat(at)
	if err != nil {
		return r.judged(name, err)
	}
	if !info.Mode().IsRegular() {
		return r.refuse(name, ErrIrregular)
	}
	beside := filepath.Join(filepath.Dir(at), "."+filepath.Base(at)+"-"+rand.Text())
	f, err := r.root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return r.judged(name, err)
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Close()); err == nil {
		err = r.root.Rename(beside, at)
	}
	if err != nil {
		_ = r.root.Remove(beside)
		return r.judged(name, err)
	}
	return nil
}

// open opens without waiting for the other end of a pipe. What the name leads to may
// have changed since it was located: the system refuses what leaves the root now.
func (r *Root) open(name string) (at string, f *os.File, info fs.FileInfo, err error) {
	if at, err = r.Locate(name); err != nil {
		return "", nil, nil, err
	}
	if f, err = r.root.OpenFile(at, os.O_RDONLY|Nonblocking, 0); err != nil {
		if info, failed := r.root.Lstat(at); failed == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return "", nil, nil, r.refuse(name, ErrIrregular) // a socket cannot be opened
		}
		return "", nil, nil, r.judged(name, err)
	}
	if info, err = f.Stat(); err != nil {
		_ = f.Close()
		return "", nil, nil, r.judged(name, err)
	}
	return at, f, info, nil
}

// admit counts a file that is about to be read, and returns how many bytes of it may be.
func (r *Root) admit(name, at string, size int64) (limit int64, err error) {
	if limit = r.limits.FileBytes; limit == 0 {
		limit = 1 << 62
	}
	if size > limit {
		return 0, r.refuse(name, ErrTooLarge)
	}
	r.mu.Lock()
	r.files++
	r.times[at]++
	r.bytes += size
	files, times, bytes := r.files, r.times[at], r.bytes
	r.mu.Unlock()
	switch l := r.limits; {
	case l.Files > 0 && files > l.Files:
		return 0, r.refuse(name, fmt.Errorf("%w: more than %d", ErrTooOften, l.Files))
	case l.Again > 0 && times > l.Again:
		return 0, r.refuse(name, fmt.Errorf("%w: this one more than %d times", ErrTooOften, l.Again))
	case l.AllBytes > 0 && bytes > l.AllBytes:
		return 0, r.refuse(name, fmt.Errorf("%w: more than %d bytes in all", ErrTooOften, l.AllBytes))
	}
	return limit, nil
}
