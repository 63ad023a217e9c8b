package emit

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// hold has the directory until it is released: another that asks meanwhile is refused. It is a
// mutex named after the directory itself, however its path is written, since Windows locks no
// directories. The system lets go of it when the process ends, however it ends.
func hold(f *os.File) (release func(), err error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return func() {}, nil //nolint:nilerr // a file system without locks is written to without one
	}
	name, err := windows.UTF16PtrFromString(fmt.Sprintf(`Global\kubectl-kruise-%x-%x-%x`, info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow))
	if err != nil {
		return nil, err
	}
	mutex, err := windows.CreateMutex(nil, false, name)
	let := func() { _ = windows.CloseHandle(mutex) }
	switch {
	case errors.Is(err, windows.ERROR_ALREADY_EXISTS):
		let()
		return nil, errHeld
	case err != nil:
		return func() {}, nil //nolint:nilerr // who may make no mutex writes all the same
	}
	return let, nil
}
