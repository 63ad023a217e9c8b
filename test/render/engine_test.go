package render

import (
	"bytes"
	"context"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// minor is the server's version of Kubernetes.
func minor(tb testing.TB, c *cluster.Cluster) int {
	tb.Helper()
	version, err := c.Version()
	if err != nil {
		tb.Fatal(err)
	}
	v, err := stage.ParseKubernetes(version)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// rendered is what the engine makes of documents, as plain values, with the IDs of
// the findings.
func rendered(stream, around []map[string]any, opt engine.Options) (docs []map[string]any, findings map[string]bool, err error) {
	opt.Context = parsed(around)
	out, err := engine.Render(context.Background(), parsed(stream), opt)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range out.Resources {
		docs = append(docs, tree.Value(r.Node()).(map[string]any))
	}
	findings = map[string]bool{}
	for _, f := range out.Findings {
		findings[f.ID] = true
	}
	return docs, findings, nil
}

func parsed(docs []map[string]any) []*resource.Resource {
	out := make([]*resource.Resource, len(docs))
	for i, d := range docs {
		out[i] = resource.Parsed(tree.FromValue(d), nil, resource.Origin{Line: 1, Seq: i})
	}
	return out
}

// documents writes objects as a stream of YAML.
func documents(tb testing.TB, docs ...map[string]any) string {
	tb.Helper()
	var b bytes.Buffer
	for _, d := range docs {
		text, err := yaml.Marshal(d)
		if err != nil {
			tb.Fatal(err)
		}
		b.WriteString("---\n")
		b.Write(text)
	}
	return b.String()
}
