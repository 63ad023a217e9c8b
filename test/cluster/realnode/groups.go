package realnode

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// controllersRoot is where the hierarchies of control groups are mounted.
const controllersRoot = "/sys/fs/cgroup"

// controlGroups makes the node's root group in every hierarchy of version 1, which
// the kubelet wants to find there. With version 2 there is one.
func (n *Node) controlGroups(context.Context) error {
	if _, err := os.Stat(filepath.Join(controllersRoot, "cgroup.controllers")); err == nil {
		return n.controlGroup(controllersRoot)
	}
	entries, err := os.ReadDir(controllersRoot)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(controllersRoot, e.Name())
		if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err != nil || e.Type()&os.ModeSymlink != 0 {
			continue
		}
		if err := n.controlGroup(dir); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) controlGroup(hierarchy string) error {
	group := hierarchy + n.Groups
	if err := os.Mkdir(group, 0o750); err != nil {
		return err
	}
	if err := n.config.Folder.Also(group); err != nil {
		return err
	}
	// A group without processors and memory nodes takes no process.
	var errs []error
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		text, err := os.ReadFile(filepath.Join(hierarchy, file))
		if err != nil || strings.TrimSpace(string(text)) == "" {
			continue
		}
		errs = append(errs, os.WriteFile(filepath.Join(group, file), text, 0o600)) //nolint:gosec // a control file
	}
	return errors.Join(errs...)
}
