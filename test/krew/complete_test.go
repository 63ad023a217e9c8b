package krew

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// TestCompletion_ByKubectl: behind "kubectl kruise", kubectl's own completion asks the helper
// of plugins/completion, and offers what this program does.
func TestCompletion_ByKubectl(t *testing.T) {
	binary, err := product.Binary()
	if err != nil {
		t.Fatal(err)
	}
	helpers, err := filepath.Abs("../../plugins/completion")
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	cmd := exec.CommandContext(t.Context(), h.kubectl, "__complete", "kruise", "rollout", "re")
	path := strings.Join([]string{helpers, filepath.Dir(binary), os.Getenv("PATH")}, string(os.PathListSeparator))
	cmd.Env = []string{"HOME=" + h.dir, "KUBECONFIG=" + os.DevNull, "PATH=" + path}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"restart\t", "resume\t", "retry\t"} {
		if !strings.Contains("\n"+string(out), "\n"+want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
