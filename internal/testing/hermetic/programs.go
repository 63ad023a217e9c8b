package hermetic

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs are what tests may find on the PATH: the go command and git, shells, the
// usual tools of a shell, and what a real node needs. No kubectl, plugin, kustomize or
// helm of the machine is among them.
const programs = `
	go git gcc cc clang as ld ar pkg-config
	bash sh dash zsh fish curl
	awk base64 basename cat chmod cmp comm cp cut date diff dirname echo env expr false find
	grep gunzip gzip head hostname id kill ln ls mkdir mkfifo mktemp mv od paste printf ps pwd readlink
	realpath rm rmdir sed seq setsid sha256sum shasum sleep sort stat stty tail tar tee test timeout
	touch tr true tty uname uniq unzip wc which xargs
	containerd-shim-runc-v2 ip ip6tables iptables lsmod modprobe mount nsenter runc sysctl umount unshare
`

// link makes a folder with a link to each of the programs that a PATH holds.
func link(path, bin string) error {
	if err := os.MkdirAll(bin, 0o750); err != nil {
		return err
	}
	for name := range strings.FieldsSeq(programs) {
		program, err := find(path, name)
		if err != nil {
			return err
		}
		if program == "" {
			continue // a test that needs it says so
		}
		if err := os.Symlink(program, filepath.Join(bin, name)); err != nil {
			return err
		}
	}
	return nil
}

// find returns where a program is on a PATH, and "" if it is not there.
func find(path, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			dir = "."
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		if program, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return program, nil
		}
	}
	return "", nil
}
