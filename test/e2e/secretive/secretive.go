// Package secretive has objects with secrets in the places in which people put them, and
// finds these in what a program shows. It is for tests of the product.
package secretive

import (
	"encoding/base64"
	"strings"
)

// Word begins every secret, and is nowhere else.
const Word = "zebra"

// marks are the word itself, and as it begins in the data of a Secret.
var marks = []string{Word, base64.RawStdEncoding.EncodeToString([]byte(Word))[:6]}

// Marks are texts that nothing may show.
func Marks() []string { return marks }

// secrets are a Secret that kubectl has applied, and one that is distributed.
const secrets = `---
apiVersion: v1
kind: Secret
metadata:
  name: pass
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"pass"},"stringData":{"word":"VALUE-applied"}}'}
stringData: {word: VALUE-secret}
---
apiVersion: apps.kruise.io/v1beta1
kind: ResourceDistribution
metadata: {name: NAMESPACE-secret}
spec:
  resource: {apiVersion: v1, kind: Secret, metadata: {name: copied}, type: Opaque, stringData: {word: VALUE-copied}}
  targets: {includedNamespaces: {list: [{name: NAMESPACE}]}}
`

// plain is a workload that has its word from the Secret.
const plain = `---
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: IMAGE
        env: [{name: WORD, valueFrom: {secretKeyRef: {name: pass, key: word}}}]
`

// wordy is one whose template says what is secret by its names alone.
const wordy = `---
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, annotations: {example.com/token: VALUE-note}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {example.com/api-key: VALUE-key}}
    spec:
      containers:
      - name: main
        image: IMAGE
        command: [serve, --token, VALUE-word]
        args: [--password=VALUE-flag, --db, "postgres://shop:VALUE-url@db/shop"]
        env:
        - {name: DB_PASSWORD, value: VALUE-env}
        - {name: DB, value: "postgres://shop:VALUE-env-url@db/shop"}
        - {name: WORD, valueFrom: {secretKeyRef: {name: pass, key: word}}}
`

// Secrets are a Secret, pass, and a ResourceDistribution of another, for a namespace. The
// suffix tells one set of secrets from another.
func Secrets(namespace, suffix string) string { return filled(secrets, namespace, suffix, "") }

// Plain is the CloneSet web, which names the Secret and holds nothing of it.
func Plain(image string) string { return filled(plain, "", "", image) }

// Wordy is the CloneSet web with secrets where people should not put them.
func Wordy(suffix, image string) string { return filled(wordy, "", suffix, image) }

func filled(text, namespace, suffix, image string) string {
	return strings.NewReplacer("NAMESPACE", namespace, "VALUE", Word+"-"+suffix, "IMAGE", image).Replace(text)
}

// Shown are the lines of a text that show a secret, cut where they are long.
func Shown(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		for _, mark := range marks {
			if strings.Contains(line, mark) {
				out = append(out, line[:min(len(line), 400)])
				break
			}
		}
	}
	return strings.Join(out, "\n")
}
