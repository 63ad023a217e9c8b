package kruise

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"

var sidecarSetFields = []field{
	special{namespaceUp, func(*conversion) {}},
	special{customVersionUp, customVersionDown},
}

// namespaceUp reads the one namespace of v1alpha1 as a selector, which is not
// turned back: the selector means the same. It wins over another selector.
func namespaceUp(c *conversion) {
	const selector = "spec.namespaceSelector"
	ns := c.get("spec.namespace")
	if !tree.IsScalar(ns) {
		return // there is none, or it is not text and stays for the decoder
	}
	c.take("spec.namespace")
	if tree.Str(ns) == "" {
		return
	}
	if c.take(selector) != nil {
		c.lose(selector, "spec.namespace wins over it")
	}
	c.set(selector, tree.Map("matchLabels", tree.Map(NamespaceNameLabel, ns)))
}

const customVersion = "spec.customVersion"

func customVersionUp(c *conversion) {
	if c.get(customVersion) != nil {
		c.stray(customVersion)
		c.take(customVersion)
	}
	if v := c.unmark(labels, SidecarSetCustomVersionLabel); v != nil {
		c.set(customVersion, v)
	}
}

func customVersionDown(c *conversion) {
	if v := c.take(customVersion); v != nil {
		c.mark(labels, SidecarSetCustomVersionLabel, v)
	}
}
