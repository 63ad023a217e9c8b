package kube

import (
	"errors"
	"net/http"
	"net/url"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// pullRequests create what pulls, by Kruise where it is there, otherwise Jobs.
func (c *Cluster) pullRequests(p *plan.Pull) ([]event.Request, error) {
	m, w, err := c.asks()
	if err != nil {
		return nil, err
	}
	return c.pullRequestsAt(c.siteOf(m, w), p)
}

func (c *Cluster) pullRequestsAt(at *site, p *plan.Pull) ([]event.Request, error) {
	request := c.imagePullRequest
	if _, err := c.pulls.get(); errors.Is(err, errNotServed) {
		request = c.pullJobRequests
	} else if err != nil {
		return nil, err
	}
	var out []event.Request
	for _, image := range p.Images {
		list, err := request(at, image, p.Parallel)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

func (c *Cluster) imagePullRequest(at *site, image string, parallel int) ([]event.Request, error) {
	spec, err := imagePull(at, image, parallel)
	if err != nil {
		return nil, err
	}
	meta := unnamed(c.meta(at.mark, at.owners, ""), at.base+"-pull-")
	return created(c.pulls, kruise.KindImagePullJob, meta, spec)
}

// created is the request that creates an object of a kind of Kruise.
func created[T any](l *lately[T], kind string, meta metav1.ObjectMeta, spec any) ([]event.Request, error) {
	u, err := l.object(kind, meta, spec)
	return []event.Request{{
		Method: http.MethodPost, Path: objects.Path(l.resource, meta.Namespace, ""), ContentType: "application/json", Body: u.Object,
	}}, err
}

// pullJobRequests are Jobs, one for each node.
func (c *Cluster) pullJobRequests(at *site, image string, _ int) ([]event.Request, error) {
	nodes, err := at.nodes()
	if err != nil {
		return nil, err
	}
	pull, err := c.pullingPod(at)
	if err != nil {
		return nil, err
	}
	jobs := schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	var out []event.Request
	for _, node := range nodes {
		job := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: unnamed(c.jobMeta(at, image, node), at.base+"-pull-")}
		if err := fillJob(pull, job); err != nil {
			return nil, err
		}
		list, err := sends(objects.Path(jobs, job.Namespace, ""), job)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// unnamed is metadata of which only the beginning of the name is known.
func unnamed(meta metav1.ObjectMeta, begin string) metav1.ObjectMeta {
	meta.Name, meta.GenerateName = "", begin
	delete(meta.Labels, stepLabel)
	return meta
}

// restartRequests restart containers of a pod by the method that fits.
func (c *Cluster) restartRequests(s plan.Snapshot, r *plan.Restart) ([]event.Request, error) {
	p, err := podIn(s, r.PodRef)
	if err != nil {
		return nil, err
	}
	method, err := c.restartMethod(p, r)
	if err != nil {
		return nil, err
	}
	switch method {
	case plan.RestartCRR:
		m, w, err := c.asks()
		if err != nil {
			return nil, err
		}
		return created(c.recreations, kruise.KindContainerRecreateRequest, unnamed(c.recreateMeta(m, w, p), p.Name+"-restart-"), c.recreateSpec(p, r))
	case plan.RestartAlias:
		containers, err := aliases(p, r)
		body := map[string]any{"metadata": map[string]any{"uid": p.UID}, "spec": map[string]any{"containers": containers}}
		return []event.Request{patchesPod(r.PodRef, "", body)}, err
	}
	var out []event.Request
	for _, name := range r.Containers {
		ask := url.Values{"container": {name}, "command": {"kill", "1"}}
		out = append(out, event.Request{Method: http.MethodPost, Path: podPath(r.PodRef, "exec") + "?" + ask.Encode()})
	}
	return out, nil
}
