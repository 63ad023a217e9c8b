//go:build !windows

package planning

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"
)

// owned is a file with a mode and an owner.
type owned struct {
	mode fs.FileMode
	uid  int
}

func (owned) Name() string        { return "approvals" }
func (owned) Size() int64         { return 0 }
func (owned) ModTime() time.Time  { return time.Time{} }
func (owned) IsDir() bool         { return false }
func (o owned) Mode() fs.FileMode { return o.mode }
func (o owned) Sys() any          { return &syscall.Stat_t{Uid: uint32(o.uid)} }

// TestWritableByOthers_IsAlsoTheOwner: approvals count where this user, or root, alone can have written them.
func TestWritableByOthers_IsAlsoTheOwner(t *testing.T) {
	me := os.Geteuid()
	for o, want := range map[owned]bool{
		{0o600, me}: false, {0o600, 0}: false, {0o644, me}: false, {0o600, me + 1}: true, {0o660, me}: true, {0o602, me}: true,
	} {
		if got := writableByOthers(o); got != want {
			t.Errorf("%v: %v", o, got)
		}
	}
}
