package kruise

// MethodAnnotation on a ContainerRecreateRequest is how a client shall restart its
// containers where there is a choice: image-alias, resize, signal or evict.
const MethodAnnotation = "kubectl-kruise.dev/method"
