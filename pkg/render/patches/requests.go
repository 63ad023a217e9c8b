package patches

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// kinds are what the stage takes out of the list.
var kinds = map[string]func(*stage.Context, *resource.Resource) (*Sequence, error){
	kruise.KindContainerRecreateRequest: recreateRequest,
	kruise.KindEphemeralJob:             ephemeralJob,
}

// IsRequest reports whether r is of a kind that the stage takes.
func IsRequest(r *resource.Resource) bool { return r.Group() == kruise.Group && kinds[r.Kind()] != nil }

// Requests is the stage in which requests to running pods become sequences of patches: a
// ContainerRecreateRequest and an EphemeralJob are no state that a manifest could have, so no
// native object replaces them. The stage chooses how a client does the same without Kruise's node
// agent, states the conditions for that, and reports what is approximated or lost. It sends
// nothing, and all that it knows of the cluster are the facts that it gets: the pods.
//
// It takes the requests out of the list and returns the sequence of each, in the order of the
// list. One whose pod is not known has none, with a finding.
func Requests(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, []Sequence, error) {
	of := map[*resource.Resource]*Sequence{}
	var errs resource.Errors
	out := slices.DeleteFunc(slices.Clone(in), func(r *resource.Resource) bool {
		if !IsRequest(r) || !c.Expand(r.Kind()) {
			return false
		}
		s, err := kinds[r.Kind()](c, r)
		errs.Add(err)
		of[r] = s
		c.Lineage.Became(r.ID())
		return true
	})
	var sequences []Sequence
	for _, r := range in {
		if s := of[r]; s != nil {
			sequences = append(sequences, *s)
		}
	}
	return out, sequences, errs.Err()
}

// request is one object of these kinds on its way.
type request struct {
	c *stage.Context
	r *resource.Resource
	// rules is what the IDs of the kind's findings begin with.
	rules string
}

// report adds a finding about a field, given by its path in the newest version.
func (q *request) report(rule, field, detail string) {
	q.c.Findings.Add(q.rules+"/"+rule, q.r, kruise.Written(q.r.Node(), field), detail)
}

// written reports whether the sequence is written, and how to have that done.
func (q *request) written(field string) {
	if q.c.Patches {
		q.report("sequence", field, "")
		return
	}
	q.report("sequence-unwritten", field, "")
}

// sequence is an empty one for the request.
func (q *request) sequence(what ...string) *Sequence {
	namespace := q.c.Facts.NamespaceOf(q.r)
	return &Sequence{
		Object:    Target{APIVersion: q.r.APIVersion(), Kind: q.r.Kind(), Namespace: namespace, Name: q.r.Name()},
		Directory: directory(namespace, strings.ToLower(q.r.Kind()), q.r.Name()),
		What:      what,
	}
}

// longestFolder leaves room below the 255 bytes that file systems allow.
const longestFolder = 180

// directory is the folder of a request's files, named as those of objects are.
func directory(namespace, kind, name string) string {
	folder := namespace + "_" + kind + "_"
	if len(folder)+len(name) <= longestFolder {
		return folder + name
	}
	return stage.PieceName(folder, name, longestFolder, false)
}

// podIndex is what is known of the pods of a namespace.
type podIndex struct {
	list []*corev1.Pod
	// places are those in the list by name, labelled finds those of a selector.
	places   map[string]int
	labelled *kruise.LabelIndex
	err      error
}

// podsOfNamespace is under which the facts keep a crowd.
type podsOfNamespace string

// pods are those of the request's namespace, the input's before the context's: of
// two by the same name the first is meant. All requests share them.
func (q *request) pods() (podIndex, error) {
	namespace := q.c.Facts.NamespaceOf(q.r)
	pods := resource.Once(q.c.Facts, podsOfNamespace(namespace), func() podIndex { return podsInNamespace(q.c.Facts, namespace) })
	return pods, pods.err
}

func podsInNamespace(f *resource.Facts, namespace string) podIndex {
	c := podIndex{places: map[string]int{}}
	for _, r := range f.All("", "Pod") {
		if _, seen := c.places[r.Name()]; seen || f.NamespaceOf(r) != namespace {
			continue
		}
		pod := &corev1.Pod{}
		if _, err := tree.Decode(r.Node(), pod); err != nil {
			return podIndex{err: r.Wrap(err, "")}
		}
		pod.Namespace = namespace
		c.places[r.Name()] = len(c.list)
		c.list = append(c.list, pod)
	}
	c.labelled = kruise.NewLabelIndex(len(c.list), func(i int) map[string]string { return c.list[i].Labels })
	return c
}

// samePod holds until the pod is replaced.
func samePod(p *corev1.Pod) []Condition {
	if p.UID == "" {
		return nil
	}
	return []Condition{{Text: "it is still the pod with the uid " + string(p.UID), Check: waitFor(podTarget(p.Namespace, p.Name), ".metadata.uid", Quote(string(p.UID)), soon)}}
}
