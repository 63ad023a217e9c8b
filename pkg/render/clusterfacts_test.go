package render_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
)

func TestClusterFacts(t *testing.T) {
	const head = "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: ClusterFacts\nmetadata: {name: cluster}\n"
	const kruise = head + "spec: {kubernetesVersion: v1.33.4, apiVersions: [apps.kruise.io/v1beta1, v1]}\n"
	const native = head + "spec: {kubernetesVersion: \"1.34\", apiVersions: [v1]}\n"
	for name, c := range map[string]struct {
		context    string
		opt        render.Options
		kubernetes int
		kinds      string
		fault      string
	}{
		"fill what is open":     {context: kruise, opt: render.Options{Target: render.Auto}, kubernetes: 33, kinds: "CloneSet"},
		"the other target":      {context: native, opt: render.Options{Target: render.Auto}, kubernetes: 34, kinds: "Deployment"},
		"an option wins":        {context: kruise, opt: render.Options{Target: render.Auto, Kubernetes: 30, APIVersions: []string{"v1"}}, kubernetes: 30, kinds: "Deployment"},
		"the last wins":         {context: kruise + "---\n" + native + "---\n" + head, opt: render.Options{Target: render.Auto}, kubernetes: 34, kinds: "Deployment"},
		"nothing known":         {context: head, opt: render.Options{}, kinds: "Deployment"},
		"nothing known of auto": {context: head, opt: render.Options{Target: render.Auto}, fault: "needs to know what the cluster serves"},
		"too old":               {context: head + "spec: {kubernetesVersion: \"1.27\"}", fault: "spec.kubernetesVersion: Kubernetes 1.27 is older than 1.29"},
		"too old, but given":    {context: head + "spec: {kubernetesVersion: \"1.27\"}", opt: render.Options{Kubernetes: 29}, kubernetes: 29, kinds: "Deployment"},
		"unknown version":       {context: strings.Replace(head, "v1alpha1", "v2", 1), fault: `unknown version "kubectl-kruise.dev/v2" of ClusterFacts`},
		"unknown field":         {context: head + "spec: {nodes: 3}", fault: "spec.nodes: unknown field"},
		"wrong type":            {context: head + "spec: {apiVersions: v1}", fault: "spec.apiVersions: "},
	} {
		t.Run(name, func(t *testing.T) {
			c.opt.Context = golden.Parse(t, c.context)
			set := golden.Parse(t, `{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, metadata: {name: web}, spec: {selector: {matchLabels: {a: b}},
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "example.com/c:1"}]}}}}`)
			settled, err := c.opt.WithFacts()
			res, rendered := render.Render(t.Context(), set, c.opt)
			if c.fault != "" {
				if err == nil || rendered == nil || !strings.Contains(rendered.Error(), c.fault) {
					t.Errorf("%v, want %q", rendered, c.fault)
				}
				return
			}
			if err != nil || rendered != nil {
				t.Fatal(err, rendered)
			}
			if settled.Kubernetes != c.kubernetes || res.Resources[0].Kind() != c.kinds {
				t.Errorf("for 1.%d: %s, want 1.%d: %s", settled.Kubernetes, res.Resources[0].Kind(), c.kubernetes, c.kinds)
			}
		})
	}
}
