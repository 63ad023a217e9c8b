package lower

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/imagepull"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// HelperImage is what the pods of an image pull run by default.
const HelperImage = imagepull.HelperImage

const imageVolumesServed = imagepull.VolumesServed

// pod returns the template of a pod that has its node pull one image.
func (p *imagePull) pod(image string) *tree.Node {
	return imagepull.Pod{
		Volumes: p.c.Since(imageVolumesServed), Helper: p.c.HelperImage, Policy: p.spec.ImagePullPolicy,
		Secrets: p.spec.PullSecrets, Labels: map[string]string{kruise.SourceLabel: p.source()},
	}.Template(image)
}

// jobSpec returns the spec of a Job with a template. A pull that fails is tried
// again by the kubelet, with pauses, until the deadline.
func (p *imagePull) jobSpec(template *tree.Node) *tree.Node {
	out := tree.Map("backoffLimit", tree.Int64(0), "activeDeadlineSeconds", tree.Int64(imagepull.Deadline(&p.spec)))
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

func texts(list ...string) *tree.Node {
	out := tree.Seq()
	for _, s := range list {
		out.Content = append(out.Content, tree.String(s))
	}
	return out
}
