package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDefectRestart_ReportsAMissingObject: the older plugin panicked.
func TestDefectRestart_ReportsAMissingObject(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECACHEDIR", filepath.Join(t.TempDir(), "cache"))
	code, out, errOut := call(t.Context(), t, "", "rollout", "restart", "deployment/web", "--server", bareServer(t, false), "-n", "shop")
	oneLine(t, code, out, errOut, exitError)
	if !strings.Contains(errOut, "web") || !strings.Contains(errOut, "shop") && !strings.Contains(errOut, "not found") {
		t.Errorf("it does not say what is missing:\n%s", errOut)
	}
}

// TestDefectCompletion_ReportsAMissingShell: the older plugin panicked.
func TestDefectCompletion_ReportsAMissingShell(t *testing.T) {
	if code, out, errOut := call(t.Context(), t, "", "completion"); code > exitUsage || out == "" && !strings.HasPrefix(errOut, "error: ") {
		t.Errorf("exit %d\n%s%s", code, out, errOut)
	}
	code, out, errOut := call(t.Context(), t, "", "completion", "tcsh")
	oneLine(t, code, out, errOut, exitUsage)
}

// TestDefectScaledown_AcceptsTheExampleOfItsHelp: the examples of the help can be typed, in the older
// plugin's form as in ours.
func TestDefectScaledown_AcceptsTheExampleOfItsHelp(t *testing.T) {
	c, _, err := whole().Find([]string{"scaledown"})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range append(strings.Split(strings.TrimSpace(c.Example), "\n"), "kubectl kruise scaledown CloneSet web --pods a,b") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rest, ok := strings.CutPrefix(line, "kubectl kruise scaledown ")
		if !ok {
			t.Errorf("%q is no call of scaledown", line)
			continue
		}
		c, _, _ := whole().Find([]string{"scaledown"})
		if err := c.ParseFlags(strings.Fields(rest)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if pods, _ := c.Flags().GetStringSlice("pods"); len(pods) == 0 {
			t.Errorf("%s: no pods", line)
		}
	}
}

// TestDefectGet_ReportsAnUnknownType: the older plugin printed nothing, and ended with 0.
func TestDefectGet_ReportsAnUnknownType(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECACHEDIR", filepath.Join(t.TempDir(), "cache"))
	code, out, errOut := call(t.Context(), t, "", "get", "cloneset", "--server", bareServer(t, false), "-n", "shop")
	oneLine(t, code, out, errOut, exitError, exitUsage)
}
