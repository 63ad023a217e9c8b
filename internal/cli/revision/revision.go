// Package revision brings files of a Git revision onto the disk, beside the
// working tree and without touching it: no checkout, no index, no filters that a
// repository might configure. It runs the program git and knows nothing of what
// the files hold.
package revision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
)

// Git runs git in a directory and returns what it prints. Errors hold what it says
// on stderr, in one line.
type Git func(ctx context.Context, dir string, stdin io.Reader, args ...string) ([]byte, error)

// Exec is the git of the machine.
func Exec(ctx context.Context, dir string, stdin io.Reader, args ...string) ([]byte, error) {
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

// Open finds the repository that a path belongs to, which need not exist any more,
// and the path from its top, with slashes.
func Open(ctx context.Context, git Git, path string) (r *Repo, within string, err error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, "", err
	}
	dir := existing(full)
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

// existing is the deepest directory of a path that is there.
func existing(path string) string {
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

// Range is from which commit to which.
type Range struct {
	// From and To are commits by their full names; To is empty for the working
	// tree. Old and New are what people call them.
	From, To, Old, New string
}

const rangeHint = "for instance --git main..HEAD, main...HEAD for what the branch did, or main for main against the working tree"

// Resolve reads A..B, A...B (from the commit where B left A) or A alone (up to the
// working tree). An empty side of the dots is HEAD, as in git.
func (r *Repo) Resolve(ctx context.Context, text string) (Range, error) {
	from, to, dots := strings.Cut(text, "..")
	to, three := strings.CutPrefix(to, ".")
	if text == "" || strings.Contains(to, "..") {
		return Range{}, usage.Errorf(rangeHint, "--git: %q is not a range of revisions", text)
	}
	if dots {
		from, to = orHead(from), orHead(to)
	}
	out := Range{Old: from, New: to}
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
		return out, usage.Errorf("a shallow clone may lack it: fetch more of the history", "--git: %s and %s have no common commit here", from, to)
	}
	out.From = strings.TrimSpace(string(base))
	out.Old = out.From[:min(12, len(out.From))]
	return out, nil
}

func orHead(name string) string {
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
		return "", usage.Errorf("a shallow clone may lack it: git fetch origin "+name, "--git: there is no revision %q", name)
	}
	return strings.TrimSpace(string(out)), nil
}
