package guard

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// afterDir holds commands to be run at the end, a file each, a word a line.
const afterDir = "after"

// After registers a command that undoes something outside the folder, such as a
// network link. It runs once all processes have ended; its failure is no error,
// because it may run twice.
func (f *Folder) After(command ...string) error {
	dir := filepath.Join(f.Path, afterDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, "")
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(file, strings.Join(command, "\n"))
	return errors.Join(err, file.Close())
}

func after(dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, afterDir, "*"))
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && len(text) > 0 { //nolint:gosec // below the guarded folder
			words := strings.Split(string(text), "\n")
			_ = exec.Command(words[0], words[1:]...).Run() //nolint:gosec // registered by this program
		}
	}
}
