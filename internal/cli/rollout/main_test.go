package rollout

import (
	"flag"
	"runtime"
	"strconv"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
)

// TestMain runs more stories at a time than there are cores: most of what they do is to wait for pods.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	hermetic.Main(m)
}
