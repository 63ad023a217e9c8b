package check_test

import (
	"fmt"
	"strings"
	"testing"
)

const goodPull = `
apiVersion: apps.kruise.io/v1beta1
kind: ImagePullJob
metadata: {name: warm, namespace: shop}
spec:
  image: example.com/app:1
  pullSecrets: [reg]
  completionPolicy: {type: Always, activeDeadlineSeconds: 600}
`

func TestImagePullJob_Rules(t *testing.T) {
	const image, policy = "image: example.com/app:1", "{type: Always, activeDeadlineSeconds: 600}"
	line := func(text string) []string { return []string{image, image + "\n  " + text} }
	rulings(t, goodPull, []ruling{
		{name: "short name", edit: []string{"example.com/app:1", "app"}},
		{name: "digest", edit: []string{"example.com/app:1", "app@sha256:" + strings.Repeat("ab", 32)}},
		{name: "no policy", edit: []string{"  completionPolicy: " + policy + "\n", ""}},
		{name: "number as text", edit: line(`parallelism: "4"`)},
		{name: "paused", edit: line("parallelism: 0")},
		{name: "names", edit: line("selector: {names: [a, b]}")},
		{name: "faster pull", edit: append(line("pullPolicy: {timeoutSeconds: 30}"), "600}", "30}")},
		{name: "no image", edit: []string{image, "image: ''"}, want: "imagepulljob/image-invalid spec.image"},
		{name: "image left out", edit: []string{"  " + image + "\n", ""}, want: "imagepulljob/image-invalid spec.image"},
		{name: "upper case", edit: []string{"example.com/app:1", "example.com/App:1"}, want: "imagepulljob/image-invalid spec.image"},
		{name: "short digest", edit: []string{"example.com/app:1", "app@sha256:ab"}, want: "imagepulljob/image-invalid spec.image"},
		{name: "percentage", edit: line("parallelism: 20%"), want: "imagepulljob/parallelism-invalid spec.parallelism"},
		{name: "negative", edit: line("parallelism: -1"), want: "imagepulljob/parallelism-invalid spec.parallelism"},
		{name: "two selectors", edit: line("selector: {names: [a]}\n  podSelector: {}"), want: "imagepulljob/selector-invalid spec.podSelector"},
		{name: "names and labels", edit: line("selector: {names: [a], matchLabels: {a: b}}"), want: "imagepulljob/selector-invalid spec.selector"},
		{name: "operator", edit: line("podSelector: {matchExpressions: [{key: a, operator: Like}]}"), want: "imagepulljob/selector-invalid spec.podSelector.matchExpressions[0].operator"},
		{name: "never with deadline", edit: []string{policy, "{type: Never, activeDeadlineSeconds: 600}"}, want: "imagepulljob/completion-invalid spec.completionPolicy.activeDeadlineSeconds"},
		{name: "unknown policy", edit: []string{policy, "{type: Sometimes}"}, want: "imagepulljob/completion-invalid spec.completionPolicy.type"},
		{name: "deadline", edit: []string{"600}", "599}"}, want: "imagepulljob/completion-invalid spec.completionPolicy.activeDeadlineSeconds"},
		{name: "backoff", edit: line("pullPolicy: {backoffLimit: -1}"), want: "imagepulljob/pull-policy-invalid spec.pullPolicy.backoffLimit (accepted)"},
		{name: "secrets changed", edit: []string{"[reg]", "[other]"}, old: []string{}, want: "object/immutable-field spec.pullSecrets"},
		{name: "image changed", edit: []string{"app:1", "app:2"}, old: []string{}},
	})
}

const goodList = `
apiVersion: apps.kruise.io/v1beta1
kind: ImageListPullJob
metadata: {name: warm, namespace: shop}
spec:
  images: [app, web]
`

func TestImageListPullJob_Rules(t *testing.T) {
	many := make([]string, 256)
	for i := range many {
		many[i] = fmt.Sprintf("app:%d", i)
	}
	rulings(t, goodList, []ruling{
		{name: "none", edit: []string{"[app, web]", "[]"}, want: "imagelistpulljob/image-invalid spec.images"},
		{name: "left out", edit: []string{"  images: [app, web]", "  parallelism: 1"}, want: "imagelistpulljob/image-invalid spec.images"},
		{name: "twice", edit: []string{"web", "app"}, want: "imagelistpulljob/image-invalid spec.images[1]"},
		{name: "255", edit: []string{"[app, web]", "[" + strings.Join(many[1:], ", ") + "]"}},
		{name: "256", edit: []string{"[app, web]", "[" + strings.Join(many, ", ") + "]"}, want: "imagelistpulljob/image-invalid spec.images"},
		{name: "secrets changed", edit: []string{"images", "pullSecrets: [a]\n  images"}, old: []string{}},
	})
}

const goodNodeImage = `
apiVersion: apps.kruise.io/v1beta1
kind: NodeImage
metadata: {name: node-1}
spec:
  images:
    example.com/app: {tags: [{tag: v1, pullPolicy: {ttlSecondsAfterFinished: 60}}]}
`

func TestNodeImage_Rules(t *testing.T) {
	var many strings.Builder
	for i := range 257 {
		fmt.Fprintf(&many, "    app-%d: {tags: [{tag: v1, pullPolicy: {ttlSecondsAfterFinished: 60}}]}\n", i)
	}
	const image = "    example.com/app: {tags: [{tag: v1, pullPolicy: {ttlSecondsAfterFinished: 60}}]}\n"
	rulings(t, goodNodeImage, []ruling{
		{name: "nothing", edit: []string{image, ""}},
		{name: "too many", edit: []string{image, many.String()}, want: "nodeimage/image-invalid spec.images"},
		{name: "name", edit: []string{"example.com/app", "example.com/App"}, want: "nodeimage/image-invalid spec.images[example.com/App].tags[0].tag"},
		{name: "tag", edit: []string{"tag: v1", "tag: v:1"}, want: "nodeimage/image-invalid spec.images[example.com/app].tags[0].tag"},
		{name: "version", edit: []string{"{tag: v1,", "{tag: v1, version: -1,"}, want: "nodeimage/image-invalid spec.images[example.com/app].tags[0].version"},
		{name: "a later version", edit: []string{"{tag: v1,", "{tag: v1, version: 2,"}},
		{name: "no time to forget", edit: []string{"{ttlSecondsAfterFinished: 60}", "{}"}, want: "nodeimage/image-invalid spec.images[example.com/app].tags[0].pullPolicy.ttlSecondsAfterFinished"},
		{name: "no policy", edit: []string{", pullPolicy: {ttlSecondsAfterFinished: 60}", ""}, want: "nodeimage/image-invalid spec.images[example.com/app].tags[0].pullPolicy.ttlSecondsAfterFinished"},
		{name: "forgotten at once", edit: []string{"60", "0"}},
		{name: "no tag", edit: []string{"{tag: v1,", "{version: 1,"}, want: "nodeimage/image-invalid spec.images[example.com/app].tags[0].tag"},
		{name: "no tags", edit: []string{"{tags: [{tag: v1, pullPolicy: {ttlSecondsAfterFinished: 60}}]}", "{}"}, want: "object/missing-field spec.images[example.com/app].tags"},
	})
}
