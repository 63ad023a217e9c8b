package cluster

import (
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
)

// Option changes how a cluster is started.
type Option func(*options)

// options is comparable in print but for its add-ons, see key.
type options struct {
	audit         bool
	gates         map[string]bool
	runtimeConfig map[string]string
	nodeGrace     time.Duration
	nodes         []node.Spec
	timing        life.Timing
	realNode      bool
	addOns        []addOn
	progress      io.Writer
}

// addOn is something installed in a cluster before tests see it.
type addOn struct {
	name    string
	install func(ctx context.Context, c *Cluster) error
}

func defaults() options {
	return options{
		gates:         map[string]bool{},
		runtimeConfig: map[string]string{},
		nodeGrace:     40 * time.Second,
		nodes:         node.Spread(3, "zone-a", "zone-b", "zone-c"),
		timing:        life.Quick(),
		progress:      os.Stderr,
	}
}

// WithAudit writes every request with its body to the audit log, see Cluster.Audit.
func WithAudit() Option { return func(o *options) { o.audit = true } }

// WithFeatureGate switches a feature gate of all servers.
func WithFeatureGate(name string, on bool) Option {
	return func(o *options) { o.gates[name] = on }
}

// WithAPI serves an API version that is off by default, or stops serving one:
// "policy/v1beta1", false.
func WithAPI(groupVersion string, on bool) Option {
	return func(o *options) { o.runtimeConfig[groupVersion] = boolText(on) }
}

// WithNodeGrace sets how long a node may be silent before its pods count as not
// ready. 40 seconds without it.
func WithNodeGrace(d time.Duration) Option { return func(o *options) { o.nodeGrace = d } }

// WithNodes replaces the three modelled nodes, one in each of three zones, that a
// cluster has by default. Without arguments there are none.
func WithNodes(specs ...node.Spec) Option { return func(o *options) { o.nodes = specs } }

// WithAddOn installs something into the cluster as the last step of its start. The
// context ends with the cluster. Clusters with add-ons of the same names are shared, so a
// name says all that the add-on depends on.
func WithAddOn(name string, install func(ctx context.Context, c *Cluster) error) Option {
	return func(o *options) { o.addOns = append(o.addOns, addOn{name, install}) }
}

// WithTiming sets how long things take on modelled nodes; life.Quick otherwise.
func WithTiming(t life.Timing) Option { return func(o *options) { o.timing = t } }

// WithProgress sends the builder's progress elsewhere than to stderr.
func WithProgress(w io.Writer) Option { return func(o *options) { o.progress = w } }

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// gateFlags is the flag --feature-gates, or nothing.
func (o options) gateFlags() []string {
	return pairs("--feature-gates", o.gates, boolText)
}

// apiFlags is the flag --runtime-config, or nothing.
func (o options) apiFlags() []string {
	return pairs("--runtime-config", o.runtimeConfig, func(s string) string { return s })
}

func pairs[V any](flag string, from map[string]V, text func(V) string) []string {
	if len(from) == 0 {
		return nil
	}
	var list []string
	for _, k := range slices.Sorted(maps.Keys(from)) {
		list = append(list, k+"="+text(from[k]))
	}
	return []string{flag + "=" + strings.Join(list, ",")}
}
