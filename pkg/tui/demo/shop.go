package demo

import (
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// opening is how long it takes until the shop is there and its rollouts are in flight:
// its clock shows the present time then.
const opening = 80 * time.Second

// nodes and zones are how large the cluster is; head is how long its rollouts have
// been running at the first look.
const (
	nodes = 12
	zones = 3
	head  = 45 * time.Second
)

// rollout is a new version of a part of the shop.
type rollout struct {
	ref          cluster.Ref
	from, to     string
	steps, pause string
}

// rollouts are those in flight: one waits for approval, one is blocked because its pods
// crash, one upgrades a sidecar without downtime, one progresses step by step.
var rollouts = []rollout{
	{ref: of(kruise.KindCloneSet, "shop", "storefront"), from: "storefront:4.7.1", to: "storefront:4.8.0", steps: "1,25%,100%", pause: "1"},
	{ref: of(kruise.KindCloneSet, "shop", "checkout"), from: "checkout:1.9.4", to: "checkout:2.0.0-" + broken, steps: "2,50%,100%"},
	{ref: of(kruise.KindSidecarSet, "", "mesh"), from: "proxy:1.20", to: "proxy:1.21", steps: "25%,100%"},
	{ref: of(kruise.KindStatefulSet, "pay", "ledger"), from: "ledger:3.2", to: "ledger:3.3", steps: "1,2,50%,100%", pause: "1=20s"},
	{ref: of(kruise.KindCloneSet, "shop", "search"), from: "search:11", to: "search:12", steps: "1,10%,50%,100%"},
}

// large is one more workload, of as many pods as were asked for, and largeRollout is that
// of it; perNode is how many of its pods a node has.
const (
	large = `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: catalog, namespace: shop, labels: {app: catalog, team: web}}
spec:
  replicas: %d
  selector: {matchLabels: {app: catalog}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 10%%}}
  template:
    metadata: {labels: {app: catalog, team: web}}
    spec: {containers: [{name: app, image: "registry.example.com/web/catalog:5.1"}]}
`
	perNode = 100
)

var largeRollout = rollout{ref: of(kruise.KindCloneSet, "shop", "catalog"), from: "catalog:5.1", to: "catalog:5.2", steps: "1,5%,50%,100%"}

func of(kind, namespace, name string) cluster.Ref {
	return cluster.Ref{Group: kruise.Group, Kind: kind, Namespace: namespace, Name: name}
}

// broken is in the tag of images that crash.
const broken = "rc1"

func options(seed uint64, now time.Time) simulate.Options {
	o := simulate.DefaultOptions()
	// Objects have times in whole seconds: a part of one would change the story.
	o.Seed, o.Start = seed, now.Truncate(time.Second).Add(-opening)
	o.Latency = 200 * time.Millisecond
	o.Agent.Start = simulate.Span{Mean: 2 * time.Second, Spread: time.Second}
	o.Agent.Ready = simulate.Span{Mean: 6 * time.Second, Spread: 4 * time.Second}
	o.Agent.Pull = simulate.Span{Mean: 8 * time.Second, Spread: 3 * time.Second}
	o.Agent.Stop = simulate.Span{Mean: 3 * time.Second, Spread: time.Second}
	o.Agent.Override = func(p *cluster.Pod) simulate.Override {
		for _, c := range p.Containers {
			if strings.HasSuffix(c.Image, broken) {
				return simulate.Override{Crash: true}
			}
		}
		return simulate.Override{}
	}
	return o
}
