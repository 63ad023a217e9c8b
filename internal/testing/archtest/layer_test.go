package archtest

// layer lists, per folder, every direct import that is not of the standard
// library; our own packages stand without the module path. The deepest folder
// that matches wins. A folder or an import that is missing fails the test: add
// it only when docs/architecture.md agrees.
// An entry that ends in /... allows everything below.
var layer = map[string][]string{
	"cmd/kubectl-kruise": {"internal/cli", "internal/cli/factory"},

	"internal/testing/checkout":    {},
	"internal/testing/testenv":     {},
	"internal/testing/distort":     {},
	"internal/testing/olderplugin": {},
	"internal/testing/hermetic":    {"internal/testing/testenv"},
	"internal/testing/testrun":     {"internal/testing/checkout", "internal/testing/testenv"},
	"internal/testing/conformance": {"github.com/google/go-cmp/cmp", "internal/testing/checkout", "k8s.io/apimachinery/pkg/api/resource", "pkg/kruise", "pkg/kruise/tree", "sigs.k8s.io/kustomize/kyaml/yaml"},
	"internal/testing/arbitrary":   {"internal/testing/conformance", "pkg/kruise", "pkg/kruise/schema"},
	"internal/testing/library":     {"pkg/apply", "pkg/plan", "pkg/plan/cluster"},
	"internal/testing/changes":     {"pkg/kruise", "pkg/kruise/tree", "pkg/plan/cluster", "pkg/plan/rules"},
	"internal/testing/golden": {
		"github.com/google/go-cmp/cmp", "pkg/render/emit", "pkg/render/finding", "pkg/render/load",
		"pkg/render/resource", "pkg/render/stage", "sigs.k8s.io/kustomize/kyaml/yaml",
	},
	"internal/testing/docrun":    {"internal/testing/checkout"},
	"internal/testing/kustomize": {"internal/testing/checkout"},
	"internal/testing/memory": {
		"gopkg.in/evanphx/json-patch.v4", "k8s.io/api/...", "k8s.io/apimachinery/...", "k8s.io/client-go/...", "k8s.io/kubernetes/pkg/api/legacyscheme", "k8s.io/kubernetes/pkg/apis/...",
		"pkg/kruise", "sigs.k8s.io/yaml",
	},
	"internal/testing/memory/conformance": {"k8s.io/apimachinery/...", "k8s.io/client-go/..."},
	"internal/testing/node":               {"internal/testing/node/...", "k8s.io/api/...", "k8s.io/apimachinery/...", "k8s.io/client-go/...", "k8s.io/cri-streaming/...", "k8s.io/utils/exec", "pkg/kruise"},
	"internal/testing/node/life":          {"k8s.io/api/...", "k8s.io/apimachinery/..."},
	"internal/testing/node/daemon":        {"internal/testing/node/life", "k8s.io/api/...", "k8s.io/apimachinery/...", "pkg/kruise"},
	"internal/testing/standin": {
		"github.com/distribution/reference", "gopkg.in/evanphx/json-patch.v4", "internal/testing/node", "k8s.io/...", "pkg/kruise", "pkg/kruise/...", "pkg/plan", "pkg/plan/...", "pkg/render/...",
	},
	"internal/testing/story": {
		"github.com/go-logr/logr", "internal/cli", "internal/cli/factory", "internal/testing/memory", "internal/testing/node", "internal/testing/node/life", "internal/testing/standin", "k8s.io/...",
	},
	"internal/testing/tuitest": {
		"charm.land/bubbletea/v2", "github.com/charmbracelet/x/...", "internal/testing/golden", "pkg/plan/...", "pkg/tui", "pkg/tui/...",
	},
	"internal/testing/bench": {"pkg/kruise", "pkg/render/...", "pkg/render", "sigs.k8s.io/kustomize/api/krusty", "sigs.k8s.io/kustomize/kyaml/..."},
	"internal/generate":      {"internal/krew", "pkg/kruise", "pkg/render/finding"},
	"internal/krew":          {},
	"internal/cli": {
		"charm.land/bubbletea/v2", "github.com/charmbracelet/colorprofile", "pkg/tui", "pkg/tui/...",
		"github.com/go-logr/logr", "github.com/spf13/...", "golang.org/x/term", "internal/cli/...", "internal/text", "internal/view", "internal/view/html", "internal/view/svg",
		"k8s.io/...", "pkg/apply", "pkg/apply/...", "pkg/kruise", "pkg/kruise/...", "pkg/plan", "pkg/plan/...", "pkg/render", "pkg/render/...", "sigs.k8s.io/yaml",
	},
	"internal/cli/gitops": {
		"pkg/kruise", "pkg/kruise/tree", "pkg/plan", "pkg/plan/cluster", "pkg/render/emit", "pkg/render/load", "pkg/render/load/rooted", "pkg/render/resource", "pkg/render/stage", "sigs.k8s.io/kustomize/kyaml/yaml",
	},
	"internal/text": {"github.com/charmbracelet/x/ansi"},
	"internal/view": {"internal/text", "internal/view/svg", "k8s.io/apimachinery/pkg/util/json", "pkg/apply/event", "pkg/kruise", "pkg/kruise/counted", "pkg/kruise/redact", "pkg/kruise/spread", "pkg/plan", "pkg/plan/...", "pkg/render/...", "pkg/tui/draw", "sigs.k8s.io/yaml"},
	"internal/view/html": {
		"internal/text", "internal/view", "internal/view/svg", "pkg/kruise/counted", "pkg/plan", "pkg/plan/planfile", "pkg/plan/rules", "pkg/plan/simulate", "pkg/render/compare", "sigs.k8s.io/yaml",
	},

	"pkg/kruise":      {"github.com/distribution/reference", "k8s.io/api/...", "k8s.io/apimachinery/...", "pkg/kruise/tree"},
	"pkg/kruise/tree": {"k8s.io/apimachinery/pkg/api/resource", "k8s.io/apimachinery/pkg/util/intstr", "pkg/kruise/counted", "sigs.k8s.io/json", "sigs.k8s.io/kustomize/kyaml/yaml", "sigs.k8s.io/yaml"},
	"pkg/kruise/inject": {
		"gopkg.in/evanphx/json-patch.v4",
		"k8s.io/api/...", "k8s.io/apimachinery/...", "pkg/kruise", "pkg/kruise/tree", "sigs.k8s.io/kustomize/kyaml/yaml",
	},
	"pkg/kruise/redact":  {"k8s.io/api/core/v1", "pkg/kruise/tree"},
	"pkg/kruise/counted": {},
	"pkg/kruise/spread": {
		"k8s.io/api/...", "k8s.io/apimachinery/...", "k8s.io/component-helpers/scheduling/corev1", "k8s.io/component-helpers/scheduling/corev1/nodeaffinity",
		"k8s.io/klog/v2", "pkg/kruise", "pkg/kruise/counted", "pkg/kruise/tree", "sigs.k8s.io/kustomize/kyaml/yaml",
	},
	"pkg/kruise/schema": {"k8s.io/api/...", "k8s.io/apimachinery/...", "pkg/kruise", "pkg/kruise/tree"},

	"pkg/apply":         {"pkg/apply/event", "pkg/plan", "pkg/plan/cluster"},
	"pkg/apply/event":   {},
	"pkg/apply/notify":  {"pkg/apply/event", "pkg/kruise/redact"},
	"pkg/apply/metrics": {"pkg/apply/event"},
	"pkg/apply/kube": {
		"github.com/go-logr/logr", "k8s.io/api/...", "k8s.io/apimachinery/...", "k8s.io/client-go/...", "k8s.io/streaming/pkg/httpstream",
		"pkg/apply", "pkg/kruise", "pkg/kruise/...", "pkg/plan", "pkg/plan/...", "pkg/apply/event", "pkg/apply/kube/verify", "pkg/apply/kube/objects", "pkg/apply/kube/rbac",
	},
	"pkg/apply/kube/rbac":    {"k8s.io/api/rbac/v1", "k8s.io/component-helpers/auth/rbac/validation", "pkg/kruise", "pkg/plan", "pkg/plan/cluster"},
	"pkg/apply/kube/verify":  {"k8s.io/client-go/util/jsonpath", "pkg/plan"},
	"pkg/apply/kube/objects": {"k8s.io/apimachinery/...", "k8s.io/client-go/..."},
	"pkg/apply/set":          {"gopkg.in/evanphx/json-patch.v4", "k8s.io/api/apps/v1", "k8s.io/apimachinery/...", "pkg/kruise", "pkg/plan/rules"},
	"pkg/apply/kube/release": {"k8s.io/apimachinery/...", "k8s.io/client-go/...", "pkg/apply/kube/objects", "pkg/kruise", "pkg/kruise/counted", "pkg/plan/cluster"},
	"pkg/apply/kube/migrate": {"k8s.io/api/core/v1", "k8s.io/api/policy/v1", "k8s.io/apimachinery/...", "k8s.io/client-go/...", "pkg/kruise", "pkg/plan/migrate"},
	"pkg/apply/kube/united":  {"k8s.io/api/apps/v1", "k8s.io/apimachinery/...", "k8s.io/client-go/...", "pkg/kruise", "pkg/kruise/tree"},
	"pkg/plan":               planImports("gopkg.in/evanphx/json-patch.v4", "pkg/plan/cluster", "pkg/plan/controller", "pkg/plan/rules"),
	"pkg/plan/cluster":       planImports(),
	"pkg/plan/planfile":      append(planImports("pkg/plan", "pkg/plan/cluster", "pkg/plan/rules"), "sigs.k8s.io/kustomize/kyaml/yaml"),
	"pkg/plan/migrate":       planImports(),
	"pkg/plan/rules":         planImports("pkg/plan/cluster"),
	"pkg/plan/diagnose":      planImports("pkg/plan", "pkg/plan/cluster", "pkg/plan/rules"),
	"pkg/plan/controller":    planImports("pkg/plan/cluster", "pkg/plan/rules", "k8s.io/utils/dump"),
	"pkg/plan/simulate":      planImports("k8s.io/component-helpers/scheduling/corev1/nodeaffinity", "pkg/plan", "pkg/plan/cluster", "pkg/plan/controller", "pkg/plan/rules"),

	"pkg/tui": {
		"charm.land/bubbles/v2/textinput", "charm.land/bubbletea/v2", "github.com/charmbracelet/colorprofile",
		"pkg/kruise", "pkg/kruise/counted", "pkg/plan", "pkg/plan/cluster", "pkg/plan/diagnose", "pkg/tui/...",
	},
	"pkg/tui/world":   planImports("pkg/plan", "pkg/plan/cluster", "pkg/plan/controller", "pkg/plan/diagnose", "pkg/plan/rules"),
	"pkg/tui/draw":    {"github.com/charmbracelet/x/ansi", "pkg/plan"},
	"pkg/tui/screen":  {"charm.land/bubbletea/v2", "k8s.io/api/...", "k8s.io/apimachinery/pkg/labels", "k8s.io/apimachinery/pkg/util/duration", "pkg/kruise/counted", "pkg/plan", "pkg/plan/cluster", "pkg/plan/diagnose", "pkg/tui/draw", "pkg/tui/world"},
	"pkg/tui/rollout": screenImports("k8s.io/apimachinery/pkg/util/duration", "pkg/plan/diagnose"),
	"pkg/tui/lists":   screenImports("pkg/kruise", "pkg/plan/diagnose"),
	"pkg/tui/pages":   screenImports("github.com/aymanbagabas/go-udiff", "pkg/kruise", "pkg/kruise/redact", "pkg/plan/diagnose", "pkg/plan/rules", "sigs.k8s.io/yaml"),
	"pkg/tui/plan":    screenImports("pkg/plan/rules", "pkg/plan/simulate"),
	"pkg/tui/pod":     screenImports("k8s.io/api/...", "pkg/kruise", "pkg/kruise/inject", "pkg/plan/diagnose", "pkg/plan/rules"),
	"pkg/tui/demo": {
		"k8s.io/api/...", "k8s.io/apimachinery/...",
		"pkg/apply", "pkg/apply/event", "pkg/kruise", "pkg/kruise/counted", "pkg/kruise/redact", "pkg/kruise/tree", "pkg/plan", "pkg/plan/cluster", "pkg/plan/diagnose", "pkg/plan/simulate",
		"pkg/tui/world", "sigs.k8s.io/kustomize/kyaml/yaml", "sigs.k8s.io/yaml",
	},

	"pkg/render":          {"pkg/kruise", "pkg/kruise/tree", "pkg/render/..."},
	"pkg/render/resource": {"pkg/kruise", "pkg/kruise/counted", "pkg/kruise/redact", "pkg/kruise/tree"},
	"pkg/render/finding":  {"pkg/kruise", "pkg/kruise/tree", "pkg/render/resource", "sigs.k8s.io/kustomize/kyaml/yaml"},
	"pkg/render/stage":    {"pkg/kruise", "pkg/kruise/counted", "pkg/kruise/tree", "pkg/render/finding", "pkg/render/resource", "sigs.k8s.io/kustomize/kyaml/yaml"},
	"pkg/render/kustomize": {
		"pkg/kruise", "pkg/kruise/schema", "pkg/render/references", "pkg/render/stage", "sigs.k8s.io/kustomize/kyaml/openapi", "sigs.k8s.io/yaml",
	},
	"pkg/render/load":          {"pkg/kruise/...", "pkg/render/kustomize", "pkg/render/load/isolated", "pkg/render/load/linear", "pkg/render/load/rooted", "pkg/render/resource", "sigs.k8s.io/kustomize/..."},
	"pkg/render/load/rooted":   {"golang.org/x/sys/unix"},
	"pkg/render/load/isolated": {"github.com/landlock-lsm/go-landlock/landlock", "github.com/landlock-lsm/go-landlock/landlock/syscall", "golang.org/x/sys/unix"},
	"pkg/render/load/linear":   {"pkg/render/kustomize", "pkg/render/resource", "pkg/render/stage", "sigs.k8s.io/kustomize/...", "sigs.k8s.io/yaml"},
	"pkg/render/emit":          {"pkg/kruise", "pkg/kruise/...", "pkg/render/resource", "pkg/render/stage", "golang.org/x/sys/windows", "sigs.k8s.io/kustomize/kyaml/..."},
	"pkg/render/argocd":        {"pkg/kruise", "pkg/kruise/tree", "pkg/render", "pkg/render/resource", "pkg/render/stage"},
	"pkg/render/fn":            {"k8s.io/apimachinery/...", "pkg/kruise", "pkg/kruise/...", "pkg/render", "pkg/render/...", "sigs.k8s.io/kustomize/kyaml/..."},
	// Kubernetes' own validation and defaults, which Kruise's webhooks call: nothing else needs them.
	"pkg/render/check": append([]string{
		"github.com/distribution/reference", "github.com/robfig/cron/v3",
		"k8s.io/kubernetes/pkg/apis/apps", "k8s.io/kubernetes/pkg/apis/apps/v1", "k8s.io/kubernetes/pkg/apis/apps/validation",
		"k8s.io/kubernetes/pkg/apis/core", "k8s.io/kubernetes/pkg/apis/core/v1", "k8s.io/kubernetes/pkg/apis/core/validation",
		"k8s.io/kubernetes/pkg/capabilities",
	}, stageImports...),
	"pkg/render/split": stageImports,
	"pkg/render/compare": append([]string{
		"pkg/plan", "pkg/plan/cluster", "pkg/plan/simulate", "pkg/render/check", "pkg/render/fanout", "pkg/render/lint", "pkg/render/sidecar", "pkg/render/split",
	}, stageImports...),
	"pkg/render/convert":    append([]string{"pkg/render/check", "pkg/render/lower", "pkg/render/references"}, stageImports...),
	"pkg/render/lint":       append([]string{"pkg/plan/cluster", "pkg/render/check", "pkg/render/sidecar"}, stageImports...),
	"pkg/render/lower":      append([]string{"k8s.io/component-helpers/resource", "k8s.io/component-helpers/scheduling/corev1", "k8s.io/component-helpers/scheduling/corev1/nodeaffinity", "k8s.io/klog/v2"}, stageImports...),
	"pkg/render/sidecar":    stageImports,
	"pkg/render/fanout":     stageImports,
	"pkg/render/placement":  append([]string{"pkg/render/admission/policy"}, stageImports...),
	"pkg/render/references": stageImports,
	"pkg/render/patches":    append([]string{"pkg/plan", "pkg/plan/cluster", "pkg/plan/simulate", "sigs.k8s.io/yaml"}, stageImports...),

	"pkg/render/admission":        append([]string{"pkg/render/admission/policy"}, stageImports...),
	"pkg/render/admission/policy": {"k8s.io/apimachinery/pkg/labels", "k8s.io/apimachinery/pkg/selection", "pkg/kruise", "pkg/kruise/tree", "pkg/render/stage", "sigs.k8s.io/kustomize/kyaml/yaml"},
}

// stageImports is what a stage may know: the leaves, the types, the model.
var stageImports = []string{
	"k8s.io/api/...", "k8s.io/apimachinery/...", "pkg/kruise", "pkg/kruise/...",
	"pkg/plan/rules", "pkg/render/finding", "pkg/render/resource", "pkg/render/stage", "sigs.k8s.io/kustomize/kyaml/yaml",
}

// screenImports is what a screen may know: never another screen.
func screenImports(more ...string) []string {
	return append([]string{
		"charm.land/bubbletea/v2", "pkg/kruise/counted", "pkg/plan", "pkg/plan/cluster", "pkg/tui/draw", "pkg/tui/screen", "pkg/tui/world",
	}, more...)
}

// planImports is what a room of the core may know, besides some of its
// neighbours.
func planImports(neighbours ...string) []string {
	return append([]string{"k8s.io/api/...", "k8s.io/apimachinery/...", "pkg/kruise", "pkg/kruise/..."}, neighbours...)
}
