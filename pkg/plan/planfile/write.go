package planfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Write writes a plan as YAML. The same plan always gives the same bytes, and [Read] has read them
// back as the same plan: everything that stores a plan or hands it out has its text from here, so
// that none is written which a later run refuses. An error comes with the text that it is about,
// which must not be kept.
func Write(p plan.Plan) ([]byte, error) {
	text := write(documentOf(&p))
	read, err := Read(text)
	if err != nil {
		return text, fmt.Errorf("the plan of %s cannot be read back: %w", p.Target.Ref(), err)
	}
	if path, differs := difference(reflect.ValueOf(p), reflect.ValueOf(read)); differs {
		return text, fmt.Errorf("the plan of %s is read back with another %s", p.Target.Ref(), strings.TrimPrefix(path, "."))
	}
	return text, nil
}

func documentOf(p *plan.Plan) document {
	d := document{
		APIVersion: plan.APIVersion, Kind: plan.Kind,
		Metadata: metadata{Name: p.Target.Name, Namespace: p.Target.Namespace},
		Spec: spec{
			Target: *writtenTarget(&p.Target), Driver: string(p.Driver), Warnings: p.Warnings, RollsBack: p.RollbackReason,
			Drain: string(p.Drain), Grace: duration(p.Grace), HookAnswer: hookAnswer(p.HookAnswer),
			Change: writtenChange(p.Change), Steps: []step{},
			Limits: numbers{p.Limits.Replicas, p.Limits.MaxUnavailable, p.Limits.MaxSurge, duration(p.Limits.MinReady)},
		},
	}
	for i := range p.Steps {
		d.Spec.Steps = append(d.Spec.Steps, writtenStep(&p.Steps[i]))
	}
	return d
}

func timeOf(d duration) time.Duration { return time.Duration(d) }

func writtenTarget(t *plan.Target) *target {
	if t == nil {
		return nil
	}
	return &target{t.APIVersion, t.Kind, t.Namespace, t.Name, t.UID, writtenTarget(t.Carrier)}
}

func writtenChange(c plan.Change) change {
	out := change{
		FromRevision: c.FromRevision, ToRevision: c.ToRevision, FromHash: c.FromHash, ToHash: c.ToHash,
		Mode: string(c.Mode), Why: c.Why, Restarts: c.Restarts,
	}
	for _, f := range c.Fields {
		out.Fields = append(out.Fields, field{f.Path, f.Old, f.New, string(f.Effect), f.Restarts, f.Why})
	}
	for _, f := range c.Spec {
		out.Spec = append(out.Spec, specField(f))
	}
	return out
}

func writtenStep(s *plan.Step) step {
	out := step{
		Name: s.Name, Kind: string(s.Kind), Title: s.Title, Updated: s.Updated, Kept: s.Kept,
		Before: writtenConditions(s.Before), After: writtenConditions(s.After),
		Timeout: duration(s.Timeout), OnFailure: string(s.OnFailure),
	}
	for _, p := range s.Patches {
		out.Patches = append(out.Patches, patch{writtenTarget(p.Target), p.Type, p.Subresource, p.Reached, p.Body})
	}
	for _, p := range s.Pods {
		out.Pods = append(out.Pods, pod{p.Name, p.UID, p.Node, string(p.Mode), p.Tie, p.Why})
	}
	if s.Pause != nil {
		out.Pause = &pause{duration(s.Pause.For)}
	}
	if s.Verify != nil {
		out.Verify = &verify{
			Command: s.Verify.Command, URL: s.Verify.URL, Status: s.Verify.Status, JSONPath: s.Verify.JSONPath, Value: s.Verify.Value,
			Prometheus: s.Verify.Prometheus, Query: s.Verify.Query, Threshold: s.Verify.Threshold, Job: s.Verify.Job,
			Every: duration(s.Verify.Every), Attempts: s.Verify.Attempts,
		}
	}
	if s.Pull != nil {
		out.Pull = &pull{s.Pull.Images, s.Pull.Parallel}
	}
	if s.Containers != nil {
		out.Containers = &containers{s.Containers.Names, s.Containers.Method, s.Containers.Ordered, duration(s.Containers.Unready)}
	}
	return out
}

func writtenConditions(list []plan.Condition) []condition {
	var out []condition
	for _, c := range list {
		out = append(out, condition{string(c.Type), c.Value})
	}
	return out
}

// encoded is JSON that leaves <, > and & as they are.
func encoded(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return out.Bytes(), err
}

// write turns what encodes as JSON into YAML with its keys in the order of the
// types.
func write(v any) []byte {
	text, err := encoded(v)
	if err != nil {
		return nil // plain data always encodes
	}
	var doc tree.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil // JSON is YAML
	}
	blockStyle(&doc)
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if enc.Encode(&doc) != nil || enc.Close() != nil {
		return nil
	}
	return out.Bytes()
}

// blockStyle undoes the look of JSON: no braces, and quotes only where a reader
// would take the plain form for something else.
func blockStyle(n *tree.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag == yaml.NodeTagString {
		n.Style = tree.String(n.Value).Style
		return
	}
	n.Style = 0
	if len(n.Content) == 0 && n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	}
	for _, c := range n.Content {
		blockStyle(c)
	}
}
