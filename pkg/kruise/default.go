package kruise

// Default fills in what Kruise's webhooks would write into the object; objects
// of other types stay as they are. The defaults of Kubernetes itself (probes,
// termination messages) are left to the API server.
func Default(obj any) {
	switch o := obj.(type) {
	case *CloneSet:
		defaultCloneSet(o)
	}
}
