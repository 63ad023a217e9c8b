package realnode

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Missing describes what the machine lacks for a real node, or "".
func Missing() string {
	if os.Getuid() != 0 {
		return "root"
	}
	if lacks := packages(); len(lacks) > 0 {
		return "the Debian packages " + strings.Join(lacks, ", ")
	}
	if lacks := rights(); len(lacks) > 0 {
		return "more than this container's root has: " + strings.Join(lacks, ", ")
	}
	return ""
}

// packages lists those that are not installed.
func packages() []string {
	var lacks []string
	for _, p := range []struct{ program, name string }{{"runc", "runc"}, {"ip", "iproute2"}, {"nsenter", "util-linux"}} {
		if _, err := exec.LookPath(p.program); err != nil {
			lacks = append(lacks, p.name)
		}
	}
	if _, err := os.Stat(filepath.Join(cniDir, "bridge")); err != nil {
		lacks = append(lacks, "containernetworking-plugins")
	}
	return lacks
}

// Numbers of capabilities, as in capabilities(7).
const (
	netAdmin = 12
	sysAdmin = 21
)

// rights lists what root may not do here: in a container, it often may neither
// mount nor make links nor control groups.
func rights() []string {
	var lacks []string
	has := capabilities()
	if has&(1<<netAdmin) == 0 {
		lacks = append(lacks, "CAP_NET_ADMIN")
	}
	if has&(1<<sysAdmin) == 0 {
		lacks = append(lacks, "CAP_SYS_ADMIN")
	}
	groups := controllersRoot
	if _, err := os.Stat(filepath.Join(groups, "memory")); err == nil {
		groups = filepath.Join(groups, "memory")
	}
	const write = 2
	if syscall.Access(groups, write) != nil {
		lacks = append(lacks, "a writable "+groups)
	}
	return lacks
}

// capabilities are this process's effective ones.
func capabilities() uint64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if hex, ok := strings.CutPrefix(line, "CapEff:"); ok {
			set, _ := strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
			return set
		}
	}
	return 0
}
