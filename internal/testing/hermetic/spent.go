package hermetic

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// tick is the unit of times in /proc.
const tick = 10 * time.Millisecond

// process is what /proc tells of a process.
type process struct {
	parent int
	spent  time.Duration
}

// Spent is the processor time of this process, of those that it waited for, and of those
// that it started and that still run, such as the servers of a test cluster. It is not
// known on systems without /proc. A test that bounds what something takes asks for it
// instead of the clock, which runs on while other packages have the processor.
func Spent() (d time.Duration, known bool) {
	all := map[int]process{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		pid, numErr := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if p, ok := parse(text); err == nil && numErr == nil && ok {
			all[pid] = p
		}
	}
	_, known = all[os.Getpid()]
	return total(all, os.Getpid()), known
}

// parse reads a file /proc/PID/stat. The name of the program, in brackets, may hold
// brackets and spaces.
func parse(stat []byte) (process, bool) {
	const parent, first, last = 1, 11, 14 // counted behind the name: ppid; utime, stime, cutime, cstime
	i := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[i+1:])
	if i < 0 || len(fields) <= last {
		return process{}, false
	}
	var p process
	for n := first; n <= last; n++ {
		ticks, err := strconv.ParseInt(string(fields[n]), 10, 64)
		if err != nil {
			return process{}, false
		}
		p.spent += time.Duration(ticks) * tick
	}
	var err error
	p.parent, err = strconv.Atoi(string(fields[parent]))
	return p, err == nil
}

// total is what a process and all below it have spent.
func total(all map[int]process, pid int) time.Duration {
	sum := all[pid].spent
	for child, p := range all {
		if p.parent == pid && child != pid {
			sum += total(all, child)
		}
	}
	return sum
}
