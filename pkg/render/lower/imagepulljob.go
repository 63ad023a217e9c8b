package lower

import (
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// imagePull is one ImagePullJob, or an ImageListPullJob, on its way.
type imagePull struct {
	object
	images []string
	spec   kruise.ImagePullJobTemplate
}

// lowerImagePullJob returns a Job per node whose pod has the kubelet pull the
// image: it mounts it, and nothing in it runs (docs/facts/kubelet.md#image-volumes).
func lowerImagePullJob(c *stage.Context, known *around, r *resource.Resource) ([]*resource.Resource, error) {
	var job kruise.ImagePullJob
	o, err := read(c, r, "imagepulljob", &job)
	if err != nil {
		return nil, err
	}
	kruise.Default(&job)
	p := &imagePull{object: o, images: []string{job.Spec.Image}, spec: job.Spec.ImagePullJobTemplate}
	return p.replaced(known)
}

// lowerImageListPullJob returns the same for each image: one that cannot be
// pulled holds up no other.
func lowerImageListPullJob(c *stage.Context, known *around, r *resource.Resource) ([]*resource.Resource, error) {
	p, err := readImageListPullJob(c, r)
	if err != nil {
		return nil, err
	}
	return p.replaced(known)
}

func readImageListPullJob(c *stage.Context, r *resource.Resource) (*imagePull, error) {
	var job kruise.ImageListPullJob
	o, err := read(c, r, "imagelistpulljob", &job)
	if err != nil {
		return nil, err
	}
	kruise.Default(&job)
	return &imagePull{object: o, images: job.Spec.Images, spec: job.Spec.ImagePullJobTemplate}, nil
}

// replaced returns what the job becomes, for an object of its own.
func (p *imagePull) replaced(known *around) ([]*resource.Resource, error) {
	out, err := p.pieces(known)
	if err == nil {
		p.c.Lineage.Became(p.r.ID(), out...)
	}
	return out, err
}

// pieces returns what the job becomes, and reports.
func (p *imagePull) pieces(known *around) ([]*resource.Resource, error) {
	if len(p.images) == 0 {
		return nil, p.r.Fault("spec.images", "list at least one image", "names no image")
	}
	p.reportFields()
	if p.never() {
		return p.daemonSets()
	}
	return p.jobs(known)
}

// jobs returns a Job per image and node, or one Indexed Job per image where only
// the number of nodes is known.
func (p *imagePull) jobs(known *around) ([]*resource.Resource, error) {
	names, found, err := p.nodes(known)
	if err != nil {
		return nil, err
	}
	count, given, err := p.nodeCount()
	if err != nil {
		return nil, err
	}
	if !found && !given {
		return nil, p.r.Fault("spec.selector", "name them with --with nodes.yaml or --live, or give their number in the annotation "+kruise.NodesAnnotation,
			"it becomes a Job per node, but no node is known")
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
			out = append(out, p.job(p.pieceName(i, ""), indexed(p.jobSpec(p.pod(image)), p.source(), count)))
		}
		for _, node := range names {
			out = append(out, p.job(p.pieceName(i, node), p.jobSpec(onNode(p.pod(image), node))))
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
