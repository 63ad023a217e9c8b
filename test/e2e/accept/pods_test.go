package accept

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/arbitrary"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	clusterkruise "github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
)

const (
	// templates is how many random pod templates are judged, firstTemplate the seed of the first.
	templates     = 1500
	firstTemplate = 50_000
	// agreement is the share of verdicts that must be the same. The others are of fields that
	// Kubernetes got recently (restartPolicyRules, hostnameOverride), which Kruise drops.
	agreement = 0.98
)

// TestPodTemplates_JudgedAsByTheServer: of random pod templates the check says what an API
// server says of them as those of native workloads.
func TestPodTemplates_JudgedAsByTheServer(t *testing.T) {
	c, namespace := cluster.Shared(t, clusterkruise.API())
	s := newServer(t, c, namespace)
	list := randomTemplates(t)
	verdicts := make([]error, len(list))
	each(len(list), 8, func(i int) { verdicts[i] = s.template(t.Context(), list[i]) })
	same, refused := 0, 0
	for i, p := range list {
		ours := p.faults(t)
		if verdicts[i] != nil {
			refused++
		}
		if (len(ours) > 0) == (verdicts[i] != nil) {
			same++
			continue
		}
		t.Logf("seed %d: the server says %v; the check says %q\n%s", p.seed, verdicts[i], ours, strings.Join(p.mutations, "\n"))
	}
	t.Logf("%d of %d verdicts agree; the server refuses %d", same, len(list), refused)
	if float64(same) < agreement*float64(len(list)) {
		t.Errorf("%d of %d verdicts agree: want %.0f%%", same, len(list), 100*agreement)
	}
	if refused < len(list)/4 || refused > len(list)*9/10 {
		t.Errorf("the server refuses %d of %d: too few of a kind prove little", refused, len(list))
	}
}

// podTemplate is a random one, as in an object of Kruise's.
type podTemplate struct {
	seed      uint64
	mutations []string
	template  any
	// claims are the claim templates beside it.
	claims any
	// job is whether its pods end.
	job bool
}

// randomTemplates are those of random workloads.
func randomTemplates(t *testing.T) (list []podTemplate) {
	t.Helper()
	source := arbitrary.New(t, kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindDaemonSet, kruise.KindBroadcastJob)
	for seed := uint64(firstTemplate); len(list) < templates; seed++ {
		o := source.PodTemplate(seed)
		spec := o.After["spec"].(map[string]any)
		p := podTemplate{seed: seed, mutations: o.Mutations, template: spec["template"], job: o.After["kind"] == kruise.KindBroadcastJob}
		before, _ := o.Before["spec"].(map[string]any)
		if claims, _ := before["volumeClaimTemplates"].([]any); len(claims) > 0 {
			p.claims = complete(claims)
		}
		if template, ok := p.template.(map[string]any); ok {
			list = append(list, p)
			label(template)
		}
	}
	return list
}

// complete are claim templates of the same names, with all that a StatefulSet asks of them.
func complete(claims []any) (out []any) {
	for _, c := range claims {
		out = append(out, map[string]any{
			"metadata": c.(map[string]any)["metadata"],
			"spec":     map[string]any{"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}},
		})
	}
	return out
}

// label gives the pods the label that selectors ask for, where they can have one.
func label(template map[string]any) {
	meta, is := template["metadata"].(map[string]any)
	if template["metadata"] == nil {
		meta, is = map[string]any{}, true
		template["metadata"] = meta
	}
	if !is {
		return
	}
	labels, is := meta["labels"].(map[string]any)
	if meta["labels"] == nil {
		labels, is = map[string]any{}, true
		meta["labels"] = labels
	}
	if is {
		labels["judged"] = "here"
	}
}

var judged = map[string]any{"matchLabels": map[string]any{"judged": "here"}}

// template tells why the server would not create a native workload with the template. Fields
// that it does not know are left aside, as they are by Kruise.
func (s *server) template(ctx context.Context, p podTemplate) error {
	spec, version, kind := map[string]any{"template": p.template}, "apps/v1", kruise.KindDeployment
	switch {
	case p.job:
		version, kind = "batch/v1", "Job"
	case p.claims != nil:
		kind = kruise.KindStatefulSet
		spec["selector"], spec["serviceName"], spec["volumeClaimTemplates"] = judged, "judged", p.claims
	default:
		spec["selector"] = judged
	}
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": "judged"}, "spec": spec}}
	mapping, err := s.mapper.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
	if err != nil {
		return err
	}
	_, err = s.client.Resource(mapping.Resource).Namespace(s.namespace).Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationIgnore})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// faults are what the check finds in the workload of Kruise's with the template.
func (p podTemplate) faults(t *testing.T) (out []string) {
	t.Helper()
	spec, kind := map[string]any{"template": p.template}, kruise.KindCloneSet
	if p.job {
		kind = kruise.KindBroadcastJob
	} else {
		spec["selector"] = judged
		if p.claims != nil {
			spec["volumeClaimTemplates"] = p.claims
		}
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "apps.kruise.io/v1beta1", "kind": kind, "metadata": map[string]any{"name": "judged", "namespace": "default"}, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	in, err := load.Parse(fmt.Sprintf("%d.yaml", p.seed), text)
	if err != nil {
		return []string{err.Error()}
	}
	for _, p := range lint.Run(context.Background(), lint.Request{Objects: in, Kept: true, Kruise: kruise.Next}) {
		if p.Severity == lint.Error {
			out = append(out, p.Rule+" "+p.Error.Error())
		}
	}
	return out
}
