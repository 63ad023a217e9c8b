package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// What becomes of a NodeImage (docs/kruise/jobs.md#image-pulls).
var _ = register(Rule{
	ID: "nodeimage/kept", Kind: kruise.KindNodeImage, Severity: Lost,
	Fields:  []string{"spec.images"},
	Becomes: "the object stays a Kruise object: without Kruise's node agent the images are not pulled",
	Action:  "write an ImagePullJob, which becomes Jobs that pull; or let the kubelet pull when pods start",
})
