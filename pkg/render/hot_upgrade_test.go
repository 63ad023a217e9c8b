package render_test

import (
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// What exchanges a hot-upgrade sidecar depends on the driver; nothing does with native
// sidecars, which this client does not restart.
func TestHotUpgrade_DependsOnTheDriver(t *testing.T) {
	set := func(list string) string {
		policy := ""
		if list == "initContainers" {
			policy = ", restartPolicy: Always"
		}
		return "apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: mesh}\nspec:\n  selector: {matchLabels: {app: web}}\n  updateStrategy: {type: NotUpdate}\n  " + list +
			":\n  - {name: mesh, image: 'mesh:1'" + policy + ", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: 'mesh:empty'}}\n"
	}
	for _, c := range []struct {
		list   string
		driver stage.Driver
		want   string
	}{
		{"containers", stage.Native, "sidecarset/hot-upgrade"},
		{"containers", stage.Client, "sidecarset/hot-upgrade-client"},
		{"initContainers", stage.Client, "sidecarset/hot-upgrade"},
	} {
		text := set(c.list)
		in, err := load.Parse("in.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		res, err := render.Render(t.Context(), in, render.Options{Driver: c.driver})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"sidecarset/hot-upgrade", "sidecarset/hot-upgrade-client"} {
			if got := slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.ID == id }); got != (id == c.want) {
				t.Errorf("%s, driver %s: %s: %v", c.list, c.driver, id, got)
			}
		}
	}
}
