package rollout

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// size is what this process holds between two rounds, and what the API server holds
// open for all its clients.
type size struct {
	heap, goroutines, files, watches int
}

func (s size) String() string {
	return fmt.Sprintf("%d KiB, %d goroutines, %d open files, %d watches", s.heap>>10, s.goroutines, s.files, s.watches)
}

func measured(t *testing.T, c *testcluster.Cluster) size {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return size{int(m.HeapAlloc), runtime.NumGoroutine(), len(files), watches(t, c)}
}

// watches is how many are open, by the server's own count.
func watches(t *testing.T, c *testcluster.Cluster) (n int) {
	t.Helper()
	text, err := c.Client().Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	must(t, err)
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "apiserver_longrunning_requests{") && strings.Contains(line, `verb="WATCH"`) {
			count, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			must(t, err)
			n += int(count)
		}
	}
	return n
}

// flat fails where the last third of what was measured is above the first by more than
// comes and goes: pods and events on their way, what is being closed. The server's
// watches are also those of its own controllers, which find new kinds after a while.
func flat(t *testing.T, sizes []size) {
	t.Helper()
	third := (len(sizes) + 2) / 3
	first, last := sizes[:third], sizes[len(sizes)-third:]
	for _, m := range []struct {
		what           string
		of             func(size) int
		percent, slack int
	}{
		{"bytes of heap", func(s size) int { return s.heap }, 20, 4 << 20},
		{"goroutines", func(s size) int { return s.goroutines }, 0, 10},
		{"open files", func(s size) int { return s.files }, 0, 10},
		{"watches", func(s size) int { return s.watches }, 20, 10},
	} {
		before, after := median(first, m.of), median(last, m.of)
		t.Logf("%s: %d at first, %d in the end", m.what, before, after)
		if after > before+before*m.percent/100+m.slack {
			t.Errorf("%s grow from %d to %d", m.what, before, after)
		}
	}
}

func median(list []size, of func(size) int) int {
	var values []int
	for _, s := range list {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
