package standin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
)

// do does one step and returns what was accepted, request by request.
func (s *stage) do(ctx context.Context, act conformance.RolloutAct) ([]bool, error) {
	requests, err := s.requests(ctx, act)
	if err != nil {
		return nil, err
	}
	var answers []bool
	for _, request := range requests {
		err := request()
		if err != nil && !refused(err) {
			return nil, err
		}
		answers = append(answers, err == nil)
	}
	return answers, nil
}

// refused tells a no from a failure.
func refused(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}

// requests are those of a step, in order.
func (s *stage) requests(ctx context.Context, act conformance.RolloutAct) ([]func() error, error) {
	if act.Patch != nil {
		patch, err := s.filled(act.Patch)
		return []func() error{func() error { return s.patchObject(ctx, s.patched(act), patch) }}, err
	}
	var out []func() error
	if act.Action == "labelNodes" {
		for _, name := range act.Nodes {
			out = append(out, func() error {
				_, err := s.client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, metadata(act.Labels, nil), metav1.PatchOptions{})
				return err
			})
		}
		return out, nil
	}
	for _, g := range act.Groups() {
		for _, index := range g.Pods {
			name, err := s.numbered(fmt.Sprint(index))
			if err != nil {
				return nil, err
			}
			request, err := s.request(ctx, act.Action, name, g)
			if err != nil {
				return nil, err
			}
			out = append(out, request)
		}
	}
	return out, nil
}

func (s *stage) request(ctx context.Context, action, pod string, g conformance.RolloutGroup) (func() error, error) {
	pods := s.client.CoreV1().Pods(s.namespace)
	switch action {
	case "labelPods", "annotatePods":
		return func() error {
			_, err := pods.Patch(ctx, pod, types.MergePatchType, metadata(g.Labels, g.Annotations), metav1.PatchOptions{})
			return err
		}, nil
	case "deletePods":
		return func() error { return pods.Delete(ctx, pod, metav1.DeleteOptions{}) }, nil
	case "evictPods":
		return func() error {
			return pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: s.namespace}})
		}, nil
	}
	return nil, fmt.Errorf("no action %q", action)
}

func metadata(labels, annotations map[string]*string) []byte {
	out := map[string]any{}
	for field, change := range map[string]map[string]*string{"labels": labels, "annotations": annotations} {
		if len(change) > 0 {
			out[field] = change
		}
	}
	return encode(map[string]any{"metadata": out})
}

// patched is the object that a patch is for.
func (s *stage) patched(act conformance.RolloutAct) *unstructured.Unstructured {
	if act.On == nil {
		return s.target
	}
	for _, doc := range s.script.Initial {
		o := &unstructured.Unstructured{Object: doc}
		if o.GetKind() == act.On.Kind && o.GetName() == act.On.Name {
			return o
		}
	}
	return s.target
}

// filled puts names of pods into a patch.
func (s *stage) filled(patch map[string]any) (map[string]any, error) {
	text, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	out := string(text)
	for strings.Contains(out, "$pod(") {
		_, rest, _ := strings.Cut(out, "$pod(")
		index, _, _ := strings.Cut(rest, ")")
		name, err := s.numbered(index)
		if err != nil {
			return nil, err
		}
		out = strings.ReplaceAll(out, "$pod("+index+")", name)
	}
	var v map[string]any
	return v, json.Unmarshal([]byte(out), &v)
}

// numbered is the name of a pod that is known by its index: 3 is the third that
// was ever created, -1 the oldest that there is.
func (s *stage) numbered(index string) (string, error) {
	n, err := strconv.Atoi(index)
	if err != nil {
		return "", err
	}
	if name := s.nth(n); name != "" {
		return name, nil
	}
	return "", fmt.Errorf("there is no pod %d", n)
}
