package kustomize

// Component returns the files of a component for kustomizations, by their names: the schema, the
// configuration, and what names both.
func Component() (map[string][]byte, error) {
	schema, err := Schema()
	if err != nil {
		return nil, err
	}
	config, err := Configuration()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"kustomization.yaml": []byte(component),
		"kruise-schema.json": append(schema, '\n'),
		"kruise-config.yaml": config,
	}, nil
}

const component = `# What kustomize has to know of Kruise's kinds: in lists of a pod template, patches find
# the container that they mean; images, replicas, labels and names reach Kruise's objects
# and what refers to them. Written by: kubectl kruise schema kustomize --out DIR
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
openapi: {path: kruise-schema.json}
configurations: [kruise-config.yaml]
`
