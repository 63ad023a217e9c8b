package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/fn"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

const asFunction = "TRAP_TEST_AS_FUNCTION"

// TestMain makes the test binary the function, too.
func TestMain(m *testing.M) {
	if os.Getenv(asFunction) == "" {
		hermetic.Main(m)
	}
	err := fn.Run(context.Background(), os.Stdin, os.Stdout, os.Stderr, load.Below("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// programs are what the fixtures run, first on the PATH.
func programs(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "kubectl-kruise"), "#!/bin/sh\n"+asFunction+"=1 exec '"+self+"' \"$@\"\n")
	// stranger is a function that forgets what kustomize notes on objects.
	write(t, filepath.Join(dir, "stranger"), "#!/bin/sh\nsed -e '/internal.config.kubernetes.io/d'\n")
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
