package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

const mostNodeImages = 256

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindNodeImage, object: kruise.NodeImage{}, filled: true,
	check: nodeImage,
	rules: []Rule{
		{ID: "image-invalid", fields: []string{"spec.images"}, Doc: "There are more than 256 images, or one has a malformed name or tag, a negative version, or a pull that is never forgotten."},
	},
})

// nodeImage holds the rules of the webhook (docs/kruise/jobs.md#image-pulls).
func nodeImage(s *subject) {
	var image kruise.NodeImage
	if !s.read(&image) {
		return
	}
	const at = "spec.images"
	if n := len(image.Spec.Images); n > mostNodeImages {
		s.fault(at, "", "%d images are more than %d", n, mostNodeImages)
	}
	for _, name := range slices.Sorted(maps.Keys(image.Spec.Images)) {
		if name == "" {
			s.fault(at, "", "an image has no name")
		}
		for i, tag := range image.Spec.Images[name].Tags {
			here := fmt.Sprintf("%s[%s].tags[%d]", at, name, i)
			if tag.Version < 0 {
				s.fault(here+".version", "count pulls from 0", "%d must not be negative", tag.Version)
			}
			// No fact says so, but every recorded NodeImage that lacks it was refused, in each
			// release, without a field; Kruise's own controllers always write it.
			if p := tag.PullPolicy; p == nil || p.TTLSecondsAfterFinished == nil {
				s.fault(here+".pullPolicy.ttlSecondsAfterFinished", "write how many seconds the node remembers the pull after its end", "Kruise takes no tag without it")
			}
			path := here + ".tag"
			if tag.Tag == "" {
				s.fault(path, "", "a tag is required")
				continue
			}
			s.image(path, name+":"+tag.Tag)
		}
	}
}
