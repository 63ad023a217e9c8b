package revision

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// entry is one file of a tree.
type entry struct {
	mode, object, path string
	size               int64
}

// The modes of what is no plain file.
const (
	symlink   = "120000"
	submodule = "160000"
)

// Has reports whether a commit holds a path.
func (r *Repo) Has(ctx context.Context, commit, within string) (bool, error) {
	list, err := r.list(ctx, commit, within, false)
	return len(list) > 0, err
}

// list names what a commit holds at and below a path; not deep lists only the
// direct entries.
func (r *Repo) list(ctx context.Context, commit, within string, deep bool) ([]entry, error) {
	args := []string{"--literal-pathspecs", "ls-tree", "-z", "-l", "--full-tree"}
	if deep {
		args = append(args, "-r")
	}
	args = append(args, commit)
	if within != "." {
		args = append(args, "--", within)
	}
	out, err := r.git(ctx, r.top, nil, args...)
	if err != nil {
		return nil, err
	}
	var list []entry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		meta, name, ok := strings.Cut(line, "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) != 4 {
			return nil, fmt.Errorf("git ls-tree says %q", line)
		}
		size, _ := strconv.ParseInt(fields[3], 10, 64) // "-" for what has none
		list = append(list, entry{mode: fields[0], object: fields[2], path: name, size: size})
	}
	return list, nil
}

// most is how many bytes of files are asked for in one go.
const most = 64 << 20

// Export writes what a commit holds at and below a path into a directory, under
// its path from the top; "." is everything. Submodules, and symbolic links that
// lead out of the tree, are left out.
func (r *Repo) Export(ctx context.Context, commit, within, into string) error {
	list, err := r.list(ctx, commit, within, true)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // files are closed one by one
	for len(list) > 0 {
		n, size := 0, int64(0)
		for n < len(list) && (n == 0 || size+list[n].size <= most) {
			size += list[n].size
			n++
		}
		if err := r.write(ctx, root, list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// write fetches some files and writes them.
func (r *Repo) write(ctx context.Context, root *os.Root, list []entry) error {
	var ask strings.Builder
	for _, e := range list {
		if e.mode != submodule {
			ask.WriteString(e.object + "\n")
		}
	}
	out, err := r.git(ctx, r.top, strings.NewReader(ask.String()), "cat-file", "--batch")
	if err != nil {
		return err
	}
	answers := bufio.NewReader(bytes.NewReader(out))
	for _, e := range list {
		if e.mode == submodule {
			continue
		}
		content, err := next(answers)
		if err != nil {
			return fmt.Errorf("%s: %w", e.path, err)
		}
		if err := place(root, e, content); err != nil {
			return err
		}
	}
	return nil
}

// next reads one answer of cat-file: OBJECT TYPE SIZE, a line break, the content
// and another line break.
func next(in *bufio.Reader) ([]byte, error) {
	head, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(head)
	if len(fields) != 3 {
		return nil, errors.New("git does not have the content: " + strings.TrimSpace(head))
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil {
		return nil, err
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(in, content); err != nil {
		return nil, err
	}
	_, err = in.Discard(1)
	return content, err
}

// place writes one file. The root refuses paths that lead out of it.
func place(root *os.Root, e entry, content []byte) error {
	name := filepath.FromSlash(e.path)
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if e.mode != symlink {
		return root.WriteFile(name, content, 0o600)
	}
	target := string(content)
	if path.IsAbs(target) || !filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(e.path), target))) {
		return nil
	}
	return root.Symlink(filepath.FromSlash(target), name)
}
