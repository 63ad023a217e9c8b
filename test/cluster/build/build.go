// Package build makes the servers of a test cluster from their Go modules:
// etcd, Kubernetes' own binaries and, for real nodes, containerd. They are
// pinned by the modules in ../binaries and land in a cache folder outside the
// work tree, which every checkout of the same pins shares.
package build

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Set is a group of binaries that belong together.
type Set int

const (
	// Control is etcd, the three servers of a control plane, and kubectl.
	Control Set = iota
	// Node is what a real node needs beside it: kubelet, containerd, its shim and ctr.
	Node
)

// Ensure returns the folder that holds the set, for the server line given
// ("v1.37"; empty for Line's answer). What is missing is built first, which
// takes minutes and reports on progress.
func Ensure(ctx context.Context, set Set, line string, progress io.Writer) (string, error) {
	if line == "" {
		line = Line()
	}
	dir, err := folder(line)
	if err != nil {
		return "", err
	}
	for _, u := range units(set, line) {
		if err := u.ensure(ctx, dir, progress); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// ensure builds the unit's missing binaries under the cache's lock.
func (u unit) ensure(ctx context.Context, dir string, progress io.Writer) error {
	if len(u.missing(dir)) == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	unlock, err := lock(ctx, filepath.Join(filepath.Dir(dir), "lock"), progress)
	if err != nil {
		return err
	}
	defer unlock()
	missing := u.missing(dir)
	if len(missing) == 0 {
		return nil
	}
	return u.build(ctx, dir, missing, progress)
}

// missing lists the unit's binaries that dir does not hold yet.
func (u unit) missing(dir string) []binary {
	var out []binary
	for _, b := range u.binaries {
		if _, err := os.Stat(filepath.Join(dir, b.name)); err != nil {
			out = append(out, b)
		}
	}
	return out
}

// build compiles into a folder beside the target and renames each binary into
// place, so that a reader finds a whole binary or none.
func (u unit) build(ctx context.Context, dir string, missing []binary, progress io.Writer) error {
	tmp, err := os.MkdirTemp(dir, ".build-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	names := make([]string, len(missing))
	for i, b := range missing {
		names[i] = b.name
	}
	start := time.Now()
	_, _ = fmt.Fprintf(progress, "building %s in %s (once per machine, some minutes)\n", strings.Join(names, ", "), dir)
	if err := u.compile(ctx, tmp, missing, progress); err != nil {
		return err
	}
	for _, b := range missing {
		if err := os.Rename(filepath.Join(tmp, b.output()), filepath.Join(dir, b.name)); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(progress, "built %s in %s\n", strings.Join(names, ", "), time.Since(start).Round(time.Second))
	return nil
}
