package lower

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// imagePull is one ImagePullJob, or an ImageListPullJob, that is rendered.
type imagePull struct {
	object
	images []string
	spec   kruise.ImagePullJobTemplate
}

// lowerImagePullJob returns a Job per node whose pod has the kubelet pull the
// image: it mounts it, and nothing in it runs (docs/facts/kubelet.md#image-volumes).
func lowerImagePullJob(c *stage.Context, related *relatedObjects, r *resource.Resource) ([]*resource.Resource, error) {
	var job kruise.ImagePullJob
	o, err := newObject(c, r, "imagepulljob", &job)
	if err != nil {
		return nil, err
	}
	kruise.Default(&job)
	p := &imagePull{object: o, images: []string{job.Spec.Image}, spec: job.Spec.ImagePullJobTemplate}
	return p.replace(related)
}

// lowerImageListPullJob returns the same for each image: one that cannot be
// pulled holds up no other.
func lowerImageListPullJob(c *stage.Context, related *relatedObjects, r *resource.Resource) ([]*resource.Resource, error) {
	p, err := readImageListPullJob(c, r)
	if err != nil {
		return nil, err
	}
	return p.replace(related)
}

func readImageListPullJob(c *stage.Context, r *resource.Resource) (*imagePull, error) {
	var job kruise.ImageListPullJob
	o, err := newObject(c, r, "imagelistpulljob", &job)
	if err != nil {
		return nil, err
	}
	kruise.Default(&job)
	return &imagePull{object: o, images: job.Spec.Images, spec: job.Spec.ImagePullJobTemplate}, nil
}

// replace returns what the job becomes, for an object of its own.
func (p *imagePull) replace(related *relatedObjects) ([]*resource.Resource, error) {
	out, err := p.pieces(related)
	if err == nil {
		p.c.Lineage.Became(p.r.ID(), out...)
	}
	return out, err
}

// pieces returns what the job becomes, and reports.
func (p *imagePull) pieces(related *relatedObjects) ([]*resource.Resource, error) {
	if len(p.images) == 0 {
		return nil, p.r.Fault("spec.images", "list at least one image", "names no image")
	}
	p.reportFields()
	if p.neverCompletes() {
		return p.daemonSets()
	}
	return p.jobs(related)
}

// jobs returns a Job per image and node, or one Indexed Job per image where only
// the number of nodes is known.
func (p *imagePull) jobs(related *relatedObjects) ([]*resource.Resource, error) {
	names, found, err := p.selectedNodes(related)
	if err != nil {
		return nil, err
	}
	count, given, err := p.nodeCount()
	if err != nil {
		return nil, err
	}
	if !found && !given {
		return nil, p.nodesUnknown("spec.selector")
	}
	if found && len(names) == 0 {
		p.report(p.id("no-node"), "spec.selector", "")
	}
	if err := p.c.Fits(p.r, "spec", tree.Weigh(p.pod(p.images[0])), len(p.images)*max(len(names), 1), "Jobs, one for each image and node,"); err != nil {
		return nil, err
	}
	var out []*resource.Resource
	for i, image := range p.images {
		if !found {
			p.report(p.id("indexed"), "metadata.annotations["+kruise.NodesAnnotation+"]", "")
			out = append(out, p.job(p.pieceName(i, ""), indexedJobSpec(p.jobSpec(p.pod(image)), p.source(), count)))
		}
		for _, node := range names {
			out = append(out, p.job(p.pieceName(i, node), p.jobSpec(templateForNode(p.pod(image), node))))
		}
	}
	return commentOnce(out), nil
}

// pieceName names the Job of the i-th image on a node.
func (p *imagePull) pieceName(i int, node string) string {
	name := node
	if len(p.images) > 1 {
		name = strconv.Itoa(i)
		if node != "" {
			name += "-" + node
		}
	}
	if name == "" {
		return p.r.Name()
	}
	return stage.PieceName(p.r.Name(), name, jobNameLimit, false)
}

func (p *imagePull) job(name string, spec *tree.Node) *resource.Resource {
	job := p.native("batch/v1", "Job", func(*tree.Node) *tree.Node { return spec })
	p.rename(job, name)
	return resource.Derived(job, p.r)
}

// hasNodeImage reports whether Kruise has images pulled on the node: it keeps no NodeImage
// for a virtual one (docs/kruise/jobs.md#image-pulls).
func hasNodeImage(node *corev1.Node) bool {
	return node.Labels[kruise.NodeTypeLabel] != kruise.VirtualNodeType
}

