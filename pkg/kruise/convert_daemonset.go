package kruise

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"

var daemonSetFields = []field{
	special{surgingUp, func(*conversion) {}},
	annotated{annotation: ProgressiveCreatePodAnnotation, field: "spec.scaleStrategy.partitionedScaling", parse: whenTrue},
	moved{"status", "daemonSetHash", "updateRevision"},
}

// surgingUp: v1beta1 has no Surging. Kruise's webhook writes maxSurge 1 and
// maxUnavailable 0 beside it, its conversion does not.
func surgingUp(c *conversion) {
	const rolling = "spec.updateStrategy.rollingUpdate"
	const path = rolling + ".rollingUpdateType"
	if tree.Str(c.get(path)) != "Surging" {
		return
	}
	if c.deciding && c.get(rolling+".maxSurge") == nil && c.get(rolling+".maxUnavailable") == nil {
		c.set(rolling+".maxSurge", tree.Int64(1))
		c.set(rolling+".maxUnavailable", tree.Int64(0))
	}
	c.set(path, tree.String(string(StandardRollingUpdateType)))
	c.lose(path, "%s has no Surging: Standard with maxSurge 1 and maxUnavailable 0 does the same", c.to)
}

// whenTrue reads an annotation that only means something when it is "true".
func whenTrue(text string) *tree.Node {
	if text != "true" {
		return nil
	}
	return tree.Boolean(true)
}
