package input

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
)

// Git runs git in a directory and returns what it prints. Errors hold what it says
// on stderr, in one line.
type Git func(ctx context.Context, dir string, stdin io.Reader, args ...string) ([]byte, error)

// execGit is the git of the machine.
func execGit(ctx context.Context, dir string, stdin io.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin = dir, stdin
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("there is no program git")
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		if line = strings.TrimPrefix(line, "fatal: "); line == "" {
			line = err.Error()
		}
		return nil, fmt.Errorf("git: %s", line)
	}
	return out, nil
}

// Repo is a repository.
type Repo struct {
	git Git
	top string
}

// OpenRepo finds the repository that a path belongs to, which need not exist any more,
// and the path from its top, with slashes.
func OpenRepo(ctx context.Context, git Git, path string) (r *Repo, within string, err error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, "", err
	}
	dir := existingFolder(full)
	out, err := git(ctx, dir, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, "", err
	}
	top := filepath.FromSlash(strings.TrimSuffix(string(out), "\n"))
	physical, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, "", err
	}
	rest, err := filepath.Rel(dir, full)
	if err != nil {
		return nil, "", err
	}
	within, err = filepath.Rel(top, filepath.Join(physical, rest))
	if err != nil || within == ".." || strings.HasPrefix(within, ".."+string(filepath.Separator)) {
		return nil, "", fmt.Errorf("%s is outside of the repository %s", path, top)
	}
	return &Repo{git: git, top: top}, filepath.ToSlash(within), nil
}

// existingFolder is the deepest directory of a path that is there.
func existingFolder(path string) string {
	for {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
		up := filepath.Dir(path)
		if up == path {
			return path
		}
		path = up
	}
}

// CommitRange is from which commit to which.
type CommitRange struct {
	// From and To are commits by their full names; To is empty for the working
	// tree. Old and New are what people call them.
	From, To, Old, New string
}

const rangeHint = "for instance --git main..HEAD, main...HEAD for what the branch did, or main for main against the working tree"

// Resolve reads A..B, A...B (from the commit where B left A) or A alone (up to the
// working tree). An empty side of the dots is HEAD, as in git.
func (r *Repo) Resolve(ctx context.Context, text string) (CommitRange, error) {
	from, to, dots := strings.Cut(text, "..")
	to, three := strings.CutPrefix(to, ".")
	if text == "" || strings.Contains(to, "..") {
		return CommitRange{}, command.Usagef(rangeHint, "--git: %q is not a range of revisions", text)
	}
	if dots {
		from, to = headByDefault(from), headByDefault(to)
	}
	out := CommitRange{Old: from, New: to}
	var err error
	if out.From, err = r.commit(ctx, from); err != nil {
		return out, err
	}
	if !dots {
		out.New = "working tree"
		return out, nil
	}
	if out.To, err = r.commit(ctx, to); err != nil || !three {
		return out, err
	}
	base, err := r.git(ctx, r.top, nil, "merge-base", out.From, out.To)
	if err != nil {
		return out, command.Usagef("a shallow clone may lack it: fetch more of the history", "--git: %s and %s have no common commit here", from, to)
	}
	out.From = strings.TrimSpace(string(base))
	out.Old = out.From[:min(12, len(out.From))]
	return out, nil
}

func headByDefault(name string) string {
	if name == "" {
		return "HEAD"
	}
	return name
}

func (r *Repo) commit(ctx context.Context, name string) (string, error) {
	out, err := r.git(ctx, r.top, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", command.Usagef("a shallow clone may lack it: git fetch origin "+name, "--git: there is no revision %q", name)
	}
	return strings.TrimSpace(string(out)), nil
}

// treeEntry is one file of a tree.
type treeEntry struct {
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
func (r *Repo) list(ctx context.Context, commit, within string, deep bool) ([]treeEntry, error) {
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
	var list []treeEntry
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
		list = append(list, treeEntry{mode: fields[0], object: fields[2], path: name, size: size})
	}
	return list, nil
}

// batchBytes is how many bytes of files are asked for in one go.
const batchBytes = 64 << 20

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
		for n < len(list) && (n == 0 || size+list[n].size <= batchBytes) {
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
func (r *Repo) write(ctx context.Context, root *os.Root, list []treeEntry) error {
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
		content, err := nextAnswer(answers)
		if err != nil {
			return fmt.Errorf("%s: %w", e.path, err)
		}
		if err := placeFile(root, e, content); err != nil {
			return err
		}
	}
	return nil
}

// nextAnswer reads one answer of cat-file: OBJECT TYPE SIZE, a line break, the content
// and another line break.
func nextAnswer(in *bufio.Reader) ([]byte, error) {
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

// placeFile writes one file. The root refuses paths that lead out of it.
func placeFile(root *os.Root, e treeEntry, content []byte) error {
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
