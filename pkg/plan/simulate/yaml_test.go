package simulate

import "sigs.k8s.io/kustomize/kyaml/yaml"

var yamlUnmarshal = yaml.Unmarshal
