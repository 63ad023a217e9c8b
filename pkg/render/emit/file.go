package emit

import (
	"os"
	"path/filepath"
)

// File writes one file, such as a report, at once: it is complete or was not
// touched. A path that is no regular file (a pipe, /dev/stdout) is written to
// as it is.
func File(path string, body []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return placed(path, os.WriteFile(path, body, 0o600))
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return place(path, err)
	}
	_, err = f.Write(body)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return placed(path, err)
}

func placed(path string, err error) error {
	if err == nil {
		return nil
	}
	return place(path, err)
}
