package emit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// update brings a directory from what a previous render wrote to files.
type update struct {
	path  string
	root  *os.Root
	old   index
	files []outFile
	// kept are stale files that stay because they were edited.
	kept []string
}

const temporary = ".tmp-kubectl-kruise-"

// temporaryName is the temporary name of a file, in the same folder.
func temporaryName(name string) string {
	dir, base := path.Split(name)
	return dir + temporary + base
}

func place(file string, err error) error {
	e := &resource.Error{File: file, Err: err}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		e.Err = pe.Err
	}
	if errors.Is(err, errIndex) {
		e.Hint = "remove it, or choose another directory"
	}
	return e
}

// run first looks at everything and writes everything beside its place; then
// it moves. The index names the new files before they appear, so that after a
// crash the next render still knows them for its own.
func (u *update) run(ctx context.Context) error {
	write, err := u.changed()
	if err != nil {
		return err
	}
	now := index{Files: map[string]string{}}
	for _, f := range u.files {
		now.Files[f.name] = digest(f.body)
	}
	both := index{Files: maps.Clone(u.old.Files)}
	if both.Files == nil {
		both.Files = map[string]string{}
	}
	maps.Copy(both.Files, now.Files)
	if err := u.stage(ctx, write); err != nil {
		return err
	}
	if err := u.index(both); err != nil {
		u.drop(write)
		return err
	}
	for i, f := range write {
		if err := u.root.Rename(temporaryName(f.name), f.name); err != nil {
			u.drop(write[i:])
			return place(filepath.Join(u.path, f.name), err)
		}
	}
	if err := u.removeStale(now); err != nil {
		return err
	}
	if err := u.index(now); err != nil {
		return err
	}
	return u.replaceOlderIndex()
}

// replaceOlderIndex removes the record of an earlier version, which has been read.
func (u *update) replaceOlderIndex() error {
	if err := u.root.Remove(olderIndex); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return place(filepath.Join(u.path, olderIndex), err)
	}
	return nil
}

// changed returns the files that differ from what is there. It refuses to
// touch what no render wrote.
func (u *update) changed() ([]outFile, error) {
	var write []outFile
	var errs resource.Errors
	for _, f := range u.files {
		differs, err := u.compare(f)
		errs.Add(err)
		if differs {
			write = append(write, f)
		}
	}
	return write, errs.Err()
}

func (u *update) compare(f outFile) (differs bool, err error) {
	file := filepath.Join(u.path, f.name)
	info, err := u.root.Lstat(f.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, place(file, err)
	case !info.Mode().IsRegular():
		return false, &resource.Error{File: file, Err: errors.New("is not a regular file"), Hint: "remove it, or choose another directory"}
	}
	if info.Size() == int64(len(f.body)) {
		there, err := u.root.ReadFile(f.name)
		if err != nil {
			return false, place(file, err)
		}
		if bytes.Equal(there, f.body) {
			return false, nil
		}
	}
	if _, ours := u.old.Files[f.name]; !ours {
		return false, &resource.Error{File: file, Err: errors.New("was not written by a render"), Hint: "remove it, or choose another directory"}
	}
	return true, nil
}

// stage writes every file under a temporary name, or none.
func (u *update) stage(ctx context.Context, files []outFile) error {
	for i, f := range files {
		if err := u.writeFile(temporaryName(f.name), f.body, f.mode); err != nil {
			u.drop(files[:i+1])
			return place(filepath.Join(u.path, f.name), err)
		}
		if err := ctx.Err(); err != nil {
			u.drop(files[:i+1])
			return err
		}
	}
	return nil
}

// writeFile creates the file again: what a killed render left under the name, be it a
// link, goes first.
func (u *update) writeFile(name string, body []byte, mode os.FileMode) error {
	if dir := path.Dir(name); dir != "." {
		if err := u.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := u.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	return errors.Join(err, f.Close())
}

// drop removes temporary files after a fault; what cannot be removed is
// replaced by the next render.
func (u *update) drop(files []outFile) {
	for _, f := range files {
		_ = u.root.Remove(temporaryName(f.name))
	}
}

func (u *update) index(x index) error {
	err := u.writeFile(temporaryName(indexFile), x.bytes(), 0o644)
	if err == nil {
		err = u.root.Rename(temporaryName(indexFile), indexFile)
	}
	if err != nil {
		return place(filepath.Join(u.path, indexFile), err)
	}
	return nil
}

// removeStale removes what the previous render wrote and this one does not.
func (u *update) removeStale(now index) error {
	for _, name := range slices.Sorted(maps.Keys(u.old.Files)) {
		if _, stays := now.Files[name]; stays {
			continue
		}
		there, err := u.root.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		file := filepath.Join(u.path, name)
		if err != nil {
			return place(file, err)
		}
		if digest(there) != u.old.Files[name] {
			u.kept = append(u.kept, file)
			continue
		}
		if err := u.root.Remove(name); err != nil {
			return place(file, err)
		}
		u.removeEmptyFolders(path.Dir(name))
	}
	return nil
}

// removeEmptyFolders removes folders that have become empty; one that has not stays.
func (u *update) removeEmptyFolders(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if u.root.Remove(dir) != nil {
			return
		}
	}
}

// indexFile records in an output directory what the last render wrote there. Its ending is
// none of those by which kubectl apply -f DIRECTORY and Argo CD take a file for a manifest;
// that of olderIndex is, which earlier versions wrote.
const (
	indexFile  = ".kubectl-kruise.index"
	olderIndex = ".kubectl-kruise.json"
)

// index maps the name of each file that we wrote, with slashes, to the digest of what we
// wrote: what differs has been edited since.
type index struct {
	Files map[string]string `json:"files"`
}

var errIndex = errors.New("is not the record of a previous render")

// readIndex returns what was written last, nothing where there is no record. Errors name
// the file.
func readIndex(root *os.Root, dir string) (index, error) {
	var x index
	for _, name := range []string{indexFile, olderIndex} {
		b, err := root.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			x, err = parseIndex(b)
		}
		if err != nil {
			return x, place(filepath.Join(dir, name), err)
		}
		break
	}
	return x, nil
}

func parseIndex(b []byte) (index, error) {
	var x index
	if json.Unmarshal(b, &x) != nil {
		return x, errIndex
	}
	for name := range x.Files {
		if name == "." || name != path.Clean(name) || !filepath.IsLocal(filepath.FromSlash(name)) {
			return x, errIndex
		}
	}
	return x, nil
}

func (x index) bytes() []byte {
	// Maps of strings always marshal, in the order of their keys.
	b, _ := json.MarshalIndent(x, "", "  ")
	return append(b, '\n')
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// File writes one file, such as a report, at once: it is complete or was not
// touched, and keeps its mode. A path that is no regular file (a pipe, /dev/stdout)
// is written to as it is.
func File(path string, body []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return placed(path, writeIrregular(path, body))
		}
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return place(path, err)
	}
	_, err = f.Write(body)
	if err == nil {
		err = f.Chmod(mode)
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

// writeIrregular writes to a pipe or a device. What the path leads to may have changed since it was looked at: a
// file is not written to in place of it.
func writeIrregular(path string, body []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = errors.New("it has become a regular file meanwhile")
	}
	if err == nil {
		_, err = f.Write(body)
	}
	return errors.Join(err, f.Close())
}

func placed(path string, err error) error {
	if err == nil {
		return nil
	}
	return place(path, err)
}
