package input

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

func parsedLimits(t *testing.T, args ...string) (*LimitFlag, error) {
	t.Helper()
	f := &LimitFlag{}
	c := &cobra.Command{}
	f.Add(c)
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return f, f.Complete()
}

func TestLimits_ReadAmountsWithUnits(t *testing.T) {
	f, err := parsedLimits(t, "--limit", "subsets=2000,file-bytes=1Gi", "--limit", "objects=5k")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(load.Options{Namespace: "shop", MaxFileBytes: 1 << 30, MaxObjects: 5000}, f.Load(load.Options{Namespace: "shop"})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(stage.Limits{Subsets: 2000, Objects: 5000}, f.Stage()); diff != "" {
		t.Error(diff)
	}
}

func TestLimits_RefuseWrongValues(t *testing.T) {
	for arg, want := range map[string]string{
		"subset=3":        `--limit: there is no limit "subset"`,
		"subsets=many":    `--limit subsets: "many" is not a number`,
		"subsets=0":       `--limit subsets: "0" is not a whole number from 1 on`,
		"subsets=-1":      `--limit subsets: "-1" is not a whole number from 1 on`,
		"subsets=0.5":     `--limit subsets: "0.5" is not a whole number from 1 on`,
		"file-bytes=1e30": `--limit file-bytes: "1e30" is not a whole number from 1 on`,
	} {
		if _, err := parsedLimits(t, "--limit", arg); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
}
