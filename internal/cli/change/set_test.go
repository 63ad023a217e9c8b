package change

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

func setObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// local runs a verb on a manifest, without a cluster; its output is one document.
func local(t *testing.T, manifest string, args ...string) (out, said string, err error) {
	t.Helper()
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	var o, e bytes.Buffer
	f := factory.New(factory.Streams{In: strings.NewReader(manifest), Out: &o, Err: &e})
	c := NewSet(f)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(append(args, "--local", "-f", "-"))
	c.SetOut(&o)
	c.SetErr(&e)
	err = c.ExecuteContext(t.Context())
	return o.String(), e.String(), err
}

const web = `apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web, namespace: a}
spec:
  replicas: 4
  unknown: {kept: yes}
  updateStrategy: {type: InPlaceIfPossible, partition: 1}
  template:
    spec:
      serviceAccount: old
      containers: [{name: app, image: 'x:1', env: [{name: A, value: b}, {name: B, value: c}]}, {name: app-log, image: 'y:1'}]
      initContainers: [{name: init, image: 'z:1', resources: {limits: {cpu: 1000m}}}]
`

// TestSet_ChangesOnlyWhatIsSet: what is set is there, and all the rest is as it was.
func TestSet_ChangesOnlyWhatIsSet(t *testing.T) {
	for name, c := range map[string]struct {
		args    []string
		old, by string
	}{
		"image":             {[]string{"image", "app=x:2"}, "'x:1'", "'x:2'"},
		"image of init":     {[]string{"image", "init=z:2"}, "'z:1'", "'z:2'"},
		"a variable":        {[]string{"env", "-c", "app", "A=z"}, "value: b", "value: z"},
		"a variable more":   {[]string{"env", "-c", "app", "C=z"}, "value: c}", "value: c}, {name: C, value: z}"},
		"a variable less":   {[]string{"env", "A-"}, "{name: A, value: b}, ", ""},
		"the last variable": {[]string{"env", "A-", "B-"}, ", env: [{name: A, value: b}, {name: B, value: c}]", ""},
		"an empty variable": {[]string{"env", "-c", "app", "A="}, "name: A, value: b", "name: A"},
		"by pattern":        {[]string{"env", "-c", "app-*", "A=z"}, "image: 'y:1'", "image: 'y:1', env: [{name: A, value: z}]"},
		"a limit":           {[]string{"resources", "-c", "init", "--limits=memory=1Gi"}, "cpu: 1000m", "cpu: 1000m, memory: 1Gi"},
		"a limit as it is":  {[]string{"resources", "-c", "init", "--limits=cpu=1", "--requests=cpu=1"}, "1000m}", "1000m}, requests: {cpu: '1'}"},
		"both names":        {[]string{"serviceaccount", "new"}, "serviceAccount: old", "serviceAccount: new\n      serviceAccountName: new"},
	} {
		t.Run(name, func(t *testing.T) {
			out, _, err := local(t, web, append(c.args, "-o", "yaml")...)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(web, c.old, c.by, 1)
			if want == web {
				t.Fatal("the case changes nothing")
			}
			if diff := cmp.Diff(setObject(t, want).Object, setObject(t, out).Object); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestExplain_IsSilentWithoutAChange: nothing is shown of what stays as it is.
func TestExplain_IsSilentWithoutAChange(t *testing.T) {
	for _, args := range [][]string{{"image", "app=x:1"}, {"env", "-c", "app", "A=b", "Z-"}, {"resources", "-c", "init", "--limits=cpu=1"}} {
		if out, said, err := local(t, web, args...); err != nil || out != "" || said != "" {
			t.Errorf("%q: %q, %q, %v", args, out, said, err)
		}
	}
}

func TestSet_RefusesWrongCalls(t *testing.T) {
	const rollout = "apiVersion: rollouts.kruise.io/v1beta1\nkind: Rollout\nmetadata: {name: web}\nspec: {workloadRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: shop}}\n"
	for name, c := range map[string]struct {
		manifest string
		args     []string
		want     string
	}{
		"container":    {web, []string{"image", "none=x:1"}, `CloneSet a/web: unable to find container named "none"`},
		"no template":  {rollout, []string{"image", "app=x:1"}, "Rollout web: has no pod template"},
		"empty":        {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n", []string{"image", "app=x:1"}, "holds no pod template"},
		"overwrite":    {web, []string{"env", "A=z", "--overwrite=false"}, "A of container app already has a value"},
		"both":         {web, []string{"env", "A=z", "A-"}, "can not both modify and remove"},
		"order":        {web, []string{"env", "A=z", "cloneset/web"}, "must be specified before environment changes"},
		"nothing":      {web, []string{"env"}, "at least one environment variable"},
		"name":         {web, []string{"env", "a b=c"}, "not a valid key name"},
		"from":         {web, []string{"env", "--from=secret/x"}, "--local does not ask the cluster"},
		"keys":         {web, []string{"env", "--keys=x"}, "must be provided with --from"},
		"all and one":  {web, []string{"image", "*=x:1", "app=x:1"}, "all containers are already specified"},
		"quantity":     {web, []string{"resources", "--limits=cpu=lots"}, `"lots" is not a quantity`},
		"no resources": {web, []string{"resources"}, "you must specify an update"},
		"account":      {web, []string{"serviceaccount", "Not_A_Name"}, "is not a name of a service account"},
		"selector":     {web, []string{"selector", "a in (b)"}, "a Service selects by equal labels"},
		"named":        {web, []string{"image", "cloneset/web", "app=x:1"}, "--local does not ask the cluster for cloneset/web"},
	} {
		t.Run(name, func(t *testing.T) {
			out, _, err := local(t, c.manifest, c.args...)
			if err == nil || !strings.Contains(err.Error(), c.want) || out != "" {
				t.Errorf("%q, %v; want %q", out, err, c.want)
			}
		})
	}
}

// TestSet_ExplainsWhatHappensToPods: each kind says what becomes of its pods.
func TestSet_ExplainsWhatHappensToPods(t *testing.T) {
	united := "apiVersion: apps.kruise.io/v1alpha1\nkind: UnitedDeployment\nmetadata: {name: web}\nspec:\n  topology: {subsets: [{name: a}, {name: b}]}\n" +
		"  template: {cloneSetTemplate: {spec: {updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceOnly}}, template: {spec: {containers: [{name: app, image: 'x:1'}]}}}}}\n"
	cron := "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: web}\nspec: {jobTemplate: {spec: {template: {spec: {containers: [{name: app, image: 'x:1'}]}}}}}\n"
	for name, c := range map[string]struct {
		manifest string
		args     []string
		want     []string
	}{
		"in place": {web, []string{"image", "app=x:2"}, []string{"cloneset/web: in place, app restarts inside the pod", "pods: 3 of 4 are updated, the others are held by"}},
		"recreate": {web, []string{"env", "-c", "app", "A=z"}, []string{"recreate: each pod is deleted, and its controller creates a new one"}},
		"subsets":  {united, []string{"image", "app=x:2"}, []string{"cloneset/web: in place", "pods: those of 2 subsets, each a CloneSet"}},
		"refused":  {united, []string{"env", "A=z"}, []string{"not allowed"}},
		"later":    {cron, []string{"image", "app=x:2"}, []string{"cronjob/web: Jobs that run stay as they are, the next ones have it"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, said, err := local(t, c.manifest, append(c.args, "--explain", "-o", "name")...)
			if err != nil || !strings.HasSuffix(out, "/web\n") {
				t.Errorf("%q, %v", out, err)
			}
			for _, want := range c.want {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in\n%s", want, said)
				}
			}
		})
	}
}
