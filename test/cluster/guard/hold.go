package guard

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// heldFile is locked as long as the owner or its guardian lives.
const heldFile = "held"

// hold locks the folder for the life of this program.
func (f *Folder) hold() error {
	file, err := os.OpenFile(filepath.Join(f.Path, heldFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	f.held = file
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// Sweep removes the folders whose owner is dead.
func Sweep() error {
	entries, err := os.ReadDir(Root())
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		dir := filepath.Join(Root(), e.Name())
		if e.IsDir() && !strings.HasPrefix(e.Name(), unfinished) && abandoned(dir) {
			errs = append(errs, clean(dir))
		}
	}
	return errors.Join(errs...)
}

// abandoned tells whether no process holds the folder. A folder without its lock file
// is being made or being removed at this moment.
func abandoned(dir string) bool {
	file, err := os.OpenFile(filepath.Join(dir, heldFile), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
