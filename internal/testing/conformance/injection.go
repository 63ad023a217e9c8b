package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// RenderPods renders the documents of stream with context as objects that
// exist, SidecarSets expanded and everything else kept. An error is a refusal.
type RenderPods func(stream, context []map[string]any) ([]map[string]any, error)

// Injection runs a case of that area: which pod comes out of these SidecarSets
// and this pod or workload.
func Injection(c Case, render RenderPods) error {
	s, err := readScene(c)
	if err != nil {
		return err
	}
	out, err := render(s.stream, s.context)
	if c.Has("denied.txt") {
		if err == nil {
			return errors.New("rendered, but the server refused it")
		}
		return nil
	}
	if err != nil {
		return err
	}
	return s.compare(out)
}

// scene is the input of a case, as the engine gets it.
type scene struct {
	c               Case
	stream, context []map[string]any
	ranges          []map[string]any
}

func readScene(c Case) (*scene, error) {
	data, err := c.Read("input.yaml")
	if err != nil {
		return nil, err
	}
	docs, err := Docs(data)
	if err != nil {
		return nil, err
	}
	s := &scene{c: c}
	s.arrange(docs)
	s.context = append(s.context, Configuration())
	revisions, err := s.revisions()
	s.context = append(s.context, revisions...)
	return s, err
}

// arrange keeps the last document of each SidecarSet and adds the namespaces that are not spelled out.
func (s *scene) arrange(docs []map[string]any) {
	last := map[string]int{}
	listed, used := map[string]bool{}, map[string]bool{}
	for i, d := range docs {
		switch d["kind"] {
		case kruise.KindSidecarSet:
			last[nameOf(d)] = i
		case "Namespace":
			listed[nameOf(d)] = true
		case "LimitRange":
			s.ranges = append(s.ranges, d)
		}
		if ns := namespaceOf(d); ns != "" {
			used[ns] = true
		}
	}
	for i, d := range docs {
		if d["kind"] != kruise.KindSidecarSet || last[nameOf(d)] == i {
			s.stream = append(s.stream, d)
		}
	}
	for ns := range used {
		if !listed[ns] {
			s.context = append(s.context, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": ns}})
		}
	}
}

// Configuration is the ConfigMap of Kruise's settings while injection and lint were
// recorded, as the README of the area injection gives it.
func Configuration() map[string]any {
	rules := `{"rules":[
  {"allowedAnnotationKeyExprs":["^obs\\.example\\.com/","^mesh\\.example\\.com/","^prometheus\\.io/"]},
  {"selector":{"matchLabels":{"team":"platform"}},"allowedAnnotationKeyExprs":["^platform\\.example\\.com/"]}
]}`
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "kruise-configuration", "namespace": "kruise-system"},
		"data":     map[string]any{"SidecarSet_PatchPodMetadata_WhiteList": rules},
	}
}

// revisions are the stored ones, as objects of a cluster.
func (s *scene) revisions() ([]map[string]any, error) {
	if !s.c.Has("revisions.yaml") {
		return nil, nil
	}
	data, err := s.c.Read("revisions.yaml")
	if err != nil {
		return nil, err
	}
	var n yaml.Node
	if err := yaml.Unmarshal(data, &n); err != nil {
		return nil, err
	}
	var out []map[string]any
	for _, item := range items(tree.Value(&n)) {
		r, _ := item.(map[string]any)
		out = append(out, map[string]any{
			"apiVersion": "apps/v1", "kind": "ControllerRevision",
			"metadata": map[string]any{"name": r["name"], "namespace": "kruise-system", "labels": r["labels"]},
			"revision": r["revision"], "data": r["data"],
		})
	}
	return out, nil
}

// compare wants the subject's pod to equal one of the legal answers.
func (s *scene) compare(out []map[string]any) error {
	for _, d := range out {
		if d["kind"] == kruise.KindSidecarSet {
			return fmt.Errorf("SidecarSet %s is still in the output", nameOf(d))
		}
	}
	got := s.subject(out)
	if got == nil {
		return errors.New("no pod and no workload in the output")
	}
	s.normalise(got)
	var all []string
	for _, file := range s.c.Glob("expected*.yaml") {
		data, err := s.c.Read(file)
		if err != nil {
			return err
		}
		docs, err := Docs(data)
		if err != nil || len(docs) != 1 {
			return fmt.Errorf("%s: %w", file, err)
		}
		leaveOut(docs[0])
		alike(docs[0])
		diff := Diff(docs[0], withoutDefaults(got, docs[0]))
		if diff == "" {
			return nil
		}
		all = append(all, file+":\n"+diff)
	}
	return Different("the pod", strings.Join(all, "\n"))
}

// subject returns the pod of the only pod or workload.
func (s *scene) subject(out []map[string]any) map[string]any {
	for _, d := range out {
		pod := podOf(d)
		if pod == nil {
			continue
		}
		b, err := json.Marshal(pod) // a copy of our own
		if err != nil {
			return nil
		}
		docs, err := Docs(b)
		if err != nil {
			return nil
		}
		return docs[0]
	}
	return nil
}

// podOf returns the pod that d is or makes; nil when it makes none.
func podOf(d map[string]any) map[string]any {
	metadata := map[string]any{}
	switch d["kind"] {
	case "Pod":
		return d
	case kruise.KindDeployment, kruise.KindCloneSet:
		template, _ := field(d, "spec", "template").(map[string]any)
		own, _ := template["metadata"].(map[string]any)
		maps.Copy(metadata, own)
		metadata["name"] = "<name>"
		metadata["namespace"] = field(d, "metadata", "namespace")
		return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
	}
	return nil
}
