package render

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestPolicies_CompileOnOlderServers: new policies may use the CEL of the version before the
// server's. There is no server here for most versions that have the API; their CEL
// is in the newest one's library. 1.32 is the first that has the API, 1.35 the first
// for which sidecars that copy are rendered.
func TestPolicies_CompileOnOlderServers(t *testing.T) {
	for _, minor := range []int{32, 35} {
		compiled := 0
		for _, in := range append(recorded(t), own(t)...) {
			docs, _, err := rendered(in.stream, in.context, engine.Options{
				Kubernetes: minor, PreviewAPIs: true, SidecarSetAs: stage.Admission,
				Target: engine.Kruise, Expand: []string{"SidecarSet"},
			})
			if err != nil {
				continue
			}
			for _, d := range docs {
				if d["kind"] != "MutatingAdmissionPolicy" {
					continue
				}
				compiled++
				for _, err := range compile(t, d, minor-1) {
					t.Errorf("1.%d: %s: %v", minor, in.name, err)
				}
			}
		}
		t.Logf("1.%d: %d policies", minor, compiled)
		if compiled < 40 {
			t.Errorf("1.%d: only %d policies", minor, compiled)
		}
	}
}

// compile returns what keeps the CEL of a policy from compiling.
func compile(t *testing.T, d map[string]any, minor int) (errs []error) {
	t.Helper()
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(version.MajorMinor(1, uint(minor))))
	if err != nil {
		t.Fatal(err)
	}
	opt := plugincel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, v := range items(at(d, "spec", "variables")) {
		variable := &validating.Variable{Name: v["name"].(string), Expression: v["expression"].(string)}
		if r := compiler.CompileAndStoreVariable(variable, opt, environment.NewExpressions); r.Error != nil {
			errs = append(errs, fmt.Errorf("variable %s: %w", variable.Name, r.Error))
		}
	}
	for _, c := range items(at(d, "spec", "matchConditions")) {
		condition := &matchconditions.MatchCondition{Name: c["name"].(string), Expression: c["expression"].(string)}
		if r := compiler.CompileCELExpression(condition, opt, environment.NewExpressions); r.Error != nil {
			errs = append(errs, r.Error)
		}
	}
	opt.HasPatchTypes = true
	for _, m := range items(at(d, "spec", "mutations")) {
		expression := at(m, "jsonPatch", "expression").(string)
		evaluator := compiler.CompileMutatingEvaluator(&patch.JSONPatchCondition{Expression: expression}, opt, environment.NewExpressions)
		errs = append(errs, evaluator.CompilationErrors()...)
	}
	return errs
}
