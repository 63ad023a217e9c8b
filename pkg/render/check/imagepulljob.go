package check

import (
	_ "crypto/sha256" // digests of images
	_ "crypto/sha512"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const maxImages = 255

var (
	_ = add(&kindRules{
		group: kruise.Group, kind: kruise.KindImagePullJob, object: kruise.ImagePullJob{}, filled: true,
		check: imagePullJob,
	})
	_ = add(&kindRules{
		group: kruise.Group, kind: kruise.KindImageListPullJob, object: kruise.ImageListPullJob{}, filled: true,
		check: imageListPullJob,
	})
)

// imagePullJob holds the rules of the webhook (docs/kruise/jobs.md#image-pulls).
func imagePullJob(s *subject) {
	var job kruise.ImagePullJob
	if !s.read(&job) {
		return
	}
	checkImage(s, "spec.image", job.Spec.Image)
	checkPullTemplate(s, "spec", &job.Spec.ImagePullJobTemplate)
	var old kruise.ImagePullJob
	if s.decodeOld(&old) {
		immutableFields(s, fieldChange{"spec.pullSecrets", old.Spec.PullSecrets, job.Spec.PullSecrets})
	}
}

func imageListPullJob(s *subject) {
	var job kruise.ImageListPullJob
	if !s.read(&job) {
		return
	}
	checkImageList(s, "spec", &job.Spec)
}

// checkImageList has the rules that also apply to the template of an AdvancedCronJob.
func checkImageList(s *subject, at string, spec *kruise.ImageListPullJobSpec) {
	switch n := len(spec.Images); {
	case n == 0:
		s.fault(at+".images", "", "an image is required")
	case n > maxImages:
		s.fault(at+".images", "split it into several jobs", "%d images are more than %d", n, maxImages)
	}
	seen := map[string]bool{}
	for i, image := range spec.Images {
		path := fmt.Sprintf("%s.images[%d]", at, i)
		checkImage(s, path, image)
		if seen[image] {
			s.fault(path, "remove it", "%s is listed twice", image)
		}
		seen[image] = true
	}
	checkPullTemplate(s, at, &spec.ImagePullJobTemplate)
}

func checkImage(s *subject, path, image string) {
	if image == "" {
		s.fault(path, "", "an image is required")
	} else if registry, _, ok := strings.Cut(image, "/"); ok && strings.ToLower(registry) != registry && !strings.ContainsAny(registry, ".:") {
		s.fault(path, "write it in lower case", "%q is not an image: the name of a repository has no capital letters", image) // newer readers take it for a registry
	} else if _, err := reference.ParseNormalizedNamed(image); err != nil {
		s.fault(path, "", "%q is not an image: %v", image, err)
	}
}

// checkPullTemplate wants one way to choose nodes, a valid parallelism, and a completion
// policy that can be met.
func checkPullTemplate(s *subject, at string, t *kruise.ImagePullJobTemplate) {
	checkPullNodes(s, at, t)
	if p := t.Parallelism; p != nil && !isWholeNumber(p) {
		s.fault(at+".parallelism", "", "%s is not a whole number from 0", p)
	}
	timeout := int32(600)
	if p := t.PullPolicy; p != nil {
		s.accepted(func() {
			notNegative(s, at+".pullPolicy.timeoutSeconds", p.TimeoutSeconds)
			notNegative(s, at+".pullPolicy.backoffLimit", p.BackoffLimit)
		})
		if p.TimeoutSeconds != nil {
			timeout = *p.TimeoutSeconds
		}
	}
	c := t.CompletionPolicy
	at += ".completionPolicy"
	oneOf(s, at+".type", c.Type, kruise.AlwaysCompletionPolicyType, kruise.NeverCompletionPolicyType)
	if c.Type == kruise.NeverCompletionPolicyType {
		neverEnds(s, at, c)
	} else if d := c.ActiveDeadlineSeconds; d != nil && *d < int64(timeout) {
		report := func() {
			s.fault(at+".activeDeadlineSeconds", "", "%d is less than pullPolicy.timeoutSeconds %d", *d, timeout)
		}
		if s.kind.kind == kruise.KindImageListPullJob { // its webhook checks only the list
			s.accepted(report)
			return
		}
		report()
	}
}

// isWholeNumber reports a number that is not negative, as a number or as text.
func isWholeNumber(v *intstr.IntOrString) bool {
	if v.Type == intstr.Int {
		return v.IntVal >= 0
	}
	n, err := strconv.ParseInt(v.StrVal, 10, 32)
	return err == nil && n >= 0
}

func checkPullNodes(s *subject, at string, t *kruise.ImagePullJobTemplate) {
	sel := t.Selector
	if sel != nil && t.PodSelector != nil {
		s.fault(at+".podSelector", "keep one of the two", "selector and podSelector are mutually exclusive")
	}
	if sel != nil {
		if len(sel.Names) > 0 && len(sel.MatchLabels)+len(sel.MatchExpressions) > 0 {
			s.fault(at+".selector", "keep one of the two", "names and labels are mutually exclusive")
		}
		seen := map[string]bool{}
		for i, name := range sel.Names {
			if seen[name] {
				s.fault(fmt.Sprintf("%s.selector.names[%d]", at, i), "", "node %s is named twice", name)
			}
			seen[name] = true
		}
		validSelector(s, at+".selector", &sel.LabelSelector)
	}
	if t.PodSelector != nil {
		validSelector(s, at+".podSelector", t.PodSelector)
	}
}

const maxNodeImages = 256

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindNodeImage, object: kruise.NodeImage{}, filled: true,
	check: nodeImage,
})

// nodeImage holds the rules of the webhook (docs/kruise/jobs.md#image-pulls).
func nodeImage(s *subject) {
	var image kruise.NodeImage
	if !s.read(&image) {
		return
	}
	const at = "spec.images"
	if n := len(image.Spec.Images); n > maxNodeImages {
		s.fault(at, "", "%d images are more than %d", n, maxNodeImages)
	}
	for _, name := range slices.Sorted(maps.Keys(image.Spec.Images)) {
		if tree.Get(s.r.Node(), "spec", "images", name) == nil {
			continue // an explicit null is no image
		}
		if name == "" {
			s.fault(at, "", "an image has no name")
		}
		for i, tag := range image.Spec.Images[name].Tags {
			here := fmt.Sprintf("%s[%s].tags[%d]", at, name, i)
			if tag.Version < 0 {
				s.fault(here+".version", "count pulls from 0", "%d must not be negative", tag.Version)
			}
			// No documentation has this rule, but every recorded NodeImage without it was refused,
			// in each release, without a field; Kruise's own controllers always write it.
			if p := tag.PullPolicy; p == nil || p.TTLSecondsAfterFinished == nil {
				s.fault(here+".pullPolicy.ttlSecondsAfterFinished", "set the number of seconds for which the node remembers a finished pull", "Kruise refuses a tag without it")
			}
			path := here + ".tag"
			if tag.Tag == "" {
				s.fault(path, "", "a tag is required")
				continue
			}
			checkImage(s, path, name+":"+tag.Tag)
		}
	}
}
