package main

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// change is what a work tree changes since a commit, by packages of the product's module.
type change struct {
	// changed are the packages with a changed file, affected are these and all whose code
	// or tests import them. Both are paths that begin with "./".
	changed, affected []string
}

// pkg is a package of the product's module.
type pkg struct {
	path, dir string
	// imports are all packages that its code and its tests need, themselves included.
	imports map[string]bool
}

// changes reads what has changed since a commit; without one, since the branch left its
// upstream, or else since HEAD.
func changes(ctx context.Context, top, base string) (change, error) {
	if base == "" {
		base = cmp.Or(output(ctx, top, "git", "merge-base", "HEAD", "@{upstream}"), "HEAD")
	}
	var files []string
	for _, args := range [][]string{
		{"diff", "--name-only", "--no-renames", base, "--"},
		{"ls-files", "--others", "--exclude-standard"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = top
		text, err := cmd.Output()
		if err != nil {
			return change{}, fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
		}
		files = append(files, strings.Fields(string(text))...)
	}
	all, err := packages(ctx, top)
	if err != nil {
		return change{}, err
	}
	return reach(all, files), nil
}

// output is what a program prints, without the end of line, or nothing where it fails.
func output(ctx context.Context, dir, name string, args ...string) string {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	text, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// packages reads all packages of the product's module.
func packages(ctx context.Context, top string) ([]pkg, error) {
	const fields = `{{.ImportPath}}|{{.Dir}}|{{join .Deps " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}`
	cmd := exec.CommandContext(ctx, "go", "list", "-f", fields, "./...")
	cmd.Dir = top
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var out []pkg
	needs, tests := map[string][]string{}, map[string][]string{}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		dir, err := filepath.Rel(top, f[1])
		if err != nil {
			return nil, err
		}
		out = append(out, pkg{path: f[0], dir: filepath.ToSlash(dir), imports: map[string]bool{f[0]: true}})
		needs[f[0]], tests[f[0]] = strings.Fields(f[2]), strings.Fields(f[3])
	}
	for _, p := range out {
		for _, direct := range slices.Concat(needs[p.path], tests[p.path]) {
			p.imports[direct] = true
			for _, below := range needs[direct] {
				p.imports[below] = true
			}
		}
	}
	return out, nil
}

// reach finds the packages that files belong to, and those that are affected. A file below
// a package's folder, such as in its testdata, is the package's. Any test may read a file of
// no package, such as a page or an example: then all are affected.
func reach(all []pkg, files []string) change {
	changed, everything := map[string]bool{}, false
	for _, file := range files {
		if strings.HasPrefix(file, "test/") || strings.HasPrefix(file, "tools/") {
			continue // other modules
		}
		if p := home(all, file); p != "" {
			changed[p] = true
		} else {
			everything = true
		}
	}
	var c change
	for _, p := range all {
		if changed[p.path] {
			c.changed = append(c.changed, "./"+p.dir)
		}
		hit := everything
		for path := range changed {
			hit = hit || p.imports[path]
		}
		if hit {
			c.affected = append(c.affected, "./"+p.dir)
		}
	}
	return c
}

// home is the package whose folder a file is in or below, the deepest one.
func home(all []pkg, file string) string {
	best := pkg{}
	for _, p := range all {
		if strings.HasPrefix(file, p.dir+"/") && len(p.dir) > len(best.dir) {
			best = p
		}
	}
	return best.path
}