// selectedNodes returns the names of the nodes that the job selects; found is false
// where nothing is known of them. Unknown names are left out, as Kruise does,
// unless no node is known at all.
func (p *imagePull) selectedNodes(related *relatedObjects) (names []string, found bool, err error) {
	if s := p.spec.PodSelector; s != nil {
		names, found, err = p.nodesOfPods(s)
		names = slices.DeleteFunc(names, func(name string) bool {
			return slices.ContainsFunc(related.nodePlaces[name], func(place int) bool { return !hasNodeImage(related.nodes[place]) })
		})
		// Where the nodes are known, that there is no pod is known as well.
		return names, found || len(related.nodes) > 0, err
	}
	match, wanted := labels.Everything(), []string(nil)
	if s := p.spec.Selector; s != nil {
		wanted = s.Names
		if match, err = metav1.LabelSelectorAsSelector(&s.LabelSelector); err != nil {
			return nil, false, p.r.Fault("spec.selector", "", "%v", err)
		}
	}
	if len(related.nodes) == 0 {
		return slices.Sorted(slices.Values(wanted)), len(wanted) > 0, nil
	}
	var places []int
	for _, name := range wanted {
		places = append(places, related.nodePlaces[name]...)
	}
	slices.Sort(places)
	places = slices.Compact(places)
	if len(wanted) == 0 {
		places = related.nodeLabels.Candidates(match)
	}
	for _, place := range places {
		if n := related.nodes[place]; hasNodeImage(n) && (len(wanted) > 0 || match.Matches(labels.Set(n.Labels))) {
			names = append(names, n.Name)
		}
	}
	return names, true, nil
}

// nodesOfPods returns the nodes of the pods that a selector finds in the job's
// namespace.
func (p *imagePull) nodesOfPods(s *metav1.LabelSelector) (names []string, found bool, err error) {
	match, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return nil, false, p.r.Fault("spec.podSelector", "", "%v", err)
	}
	for _, pod := range p.c.Facts.All("", "Pod") {
		node := tree.StrAt(pod.Node(), "spec", "nodeName")
		if node == "" || !kruise.ActivePod(pod.Node()) || p.c.Facts.NamespaceOf(pod) != p.c.Facts.NamespaceOf(p.r) {
			continue
		}
		found = true
		if match.Matches(labels.Set(pod.Labels())) && !slices.Contains(names, node) {
			names = append(names, node)
		}
	}
	slices.Sort(names)
	return names, found, nil
}

// HelperImage is what the pods of an image pull run by default.
const HelperImage = kruise.PullHelperImage

const imageVolumesServed = kruise.ImageVolumesServed

// pod returns the template of a pod that has its node pull one image.
func (p *imagePull) pod(image string) *tree.Node {
	return kruise.PullPod{
		Volumes: p.c.Since(imageVolumesServed), Helper: p.c.HelperImage, Policy: p.spec.ImagePullPolicy,
		Secrets: p.spec.PullSecrets, Labels: map[string]string{kruise.SourceLabel: p.source()},
	}.Template(image)
}

// jobSpec returns the spec of a Job with a template. A pull that fails is tried
// again by the kubelet, with pauses, until the deadline.
func (p *imagePull) jobSpec(template *tree.Node) *tree.Node {
	out := tree.Map("backoffLimit", tree.Int64(0), "activeDeadlineSeconds", tree.Int64(kruise.PullDeadline(&p.spec)))
	if s := p.spec.CompletionPolicy.TTLSecondsAfterFinished; s != nil {
		tree.Set(out, "ttlSecondsAfterFinished", tree.Int64(int64(*s)))
	}
	if n, ok := p.parallelism(); ok && n == 0 {
		tree.Set(out, "suspend", tree.Boolean(true))
	}
	tree.Set(out, "template", template)
	return out
}

func (p *imagePull) parallelism() (n int, ok bool) {
	if p.spec.Parallelism == nil {
		return 1, false
	}
	return p.spec.Parallelism.IntValue(), true
}

func stringList(list ...string) *tree.Node {
	out := tree.Seq()
	for _, s := range list {
		out.Content = append(out.Content, tree.String(s))
	}
	return out
}

// reportFields reports what becomes of the fields, including defaults.
func (p *imagePull) reportFields() {
	image := "spec.image"
	if p.rules == "imagelistpulljob" {
		image = "spec.images"
	}
	if p.neverCompletes() {
		p.report(p.id("never"), "spec.completionPolicy.type", "")
	} else {
		p.report(p.id("pull"), image, "")
	}
	if !p.c.Since(imageVolumesServed) {
		p.report(p.id("pull-older"), image, fmt.Sprintf("Kubernetes 1.%d has no image volumes by default", p.c.Kubernetes))
	}
	p.reportParallelism()
	p.reportWritten([]fieldRule{
		{"spec.selector", p.id("selector"), ""},
		{"spec.podSelector", p.id("pod-selector"), ""},
		{"spec.pullSecrets", p.id("pull-secrets"), ""},
		{"spec.pullPolicy", p.id("pull-policy"), ""},
		{"spec.imagePullPolicy", p.id("image-pull-policy"), ""},
		{"spec.sandboxConfig", p.id("sandbox"), ""},
		{"spec.completionPolicy.activeDeadlineSeconds", p.id("deadline"), ""},
		{"spec.completionPolicy.ttlSecondsAfterFinished", p.id("ttl"), ""},
	}, false)
}

func (p *imagePull) reportParallelism() {
	const field = "spec.parallelism"
	switch n, given := p.parallelism(); {
	case !given || n > 0:
		p.report(p.id("parallelism"), field, fmt.Sprintf("all nodes pull at once, whereas Kruise has %d at a time", n))
	case p.neverCompletes():
		p.report(p.id("paused-never"), field, "")
	default:
		p.report(p.id("paused"), field, "")
	}
}
