package guard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// patience is how long processes that were killed may take to disappear, on a
// machine under load.
const patience = 3 * time.Minute

// clean ends every process that belongs to the folder, unmounts what is mounted
// below it, and removes it. It may run twice at once.
func clean(dir string) error {
	deadline := time.Now().Add(patience)
	for {
		left, err := kill(dir)
		if err != nil {
			return err
		}
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes of %s do not end", left, dir)
		}
		time.Sleep(10 * time.Millisecond)
	}
	after(dir)
	if err := errors.Join(unmount(dir), undo(dir)); err != nil {
		return err
	}
	return remove(dir, deadline)
}

// remove takes the folder away, again and again while a file is still busy.
func remove(dir string, deadline time.Time) error {
	for {
		err := os.RemoveAll(dir) //nolint:gosec // the guarded folder
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// unmount detaches all mounts below the folder, the latest first, because removing
// the folder must not reach into them.
func unmount(dir string) error {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var errs []error
	for _, line := range slices.Backward(lines) {
		fields := strings.Fields(line)
		if len(fields) < 5 || !strings.HasPrefix(fields[4], dir+"/") {
			continue
		}
		point := strings.ReplaceAll(fields[4], `\040`, " ")
		if err := syscall.Unmount(point, syscall.MNT_DETACH); err != nil && !errors.Is(err, syscall.EINVAL) {
			errs = append(errs, fmt.Errorf("unmounting %s: %w", point, err))
		}
	}
	return errors.Join(errs...)
}

// undoDir holds symbolic links whose targets are removed with the folder, such
// as control groups, which only rmdir removes.
const undoDir = "undo"

// Also registers a folder elsewhere that is to be removed with this one: an empty
// one, or a tree of control groups.
func (f *Folder) Also(path string) error {
	dir := filepath.Join(f.Path, undoDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Symlink(path, filepath.Join(dir, strings.ReplaceAll(strings.Trim(path, "/"), "/", "+")))
}

// undo removes the folders registered with Also, the deepest first.
func undo(dir string) error {
	links, err := os.ReadDir(filepath.Join(dir, undoDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, l := range links {
		target, err := os.Readlink(filepath.Join(dir, undoDir, l.Name()))
		if err != nil {
			continue
		}
		errs = append(errs, removeGroups(target))
	}
	return errors.Join(errs...)
}

// removeGroups removes a tree of folders and leaves its files to the system,
// which is how control groups go away.
func removeGroups(root string) error {
	var dirs []string
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error { //nolint:gosec // a link that Also made
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	var errs []error
	for _, dir := range slices.Backward(dirs) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
