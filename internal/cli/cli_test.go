package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// call runs the command line in process, with in as a piped stdin.
func call(ctx context.Context, t *testing.T, in string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	defer forget()
	s := factory.Streams{In: strings.NewReader(in), Out: &o, Err: &e, Environ: collector}
	code = Main(ctx, append([]string{"kubectl-kruise"}, args...), s)
	return code, o.String(), e.String()
}

// collector is an empty environment, but for the garbage collector's: a command that spares
// memory would have it work twice as hard for all tests after it.
var collector = []string{"GOGC=400"}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const lossy = `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {partition: 2}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "registry.example.com/web:1"}]}
`

func TestExitCodes_AreThoseOfTheErrors(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		in   string
		args []string
		want int
	}{
		{name: "help", args: nil, want: 0},
		{name: "version", args: []string{"version"}, want: 0},
		{name: "render", args: []string{"render", "-f", file(t, lossy)}, want: 0},
		{name: "lost under strict", args: []string{"render", "--strict", "-f", file(t, lossy)}, want: 1},
		{name: "bad input", args: []string{"render", "-f", file(t, "a: [")}, want: 1},
		{name: "missing file", args: []string{"render", "-f", "/nonexistent.yaml"}, want: 1},
		{name: "unknown command", args: []string{"rendr"}, want: 2},
		{name: "unknown flag", args: []string{"render", "--nope"}, want: 2},
		{name: "unknown shell", args: []string{"completion", "nope"}, want: 2},
		{name: "no input", args: []string{"render"}, want: 2},
		{name: "argument to fn", args: []string{"fn", "x"}, want: 2},
		{name: "argument to version", args: []string{"version", "x"}, want: 2},
		{name: "fn on no list", args: []string{"fn"}, in: "hello: world\n", want: 1},
		{name: "unknown kind to expand", args: []string{"render", "--expand", "Pod", "-f", file(t, lossy)}, want: 2},
		{name: "interrupted", ctx: done, args: []string{"render", "-f", file(t, lossy)}, want: 130},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			ctx := tc.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			code, _, errOut := call(ctx, t, tc.in, tc.args...)
			if code != tc.want {
				t.Errorf("exit %d, want %d; stderr:\n%s", code, tc.want, errOut)
			}
			if tc.want != 0 && tc.want != 130 && !strings.HasPrefix(errOut, "error: ") && !strings.Contains(errOut, "\nerror: ") {
				t.Errorf("stderr has no error line:\n%s", errOut)
			}
		})
	}
}

// TestErrors_HaveALineEach checks that every error is one line, with its hint below.
func TestErrors_HaveALineEach(t *testing.T) {
	path := file(t, "apiVersion: v1\nkind: ConfigMap\n---\nkind: Secret\nmetadata: {name: x}\n")
	_, out, errOut := call(t.Context(), t, "", "render", "-f", path)
	if out != "" {
		t.Errorf("stdout = %q, want nothing", out)
	}
	if n := strings.Count(errOut, "error: "+path+":"); n != 2 {
		t.Errorf("%d faults named, want 2:\n%s", n, errOut)
	}
}
